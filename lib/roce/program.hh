// The program of a rank: operations, and which of them wait for which.
//
// As in GOAL (Hoefler, Siebert, Lumsdaine: "Group Operation Assembly Language", ICPP 2009): an operation
// begins when all that it waits for has ended, or has begun. Computations, sends and the handling of messages
// take a stream, a processor that does one thing at a time. Plain values, shared by all ranks that do alike.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::roce {

struct Program {
    struct Operation {
        enum class Kind : std::uint8_t { compute, send, receive, collective };
        static constexpr std::uint32_t any = ~0U;

        std::uint64_t amount = 0;  // bytes, >= 1; compute: picoseconds, >= 0
        // send, receive: a rank; receive: perhaps any. collective: which of the schedule's.
        std::uint32_t peer = 0;
        std::uint32_t tag = 0;     // of a message; receive: perhaps any
        std::uint32_t place = 0;   // in its file, for people: a line, or the number of a node
        std::uint16_t stream = 0;  // below Program::streams
        Kind kind = Kind::compute;

        bool operator==(const Operation&) const = default;
    };

    // An operation that waits for another.
    struct Next {
        std::uint32_t operation : 31;
        std::uint32_t on_begin : 1;  // else until it has ended
    };
    // None waits for a later one.
    std::vector<Operation> operations;
    std::vector<std::uint32_t> waits;  // by operation: for how many
    std::vector<std::uint32_t>
        first;  // by operation: the first of its entries in `next`; one more at the end
    std::vector<Next> next;
    std::uint32_t streams = 1;

    // A message of at most `eager_bytes` leaves at once; one to the sender itself takes no network.
    static bool is_eager(const Operation& message, std::uint32_t sender, std::uint64_t eager_bytes) {
        return message.amount <= eager_bytes || message.peer == sender;
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(operations.size()); }
};

// By rank.
using Programs = std::vector<std::shared_ptr<const Program>>;

}  // namespace sluice::roce
