#include "control/fabric/schedule/chakra_program.hh"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "control/config/schema/values.hh"

namespace sluice::fabric::chakra {
namespace {

using Operation = roce::Program::Operation;
using Kind = Operation::Kind;

// The size of a rank's whole buffer, as our collectives and nccl-tests count. astra-sim (Ring.cc) counts the
// same, except for an all-gather: its comm_size is a rank's own part, and the buffer has comm_size x ranks. A
// barrier is an all-reduce of one byte a rank.
std::optional<std::uint64_t> buffer_bytes(CollectiveType type, std::uint64_t bytes, std::uint64_t ranks) {
    if (type == CollectiveType::barrier) return ranks;
    if (type != CollectiveType::all_gather) return bytes;
    if (bytes > std::numeric_limits<std::uint64_t>::max() / ranks) return {};
    return bytes * ranks;
}

constexpr std::uint64_t max_waits = std::uint64_t{4} * max_operations;  // of a trace

}  // namespace

bool TraceProgram::add(const Node& node) {
    const std::uint64_t runs = rank_ ? 1 : settings_.ranks;
    const std::size_t waits = waits_.size() + node.data_waits.size() + node.control_waits.size();
    if (++counts_.nodes > max_operations / runs || waits > max_waits) {
        errors_.refuse({},
                       fmt::format("the traces have more than {} nodes in all ranks, or {} dependencies",
                                   max_operations, max_waits),
                       "name shorter traces");
        return false;
    }
    has_types_ |= node.type != NodeType::invalid;
    counts_.dimensions += node.has_dimensions ? 1 : 0;
    counts_.priorities += node.has_priority ? 1 : 0;
    if (!node.process_groups.empty() && !read_process_groups(node.process_groups, own_groups_))
        ++counts_.bad_groups;
    const auto number = static_cast<std::uint32_t>(operations_.size());
    Operation operation = operation_of(node);
    operation.place = static_cast<std::uint32_t>(node.id > 0xFFFF'FFFF ? number + 1 : node.id);
    operations_.push_back(operation);
    places_.push_back({node.id, number});
    for (const std::uint64_t before : node.data_waits) waits_.push_back({before, number, false});
    for (const std::uint64_t before : node.control_waits) waits_.push_back({before, number, true});
    return !errors_.is_full();
}

Operation TraceProgram::operation_of(const Node& node) {
    Operation nothing;
    nothing.stream = idle;
    // The call of a collective in PyTorch's traces; what the GPU does is another node.
    const bool is_host_call = node.is_cpu_op && !node.bytes && node.type >= NodeType::send &&
                              node.collective != static_cast<std::uint64_t>(CollectiveType::barrier);
    if (is_host_call) {
        ++counts_.host_calls;
        return compute(node, cpu);
    }
    switch (node.type) {
        case NodeType::invalid:
            ++counts_.untyped;
            return nothing;
        case NodeType::metadata:
            return nothing;
        case NodeType::load:
        case NodeType::store:
            ++counts_.memory;
            break;
        case NodeType::compute:
            if (node.microseconds == 0) {
                ++counts_.untimed;
                counts_.untimed_with_operations += node.has_operations ? 1 : 0;
            }
            break;
        case NodeType::send:
            return message(node, Kind::send);
        case NodeType::receive:
            return message(node, Kind::receive);
        case NodeType::collective:
            return collective(node);
    }
    return compute(node, node.is_cpu_op ? cpu : gpu);
}

Operation TraceProgram::compute(const Node& node, Stream stream) {
    constexpr double picoseconds = 1e6;  // of a microsecond
    Operation operation;
    operation.stream = stream;
    if (const auto time = scaled_time(node.microseconds * picoseconds, settings_.scale_time))
        operation.amount = *time;
    else
        refuse(node,
               fmt::format("takes {} us, more than {} once scaled", node.microseconds,
                           print_time(max_computation)),
               "write another scale_time");
    return operation;
}

Operation TraceProgram::message(const Node& node, Operation::Kind kind) {
    const bool sends = kind == Kind::send;
    const auto peer = sends ? node.destination : node.source;
    if (!peer || !node.bytes) {
        ++(peer ? counts_.sizeless_messages : counts_.lonely_messages);
        return compute(node, recorded);
    }
    Operation operation;
    operation.stream = messages;
    operation.kind = kind;
    if (!rank_) {
        refuse_shared(node.id, fmt::format("{} rank {}", sends ? "sends to" : "receives from", *peer));
        return operation;
    }
    if (const auto own = sends ? node.source : node.destination; own && *own != *rank_)
        refuse(node,
               fmt::format("{} as rank {}, and the trace is that of rank {}", sends ? "sends" : "receives",
                           *own, *rank_),
               "name the traces in the order of their ranks");
    const std::uint64_t tag = node.tag.value_or(0);
    if (*peer >= Operation::any || tag >= Operation::any)
        refuse(node,
               fmt::format("has comm_{} {} and comm_tag {}, and they are below {}", sends ? "dst" : "src",
                           *peer, tag, Operation::any),
               "write smaller numbers");
    operation.peer = static_cast<std::uint32_t>(*peer);
    operation.tag = static_cast<std::uint32_t>(tag);
    counts_.empty += *node.bytes == 0 ? 1 : 0;
    if (const auto bytes = scaled_bytes(*node.bytes, settings_.scale_bytes, max_operation_bytes))
        operation.amount = *bytes;
    else
        refuse(node,
               fmt::format("has a message of {} bytes, more than {} once scaled", *node.bytes,
                           print_size(max_operation_bytes)),
               "write another scale_bytes");
    return operation;
}

Operation TraceProgram::collective(const Node& node) {
    if (!node.collective || *node.collective >= collective_words.size()) {
        ++counts_.unknown_collectives;
        return compute(node, recorded);
    }
    const auto type = static_cast<CollectiveType>(*node.collective);
    if (!kind_of(type)) {
        ++counts_.unsupported[*node.collective];
        return compute(node, recorded);
    }
    if (!node.bytes && type != CollectiveType::barrier) {
        ++counts_.sizeless_collectives;
        return compute(node, recorded);
    }
    Operation nothing;
    nothing.stream = idle;
    const auto [group, is_new] =
        group_numbers_.try_emplace(node.group, static_cast<std::uint32_t>(group_names_.size()));
    if (is_new) group_names_.push_back(node.group);
    collectives_.push_back({static_cast<std::uint32_t>(operations_.size()), group->second, type, node.root});
    nothing.amount = node.bytes.value_or(0);  // until its group is known
    return nothing;
}

void TraceProgram::find_groups() {
    std::vector<std::optional<std::uint32_t>> groups;
    std::vector<ValueError> wrong(group_names_.size());
    for (std::size_t n = 0; n < group_names_.size(); ++n) {
        const auto group = communications_.group(group_names_[n], own_groups_);
        groups.push_back(group ? std::optional(*group) : std::nullopt);
        if (!group) wrong[n] = group.error();
    }
    for (const Collective& each : collectives_) {
        if (errors_.is_full()) return;
        if (groups[each.group]) {
            place(each, *groups[each.group]);
            continue;
        }
        // Once for each group.
        if (!wrong[each.group].wrong.empty())
            refuse(each.operation, wrong[each.group].wrong, wrong[each.group].remedy);
        wrong[each.group] = {};
    }
}

void TraceProgram::place(const Collective& collective, std::uint32_t group) {
    Operation& operation = operations_[collective.operation];
    const std::size_t ranks = communications_[group].ranks.size();
    if (rank_ && !communications_[group].has(*rank_))
        return refuse(collective.operation,
                      fmt::format("takes part in {}, which does not have rank {}",
                                  communications_[group].words(), *rank_),
                      "name the traces in the order of their ranks, or add the rank to the group");
    if (!rank_ && ranks != settings_.ranks)
        return refuse_shared(id_of(collective.operation),
                             fmt::format("takes part in a group of {} of {} ranks", ranks, settings_.ranks));
    if (ranks == 1) {
        ++counts_.single_ranks;
        operation.amount = 0;
        return;
    }
    counts_.empty += operation.amount == 0 && collective.type != CollectiveType::barrier ? 1 : 0;
    const auto whole = buffer_bytes(collective.type, operation.amount, ranks);
    const double factor = collective.type == CollectiveType::barrier ? 1 : settings_.scale_bytes;
    const auto bytes = whole ? scaled_bytes(*whole, factor, max_collective_bytes) : std::nullopt;
    if (!bytes)
        return refuse(collective.operation,
                      fmt::format("has comm_size {} for {} ranks, more than {} a rank once scaled",
                                  operation.amount, ranks, print_size(max_collective_bytes)),
                      "write another scale_bytes");
    const auto communication = communications_.communication(group, collective.type, collective.root);
    if (!communication)
        return refuse(collective.operation, communication.error().wrong, communication.error().remedy);
    operation.kind = Kind::collective;
    operation.amount = *bytes;
    operation.peer = *communication;
    operation.stream = cpu;  // takes none
}

std::shared_ptr<const roce::Program> TraceProgram::finish() {
    if (operations_.empty()) ++counts_.idle_files;
    if (!operations_.empty() && !has_types_) {
        errors_.refuse(
            {},
            fmt::format("none of its {} has a type, as in a trace of PyTorch's that is not converted",
                        print_count(operations_.size(), "node")),
            "run chakra_trace_link and chakra_converter on it, and name their output");
        return nullptr;
    }
    std::ranges::sort(places_);
    refuse_twins();
    find_groups();
    if (errors_.any()) return nullptr;
    std::uint32_t circle = 0;
    if (auto program = sorted(true, circle)) return program;
    // Feeders of Chakra before their version 3 look at data_deps alone, and there are traces for them whose
    // ctrl_deps are not in order.
    if (auto program = sorted(false, circle)) {
        ++counts_.circles;
        return program;
    }
    refuse(circle, "waits for itself, in a circle of data_deps", "correct its data_deps");
    return nullptr;
}

void TraceProgram::refuse_twins() {
    for (std::size_t n = 1; n < places_.size() && !errors_.is_full(); ++n)
        if (places_[n].id == places_[n - 1].id)
            errors_.refuse({},
                           fmt::format("two nodes have id {}: number {} and number {} of the file",
                                       places_[n].id, places_[n - 1].operation + 1, places_[n].operation + 1),
                           "give each node an id of its own");
}

// Null: nodes wait in a circle.
std::shared_ptr<const roce::Program> TraceProgram::sorted(bool with_control, std::uint32_t& circle) {
    ProgramMaker maker;
    std::uint64_t missing = 0;
    for (const Operation& each : operations_) maker.add(each);
    for (const Wait& each : waits_) {
        if (each.is_control && !with_control) continue;
        const auto before = std::ranges::lower_bound(places_, each.before, {}, &Place::id);
        if (before == places_.end() || before->id != each.before)
            ++missing;
        else
            maker.wait(each.operation, before->operation);
    }
    auto program = maker.finish(circle);
    if (program) counts_.missing += missing;
    return program;
}

std::uint64_t TraceProgram::id_of(std::uint32_t operation) const {
    return std::ranges::find(places_, operation, &Place::operation)->id;
}

void TraceProgram::refuse(const Node& node, const std::string& wrong, std::string remedy) {
    errors_.refuse(node.place, fmt::format("node {} {}", node.id, wrong), std::move(remedy));
}

void TraceProgram::refuse(std::uint32_t operation, const std::string& wrong, std::string remedy) {
    errors_.refuse({}, fmt::format("node {} {}", id_of(operation), wrong), std::move(remedy));
}

void TraceProgram::refuse_shared(std::uint64_t node, const std::string& wrong) {
    if (!is_refused_as_shared_)
        errors_.refuse({}, fmt::format("node {} {}, so not all ranks can run this trace", node, wrong),
                       "name a trace for each rank");
    is_refused_as_shared_ = true;
}

std::vector<std::string> Counts::notes() const {
    std::vector<std::string> notes;
    const auto note = [&](std::uint64_t count, std::string_view noun, std::string_view text) {
        if (count != 0) notes.push_back(fmt::format("{} {}", print_count(count, noun), text));
    };
    note(idle_files, "trace", "without a node: its rank does nothing");
    note(untyped, "node", "of type INVALID_NODE: taken as 0 ns");
    if (untimed_with_operations == 0)
        note(untimed, "computation", "without a duration: taken as 0 ns");
    else
        note(untimed, "computation",
             fmt::format("without a duration ({} with num_ops): taken as 0 ns", untimed_with_operations));
    note(memory, "node", "of type MEM_LOAD or MEM_STORE: taken as computations");
    note(host_calls, "communication", "of the CPU without comm_size: taken as computations");
    note(lonely_messages, "message", "without comm_dst or comm_src: as long as its trace says");
    note(sizeless_messages, "message", "without comm_size: as long as its trace says");
    note(sizeless_collectives, "collective", "without comm_size: as long as its trace says");
    note(unknown_collectives, "collective", "without a comm_type that is known: as long as its trace says");
    for (std::size_t n = 0; n < unsupported.size(); ++n)
        note(unsupported[n], collective_words[n], "that cannot be replayed: as long as its trace says");
    note(single_ranks, "collective", "in a group of one rank: taken as 0 ns");
    note(empty, "operation", "of 0 bytes: taken as 1 byte");
    note(circles, "trace", "with ctrl_deps in a circle: all its ctrl_deps left out");
    note(missing, "wait", "for nodes that are not in the trace: left out");
    note(dimensions, "node", "with involved_dim: left out, their group takes part");
    note(priorities, "node", "with comm_priority: left out");
    note(bad_groups, "list", "of process groups that cannot be read: left out");
    return notes;
}

}  // namespace sluice::fabric::chakra
