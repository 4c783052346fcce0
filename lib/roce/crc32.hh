// CRC-32 of Ethernet and of the ICRC (polynomial 0x04C11DB7, reflected), made fast: an end point makes and
// checks one for every packet. Folding by carry-less multiplication (Gopal et al., Intel 2009), of 256 bits
// where the CPU has VPCLMULQDQ, of 128 where it has PCLMULQDQ; else tables of 8 bytes at once.
//
// `crc` is the register: all ones to begin with, inverted at the end by the caller, so that pieces chain.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::roce {

std::uint32_t crc32(std::uint32_t crc, std::span<const std::uint8_t> bytes);

// The ways behind it, for tests. The CPU of one that folds has PCLMULQDQ, of the wide one `folds_wide`.
bool folds_wide();
std::uint32_t crc32_by_tables(std::uint32_t crc, std::span<const std::uint8_t> bytes);
std::uint32_t crc32_by_folding(std::uint32_t crc, std::span<const std::uint8_t> bytes);
std::uint32_t crc32_by_wide_folding(std::uint32_t crc, std::span<const std::uint8_t> bytes);

}  // namespace sluice::roce
