// CRC-32 of Ethernet and of the ICRC (polynomial 0x04C11DB7, reflected), made fast: an end point makes and
// checks one for every packet. 128-bit folding by carry-less multiplication (Gopal et al., Intel 2009) where
// the CPU has PCLMULQDQ, tables of 8 bytes at once where it lacks it.
//
// `crc` is the register: all ones to begin with, inverted at the end by the caller, so that pieces chain.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::roce {

std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes);

// The two ways behind it, for tests. The CPU of one that folds has PCLMULQDQ.
std::uint32_t crc32_by_tables(std::uint32_t crc, std::span<const std::uint8_t> bytes);
std::uint32_t crc32_by_folding(std::uint32_t crc, std::span<const std::uint8_t> bytes);

}  // namespace sluice::roce
