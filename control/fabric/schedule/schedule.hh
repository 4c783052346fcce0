// What ranks do, in a file that others wrote: a graph of computations, messages and collectives for each
// rank.
//
// Readers make programs with a ProgramMaker; what all formats must obey is checked here, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/fabric/workload/flow_list.hh"
#include "lib/roce/collective_settings.hh"
#include "lib/roce/program.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// A kind of collective, over groups of ranks. A group runs those of its ranks' programs in their order, one
// after the other: the n-th operation of each of its ranks belong together.
struct Communication {
    roce::CollectiveKind kind = roce::CollectiveKind::ring_allreduce;
    // By group, in the order of the algorithm: of `pipeline` data goes from the first to the last. Each rank
    // is in one group at most; a group has at least two.
    std::vector<std::vector<std::uint32_t>> groups;
    std::string name;  // for people: "all-reduce of group 3"
};

struct ScheduleSettings {
    double scale_time = 1;    // > 0; computations are multiplied by it
    double scale_bytes = 1;   // likewise messages and collectives; none gets less than 1 byte
    std::uint32_t ranks = 2;  // of the hosts: a schedule has at most so many
};

struct Schedule {
    roce::Programs programs;  // by rank; none is null
    std::vector<Communication> communications;
    std::vector<std::string> notes;  // what was left out or changed, with counts
    WorkloadFormat format = WorkloadFormat::goal;
    std::string_view place_word = "line";  // what Operation::place is

    std::uint64_t operations() const;    // of all ranks
    std::uint64_t bytes() const;         // of messages and of collectives, as their operations count them
    std::uint64_t memory_bytes() const;  // that it takes
    std::uint64_t digest() const;
};
using ScheduleResult = tl::expected<Schedule, std::vector<ConfigError>>;

constexpr std::uint32_t max_schedule_ranks = 65'536;
constexpr std::uint32_t max_operations = 100'000'000;                  // of all programs
constexpr std::uint64_t max_operation_bytes = std::uint64_t{1} << 40;  // of a message
constexpr std::uint64_t max_collective_bytes = std::uint64_t{1} << 31;
constexpr std::uint16_t max_streams = 256;
constexpr Duration max_computation = seconds(1'000'000);

// Errors with their places, up to ten.
class ScheduleErrors {
  public:
    explicit ScheduleErrors(std::string file) : file_(std::move(file)) {}
    void file(std::string file) { file_ = std::move(file); }  // that is read now
    void refuse(SourcePlace place, std::string wrong, std::string remedy);
    bool is_full() const { return errors_.size() >= 10; }
    bool any() const { return !errors_.empty(); }
    std::vector<ConfigError> take() { return std::move(errors_); }

  private:
    std::string file_;
    std::vector<ConfigError> errors_;
};

// Makes the program of one rank, or of several that do the same.
class ProgramMaker {
  public:
    // Returns its number, from 0 in the order of the calls.
    std::uint32_t add(const roce::Program::Operation& operation);
    // An operation waits until `before` has ended, or only until it has begun. Both are there. Said twice
    // counts once.
    void wait(std::uint32_t operation, std::uint32_t before, bool until_begun = false);
    std::uint32_t size() const { return static_cast<std::uint32_t>(operations_.size()); }
    const roce::Program::Operation& operator[](std::uint32_t operation) const {
        return operations_[operation];
    }

    // Sorts operations so that none waits for a later one, otherwise in their order; nothing: those left wait
    // for each other, and `circle` is one of them. Leaves the maker empty.
    std::shared_ptr<const roce::Program> finish(std::uint32_t& circle);

  private:
    struct Wait {
        std::uint32_t operation, before;
        bool until_begun;
        auto operator<=>(const Wait&) const = default;
    };
    std::vector<roce::Program::Operation> operations_;
    std::vector<Wait> waits_;
};

// A time or a size of a file times its factor: picoseconds in [0, max_computation], bytes in [1, most].
// Nothing: it is too large.
std::optional<std::uint64_t> scaled_time(double picoseconds, double factor);
std::optional<std::uint64_t> scaled_bytes(std::uint64_t bytes, double factor, std::uint64_t most);

// What programs together must obey: ranks and collectives are there; all ranks of a group have the same
// collectives in the same order. `place_word` is what Operation::place is: "line".
void check_schedule(const Schedule& schedule, std::string_view place_word, ScheduleErrors& errors);

}  // namespace sluice::fabric
