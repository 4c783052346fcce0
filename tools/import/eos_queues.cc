// tx-queue and uc-tx-queue: scheduler, bandwidth, shaper, marking; shape rate of a port.
//
// A queue is strict until `no priority` makes it share; the queues below one that shares do so, too.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"
#include "tools/import/eos.hh"

namespace sluice::import {
namespace {

constexpr unsigned max_queue_number = 63;  // of a switch; those above seven are not ours

constexpr auto queue_rules = std::to_array<StatementRule>({
    {"priority"},
    {"bandwidth percent"},
    {"bandwidth guaranteed"},
    {"shape rate"},
    {"random-detect ecn minimum-threshold"},
    {"random-detect ecn count"},
    {"random-detect drop"},
    {"random-detect drop drop-precedence", 1},
});

class EosQueues {
  public:
    explicit EosQueues(Eos& in) : in_(in) {}

    void take() {
        read_non_ect();
        std::size_t unsaid = 0;
        for (auto& [name, port] : in_.cli.config().ports) {
            const Settings& settings = in_.settings_of(name);
            if (const Said* said = find_said(settings, "shape rate"); said != nullptr && !said->negated)
                if (const auto rate = in_.cli.rate(*said, said->arguments(), port)) {
                    port.shaper = *rate;
                    in_.account().taken(*said->item, key_of_port(name, "shaper") +
                                                         fmt::format(" = \"{}\"", print_rate(*rate)));
                }
            unsaid += schedule(settings, name, port);
            for (unsigned n = 0; n < classes; ++n) marking(settings, name, port, n);
        }
        if (lower_share_)
            in_.account().assumed("tx-queue.priority",
                                  "queues below one that shares (no priority) share, too, as EOS has it");
        if (unsaid != 0)
            in_.account().assumed("tx-queue",
                                  "a queue without a statement is strict, and marks nothing: EOS's defaults");
    }

  private:
    static std::string key(unsigned queue, std::string_view words) {
        return fmt::format("tx-queue {} {}", queue, words);
    }
    static std::string key_of_queue(const std::string& port, unsigned queue, std::string_view words) {
        return key_of_port(port, fmt::format("queue.{}.{}", queue, words));
    }

    void read_non_ect() {
        for (const auto& statement : in_.cli.root.members) {
            StatementWords words(statement->word);
            const bool no = words.take("no") || words.take("default");
            if (!words.take("qos random-detect ecn allow non-ect")) continue;
            passes_non_ect_ = !no;
            in_.account().taken(*statement, fmt::format("drop_non_ect = {} of the profiles that mark",
                                                        no ? "as Sluice has it" : "false"));
        }
    }

    // The queues that no statement of the scheduler is about.
    std::size_t schedule(const Settings& settings, const std::string& name, PortConfig& port) {
        std::array<bool, classes> shares{}, is_said{};
        unsigned highest = 0;
        for (unsigned n = 0; n < classes; ++n) {
            const Said* said = find_said(settings, key(n, "priority"));
            if (said == nullptr) continue;
            is_said[n] = true;
            in_.cli.out.note(port, Aspect::scheduler, *said->item);
            const std::string_view word = said->arguments().peek();
            shares[n] = said->item->word.starts_with("no ") || word == "disabled";
            if (shares[n]) highest = n;
            in_.account().taken(*said->item, key_of_queue(name, n, "scheduler") +
                                                 (shares[n] ? " = \"dwrr\"" : " = \"strict\""));
        }
        bool has_lower = false;
        for (unsigned n = 0; n < highest; ++n)
            if (!is_said[n]) shares[n] = has_lower = true;
        lower_share_ = lower_share_ || has_lower;
        std::size_t unsaid = 0;
        unsigned spare = 100, without = 0;
        std::array<std::optional<unsigned>, classes> weights;
        for (unsigned n = 0; n < classes; ++n) {
            weights[n] = weight(settings, name, n, shares[n]);
            if (!shares[n]) continue;
            if (weights[n])
                spare -= std::min(spare, *weights[n]);
            else
                ++without;
        }
        for (unsigned n = 0; n < classes; ++n) {
            QueueConfig& queue = port.queue[n];
            queue.scheduler = shares[n] ? QueueScheduler::dwrr : QueueScheduler::strict;
            queue.wred = "none";
            if (shares[n])
                queue.weight = static_cast<std::uint8_t>(
                    std::max(1U, weights[n].value_or(without == 0 ? 1U : spare / without)));
            rates(settings, name, port, n);
            unsaid += is_said[n] || weights[n] ? 0 : 1;
        }
        return unsaid;
    }

    std::optional<unsigned> weight(const Settings& settings, const std::string& name, unsigned n,
                                   bool shares) {
        const Said* said = find_said(settings, key(n, "bandwidth percent"));
        if (said == nullptr) return std::nullopt;
        if (said->negated) return in_.account().taken(*said->item, "no share of its own"), std::nullopt;
        const auto percent = in_.cli.number(*said, said->arguments().peek(), 0, 100);
        if (!percent) return std::nullopt;
        if (shares)
            in_.account().taken(*said->item, key_of_queue(name, n, "weight") +
                                                 fmt::format(" = {}", std::max<std::uint64_t>(1, *percent)));
        else
            in_.account().assumed(
                *said->item, "no weight: the queue is strict, as EOS's queues are without `no priority`");
        return static_cast<unsigned>(*percent);
    }

    void rates(const Settings& settings, const std::string& name, PortConfig& port, unsigned n) {
        const auto take = [&](std::string_view words, const char* what, Rate& into) {
            const Said* said = find_said(settings, key(n, words));
            if (said == nullptr) return;
            if (said->negated) return in_.account().taken(*said->item, "no such rate");
            const auto rate = in_.cli.rate(*said, said->arguments(), port);
            if (!rate) return;
            into = *rate;
            in_.account().taken(*said->item,
                                key_of_queue(name, n, what) + fmt::format(" = \"{}\"", print_rate(*rate)));
        };
        take("shape rate", "max_rate", port.queue[n].max_rate);
        take("bandwidth guaranteed", "min_rate", port.queue[n].min_rate);
    }

    // A curve of "MIN UNIT maximum-threshold MAX UNIT", and what comes behind it.
    bool read_curve(const Said& said, StatementWords words, const PortConfig& port, WredCurveConfig& curve,
                    WredConfig& profile) const {
        words.take("minimum-threshold");
        const std::string_view min = words.next(), min_unit = words.next();
        if (!words.take("maximum-threshold")) {
            in_.cli.wrong(said, "has no maximum-threshold behind a minimum-threshold with its unit",
                          "write minimum-threshold 150 kbytes maximum-threshold 1500 kbytes");
            return false;
        }
        const std::string_view max = words.next(), max_unit = words.next();
        curve.min_bytes = in_.cli.threshold(said, min, min_unit, port);
        curve.max_bytes = curve.min_bytes ? in_.cli.threshold(said, max, max_unit, port) : std::nullopt;
        if (!curve.min_bytes || !curve.max_bytes) return false;
        curve.probability = Chance::percent(100);
        while (!words.empty()) {
            const std::string_view word = words.next();
            if (word == "max-mark-probability" || word == "drop-probability") {
                const auto chance = in_.cli.number(said, words.next(), 0, 100);
                if (!chance) return false;
                curve.probability = Chance::percent(static_cast<std::uint32_t>(*chance));
            } else if (word == "weight") {
                const auto weight = in_.cli.number(said, words.next(), 0, 15);
                if (!weight) return false;
                profile.weight = static_cast<std::uint8_t>(*weight);
            } else {
                in_.cli.wrong(said, in_quotes(word) + " is not part of it",
                              "write max-mark-probability P, or weight W");
                return false;
            }
        }
        return true;
    }

    void marking(const Settings& settings, const std::string& name, PortConfig& port, unsigned n) {
        if (const Said* said = find_said(settings, key(n, "random-detect ecn count")))
            in_.account().taken(*said->item, "Sluice counts what it marks in any case");
        for (const unsigned precedence : {1U, 2U})
            if (const Said* said = find_said(
                    settings, key(n, fmt::format("random-detect drop drop-precedence {}", precedence))))
                in_.account().nothing(*said->item, "packets of Sluice have one color, drop precedence 0");
        const Said* ecn = find_said(settings, key(n, "random-detect ecn minimum-threshold"));
        const Said* drop = find_said(settings, key(n, "random-detect drop"));
        if (drop == nullptr) drop = find_said(settings, key(n, "random-detect drop drop-precedence 0"));
        for (const Said** said : {&ecn, &drop})
            if (*said != nullptr && (*said)->negated) {
                in_.account().taken(*(*said)->item, "no such curve");
                *said = nullptr;
            }
        WredConfig profile;
        if (ecn != nullptr &&
            !read_curve(*ecn, ecn->arguments(), port, drop != nullptr ? profile.ect : profile.green, profile))
            ecn = nullptr;
        if (drop != nullptr && !read_curve(*drop, drop->arguments(), port, profile.green, profile))
            drop = nullptr;
        if (ecn == nullptr && drop == nullptr) return;
        profile.ecn = ecn != nullptr;
        if (drop != nullptr) profile.drop_non_ect = true;
        if (drop == nullptr && passes_non_ect_) profile.drop_non_ect = false;
        const std::string made = in_.cli.wred_name(ecn != nullptr ? *ecn->item : *drop->item, profile, port);
        if (made.empty()) return;
        port.queue[n].wred = made;
        in_.cli.out.note(port, Aspect::marking, ecn != nullptr ? *ecn->item : *drop->item);
        for (const Said* said : {ecn, drop}) {
            if (said == nullptr) continue;
            const WredCurveConfig& curve = said == ecn && drop != nullptr ? profile.ect : profile.green;
            in_.account().taken(
                *said->item, fmt::format("{} = \"{}\": {} from {} to {} bytes", key_of_queue(name, n, "wred"),
                                         made, said == ecn ? "marks" : "drops", curve.min_bytes.value_or(0),
                                         curve.max_bytes.value_or(0)));
        }
    }

    Eos& in_;
    bool passes_non_ect_ = false, lower_share_ = false;
};

}  // namespace

bool take_eos_queue_body(Eos& in, const Item& section, Settings& into) {
    StatementWords words(section.word);
    const bool no = words.take("no") || words.take("default");
    if (words.take("mc-tx-queue")) {
        in.account().nothing_in(section, "mc-tx-queue", "Sluice has no multicast");
        return true;
    }
    if (words.peek() == "uc-tx-queue") in.cli.out.names.queue_word = "uc-tx-queue";
    if (!words.take("tx-queue") && !words.take("uc-tx-queue")) return false;
    if (no) return in.account().taken(section, "EOS's default"), true;
    const auto list = in.cli.out.classes_of(section, words.rest(), max_queue_number);
    if (list.empty()) return true;
    in.account().taken_alone(section, fmt::format("queue {}", words.rest()));
    for (const auto& member : section.members) {
        auto matched = match_statement(*member, queue_rules);
        if (!matched) {
            if (starts_with_words(member->word, "no") || starts_with_words(member->word, "default"))
                in.account().taken(*member, "EOS's default");
            else
                in.account().nothing(*member, "Sluice's queues have none of it");
            continue;
        }
        for (const ClassId n : list)
            put_setting(into, fmt::format("tx-queue {} ", n), *matched, in.cli.replaced);
    }
    return true;
}

void take_eos_queues(Eos& in) { EosQueues(in).take(); }

}  // namespace sluice::import
