// Tables of SimAI and astra-sim as schedules: one pass over the layers, forward and backward, which all ranks
// run alike. Who waits for whom follows the iterate_ functions of SimAI's astra-sim/workload/Workload.cc.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/fabric/schedule/schedule_readers.hh"
#include "control/fabric/schedule/simai_table.hh"

namespace sluice::fabric {
namespace simai {
namespace {

using roce::CollectiveKind;
using Operation = roce::Program::Operation;
using roce::RankGroup;

// Updates behind collectives pass beside computations, as in astra-sim.
constexpr std::uint16_t compute_stream = 0, update_stream = 1;
// Some minutes of training of the largest models; one program serves all ranks.
constexpr std::uint64_t max_own_operations = 5'000'000;

constexpr std::array<std::string_view, families> family_names{"single ranks", "all ranks", "TP", "DP",
                                                              "EP",           "DP_EP",     "DP", "TP"};

std::string_view kind_name(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::all_gather:
            return "all-gather";
        case CollectiveKind::reduce_scatter:
            return "reduce-scatter";
        case CollectiveKind::all_to_all:
            return "all-to-all";
        case CollectiveKind::pipeline:
            return "broadcast";
        default:
            return "all-reduce";
    }
}

std::uint64_t parts_of(const Exchange& exchange) {
    return (exchange.bytes + max_collective_bytes - 1) / max_collective_bytes;
}

class ScheduleWriter {
  public:
    ScheduleWriter(Table table, ScheduleErrors& errors) : table_(std::move(table)), errors_(errors) {}

    Schedule write() {
        const std::uint64_t most = std::min(max_own_operations, max_operations / std::uint64_t{table_.ranks});
        most_ = static_cast<std::uint32_t>(most);
        run();
        Schedule schedule;
        if (is_full_) {
            errors_.refuse({full_line_, 1},
                           fmt::format("a rank has more than {} with {} ranks",
                                       print_count(most, "operation"), table_.ranks),
                           "write fewer layers");
            return schedule;
        }
        if (maker_.size() == 0) {
            errors_.refuse({}, "no layer computes or exchanges anything", "name another table");
            return schedule;
        }
        note_exchanges();
        std::uint32_t circle = 0;
        schedule.programs.assign(table_.ranks, maker_.finish(circle));
        schedule.communications = std::move(communications_);
        schedule.notes = std::move(table_.notes);
        return schedule;
    }

  private:
    std::uint32_t layers() const { return static_cast<std::uint32_t>(table_.layers.size()); }

    void run() {
        switch (table_.policy) {
            case Policy::micro:
                for (Layer& layer : table_.layers) finish(layer, layer.weight_gradient.exchange);
                return;
            case Policy::data:
                return run_data();
            case Policy::hybrid_dlrm:
            case Policy::hybrid_dlrm_enhanced:
                return run_dlrm();
            case Policy::distributed_inference:
                return run_forward();
            case Policy::model:
            case Policy::hybrid_data_model:
            case Policy::hybrid_model_data:
            case Policy::hybrid_transformer:
            case Policy::hybrid_transformer_fwd_in_bckwd:
            case Policy::hybrid_customized:
                run_forward();
                for (std::uint32_t n = layers(); n-- > 0 && !is_full_;) run_backward(n);
        }
    }

    void forward(Layer& layer) {
        compute(layer, layer.forward);
        finish(layer, layer.forward.exchange);
    }

    void run_forward() {
        for (Layer& layer : table_.layers)
            if (!is_full_) forward(layer);
    }

    void run_backward(std::uint32_t n) {
        Layer& layer = table_.layers[n];
        if (const auto again = table_.again_from.find(n); again != table_.again_from.end())
            for (std::uint32_t before = again->second; before < n; ++before) forward(table_.layers[before]);
        compute(layer, layer.input_gradient);
        const bool is_transformer = table_.policy == Policy::hybrid_transformer ||
                                    table_.policy == Policy::hybrid_transformer_fwd_in_bckwd;
        std::optional<Started> input;
        if (is_transformer)
            finish(layer, layer.input_gradient.exchange);
        else if (n != 0)  // nobody wants the gradient of the input
            input = start(layer, layer.input_gradient.exchange);
        compute(layer, layer.weight_gradient);
        if (table_.policy != Policy::model) start(layer, layer.weight_gradient.exchange);
        wait(input);
    }

    void run_data() {
        for (Layer& layer : table_.layers) compute(layer, layer.forward);
        for (std::uint32_t n = layers(); n-- > 0 && !is_full_;) {
            Layer& layer = table_.layers[n];
            compute(layer, layer.weight_gradient);
            start(layer, layer.weight_gradient.exchange);
            if (n != 0) compute(layer, layer.input_gradient);
        }
    }

    // The first layer has the tables of embeddings, which ranks share out: its all-to-all passes beside the
    // bottom layers, and back beside their gradients, for which only a next pass would wait.
    void run_dlrm() {
        std::optional<Started> embeddings;
        for (std::uint32_t n = 0; n < layers() && !is_full_; ++n) {
            Layer& layer = table_.layers[n];
            compute(layer, layer.forward);
            if (layer.forward.exchange.kind == CollectiveKind::all_to_all) {
                const auto started = start(layer, layer.forward.exchange);
                if (n == 0) embeddings = started;
            } else if (n == table_.last_bottom_layer) {
                wait(embeddings);
            }
        }
        for (std::uint32_t n = layers(); n-- > 0 && !is_full_;) {
            Layer& layer = table_.layers[n];
            compute(layer, layer.weight_gradient);
            start(layer, layer.weight_gradient.exchange);
            if (n == 0) break;
            compute(layer, layer.input_gradient);
            if (n == table_.last_bottom_layer + 1)
                start(table_.layers[0], table_.layers[0].input_gradient.exchange);
        }
    }

    void compute(const Layer& layer, const Pass& pass) {
        if (pass.compute == 0) return;
        const std::uint32_t made = add(layer, Operation::Kind::compute, pass.compute, 0, compute_stream);
        wait_for_step(made);
        go_on_behind(made);
    }

    struct Started {
        std::uint32_t end;   // the last of its operations
        std::uint32_t step;  // at which it began
    };

    // Nothing: the layer has no such collective, or nobody to exchange with.
    std::optional<Started> start(const Layer& layer, Exchange& exchange) {
        exchange.runs = true;
        if (!exchange.kind || table_.groups[exchange.family].size < 2) return {};
        const std::uint32_t which = communication_of(exchange);
        // A communicator runs one collective after the other, of whatever kind.
        auto& last = last_of_[exchange.family];
        const std::uint64_t parts = parts_of(exchange);
        for (std::uint64_t n = 0; n < parts; ++n) {
            const std::uint64_t bytes = exchange.bytes * (n + 1) / parts - exchange.bytes * n / parts;
            const std::uint32_t part = add(layer, Operation::Kind::collective, bytes, which, compute_stream);
            if (n == 0) wait_for_step(part);
            if (last) maker_.wait(part, *last);
            last = part;
        }
        std::uint32_t end = *last;
        if (layer.update != 0) {
            end = add(layer, Operation::Kind::compute, layer.update, 0, update_stream);
            maker_.wait(end, *last);
        }
        return Started{end, step_};
    }

    // What comes next waits for the end.
    void finish(const Layer& layer, Exchange& exchange) {
        if (const auto started = start(layer, exchange)) go_on_behind(started->end);
    }

    // As finish, for one that began before and that computations may have passed by.
    void wait(const std::optional<Started>& started) {
        if (!started) return;
        // A collective that began at this step has waited for the others of it.
        if (started->step == step_) return go_on_behind(started->end);
        step_behind_.push_back(started->end);
        ++step_;
    }

    void go_on_behind(std::uint32_t operation) {
        step_behind_.assign(1, operation);
        ++step_;
    }

    void wait_for_step(std::uint32_t operation) {
        for (const std::uint32_t before : step_behind_) maker_.wait(operation, before);
    }

    std::uint32_t add(const Layer& layer, Operation::Kind kind, std::uint64_t amount, std::uint32_t peer,
                      std::uint16_t stream) {
        if (maker_.size() == most_) {
            is_full_ = true;
            if (full_line_ == 0) full_line_ = layer.line;
            return most_ - 1;
        }
        return maker_.add({amount, peer, 0, layer.line, stream, kind});
    }

    std::uint32_t communication_of(const Exchange& exchange) {
        const auto [at, is_new] = communication_of_.try_emplace(
            {exchange.family, *exchange.kind}, static_cast<std::uint32_t>(communications_.size()));
        if (!is_new) return at->second;
        const RankGroup group = table_.groups[exchange.family];
        Communication made{*exchange.kind, std::vector<std::vector<std::uint32_t>>(table_.ranks / group.size),
                           fmt::format("{} of {}", kind_name(*exchange.kind), family_names[exchange.family])};
        // Ranks come to a group in their order.
        for (std::uint32_t rank = 0; rank < table_.ranks; ++rank)
            made.groups[rank / (group.size * group.stride) * group.stride + rank % group.stride].push_back(
                rank);
        communications_.push_back(std::move(made));
        return at->second;
    }

    void note_exchanges() {
        std::uint64_t alone = 0, empty = 0, left_out = 0, divided = 0, parts = 0, broadcasts = 0,
                      computed = 0;
        for (const Layer& layer : table_.layers) {
            for (const Pass* pass : {&layer.forward, &layer.input_gradient, &layer.weight_gradient}) {
                const Exchange& exchange = pass->exchange;
                if (pass->compute != 0) ++computed;
                if (!exchange.kind) continue;
                if (!exchange.runs) {
                    ++left_out;
                } else if (table_.groups[exchange.family].size < 2) {
                    ++alone;
                } else {
                    if (exchange.is_empty) ++empty;
                    if (exchange.kind == CollectiveKind::pipeline) ++broadcasts;
                    if (parts_of(exchange) == 1) continue;
                    ++divided;
                    parts += parts_of(exchange);
                }
            }
        }
        const auto note = [&](std::string text) { table_.notes.push_back(std::move(text)); };
        const std::string_view policy = name_of(table_.policy);
        if (left_out != 0)
            note(fmt::format("{} that {} does not run", print_count(left_out, "collective"), policy));
        if (table_.policy == Policy::micro) {
            if (computed != 0)
                note(fmt::format("{} left out: MICRO runs only the collectives of weight gradients",
                                 print_count(computed, "computation")));
            if (layers() > 1)
                note(fmt::format("all {} layers run, one after the other: SimAI runs the first one only",
                                 layers()));
        }
        if (table_.policy == Policy::distributed_inference)
            note("the backward pass is left out: " + std::string(policy) + " has none");
        if (alone != 0)
            note(fmt::format("{} within groups of one rank: nothing to send",
                             print_count(alone, "collective")));
        if (broadcasts != 0)
            note(fmt::format("{} along the ranks of each group: SimAI has no BROADCAST",
                             print_count(broadcasts, "broadcast")));
        if (empty != 0) note(fmt::format("{} of 0 bytes: made 1 byte", print_count(empty, "collective")));
        if (divided != 0)
            note(fmt::format("{} of more than {}: divided into {}, one after the other",
                             print_count(divided, "collective"), print_size(max_collective_bytes),
                             print_count(parts, "part")));
    }

    Table table_;
    ScheduleErrors& errors_;
    std::uint32_t most_ = 0;  // operations
    bool is_full_ = false;
    std::uint32_t full_line_ = 0;
    ProgramMaker maker_;
    std::vector<std::uint32_t> step_behind_;                      // what the next operation waits for
    std::uint32_t step_ = 0;                                      // counts its changes
    std::array<std::optional<std::uint32_t>, families> last_of_;  // collective of each communicator
    std::vector<Communication> communications_;
    std::map<std::pair<Family, CollectiveKind>, std::uint32_t> communication_of_;
};

}  // namespace
}  // namespace simai

ScheduleResult read_simai(TextLines::Source source, const std::string& file,
                          const ScheduleSettings& settings) {
    ScheduleErrors errors(file);
    TextLines lines(std::move(source));
    simai::Table table = simai::read_table(lines, settings, errors);
    if (errors.any()) return tl::unexpected(errors.take());
    Schedule schedule = simai::ScheduleWriter(std::move(table), errors).write();
    if (!errors.any()) check_schedule(schedule, "line", errors);
    if (errors.any()) return tl::unexpected(errors.take());
    return schedule;
}

}  // namespace sluice::fabric
