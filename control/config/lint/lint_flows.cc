// Flows of simulated hosts: between existing hosts, and with either depth or load.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

class FlowChecks {
  public:
    FlowChecks(const Config& config, const FlowConfig& flow, std::string path, Findings& findings)
        : config_(config), flow_(flow), path_(std::move(path)), findings_(findings) {}

    void ends() {
        bool known = true;
        for (const auto* names : {&flow_.from, &flow_.to})
            for (const std::string& name : *names) known &= is_host(name);
        for (const std::string& name : flow_.from)
            if (FlowConfig::others(flow_.to, name) == 0)
                error("flow-self", fmt::format("host {} would send to itself", name),
                      "leave it out of from, or of to");
        // A collective's flow names no hosts.
        if (known && !flow_.from.empty()) one_family();
    }

    void arrivals() {
        if (flow_.depth && flow_.load)
            error("flow-load", "depth is of a closed loop, load of messages that come by Poisson",
                  "leave depth or load out");
        if (flow_.load && flow_.load->parts_per_billion == 0)
            error("flow-load", "a load of 0 sends nothing", "write load = 1 or more, or leave the flow out");
        if ((flow_.on || flow_.off) && !flow_.load)
            error("flow-load", "on and off are bursts of a load, and there is none",
                  "write load = 50, or leave on and off out");
        if (flow_.on.has_value() != flow_.off.has_value())
            error("flow-load", "of on and off one is missing", "write both, or leave both out");
        if (flow_.stop && *flow_.stop <= flow_.start)
            error("flow-stop",
                  fmt::format("it stops at {}, and does not start before {}", print_time(*flow_.stop),
                              print_time(flow_.start)),
                  "write stop after start, or leave it out");
    }

    void congestion_control() {
        for (const std::string& name : flow_.senders()) {
            const auto host = config_.hosts.find(name);
            if (host == config_.hosts.end() || host->second.cc == roce::CongestionControl::none) continue;
            if (host->second.ignore_cnp)
                return warn("flow-unanswered",
                            fmt::format("host {} ignores CNPs: its cc has no effect", name),
                            fmt::format("write ignore_cnp = false for {}, or cc = \"none\"", name));
            for (const std::string& receiver : flow_.receivers())
                if (const auto peer = config_.hosts.find(receiver);
                    peer != config_.hosts.end() && !peer->second.echo_ce)
                    return warn(
                        "flow-unanswered",
                        fmt::format("host {} never echoes CE: the cc of {} hears no CNP", receiver, name),
                        fmt::format("write echo_ce = true for {}", receiver));
        }
    }

    // Checks the pairs of a sender of data and its receiver, up to the first finding.
    void recovery() {
        for (const std::string& sender : flow_.senders())
            for (const std::string& receiver : flow_.receivers())
                if (is_recovery_bad(sender, receiver)) return;
    }

  private:
    bool is_recovery_bad(const std::string& sender, const std::string& receiver) {
        const auto from = config_.hosts.find(sender), to = config_.hosts.find(receiver);
        if (from == config_.hosts.end() || to == config_.hosts.end()) return false;
        const roce::RecoverySettings& kept = to->second.recovery;
        const bool sender_goes_back = from->second.recovery.kind == roce::Recovery::go_back_n;
        if (from->second.recovery.kind != kept.kind) {
            const auto& [back, other] =
                sender_goes_back ? std::tie(sender, receiver) : std::tie(receiver, sender);
            warn("flow-recovery", fmt::format("host {} goes back N: so does {} with it", back, other),
                 fmt::format("write recovery = \"selective\" for {}", back));
            return true;
        }
        if (sender_goes_back) return false;
        const bool reads = flow_.kind == FlowKind::read;
        const HostConfig& requester = reads ? to->second : from->second;
        const std::uint64_t bytes =
            std::uint64_t{kept.receive_window} * std::min(from->second.mtu, to->second.mtu);
        const std::uint64_t read =
            reads && flow_.message.kind == MessageKind::uniform ? flow_.message.max_bytes : 0;
        if (std::max(requester.window_bytes, read) > bytes) {
            warn("flow-receive-window",
                 fmt::format("{}, host {} keeps {} out of order: {} packets",
                             read > bytes
                                 ? fmt::format("a READ brings {}", print_size(read))
                                 : fmt::format("its window is {}", print_size(requester.window_bytes)),
                             receiver, print_size(bytes), kept.receive_window),
                 fmt::format("write a larger receive_window for {}, or a smaller {}", receiver,
                             read > bytes ? "message" : "window"));
            return true;
        }
        const Duration longest = kept.reorder_window * 2;
        const Duration timeout = requester.timeout.value_or(min_default_timeout);
        if (timeout > longest) return false;
        warn("flow-reorder-window",
             fmt::format("time-outs after {} come before host {} takes a packet for lost, after {} to {}",
                         print_time(timeout), receiver, print_time(kept.reorder_window), print_time(longest)),
             "write a longer timeout, or a shorter reorder_window");
        return true;
    }

    void error(FindingId id, std::string wrong, std::string fix) {
        findings_.error(id, path_, std::move(wrong), std::move(fix), flow_.place);
    }
    void warn(FindingId id, std::string wrong, std::string fix) {
        findings_.warn(id, path_, std::move(wrong), std::move(fix), flow_.place);
    }

    bool is_host(const std::string& name) {
        if (config_.hosts.contains(name)) return true;
        const std::string near = nearest_key(name, config_.hosts);
        error("flow-host", fmt::format("there is no host {}", in_quotes(name)),
              near.empty() ? fmt::format("add [host.{}]", config_key(name)) : fmt::format("write {}", near));
        return false;
    }

    void one_family() {
        const auto is_v6 = [&](const std::string& name) { return config_.hosts.at(name).address.is_v6; };
        const std::string& first = flow_.from.front();
        for (const auto* names : {&flow_.from, &flow_.to})
            for (const std::string& name : *names)
                if (is_v6(name) != is_v6(first))
                    return error(
                        "flow-family",
                        fmt::format("host {} has an {} address, and {} an {} address", first,
                                    is_v6(first) ? "IPv6" : "IPv4", name, is_v6(name) ? "IPv6" : "IPv4"),
                        "write a flow for each family");
    }

    const Config& config_;
    const FlowConfig& flow_;
    std::string path_;
    Findings& findings_;
};

}  // namespace

void check_flows(const Config& config, Findings& findings) {
    const std::vector<std::string> names = flow_names(config);
    std::set<std::string_view> said;
    for (std::size_t n = 0; n < names.size(); ++n) {
        const FlowConfig& flow = config.flows[n];
        const std::string path = fmt::format("flow {}", names[n]);
        if (!flow.name.empty() && !said.insert(flow.name).second)
            findings.error("flow-name", path, "another flow has the same name",
                           "give each its own, or leave name out", flow.place);
        FlowChecks checks(config, flow, path, findings);
        checks.ends();
        checks.arrivals();
        checks.congestion_control();
        checks.recovery();
    }
}

}  // namespace sluice::lint
