// Why a packet was discarded. Each reason is a counter, which only `drop()` in dataplane/ counts up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

enum class DropReason : std::uint8_t {
    none,  // not dropped
#define DROP(name, sentence) name,
#include "lib/frame/drop_reasons.def"
#undef DROP
};

struct DropReasonText {
    std::string_view name;
    std::string_view sentence;
};

constexpr std::array drop_reason_texts = {
    DropReasonText{"none", "not dropped"},
#define DROP(name, sentence) DropReasonText{#name, sentence},
#include "lib/frame/drop_reasons.def"
#undef DROP
};

constexpr std::size_t drop_reason_count = drop_reason_texts.size();

constexpr std::string_view to_string(DropReason reason) {
    return drop_reason_texts[static_cast<std::size_t>(reason)].name;
}

}  // namespace sluice
