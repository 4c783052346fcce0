// Groups of ranks by their names, and the communications over them.
//
// Traces name a group where they use it (pg_name, comm_group). A file of groups says which ranks it has, or
// the trace itself, in PyTorch's list of process groups. Names "" and "0", unless defined, are all ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <tuple>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/fabric/schedule/chakra_nodes.hh"

namespace sluice::fabric::chakra {

// Ranks by the name of their group, in the file's order; none: all ranks.
using GroupMap = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

// {"1": [0, 1, 2, 3], "2": [4, 5, 6, 7]}
void read_groups(ByteStream& stream, GroupMap& groups, ScheduleErrors& errors);
// [{"pg_name": "1", "ranks": [0, 1], ...}]. False: it is something else.
bool read_process_groups(std::string_view text, GroupMap& groups);

struct Group {
    std::string name;
    std::vector<std::uint32_t> ranks, sorted;

    bool has(std::uint32_t rank) const { return std::ranges::binary_search(sorted, rank); }
    std::string words() const;  // "group 1", "all ranks"
};

class Communications {
  public:
    static constexpr std::size_t most = 1024;  // check_schedule takes memory for each rank of each

    explicit Communications(std::uint32_t ranks);

    void set_groups(GroupMap groups) { by_file_ = std::move(groups); }
    bool has_groups() const { return !by_file_.empty(); }
    // The number of the group that a trace means, which defines `own` groups itself; or what is wrong.
    tl::expected<std::uint32_t, ValueError> group(const std::string& name, const GroupMap& own);
    const Group& operator[](std::uint32_t group) const { return groups_[group]; }
    // The number of the communication for collectives of this type. `root` matters to broadcasts and reduces.
    tl::expected<std::uint32_t, ValueError> communication(std::uint32_t group, CollectiveType type,
                                                          std::optional<std::uint64_t> root);
    std::vector<Communication> take();

  private:
    // Collectives of the same type in groups without a common rank share a communication.
    struct Family {
        CollectiveType type;
        std::vector<bool> has;  // by rank
        Communication communication;
    };

    tl::expected<std::uint32_t, ValueError> intern(const std::string& name,
                                                   const std::vector<std::uint32_t>& ranks);

    std::uint32_t ranks_;
    GroupMap by_file_;
    std::vector<Group> groups_;
    std::map<std::string, std::uint32_t, std::less<>> known_;  // of by_file_
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, std::uint32_t> interned_;
    std::map<std::tuple<std::uint32_t, CollectiveType, std::uint64_t>, std::uint32_t> numbers_;
    std::vector<Family> families_;
};

// How a type of collectives runs; nothing: it cannot.
std::optional<roce::CollectiveKind> kind_of(CollectiveType type);

}  // namespace sluice::fabric::chakra
