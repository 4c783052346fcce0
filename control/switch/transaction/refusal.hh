// Why a change of a running switch was refused; nothing has changed then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

struct Refusal {
    std::string message;                 // a sentence
    std::optional<std::string> path{};   // the key in question
    std::optional<std::string> id{};     // the finding's name: findings.def
    std::optional<std::string> value{};  // wanted for it
    std::optional<std::string> remedy{};
    bool may_be_forced = false;  // finding.hh
    enum class Kind : std::uint8_t { refused, too_many } kind = Kind::refused;
};

}  // namespace sluice
