// Collects the findings of lint_qos, which many ports have alike, and judges classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/findings.hh"

namespace sluice::lint {

class PortFindings {
  public:
    explicit PortFindings(const Config& config) : config_(config), findings_(config) {}

    // `key` is of the port: "queue.3.wred". Ports that have the same to hear are counted in one finding.
    void add(Severity severity, FindingId id, const std::string& port, std::string_view key,
             std::string message, std::string fix);
    void add(Severity severity, const QosProblem& problem, std::string message);
    void warn(FindingId id, const std::string& port, std::string_view key, std::string message,
              std::string fix) {
        add(Severity::warning, id, port, key, std::move(message), std::move(fix));
    }
    void note(FindingId id, const std::string& port, std::string_view key, std::string message,
              std::string fix) {
        add(Severity::note, id, port, key, std::move(message), std::move(fix));
    }
    // Of no port.
    void add_at(Severity severity, FindingId id, std::string_view path, std::string message,
                std::string fix) {
        add(severity, id, {}, path, std::move(message), std::move(fix));
    }
    std::vector<Finding> take();

  private:
    struct Entry {
        Severity severity;
        FindingId id;
        std::string port;  // the first one
        std::string key;
        std::string message;
        std::string fix;
        std::string near;  // port to point at when the key is of no port, and the file does not have it
        std::string last;  // port that has the same to hear
        std::size_t others = 0;
    };
    void add(Entry entry);

    const Config& config_;
    Findings findings_;
    std::vector<Entry> entries_;
};

// Classes of RoCE packets at a port, for the symptoms of a report, too.

// CNPs tell senders of congestion: what may delay them where they leave in a class. No words: nothing.
struct CnpDelay {
    std::string words;
    bool paused_or_marked = false;
};
CnpDelay cnp_delay(const EffectivePort& port, ClassId tc);  // lint_class_ways.cc
// What gives CNPs a queue that nothing delays, to follow "write"; `map`: in words, the port's.
std::string cnp_remedy(const EffectivePort& port, std::string_view map);  // lint_class_ways.cc
constexpr unsigned usual_cnp_dscp = 48;

// Class that `port` gives to a RoCE packet that enters it; no PCP: the packet is untagged.
ClassId class_at(const PortConfig& said, const EffectivePort& port, unsigned dscp, bool cnp,
                 std::optional<std::uint8_t> pcp = {});  // lint_host_classes.cc
// What delays the CNPs of a host behind the port because of their DSCP; no words: nothing, or nothing more
// than what delays every CNP there.
std::string host_cnp_delay(const PortConfig& said, const EffectivePort& port, unsigned cnp_dscp);

// lint_pauses.cc
void check_pause_time(const Config& config, const std::string& name, const EffectivePort& port,
                      PortFindings& findings);
std::vector<Finding> check_host_pauses(const Config& config, const EffectiveQos& qos);

void check_marking(const Config& config, const EffectiveQos& qos, PortFindings& findings);  // lint_marking.cc
void check_class_ways(const Config& config, const EffectiveQos& qos,
                      PortFindings& findings);                         // lint_class_ways.cc
void check_minimums(const EffectiveQos& qos, PortFindings& findings);  // lint_rates.cc

std::vector<Finding> check_host_classes(const Config& config,
                                        const EffectiveQos& qos);  // lint_host_classes.cc
std::vector<Finding> check_mirror_classes(const Config& config,
                                          const EffectiveQos& qos);  // lint_mirror.cc

}  // namespace sluice::lint
