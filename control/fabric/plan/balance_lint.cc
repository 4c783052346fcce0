#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_lint.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint32_t roce_header_bytes = 58;  // Ethernet, IPv4, UDP, BTH, ICRC of a middle packet

struct Pair {
    const FlowConfig* flow = nullptr;
    std::string from, to;
};

// Two hosts of a flow, one of which goes back N: then both do.
std::optional<Pair> going_back(const Config& world) {
    const auto goes_back = [&](const std::string& host) {
        const auto found = world.hosts.find(host);
        return found != world.hosts.end() && found->second.recovery.kind == roce::Recovery::go_back_n;
    };
    for (const FlowConfig& flow : world.flows)
        for (const std::string& from : flow.from)
            for (const std::string& to : flow.to)
                if (from != to && (goes_back(from) || goes_back(to))) return Pair{&flow, from, to};
    return std::nullopt;
}

// True when the sender makes no gap as long as `gap` while its link keeps up.
bool is_steady(const FlowConfig& flow, Duration gap) {
    if (flow.load) return !flow.off || *flow.off <= gap;
    return flow.depth.value_or(1) > 1;
}

// Rounded up, for people.
Duration whole_ns(Duration time) { return nanoseconds((time.ps + 999) / 1000); }

// The time that a frame of the largest MTU takes from a switch to the leaf of a prefix, on empty links.
class WayTimes {
  public:
    struct Span {
        Duration least{}, most{};
    };
    explicit WayTimes(const FabricPlan& plan) : plan_(plan) {
        for (std::size_t n = 0; n < plan.switches.size(); ++n)
            for (const auto& [name, port] : plan.switches[n].config.ports)
                for (const IpPrefix& own : port.address) owner_.emplace(own.address, n);
    }

    // By any of the next hops; 0: by none that the switch knows.
    Span from(const Config& config, const RouteConfig& route) {
        Span all;
        for (const NextHopConfig& hop : route.via) {
            const auto [from, to] = config.neighbors->equal_range(hop.address);
            for (auto neighbor = from; neighbor != to; ++neighbor) {
                if (!hop.is_to(neighbor->key())) continue;
                const PortConfig& port = config.ports.at(neighbor->port);
                const Duration first =
                    cable_delay(port) + port.speed.byte_time() * static_cast<std::int64_t>(port.mtu);
                const Span rest = beyond(hop.address, route.prefix);
                if (all.most.ps == 0) all.least = first + rest.least;
                all.least = std::min(all.least, first + rest.least);
                all.most = std::max(all.most, first + rest.most);
            }
        }
        return all;
    }

  private:
    // From the switch of that address on. Routes by hand may go round: then it is the way up to there.
    Span beyond(const IpAddress& address, const IpPrefix& prefix) {
        const auto owner = owner_.find(address);
        if (owner == owner_.end()) return {};
        const auto [known, is_new] = known_.try_emplace({owner->second, prefix});
        const Config& config = plan_.switches[owner->second].config;
        const auto route = config.routes->find(prefix);
        if (is_new && route != config.routes->end() && !route->via.empty())
            known->second = from(config, *route);
        return known->second;
    }

    const FabricPlan& plan_;
    std::map<IpAddress, std::size_t> owner_;  // index of the switch
    std::map<std::pair<std::size_t, IpPrefix>, Span> known_;
};

class Checks {
  public:
    Checks(const FabricPlan& plan, const Config& world, bool force, FabricFindings& findings)
        : world_(world), force_(force), findings_(findings), going_back_(going_back(world)), times_(plan) {}

    void check(const SwitchPlan& each) {
        const LoadBalanceConfig& balance = each.config.load_balance;
        const BalancePolicy policy = balance_policy(balance);
        std::set<LoadBalance> modes;
        for (const auto& of_class : policy.mode)
            modes.insert(of_class[static_cast<std::size_t>(RoceTransport::rc)]);
        for (const RouteConfig& route : *each.config.routes)
            if (route.load_balance) modes.insert(*route.load_balance);
        modes.erase(LoadBalance::hash);
        if (modes.empty()) return;
        const std::optional<Duration> skew = skew_of(each);
        if (!skew) return;  // no choice
        for (const LoadBalance mode : {LoadBalance::adaptive, LoadBalance::packet})
            if (modes.contains(mode)) reorders(each, mode);
        if (modes.contains(LoadBalance::flowlet)) {
            if (balance.settings.gap <= *skew) is_short(each, *skew);
            does_nothing(each);
        }
    }

  private:
    // The difference between a route's slowest way and its fastest; nothing: no route has two.
    std::optional<Duration> skew_of(const SwitchPlan& each) {
        std::optional<Duration> skew;
        for (const RouteConfig& route : *each.config.routes) {
            if (route.via.size() < 2) continue;
            const WayTimes::Span all = times_.from(each.config, route);
            if (all.most.ps != 0) skew = std::max(skew.value_or(Duration{}), whole_ns(all.most - all.least));
        }
        return skew;
    }

    void reorders(const SwitchPlan& each, LoadBalance mode) {
        if (!going_back_) return;
        const auto& [flow, from, to] = *going_back_;
        say(each, force_ ? Severity::warning : Severity::error, "balance-reorders",
            fmt::format("{} reorders, and {} and {} go back N: packets come again for nothing",
                        to_string(mode), from, to),
            R"(write recovery = "selective" under [host.default], or mode = "flowlet")");
    }
    void is_short(const SwitchPlan& each, Duration skew) {
        const Duration gap = each.config.load_balance.settings.gap;
        say(each, Severity::warning, "flowlet-skew",
            fmt::format(
                "flowlet_gap {} is not above {}, by which the ways of a group differ: flowlets overtake each "
                "other",
                print_time(gap), print_time(skew)),
            fmt::format("write flowlet_gap above {}", print_time(skew)));
    }
    void does_nothing(const SwitchPlan& each) {
        const Duration gap = each.config.load_balance.settings.gap;
        for (const FlowConfig& flow : world_.flows) {
            const auto from = world_.hosts.find(flow.from.front());
            if (!is_steady(flow, gap) || from == world_.hosts.end()) continue;
            const std::uint64_t bits = 8ULL * (from->second.mtu + roce_header_bytes);
            const auto rate =
                static_cast<std::uint64_t>(static_cast<double>(bits) * 1e12 / static_cast<double>(gap.ps));
            say(each, Severity::note, "flowlet-inert",
                fmt::format(
                    "a steady flow of {} makes no gap above {:.3g} Gb/s (8 x {} B / {}): it keeps its path",
                    from->first, static_cast<double>(rate) / 1e9, bits / 8, print_time(gap)),
                "nothing where that is meant; else a shorter flowlet_gap, or mode = \"adaptive\"");
            return;
        }
    }
    void say(const SwitchPlan& each, Severity severity, std::string id, std::string what, std::string fix) {
        findings_.add(severity, std::move(id), "load_balance", std::move(what), std::move(fix), {},
                      each.name);
    }

    const Config& world_;
    bool force_;
    FabricFindings& findings_;
    std::optional<Pair> going_back_;
    WayTimes times_;
};

}  // namespace

void check_load_balance(const FabricPlan& plan, const Config& world, bool force, FabricFindings& findings) {
    Checks checks(plan, world, force, findings);
    for (const SwitchPlan& each : plan.switches) checks.check(each);
}

}  // namespace sluice::fabric
