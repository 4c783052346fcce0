// The messages of one rank in a step of a collective, as strands.
//
// A strand sends its messages in order, each once all that it awaits has come, and receives in order. Strands
// do not wait for each other: they are the channels, and the ways up and down a tree. A lane is a channel's
// ring or tree; within a lane at most one strand sends from a rank to another.
//
// Algorithms: rings as in NCCL (Patarasuk and Yuan, 2009), whose chunks may be cut into pieces; halving and
// doubling (Rabenseifner, 2004; Thakur et al., 2005); all-to-all at once, as grouped sends and receives;
// relays that hand on chunk after chunk: the stages of a pipeline, and trees that reduce upward and
// broadcast downward. Two trees, each with half of the data, are those of Sanders, Speck and Traeff (2009)
// as NCCL has them: nearly all leaves of one are inner ranks of the other.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "lib/roce/collective_settings.hh"

namespace sluice::roce {

// A message to or from a peer: which of the strand's targets or sources, and what of the sender's buffer.
struct Transfer {
    std::uint32_t peer;
    Extent data;
};

// Each algorithm: how many messages a strand sends and receives; the n-th of them; how many it has received
// before it sends the n-th.

// To the next in a ring from the one before; one of reduces and gathers, or both.
struct RingStrand {
    Extent data;
    std::uint32_t size, place;
    std::uint32_t pieces;  // of a chunk
    bool reduces, gathers;

    std::uint32_t sends() const { return (size - 1) * pieces * ((reduces ? 1U : 0U) + (gathers ? 1U : 0U)); }
    std::uint32_t receives() const { return sends(); }
    Transfer send(std::uint32_t n) const { return {0, piece(n, place)}; }
    Transfer receive(std::uint32_t n) const { return {0, piece(n, (place + size - 1) % size)}; }
    std::uint32_t awaits(std::uint32_t n) const { return n < pieces ? 0 : n + 1 - pieces; }

  private:
    Extent piece(std::uint32_t n, std::uint32_t sender) const;
};

// Peers at half the ranks, a quarter and so on, then back; `size` is a power of two.
struct HalvingStrand {
    Extent data;
    std::uint32_t size, place;

    std::uint32_t sends() const;
    std::uint32_t receives() const { return sends(); }
    Transfer send(std::uint32_t n) const;
    Transfer receive(std::uint32_t n) const;
    std::uint32_t awaits(std::uint32_t n) const { return n; }
    std::uint32_t distance(std::uint32_t n) const;
};

// To the next, the one after it and so on; the first of all gets `skew` times as much as another.
struct ExchangeStrand {
    Extent data;
    std::uint32_t size, place, skew;

    std::uint32_t sends() const { return size - 1; }
    std::uint32_t receives() const { return size - 1; }
    Transfer send(std::uint32_t n) const { return {n, data_for((place + n + 1) % size)}; }
    Transfer receive(std::uint32_t n) const { return {n, data_for(place)}; }
    std::uint32_t awaits(std::uint32_t) const { return 0; }

  private:
    Extent data_for(std::uint32_t receiver) const;
};

// Each chunk to all targets, once it has come from all sources.
struct RelayStrand {
    Extent data;
    std::uint32_t chunks;
    std::uint32_t targets, sources;  // how many

    std::uint32_t sends() const { return chunks * targets; }
    std::uint32_t receives() const { return chunks * sources; }
    Transfer send(std::uint32_t n) const { return {n % targets, data.share(chunks, n / targets)}; }
    Transfer receive(std::uint32_t n) const { return {n % sources, data.share(chunks, n / sources)}; }
    std::uint32_t awaits(std::uint32_t n) const { return (n / targets + 1) * sources; }
};

class Strand {
  public:
    using Algorithm = std::variant<RingStrand, HalvingStrand, ExchangeStrand, RelayStrand>;

    std::uint32_t lane;
    std::vector<std::uint32_t> targets, sources;  // ranks
    Algorithm algorithm;

    std::uint32_t sends() const {
        return std::visit([](const auto& own) { return own.sends(); }, algorithm);
    }
    std::uint32_t receives() const {
        return std::visit([](const auto& own) { return own.receives(); }, algorithm);
    }
    Transfer send(std::uint32_t n) const {
        return std::visit([n](const auto& own) { return own.send(n); }, algorithm);
    }
    Transfer receive(std::uint32_t n) const {
        return std::visit([n](const auto& own) { return own.receive(n); }, algorithm);
    }
    std::uint32_t awaits(std::uint32_t n) const {
        return std::visit([n](const auto& own) { return own.awaits(n); }, algorithm);
    }
};

// All strands of a rank; the settings are valid. None if its server is the only one.
std::vector<Strand> strands_of(const CollectiveSettings& settings, std::uint32_t rank);

// Chunks of a tree's data where the settings name no size: 512 KiB, halved down to 32 KiB until there are 8
// for each of its levels, as NCCL does it. So the levels work at the same time most of the time.
std::uint64_t tree_chunk(std::uint64_t bytes, std::uint32_t ranks);

// Where a place is in the first or the second tree of `size` >= 2. The second is the first mirrored, or moved
// by one if the size is odd.
struct TreePlace {
    std::optional<std::uint32_t> parent;  // nothing: the root
    std::vector<std::uint32_t> children;  // at most 2
};
TreePlace tree_place(std::uint32_t size, std::uint32_t place, bool second);

}  // namespace sluice::roce
