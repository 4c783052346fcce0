// The search for circles as one would do it by hand: every destination by itself, every pair of channels.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/fabric/plan/deadlock.hh"
#include "control/fabric/plan/forwarding.hh"

namespace sluice::fabric {

class SlowSearch {
  public:
    SlowSearch(const FabricPlan& plan, std::optional<LinkId> down) : plan_(plan), down_(down) {
        std::vector<bool> links_down(plan.topology.links.size());
        if (down) links_down[*down] = true;
        const auto computed = routes_without(plan, links_down);
        for (std::size_t n = 0; n < plan.switches.size(); ++n) {
            auto& own = routes_.emplace_back(computed[n]);
            for (const RouteConfig& each : *plan.file.switch_config(plan.switches[n].name).routes)
                own.push_back(each);
        }
        for (const SwitchPlan& each : plan.switches)
            for (const auto& [name, host] : each.config.hosts) add(host.address);
    }

    bool has_circle(ClassId n) const {
        std::set<std::pair<Channel, Channel>> reach;
        for (const auto& [one, other] : after_)
            if (carries(one, n) && carries(other, n)) reach.emplace(one, other);
        const Channel channels = 2 * static_cast<Channel>(plan_.topology.links.size());
        for (Channel by = 0; by < channels; ++by)
            for (Channel from = 0; from < channels; ++from)
                for (Channel to = 0; reach.contains({from, by}) && to < channels; ++to)
                    if (reach.contains({by, to})) reach.emplace(from, to);
        for (Channel each = 0; each < channels; ++each)
            if (reach.contains({each, each})) return true;
        return false;
    }
    // True when packets that come to a switch from one leave by the other.
    bool goes_on(NodeId from, NodeId by, NodeId to) const {
        return std::ranges::any_of(after_, [&](const auto& pair) {
            return end(pair.first, false).node == from && end(pair.first, true).node == by &&
                   end(pair.second, true).node == to;
        });
    }
    // True when packets of one host come to the other, by every way and by some.
    std::pair<bool, bool> comes(const std::string& from, const std::string& to) const {
        bool lost = false, comes = false;
        const std::size_t leaf = plan_.switch_of[plan_.nodes.at(to)];
        follow(plan_.switch_of[plan_.nodes.at(from)], plan_.switches[leaf].config.hosts.at(to).address, {},
               lost, comes);
        return {comes && !lost, comes};
    }

  private:
    const LinkEnd& end(Channel channel, bool far) const {
        return plan_.topology.links[channel / 2].ends[far ? channel % 2 : 1 - channel % 2];
    }
    bool carries(Channel channel, ClassId n) const {
        const auto masks = [&](const LinkEnd& at) {
            return effective_qos(plan_.switches[plan_.switch_of[at.node]].config).ports.at(at.port).masks;
        };
        return (masks(end(channel, true)).may_send >> n & 1U) != 0 &&
               (masks(end(channel, false)).honors >> n & 1U) != 0;
    }
    bool delivers(std::size_t at, const IpAddress& to) const {
        for (const auto& [name, host] : plan_.switches[at].config.hosts)
            if (host.address == to) return true;
        return false;
    }
    std::vector<Channel> next(std::size_t at, const IpAddress& to) const {
        const RouteConfig* best = nullptr;
        for (const RouteConfig& each : routes_[at])
            if (contains(each.prefix, to) && (best == nullptr || each.prefix.length > best->prefix.length))
                best = &each;
        std::vector<Channel> found;
        if (best == nullptr || delivers(at, to)) return found;
        for (Channel channel = 0; channel < 2 * plan_.topology.links.size(); ++channel)
            if (down_ != channel / 2 && end(channel, false).node == plan_.switches[at].node &&
                !plan_.topology.nodes[end(channel, true).node].is_host)
                for (const NextHopConfig& hop : best->via)
                    if (hop.address == plan_.addresses.address(channel / 2, channel % 2))
                        found.push_back(channel);
        return found;
    }
    void add(const IpAddress& to) {
        std::set<std::pair<std::size_t, std::optional<Channel>>> seen;
        std::vector<std::pair<std::size_t, std::optional<Channel>>> todo;
        for (std::size_t n = 0; n < plan_.switches.size(); ++n)
            if (!plan_.switches[n].config.hosts.empty()) todo.emplace_back(n, std::nullopt);
        while (!todo.empty()) {
            const auto [at, came] = todo.back();
            todo.pop_back();
            if (!seen.emplace(at, came).second) continue;
            for (const Channel channel : next(at, to)) {
                if (came) after_.emplace(*came, channel);
                todo.emplace_back(plan_.switch_of[end(channel, true).node], channel);
            }
        }
    }
    void follow(std::size_t at, const IpAddress& to, std::set<std::size_t> way, bool& lost,
                bool& comes) const {
        if (delivers(at, to)) {
            comes = true;
            return;
        }
        const auto channels = next(at, to);
        if (channels.empty() || !way.insert(at).second) {
            lost = true;
            return;
        }
        for (const Channel channel : channels)
            follow(plan_.switch_of[end(channel, true).node], to, way, lost, comes);
    }

    const FabricPlan& plan_;
    std::optional<LinkId> down_;
    std::vector<std::vector<RouteConfig>> routes_;
    std::set<std::pair<Channel, Channel>> after_;
};

}  // namespace sluice::fabric
