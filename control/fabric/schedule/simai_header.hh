// The first line of a table of SimAI or astra-sim: its policy, the sizes of groups, and which layers run the
// forward pass again. Private to the reader.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "control/config/schema/source_place.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/schedule/schedule.hh"

namespace sluice::fabric::simai {

constexpr std::uint32_t max_layers = 1'000'000;

enum class Policy : std::uint8_t {
    micro,
    data,
    model,
    hybrid_data_model,
    hybrid_model_data,
    hybrid_dlrm,
    hybrid_dlrm_enhanced,
    hybrid_transformer,
    hybrid_transformer_fwd_in_bckwd,
    hybrid_customized,
    distributed_inference
};
std::string_view name_of(Policy policy);
std::optional<Policy> policy_of(std::string_view word);

// The ranks that run a collective together. Ranks count tensor-parallel ranks first, then data-parallel ones,
// then pipeline stages, as Megatron does, and SimAI's MockNcclGroup without stages.
enum Family : std::uint8_t {
    nobody,  // each rank by itself
    all,
    tensor,       // TP: consecutive ranks
    data,         // DP: of the same place in their TP groups, within a pipeline stage
    expert,       // EP: those of so many consecutive TP groups
    data_expert,  // DP_EP: those of the same place in their EP groups
    near_data,    // of HYBRID_MODEL_DATA: consecutive ranks
    far_model,    // likewise: of the same place among those
    families
};
using Groups = std::array<roce::RankGroup, families>;  // of size 1: nobody to exchange with

// The words of a line, of which there may be many.
struct Word {
    std::string_view text;
    SourcePlace place;
};
class Words {
  public:
    Words(std::string_view line, std::uint32_t number) : line_(line), number_(number) {}
    std::optional<Word> next();

  private:
    std::string_view line_;
    std::uint32_t number_;
    std::size_t at_ = 0;
};
// "12", and as Python prints a quotient: "12.0".
ParsedValue<double> parse_number(std::string_view text);
ParsedValue<std::uint64_t> parse_from(std::string_view text, std::uint64_t low, std::uint64_t high);
void refuse(ScheduleErrors& errors, const Word& word, std::string_view what, const ValueError& error);

enum Key : std::uint8_t { tp, ep, pp, vpp, ga, all_gpus, pp_comm, bottom_layer, keys };

struct Header {
    Policy policy = Policy::micro;
    SourcePlace place;
    std::array<std::optional<std::uint64_t>, keys> values;
    std::array<SourcePlace, keys> places;
    std::map<std::uint32_t, SourcePlace> checkpoints, initiates;  // by layer
    std::uint64_t unknown_keys = 0;
    std::string unknown_key;  // the first one, in quotes

    bool is_dlrm() const { return policy == Policy::hybrid_dlrm || policy == Policy::hybrid_dlrm_enhanced; }
    // SimAI's generator makes two policies only; and its own keys are in no table of astra-sim.
    bool is_of_simai() const;
};
// What is wrong is in `errors`.
Header read_header(std::string_view line, std::uint32_t number, ScheduleErrors& errors);
Groups find_groups(const Header& header, std::uint32_t hosts, ScheduleErrors& errors);

}  // namespace sluice::fabric::simai
