// Policies of type queuing: of output, the scheduler, limit and marking of a queue; of input, where a
// lossless group pauses. Its headroom is buffer-size less pause-threshold.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/nxos.hh"

namespace sluice::import {
namespace {

constexpr const char* output_key = "service-policy type queuing output";
constexpr const char* input_key = "service-policy type queuing input";

class NxosQueues {
  public:
    explicit NxosQueues(Nxos& in) : in_(in), policies_(in, "queuing") {}

    void take() {
        std::size_t without = 0;
        for (auto& [name, port] : in_.cli.config().ports) {
            for (unsigned n = 0; n < classes; ++n) {
                port.queue[n].scheduler = QueueScheduler::dwrr;
                port.queue[n].weight = 1;
                port.queue[n].wred = "none";
            }
            const Said* output = in_.policy(name, output_key);
            const auto queue = [&](const Item& section, ClassId n) { read_queue(section, port, n); };
            const auto group = [&](const Item& section, ClassId n) { read_group(section, port, n); };
            if (output == nullptr || output->negated)
                ++without;
            else if (policies_.each_class(*output, queue))
                refer(*output, output_key, name, "queues of the ports that go by it");
            const Said* input = in_.policy(name, input_key);
            if (input != nullptr && !input->negated && policies_.each_class(*input, group))
                refer(*input, input_key, name, "pause thresholds of the ports that go by it");
        }
        policies_.tell_unused();
        if (without != 0)
            in_.account().assumed(output_key,
                                  fmt::format("{} without a policy: all queues share with weight 1",
                                              print_count(without, "port")));
        else
            in_.account().assumed(
                output_key, "a queue that the policy does not name shares with weight 1, and marks nothing");
    }

  private:
    void refer(const Said& said, const char* key, const std::string& port, const char* what) {
        in_.account().taken(*said.item, what);
        in_.cli.out.names.references[key][port] = said.arguments().peek();
    }

    void read_queue(const Item& section, PortConfig& port, ClassId n) {
        QueueConfig& queue = port.queue[n];
        for (const auto& member : section.members) {
            StatementWords words(member->word);
            const Said said{member.get(), words.take("no"), words.rest()};
            if (said.negated) {
                take_back(words, queue);
                in_.account().taken(*member, "NX-OS's default");
            } else if (words.take("bandwidth"))
                read_bandwidth(said, words, port, n);
            else if (words.take("priority"))
                read_priority(said, words, queue, n);
            else if (words.take("shape"))
                read_shape(said, words, port, n);
            else if (words.take("queue-limit"))
                read_limit(said, words, port, queue);
            else if (words.take("random-detect"))
                read_marking(said, words, port, n);
            else if (words.take("pause"))
                in_.account().nothing(*member, "a policy of output pauses nothing: one of input does");
            else
                in_.account().nothing(*member, "Sluice's queues have none of it");
        }
    }

    // `no`, behind what it takes back.
    static void take_back(StatementWords words, QueueConfig& queue) {
        if (words.take("bandwidth"))
            queue.weight = 1, queue.min_rate = Rate{};
        else if (words.take("priority"))
            queue.scheduler = QueueScheduler::dwrr;
        else if (words.take("shape"))
            queue.min_rate = queue.max_rate = Rate{};
        else if (words.take("queue-limit"))
            queue.dynamic_th.reset(), queue.static_bytes.reset();
        else if (words.take("random-detect"))
            queue.wred = "none";
    }

    void read_bandwidth(const Said& said, StatementWords words, PortConfig& port, ClassId n) {
        QueueConfig& queue = port.queue[n];
        in_.cli.out.note(port, Aspect::scheduler, *said.item);
        const bool remaining = words.take("remaining");
        if (!words.take("percent")) {
            if (const auto rate = in_.cli.rate(said, words, port)) {
                queue.min_rate = *rate;
                in_.account().taken(*said.item,
                                    fmt::format("queue.{}.min_rate = \"{}\"", n, print_rate(*rate)));
            }
            return;
        }
        const auto percent = in_.cli.number(said, words.peek(), 0, 100);
        if (!percent) return;
        queue.weight = static_cast<std::uint8_t>(std::max<std::uint64_t>(1, *percent));
        const std::string what = fmt::format("queue.{}.weight = {}", n, *queue.weight);
        if (*percent == 0)
            in_.account().assumed(*said.item, what + ", the least there is");
        else if (remaining)
            in_.account().taken(*said.item, what + ", of what strict queues leave");
        else
            in_.account().taken(*said.item, what);
    }

    void read_priority(const Said& said, StatementWords words, QueueConfig& queue, ClassId n) {
        queue.scheduler = QueueScheduler::strict;
        const std::string what = fmt::format("queue.{}.scheduler = \"strict\"", n);
        if (words.take("level") && words.peek() != "1")
            in_.account().assumed(*said.item, what + ": strict queues are served from the highest number on");
        else
            in_.account().taken(*said.item, what);
    }

    // "min 10 gbps max 40 gbps", "percent 50", "average 10 gbps", "10 gbps".
    void read_shape(const Said& said, StatementWords words, PortConfig& port, ClassId n) {
        const auto take = [&](const char* key, Rate& into) {
            const auto rate = in_.cli.rate(said, words, port);
            words.next();
            words.next();
            if (!rate) return;
            into = *rate;
            in_.account().taken(*said.item, fmt::format("queue.{}.{} = \"{}\"", n, key, print_rate(*rate)));
        };
        words.take("average");
        if (words.take("min")) {
            take("min_rate", port.queue[n].min_rate);
            if (words.take("max")) take("max_rate", port.queue[n].max_rate);
            return;
        }
        words.take("max");
        take("max_rate", port.queue[n].max_rate);
    }

    void read_limit(const Said& said, StatementWords words, const PortConfig& port, QueueConfig& queue) {
        if (words.take("dynamic")) {
            constexpr int of_one = 7;  // 0 is 1/128, 7 is 1, 10 is 8
            const auto step = in_.cli.number(said, words.peek(), 0, 10);
            if (!step) return;
            queue.dynamic_th = static_cast<int>(*step) - of_one;
            queue.static_bytes.reset();
            return in_.account().assumed(
                *said.item,
                fmt::format("dynamic_th = {}, by the table of the Nexus 9000: 7 is all that is free",
                            *queue.dynamic_th));
        }
        const std::string_view figure = words.next();
        const std::string_view unit = words.empty() ? std::string_view("bytes") : words.next();
        if (unit == "packets") return in_.account().nothing(*said.item, "Sluice's limits are in bytes");
        const auto bytes = in_.cli.threshold(said, figure, unit, port);
        if (!bytes) return;
        queue.static_bytes = std::max<std::uint64_t>(1, *bytes);
        queue.dynamic_th.reset();
        in_.account().taken(*said.item, fmt::format("static_th = {}", *queue.static_bytes));
    }

    void read_marking(const Said& said, StatementWords words, PortConfig& port, ClassId n) {
        if (words.peek() == "threshold")
            return in_.account().nothing(*said.item,
                                         "thresholds of the chip's own, which the file does not say");
        WredConfig profile;
        profile.ecn = false;
        profile.green.probability = Chance::percent(100);
        while (!words.empty()) {
            const std::string_view word = words.next();
            if (word == "minimum-threshold" || word == "maximum-threshold") {
                const std::string_view figure = words.next();
                const std::string_view unit = words.peek();
                constexpr std::string_view next = "maximum-threshold drop-probability weight ecn";
                if (unit.empty() || unit == "packets" || next.find(unit) != next.npos)
                    return in_.account().nothing(*said.item,
                                                 "Sluice's thresholds are in bytes, not in packets");
                words.next();
                const auto bytes = in_.cli.threshold(said, figure, unit, port);
                if (!bytes) return;
                (word == "minimum-threshold" ? profile.green.min_bytes : profile.green.max_bytes) = *bytes;
            } else if (word == "drop-probability") {
                const auto chance = in_.cli.number(said, words.next(), 0, 100);
                if (!chance) return;
                profile.green.probability = Chance::percent(static_cast<std::uint32_t>(*chance));
            } else if (word == "weight") {
                const auto weight = in_.cli.number(said, words.next(), 0, 15);
                if (!weight) return;
                profile.weight = static_cast<std::uint8_t>(*weight);
            } else if (word == "ecn") {
                profile.ecn = true;
            } else if (word != "cap-average") {
                return in_.account().nothing(
                    *said.item, fmt::format("{}: Sluice has one curve for a queue", in_quotes(word)));
            }
        }
        if (!profile.green.min_bytes || !profile.green.max_bytes)
            return in_.account().nothing(*said.item,
                                         "thresholds of the chip's own, which the file does not say");
        const std::string name = in_.cli.wred_name(*said.item, profile, port);
        if (name.empty()) return;
        port.queue[n].wred = name;
        in_.cli.out.note(port, Aspect::marking, *said.item);
        in_.account().taken(*said.item, fmt::format("queue.{}.wred = \"{}\": {} from {} to {} bytes", n, name,
                                                    profile.ecn ? "marks" : "drops", *profile.green.min_bytes,
                                                    *profile.green.max_bytes));
    }

    void read_group(const Item& section, PortConfig& port, ClassId n) {
        for (const auto& member : section.members) {
            StatementWords words(member->word);
            const Said said{member.get(), words.take("no"), words.rest()};
            if (words.take("pause"))
                read_pause(said, words, port, n);
            else if (words.take("queue-limit"))
                in_.account().nothing(*member,
                                      "limits of an ingress queue: a lossless group has pause thresholds");
            else
                in_.account().nothing(*member,
                                      "of what DCBX tells the peer: Sluice's ports receive in order");
        }
    }

    void read_pause(const Said& said, StatementWords words, PortConfig& port, ClassId n) {
        if (said.negated) {
            if (in_.no_drop[n]) port.priority_group[in_.no_drop[n]->priority] = {};
            return in_.account().taken(*said.item, "NX-OS's default");
        }
        if (!in_.no_drop[n])
            return in_.account().nothing(*said.item, "of a class that the network-qos policy does not pause");
        constexpr std::uint64_t most = 1ULL << 40;
        std::optional<std::uint64_t> buffer, pause, resume;
        while (!words.empty()) {
            const std::string_view word = words.next();
            auto* into = word == "buffer-size"        ? &buffer
                         : word == "pause-threshold"  ? &pause
                         : word == "resume-threshold" ? &resume
                                                      : nullptr;
            if (into == nullptr)
                return in_.cli.wrong(
                    said, in_quotes(word) + " is none of buffer-size, pause-threshold, resume-threshold");
            *into = in_.cli.number(said, words.next(), 0, most);
            if (!*into) return;
        }
        if (!buffer || !pause)
            return in_.account().assumed(*said.item,
                                         "Sluice computes the headroom: the line does not have both "
                                         "buffer-size and pause-threshold");
        if (*pause >= *buffer || (resume && *resume > *pause))
            return in_.cli.wrong(
                said, "resume-threshold must be at most pause-threshold, and that below buffer-size");
        PriorityGroupConfig& group = port.priority_group[in_.no_drop[n]->priority];
        in_.cli.out.note(port, Aspect::headroom, *said.item);
        group.size_bytes = 0;
        group.static_bytes = std::max<std::uint64_t>(1, *pause);
        group.xoff_bytes = *buffer - *pause;
        if (resume) group.xon_offset_bytes = *pause - *resume;
        in_.account().taken(
            *said.item,
            fmt::format("priority_group.{}: xoff = {}, static_th = {}{}", in_.no_drop[n]->priority,
                        *group.xoff_bytes, *group.static_bytes,
                        resume ? fmt::format(", xon_offset = {}", *pause - *resume) : std::string()));
    }

    Nxos& in_;
    NxosPolicies policies_;
};

}  // namespace

void take_nxos_queues(Nxos& in) { NxosQueues(in).take(); }

}  // namespace sluice::import
