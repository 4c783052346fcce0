// Chooses the frames that go to control instead of being forwarded, and their class (punt_classes.def). The
// caller limits the rate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lib/frame/drop_reason.hh"
#include "lib/frame/headers.hh"
#include "lib/queue/token_bucket.hh"

namespace sluice {

enum class PuntClass : std::uint8_t {
#define PUNT(name, rate, burst, sentence) name,
#include "lib/punt/punt_classes.def"
#undef PUNT
};

struct PuntClassText {
    std::string_view name;
    std::string_view sentence;
};

constexpr std::array punt_class_texts = {
#define PUNT(name, rate, burst, sentence) PuntClassText{#name, sentence},
#include "lib/punt/punt_classes.def"
#undef PUNT
};

constexpr std::size_t punt_class_count = punt_class_texts.size();

constexpr std::string_view to_string(PuntClass punt) {
    return punt_class_texts[static_cast<std::size_t>(punt)].name;
}

// The limit of a class at a port.
struct PuntLimit {
    std::uint32_t rate = 0;   // packets a second, in [0, 10^6]; 0: never punted
    std::uint32_t burst = 1;  // packets at once, in [1, 4096]
    bool operator==(const PuntLimit&) const = default;
};

// Packets as bytes of a token bucket, one each.
inline void configure(TokenBucket& bucket, const PuntLimit& limit) {
    bucket.configure(Rate{std::uint64_t{limit.rate} * 8}, Duration{}, limit.burst, 1);
}

// The class of a frame that `parse` or routing refuses for `reason`; nothing: it is dropped. `view`: as for
// `parse`; `own`: the MAC of the port it came in by.
std::optional<PuntClass> punt_class(DropReason reason, std::span<const std::uint8_t> view,
                                    const MacAddress& own);

}  // namespace sluice
