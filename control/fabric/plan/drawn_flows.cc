#include "control/fabric/plan/drawn_flows.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "lib/roce/messages.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

__extension__ using Wide = unsigned __int128;
using Hosts = std::span<const std::uint32_t>;
using roce::MessageDraw;

constexpr std::uint64_t senders_a_message = 1ULL << 20;  // more than a fabric has

std::uint64_t scrambled(std::uint64_t sum, std::string_view text) {
    for (const char each : text) sum = scramble(sum ^ static_cast<std::uint8_t>(each));
    return sum;
}

std::uint32_t below(std::uint64_t drawn, std::size_t count) {
    return static_cast<std::uint32_t>(static_cast<Wide>(drawn) * count >> 64);
}

// By index: the hosts of the fabric.
struct AllHosts {
    std::vector<std::string> names;
    std::vector<Rate> lines;  // of their ports
    std::map<std::string_view, std::uint32_t> index;

    explicit AllHosts(const FabricPlan& plan) : names(plan.topology.names(true)) {
        for (const NodeId node : plan.hosts)
            lines.push_back(plan.topology.links[plan.topology.nodes[node].links.front()].speed);
        for (std::uint32_t n = 0; n < names.size(); ++n) index.emplace(names[n], n);
    }
    std::vector<std::uint32_t> at(const std::vector<std::string>& hosts) const {
        std::vector<std::uint32_t> made;
        for (const std::string& host : hosts) made.push_back(index.at(host));
        return made;
    }
};

struct NotDrawn {
    const char* key;  // of the flow
    std::string wrong, remedy;
};

bool has(Hosts hosts, std::uint32_t host) { return std::ranges::find(hosts, host) != hosts.end(); }

class MessageDrawing {
  public:
    // A flow with a name; of all messages there may be so many more.
    MessageDrawing(const AllHosts& hosts, const FlowConfig& flow, bool is_random, std::uint64_t seed,
                   std::uint64_t room)
        : hosts_(hosts),
          flow_(flow),
          is_random_(is_random),
          from_(hosts.at(flow.from)),
          to_(hosts.at(flow.to)),
          seed_(seed),
          room_(room),
          sizes_(message_sizes(flow.message)),
          name_(scrambled(0, flow.name)) {}

    tl::expected<FlowList, NotDrawn> list() {
        auto wrong = flow_.incast ? wrong_incast() : wrong_random();
        if (!wrong && flow_.kind == FlowKind::read)
            wrong = {"kind", "a READ is of hosts that are known from the start",
                     "write \"write\" or \"send\""};
        if (!wrong && (flow_.start > max_flow_start || flow_.spread > max_flow_start - flow_.start))
            wrong = too_late();
        if (!wrong && flow_.incast) wrong = draw_incasts();
        if (!wrong && !flow_.incast)
            for (const std::uint32_t host : from_)
                if (!wrong) wrong = flow_.load ? draw_load(sender_at(host)) : draw_loop(sender_at(host));
        if (wrong) return tl::unexpected(std::move(*wrong));
        sort_flows(list_);
        return std::move(list_);
    }

  private:
    using Wrong = std::optional<NotDrawn>;

    Wrong wrong_incast() const {
        if (!flow_.every)
            return {
                {"incast", "nothing says how often it comes", "write every = \"1ms\"; messages = 1: once"}};
        if (flow_.load || flow_.on || flow_.off || flow_.depth)
            return {{"incast", "its messages come together: it has no load, on, off or depth",
                     "leave these out, or leave incast out"}};
        if (!is_random_ && to_.size() != 1)
            return {{"to", "an incast goes to one host", "write one, or \"random\""}};
        std::size_t senders = from_.size();
        if (std::ranges::any_of(to_, [&](std::uint32_t host) { return has(from_, host); })) --senders;
        if (*flow_.incast > senders)
            return {{"incast",
                     fmt::format("beside the receiver there {} {}", senders == 1 ? "is" : "are",
                                 print_count(senders, "sender")),
                     fmt::format("write {} at most, or more hosts in from", senders)}};
        return wrong_end("incasts");
    }

    Wrong wrong_random() const {
        if (flow_.every)
            return {
                {"every", "there is no incast that comes so often", "write incast = N, or leave every out"}};
        for (const std::uint32_t host : from_)
            if (to_.size() == 1 && to_.front() == host)
                return {{"to", fmt::format("host {} would send to itself", hosts_.names[host]),
                         "write more hosts in to"}};
        if (flow_.load) return wrong_end("of a sender");
        if (flow_.messages != 0) return {};
        return {{"to", "nothing says how many messages a closed loop to drawn hosts has",
                 "write messages = N (of a sender), or load = 50 with stop"}};
    }

    Wrong wrong_end(std::string_view counted) const {
        if (flow_.messages != 0 || flow_.stop) return {};
        return {{"to", "nothing says when drawn messages end",
                 fmt::format("write stop = \"20ms\", or messages = N ({})", counted)}};
    }

    static Wrong too_late() {
        return {{"start", fmt::format("a message would begin later than {}", print_time(max_flow_start)),
                 "write an earlier start, a shorter spread, or fewer messages"}};
    }

    roce::MessageDraws draws_of(std::string_view sender) const { return {seed_, scrambled(name_, sender)}; }

    // A host that sends messages to others of `to`.
    struct Sender {
        std::uint32_t host;
        std::size_t place;  // in to_, or its end
        roce::MessageDraws draws;
    };
    Sender sender_at(std::uint32_t host) const {
        return {host, static_cast<std::size_t>(std::ranges::find(to_, host) - to_.begin()),
                draws_of(hosts_.names[host])};
    }
    std::uint32_t receiver(const Sender& sender, std::uint64_t message) const {
        const std::size_t others = to_.size() - (sender.place != to_.size() ? 1 : 0);
        const std::size_t drawn = below(sender.draws(MessageDraw::receiver, message), others);
        return to_[drawn + (drawn >= sender.place ? 1 : 0)];
    }

    Wrong add(std::uint32_t from, std::uint32_t to, Time start, std::uint32_t bytes,
              std::uint32_t after = ListedFlow::none) {
        const auto qps = static_cast<std::uint16_t>(std::min(flow_.qps, bytes));
        queue_pairs_ += qps;
        if (queue_pairs_ > room_)
            return {{"messages",
                     fmt::format("drawn flows have more than {} messages, the queue pairs of each "
                                 "counted",
                                 max_drawn),
                     "write fewer messages, an earlier stop, or fewer hosts"}};
        if (start.ps > static_cast<std::uint64_t>(max_flow_start.ps)) return too_late();
        ListedFlow made;
        made.bytes = bytes;
        made.start = start - Time{};
        made.from = from;
        made.to = to;
        made.after = after;
        made.number = static_cast<std::uint32_t>(list_.flows.size() + 1);
        made.qps = qps;
        list_.flows.push_back(made);
        return {};
    }

    Wrong draw_load(const Sender& sender) {
        const roce::ArrivalParameters parameters = parameters_of(sender);
        roce::Arrivals arrivals(parameters, sender.draws);
        for (std::uint64_t n = 0; flow_.messages == 0 || n < flow_.messages; ++n) {
            const Time at = *arrivals.next();
            if (flow_.stop && at >= Time{} + *flow_.stop) break;
            if (auto wrong = add(sender.host, receiver(sender, n), at, size(sender.draws, n))) return wrong;
            arrivals.begin_message();
        }
        return {};
    }

    Wrong draw_loop(const Sender& sender) {
        const roce::ArrivalParameters parameters = parameters_of(sender);
        const Time begin = *roce::Arrivals(parameters, sender.draws).next();
        const std::size_t first = list_.flows.size();
        for (std::uint64_t n = 0; n < flow_.messages; ++n) {
            const bool waits = n >= parameters.depth;
            const auto before = static_cast<std::uint32_t>(first + n - parameters.depth);
            if (auto wrong = add(sender.host, receiver(sender, n), waits ? Time{} : begin,
                                 size(sender.draws, n), waits ? before : ListedFlow::none))
                return wrong;
        }
        return {};
    }

    // The first of `senders` are those of an incast: as far as needed it is shuffled (Fisher and Yates).
    Wrong draw_incasts() {
        const roce::MessageDraws draws = draws_of({});
        std::vector<std::uint32_t> senders(from_.begin(), from_.end());
        Duration at = flow_.start;
        for (std::uint64_t n = 0; flow_.messages == 0 || n < flow_.messages; ++n, at = at + *flow_.every) {
            if (flow_.stop && at >= *flow_.stop) break;
            const std::uint32_t to = to_[below(draws(MessageDraw::receiver, n), to_.size())];
            std::size_t all = senders.size();
            if (const auto self = std::ranges::find(senders, to); self != senders.end())
                std::swap(*self, senders[--all]);
            for (std::size_t k = 0; k < *flow_.incast; ++k) {
                const std::uint64_t drawn = draws(MessageDraw::sender, n * senders_a_message + k);
                std::swap(senders[k], senders[k + below(drawn, all - k)]);
                const roce::MessageDraws own = draws_of(hosts_.names[senders[k]]);
                const Duration late{
                    static_cast<std::int64_t>(static_cast<Wide>(own(MessageDraw::phase, n)) *
                                                  static_cast<std::uint64_t>(flow_.spread.ps) >>
                                              64)};
                if (auto wrong = add(senders[k], to, Time{} + at + late, size(own, n))) return wrong;
            }
        }
        return {};
    }

    std::uint32_t size(const roce::MessageDraws& draws, std::uint64_t message) const {
        return sizes_.size(draws(MessageDraw::size, message));
    }
    // A sender's load is that of all its queue pairs.
    roce::ArrivalParameters parameters_of(const Sender& sender) const {
        FlowConfig alone = flow_;
        alone.qps = 1;
        return arrival_parameters(alone, 1, hosts_.lines[sender.host]);
    }

    const AllHosts& hosts_;
    const FlowConfig& flow_;
    bool is_random_;
    std::vector<std::uint32_t> from_, to_;
    std::uint64_t seed_, room_;
    roce::MessageSizes sizes_;
    std::uint64_t name_;
    FlowList list_;
    std::uint64_t queue_pairs_ = 0;
};

}  // namespace

bool take_random(FlowConfig& flow) {
    if (std::erase(flow.to, "random") == 0) return false;
    if (flow.to.empty()) flow.to.emplace_back("all");
    return true;
}

std::vector<ConfigError> draw_flows(FabricPlan& plan, std::span<const DrawnFlow> drawn) {
    std::vector<ConfigError> errors;
    if (drawn.empty()) return errors;
    const AllHosts hosts(plan);
    const std::vector<std::string> names = flow_names(plan.world());
    std::uint64_t room = max_drawn;
    for (const DrawnFlow& each : drawn) {
        FlowConfig& flow = plan.file.flows[each.flow];
        flow.name = names[each.flow];
        std::string key = fmt::format("flow[{}]", each.flow);
        auto list = MessageDrawing(hosts, flow, each.is_random, plan.file.seed, room).list();
        if (!list) {
            auto& [of, wrong, remedy] = list.error();
            errors.push_back({plan.file.file,
                              flow.place,
                              fmt::format("{}.{}", key, of),
                              std::move(wrong),
                              {},
                              std::move(remedy)});
            continue;
        }
        for (const ListedFlow& message : list->flows) room -= message.qps;
        flow.from.clear();
        flow.to.clear();
        plan.workloads.push_back({std::move(key), {}, each.flow, std::move(*list), {}, {}});
    }
    return errors;
}

}  // namespace sluice::fabric
