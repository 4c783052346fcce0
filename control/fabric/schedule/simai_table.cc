#include "control/fabric/schedule/simai_table.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice::fabric::simai {
namespace {

using roce::CollectiveKind;

struct KindWord {
    std::string_view word;
    CollectiveKind kind;
};
constexpr std::array<KindWord, 5> kind_words{{{"ALLREDUCE", CollectiveKind::ring_allreduce},
                                              {"ALLGATHER", CollectiveKind::all_gather},
                                              {"REDUCESCATTER", CollectiveKind::reduce_scatter},
                                              {"ALLTOALL", CollectiveKind::all_to_all},
                                              {"BROADCAST", CollectiveKind::pipeline}}};
struct Suffix {
    std::string_view word;
    Family family;
};
constexpr std::array<Suffix, 4> suffixes{
    {{"_TP", tensor}, {"_DP", data}, {"_EP", expert}, {"_DP_EP", data_expert}}};

constexpr std::array<std::string_view, 3> pass_words{"forward", "input-gradient", "weight-gradient"};
constexpr std::string_view layer_remedy =
    "write name and dependency, time, collective and size of each of the three passes, and the update time";

class TableReader {
  public:
    TableReader(TextLines& lines, const ScheduleSettings& settings, ScheduleErrors& errors)
        : lines_(lines), settings_(settings), errors_(errors) {}

    Table read() {
        if (next_line()) {
            header_ = read_header(lines_.text(), lines_.number(), errors_);
            table_.policy = header_.policy;
            if (!errors_.any()) table_.groups = find_groups(header_, settings_.ranks, errors_);
            table_.ranks = table_.groups[all].size;
        } else if (lines_.wrong().wrong.empty()) {
            errors_.refuse({}, "the file has no table", "name another file");
        }
        // Without groups a collective cannot be read.
        if (!errors_.any() && next_line()) read_count();
        while (!errors_.is_full() && (said_layers_ != 0) && next_line()) read_layer();
        if (!lines_.wrong().wrong.empty())
            errors_.refuse({lines_.number(), 1}, lines_.wrong().wrong, lines_.wrong().remedy);
        else if (!errors_.any())
            check_counts();
        if (!errors_.any()) note_rest();
        return std::move(table_);
    }

  private:
    bool next_line() {
        while (lines_.next())
            if (Words(lines_.text(), 0).next()) return true;
        return false;
    }

    void read_count() {
        Words words(lines_.text(), lines_.number());
        const Word first = *words.next();
        const auto count = parse_from(first.text, 1, max_layers);
        if (!count) return refuse(errors_, first, "the number of layers", count.error());
        if (const auto more = words.next())
            return errors_.refuse(more->place, "the second line has more than the number of layers",
                                  "write each layer in its own line");
        said_layers_ = *count;
        count_place_ = first.place;
    }

    void read_layer() {
        Words words(lines_.text(), lines_.number());
        constexpr std::size_t most = 13;
        const std::size_t wanted = table_.policy == Policy::hybrid_customized ? most : most - 1;
        std::array<Word, most> cells;
        std::size_t count = 0;
        for (auto word = words.next(); word; word = words.next()) {
            if (count == wanted)
                return errors_.refuse(word->place, fmt::format("the layer has more than {} values", wanted),
                                      std::string(layer_remedy));
            cells[count++] = *word;
        }
        if (count != wanted)
            return errors_.refuse(
                cells[count - 1].place,
                fmt::format("the layer has {}, not {}", print_count(count, "value"), wanted),
                std::string(layer_remedy) + (wanted == most ? ", and the policy" : ""));
        if (table_.layers.size() == said_layers_) {
            ++extra_layers_;
            return;
        }
        Policy policy = table_.policy;
        if (wanted == most) {
            const auto own = policy_of(cells[12].text);
            if (!own || *own == Policy::hybrid_customized)
                return refuse(errors_, cells[12], "policy",
                              {"is none of a layer", "write DATA, MODEL, HYBRID_DATA_MODEL ..."});
            policy = *own;
        }
        Layer layer;
        layer.line = lines_.number();
        if (!read_dependency(cells[1])) return;
        bool good = true;
        const std::array<Pass*, 3> passes{&layer.forward, &layer.input_gradient, &layer.weight_gradient};
        for (std::size_t n = 0; n < passes.size(); ++n) {
            good = read_time(cells[2 + 3 * n], fmt::format("{} time", pass_words[n]), passes[n]->compute) &&
                   good;
            good = read_exchange(cells[3 + 3 * n], cells[4 + 3 * n], pass_words[n], family_of(policy, n == 2),
                                 passes[n]->exchange) &&
                   good;
        }
        good = read_time(cells[11], "update time", layer.update) && good;
        if (good) table_.layers.push_back(layer);
    }

    // The groups of a collective without a suffix.
    Family family_of(Policy policy, bool is_of_weights) const {
        if (header_.is_dlrm() && table_.layers.empty()) return all;
        switch (policy) {
            case Policy::hybrid_dlrm:
            case Policy::hybrid_dlrm_enhanced:
            case Policy::micro:
            case Policy::data:
                return is_of_weights ? all : nobody;
            case Policy::model:
            case Policy::distributed_inference:
                return is_of_weights ? nobody : all;
            case Policy::hybrid_model_data:
                return is_of_weights ? near_data : far_model;
            case Policy::hybrid_data_model:
            case Policy::hybrid_transformer:
            case Policy::hybrid_transformer_fwd_in_bckwd:
            case Policy::hybrid_customized:
                break;
        }
        return is_of_weights ? data : tensor;
    }

    bool read_dependency(const Word& cell) {
        const bool is_negative = cell.text.starts_with('-');
        const auto number = parse_integer(cell.text.substr(is_negative ? 1 : 0));
        if (!number) {
            refuse(errors_, cell, "dependency", number.error());
            return false;
        }
        if (!is_negative) ++dependencies_;
        return true;
    }

    bool read_time(const Word& cell, std::string_view what, std::uint64_t& time) {
        constexpr double ps_per_ns = 1000;
        const auto value = parse_number(cell.text);
        if (!value) {
            refuse(errors_, cell, what, value.error());
            return false;
        }
        const auto scaled = scaled_time(*value * ps_per_ns, settings_.scale_time);
        if (!scaled)
            refuse(errors_, cell, what,
                   {fmt::format("(ns) is longer than {}", print_time(max_computation)),
                    "write another scale_time"});
        else
            time = *scaled;
        return scaled.has_value();
    }

    bool read_exchange(const Word& collective, const Word& size, std::string_view pass, Family family,
                       Exchange& exchange) {
        const auto bytes = parse_number(size.text);
        if (!bytes) {
            refuse(errors_, size, fmt::format("{} size", pass), bytes.error());
            return false;
        }
        if (collective.text == "NONE") return true;
        const auto kind = std::ranges::find_if(
            kind_words, [&](const KindWord& each) { return collective.text.starts_with(each.word); });
        const std::string_view rest =
            kind == kind_words.end() ? std::string_view{} : collective.text.substr(kind->word.size());
        const auto suffix = std::ranges::find(suffixes, rest, &Suffix::word);
        if (kind == kind_words.end() || (!rest.empty() && suffix == suffixes.end())) {
            refuse(errors_, collective, fmt::format("{} collective", pass),
                   {"is unknown",
                    "write NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, perhaps with "
                    "_TP, _DP, "
                    "_EP or _DP_EP"});
            return false;
        }
        exchange.kind = kind->kind;
        exchange.family = rest.empty() ? family : suffix->family;
        exchange.is_empty = *bytes == 0;
        // astra-sim counts the part of each rank, SimAI the whole buffer.
        const bool is_part = exchange.kind == CollectiveKind::all_gather && !header_.is_of_simai();
        constexpr double exact = 0x1p53;
        const double whole = *bytes * (is_part ? table_.groups[exchange.family].size : 1);
        if (is_part && table_.groups[exchange.family].size > 1) ++parts_;
        const auto scaled = whole > exact ? std::nullopt
                                          : scaled_bytes(static_cast<std::uint64_t>(std::llround(whole)),
                                                         settings_.scale_bytes, max_bytes);
        if (!scaled)
            refuse(errors_, size, fmt::format("{} size", pass),
                   {fmt::format("makes more than {} of a rank", print_size(max_bytes)),
                    "write another scale_bytes"});
        else
            exchange.bytes = *scaled;
        return scaled.has_value();
    }

    void check_counts() {
        const std::uint64_t there = table_.layers.size() + extra_layers_;
        if (said_layers_ == 0)
            return errors_.refuse({lines_.number(), 1}, "the table has no number of layers",
                                  "write it in the second line");
        if (said_layers_ != there)
            return errors_.refuse(
                count_place_,
                fmt::format("the table says {}, and has {}", print_count(said_layers_, "layer"), there),
                fmt::format("write {}", there));
        if (header_.is_dlrm()) {
            if (!header_.values[bottom_layer])
                return errors_.refuse(header_.place,
                                      "the table does not say which layer is the last bottom one",
                                      fmt::format("write {} 4", name_of(table_.policy)));
            if (*header_.values[bottom_layer] >= there)
                return errors_.refuse(header_.places[bottom_layer],
                                      fmt::format("there is no layer {}", *header_.values[bottom_layer]),
                                      fmt::format("write one from 0 to {}", there - 1));
            table_.last_bottom_layer = static_cast<std::uint32_t>(*header_.values[bottom_layer]);
        }
        if (table_.policy == Policy::hybrid_transformer_fwd_in_bckwd) check_checkpoints();
    }

    void check_checkpoints() {
        for (const auto* list : {&header_.checkpoints, &header_.initiates})
            if (!list->empty() && list->rbegin()->first >= table_.layers.size())
                errors_.refuse(list->rbegin()->second,
                               fmt::format("there is no layer {}", list->rbegin()->first),
                               fmt::format("write one from 0 to {}", table_.layers.size() - 1));
        std::optional<std::uint32_t> before;  // that starts the pass again, too
        for (const auto& [layer, place] : header_.initiates) {
            const auto behind = header_.checkpoints.upper_bound(layer);
            if (behind == header_.checkpoints.begin())
                errors_.refuse(place, fmt::format("no checkpoint is before layer {}", layer),
                               "add one, or take the layer out of checkpoint_initiates");
            else if (const std::uint32_t from = std::prev(behind)->first;
                     from == layer || (before && *before > from))
                errors_.refuse(place, fmt::format("layer {} has no checkpoint of its own before it", layer),
                               "add one, or take the layer out of checkpoint_initiates");
            else
                table_.again_from.emplace(layer, from);
            before = layer;
        }
    }

    void note_rest() {
        const auto note = [&](std::string text) { table_.notes.push_back(std::move(text)); };
        if (const std::uint64_t stages = header_.values[pp].value_or(1); stages > 1)
            note(fmt::format(
                "{} run the same layers side by side: messages between them{} are left out, as in SimAI",
                print_count(stages, "pipeline stage"),
                header_.values[pp_comm] ? fmt::format(" (pp_comm {})", *header_.values[pp_comm]) : ""));
        if (!header_.values[tp] && table_.policy >= Policy::hybrid_data_model && !header_.is_dlrm() &&
            table_.policy != Policy::distributed_inference)
            note(fmt::format(
                "the table has no model_parallel_NPU_group: all {} ranks are one dimension, as in SimAI",
                table_.ranks));
        if (parts_ != 0)
            note(fmt::format("{}: the size is the part of a rank, as in astra-sim",
                             print_count(parts_, "all-gather")));
        if (dependencies_ != 0)
            note(fmt::format(
                "{} left out, as in SimAI: layers run in their order",
                dependencies_ == 1 ? "1 dependency" : fmt::format("{} dependencies", dependencies_)));
        if (table_.policy != Policy::hybrid_transformer_fwd_in_bckwd &&
            !(header_.checkpoints.empty() && header_.initiates.empty()))
            note(fmt::format("checkpoints left out: {} does not run the forward pass again",
                             name_of(table_.policy)));
        if (header_.unknown_keys != 0)
            note(fmt::format("{} left out, {} first", print_count(header_.unknown_keys, "unknown key"),
                             header_.unknown_key));
    }

    TextLines& lines_;
    const ScheduleSettings& settings_;
    ScheduleErrors& errors_;
    Table table_;
    Header header_;
    SourcePlace count_place_;
    std::uint64_t said_layers_ = 0, extra_layers_ = 0, parts_ = 0, dependencies_ = 0;
};

}  // namespace

Table read_table(TextLines& lines, const ScheduleSettings& settings, ScheduleErrors& errors) {
    return TableReader(lines, settings, errors).read();
}

}  // namespace sluice::fabric::simai
