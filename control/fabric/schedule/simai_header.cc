#include "control/fabric/schedule/simai_header.hh"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "control/fabric/schedule/schedule_readers.hh"

namespace sluice::fabric {
namespace simai {
namespace {

using roce::RankGroup;

constexpr std::array<std::string_view, 11> policy_words{"MICRO",
                                                        "DATA",
                                                        "MODEL",
                                                        "HYBRID_DATA_MODEL",
                                                        "HYBRID_MODEL_DATA",
                                                        "HYBRID_DLRM",
                                                        "HYBRID_DLRM_ENHANCED",
                                                        "HYBRID_TRANSFORMER",
                                                        "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                        "HYBRID_CUSTOMIZED",
                                                        "DISTRIBUTED_INFERENCE"};

struct KeyWord {
    std::string_view word;
    std::uint64_t low, high;
};
constexpr std::array<KeyWord, keys> key_words{{{"model_parallel_NPU_group", 1, max_schedule_ranks},
                                               {"ep", 1, max_schedule_ranks},
                                               {"pp", 1, max_schedule_ranks},
                                               {"vpp", 0, 1'000'000'000},
                                               {"ga", 0, 1'000'000'000},
                                               {"all_gpus", 2, max_schedule_ranks},
                                               {"pp_comm", 0, max_operation_bytes},
                                               {"DLRM_LAST_BOTTOM_LAYER", 0, max_layers}}};

class HeaderReader {
  public:
    HeaderReader(Header& header, ScheduleErrors& errors) : header_(header), errors_(errors) {}

    void read(Words words) {
        const Word first = *words.next();
        header_.place = first.place;
        const auto policy = policy_of(first.text);
        if (!policy)
            return errors_.refuse(first.place,
                                  fmt::format("{} is not a policy of a table", in_quotes(first.text, 32)),
                                  fmt::format("write one of {}", fmt::join(policy_words, ", ")));
        header_.policy = *policy;
        auto word = words.next();
        // Older tables have only the number.
        if (header_.is_dlrm() && word && is_digit(word->text.front())) {
            read_key(bottom_layer, *word);
            word = words.next();
        }
        while (word && !errors_.is_full()) {
            const std::size_t colon = word->text.find(':');
            const std::string_view name = word->text.substr(0, colon);
            const auto behind = std::min(colon, word->text.size() - 1) + 1;
            std::optional<Word> value;
            if (behind != word->text.size())
                value = Word{word->text.substr(behind),
                             {word->place.line, word->place.column + static_cast<unsigned>(behind)}};
            else
                value = words.next();
            const auto key = std::ranges::find(
                key_words, name == "expert_parallel_npu_group" ? key_words[ep].word : name, &KeyWord::word);
            const bool is_list = name == "checkpoints" || name == "checkpoint_initiates";
            if (colon == word->text.npos && key == key_words.end() && !is_list)
                return errors_.refuse(word->place,
                                      fmt::format("{} is not a key of a table", in_quotes(name, 32)),
                                      "write keys as all_gpus: 16");
            if (!value)
                return errors_.refuse(word->place, fmt::format("{} has no value", in_quotes(name, 32)),
                                      "write it, or leave the key out");
            if (is_list) {
                if (!read_list(name == "checkpoints" ? header_.checkpoints : header_.initiates, *value,
                               words))
                    return;
            } else if (key != key_words.end()) {
                read_key(static_cast<Key>(key - key_words.begin()), *value);
            } else if (++header_.unknown_keys == 1) {
                header_.unknown_key = in_quotes(name, 32);
            }
            word = words.next();
        }
    }

  private:
    void read_key(Key key, const Word& cell) {
        const KeyWord& word = key_words[key];
        // SimAI's generator divides pp_comm, so it has a fraction.
        const auto value = parse_number(cell.text);
        if (!value)
            refuse(errors_, cell, word.word, value.error());
        else if (header_.values[key])
            errors_.refuse(cell.place, fmt::format("{} is there twice", word.word), "leave one out");
        else if (*value < static_cast<double>(word.low) || *value > static_cast<double>(word.high) ||
                 (key != pp_comm && *value != std::floor(*value)))
            refuse(errors_, cell, word.word,
                   {fmt::format("is not a whole number from {} to {}", word.low, word.high), {}});
        else
            header_.values[key] = static_cast<std::uint64_t>(*value);
        header_.places[key] = cell.place;
    }

    // How many, then the numbers of so many layers.
    bool read_list(std::map<std::uint32_t, SourcePlace>& list, const Word& count, Words& words) {
        const auto wanted = parse_from(count.text, 0, max_layers);
        if (!wanted) {
            refuse(errors_, count, "the number of layers", wanted.error());
            return false;
        }
        for (std::uint64_t n = 0; n < *wanted; ++n) {
            const auto cell = words.next();
            if (!cell) {
                errors_.refuse(count.place,
                               fmt::format("the list has {}, not {}", print_count(n, "layer"), *wanted),
                               fmt::format("write {}", n));
                return false;
            }
            const auto layer = parse_from(cell->text, 0, max_layers);
            if (!layer) {
                refuse(errors_, *cell, "layer", layer.error());
                return false;
            }
            list.try_emplace(static_cast<std::uint32_t>(*layer), cell->place);
        }
        return true;
    }

    Header& header_;
    ScheduleErrors& errors_;
};

}  // namespace

std::string_view name_of(Policy policy) { return policy_words[static_cast<std::size_t>(policy)]; }

std::optional<Policy> policy_of(std::string_view word) {
    const auto found = std::ranges::find(policy_words, word);
    if (found == policy_words.end()) return {};
    return static_cast<Policy>(found - policy_words.begin());
}

std::optional<Word> Words::next() {
    constexpr std::string_view blanks = " \t\r";
    at_ = std::min(line_.find_first_not_of(blanks, at_), line_.size());
    if (at_ == line_.size()) return {};
    const std::size_t begin = at_;
    at_ = std::min(line_.find_first_of(blanks, at_), line_.size());
    return Word{line_.substr(begin, at_ - begin), {number_, static_cast<unsigned>(begin + 1)}};
}

ParsedValue<double> parse_number(std::string_view text) {
    double value = 0;
    if (text.starts_with('-')) return bad_value("is negative");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || !is_digit(text.front()) || end != text.data() + text.size())
        return bad_value("is not a number");
    if (error != std::errc{}) return bad_value("is out of range");
    return value;
}

ParsedValue<std::uint64_t> parse_from(std::string_view text, std::uint64_t low, std::uint64_t high) {
    const auto value = parse_integer(text);
    if (value && (*value < low || *value > high))
        return bad_value(fmt::format("is not from {} to {}", low, high));
    return value;
}

void refuse(ScheduleErrors& errors, const Word& word, std::string_view what, const ValueError& error) {
    errors.refuse(word.place, fmt::format("{} {} {}", what, in_quotes(word.text, 32), error.wrong),
                  error.remedy.empty() ? "correct it" : error.remedy);
}

bool Header::is_of_simai() const {
    return policy == Policy::micro || policy == Policy::hybrid_transformer_fwd_in_bckwd ||
           std::ranges::any_of(std::array{ep, pp, vpp, ga, all_gpus},
                               [&](Key key) { return values[key].has_value(); });
}

Header read_header(std::string_view line, std::uint32_t number, ScheduleErrors& errors) {
    Header header;
    HeaderReader(header, errors).read(Words(line, number));
    return header;
}

Groups find_groups(const Header& header, std::uint32_t hosts, ScheduleErrors& errors) {
    const auto& values = header.values;
    const std::uint64_t ranks = values[all_gpus].value_or(hosts);
    const SourcePlace place = values[all_gpus] ? header.places[all_gpus] : header.place;
    if (ranks > hosts)
        errors.refuse(place,
                      fmt::format("the table has {} ranks (all_gpus), there are {} hosts", ranks, hosts),
                      fmt::format("name a fabric of {} hosts, or a table of fewer ranks", ranks));
    const std::uint64_t stages = values[pp].value_or(1);
    // Without a size one dimension has all ranks, as in SimAI.
    const std::uint64_t model = values[tp].value_or(std::max<std::uint64_t>(ranks / stages, 1));
    const std::uint64_t far = values[tp].value_or(1);
    const std::uint64_t copy = model * stages, copies = ranks / copy;
    if (ranks % copy != 0) {
        errors.refuse(place,
                      fmt::format("{} ranks are not a multiple of {} (model_parallel_NPU_group) x {} (pp)",
                                  ranks, model, stages),
                      fmt::format("write all_gpus: {}", std::max<std::uint64_t>(copies, 1) * copy));
        return {};
    }
    const std::uint64_t experts = values[ep].value_or(1);
    if (copies % experts != 0)
        errors.refuse(header.places[ep],
                      fmt::format("ep {} does not divide the {} data-parallel ranks", experts, copies),
                      fmt::format("write a divisor of {}", copies));
    const auto group = [](std::uint64_t size, std::uint64_t stride) {
        return RankGroup{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(stride)};
    };
    Groups groups{};
    groups[nobody] = {1, 1};
    groups[all] = group(ranks, 1);
    groups[tensor] = group(model, 1);
    groups[data] = group(copies, model);
    groups[expert] = group(experts, model);
    groups[data_expert] = group(copies / experts, model * experts);
    groups[near_data] = group(ranks / far, 1);
    groups[far_model] = group(far, ranks / far);
    return groups;
}

}  // namespace simai

bool is_simai_header(std::string_view line) {
    const auto first = simai::Words(line, 1).next();
    return first && simai::policy_of(first->text).has_value();
}

}  // namespace sluice::fabric
