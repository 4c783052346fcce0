// Nodes of one trace become a program.
//
// Computations take a stream of the CPU or of the GPU, messages another one, and nodes that take no time none
// that is ever busy. Private to read_chakra.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/fabric/schedule/chakra_groups.hh"
#include "control/fabric/schedule/chakra_nodes.hh"

namespace sluice::fabric::chakra {

// Counts of all traces, for notes.
struct Counts {
    std::uint64_t nodes = 0, untyped = 0, untimed = 0, untimed_with_operations = 0, memory = 0,
                  host_calls = 0;
    std::uint64_t lonely_messages = 0, sizeless_messages = 0, sizeless_collectives = 0,
                  unknown_collectives = 0;
    std::array<std::uint64_t, collective_words.size()> unsupported{};
    std::uint64_t single_ranks = 0, empty = 0, dimensions = 0, priorities = 0, missing = 0, bad_groups = 0;
    std::uint64_t idle_files = 0, circles = 0;

    std::vector<std::string> notes() const;
};

class TraceProgram {
  public:
    // `rank` runs it; nothing: all do.
    TraceProgram(std::optional<std::uint32_t> rank, const ScheduleSettings& settings,
                 Communications& communications, Counts& counts, ScheduleErrors& errors)
        : rank_(rank),
          settings_(settings),
          communications_(communications),
          counts_(counts),
          errors_(errors) {}

    // False: there are enough errors.
    bool add(const Node& node);
    // Null: there were errors. Called once, after the last node, if there were none so far.
    std::shared_ptr<const roce::Program> finish();

  private:
    using Operation = roce::Program::Operation;
    enum Stream : std::uint16_t { cpu, gpu, messages, idle, recorded };
    struct Place {
        std::uint64_t id;
        std::uint32_t operation;
        auto operator<=>(const Place&) const = default;
    };
    struct Wait {
        std::uint64_t before;  // id
        std::uint32_t operation;
        bool is_control;
    };
    // A collective whose group is not known yet: the trace may define it later.
    struct Collective {
        std::uint32_t operation;
        std::uint32_t group;  // of group_names_
        CollectiveType type;
        std::optional<std::uint64_t> root;
    };

    Operation operation_of(const Node& node);
    Operation compute(const Node& node, Stream stream);
    Operation message(const Node& node, Operation::Kind kind);
    Operation collective(const Node& node);
    void find_groups();
    void place(const Collective& collective, std::uint32_t group);
    std::shared_ptr<const roce::Program> sorted(bool with_control, std::uint32_t& circle);
    void refuse_twins();
    std::uint64_t id_of(std::uint32_t operation) const;
    void refuse(const Node& node, const std::string& wrong, std::string remedy);
    void refuse(std::uint32_t operation, const std::string& wrong, std::string remedy);
    // Not all ranks can run the trace. Said once.
    void refuse_shared(std::uint64_t node, const std::string& wrong);

    std::optional<std::uint32_t> rank_;
    const ScheduleSettings& settings_;
    Communications& communications_;
    Counts& counts_;
    ScheduleErrors& errors_;
    bool has_types_ = false, is_refused_as_shared_ = false;
    std::vector<Operation> operations_;
    std::vector<Place> places_;
    std::vector<Wait> waits_;
    std::vector<Collective> collectives_;
    std::map<std::string, std::uint32_t> group_numbers_;
    std::vector<std::string> group_names_;
    GroupMap own_groups_;
};

}  // namespace sluice::fabric::chakra
