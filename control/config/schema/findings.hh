// Collects findings with their places: one for all that inherit a key, and not too many of a kind.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/finding.hh"

namespace sluice::lint {

class Findings {
  public:
    // `joins_ports`: ports with the same finding at keys of their own are one, at the first of them.
    explicit Findings(const Config& config, bool joins_ports = false)
        : config_(config), joins_ports_(joins_ports) {}

    // Adds a finding at the place of the key `path`. A key that a port or host inherits from [default] or
    // [host.default] is named and placed there, and all that inherit it are one finding when `message`, which
    // names none of them, is the same. Without such a key the place is `fallback`, or the owner's section.
    void error(FindingId id, std::string path, std::string message, std::string fix,
               SourcePlace fallback = {}) {
        add(Severity::error, id, std::move(path), std::move(message), std::move(fix), fallback);
    }
    void warn(FindingId id, std::string path, std::string message, std::string fix,
              SourcePlace fallback = {}) {
        add(Severity::warning, id, std::move(path), std::move(message), std::move(fix), fallback);
    }
    void note(FindingId id, std::string path, std::string message, std::string fix,
              SourcePlace fallback = {}) {
        add(Severity::note, id, std::move(path), std::move(message), std::move(fix), fallback);
    }
    void add(Severity severity, FindingId id, std::string path, std::string message, std::string fix,
             SourcePlace fallback = {});
    std::vector<Finding> take();

  private:
    struct Count {
        std::size_t found = 0;
        Severity severity = Severity::error;
    };
    struct Entry {
        Finding finding;
        bool inherits;
        std::string key;          // without the port or host
        std::string first, last;  // "port p1": those that have it
        std::size_t others = 0;   // beside the first
    };
    const Config& config_;
    bool joins_ports_;
    std::vector<Entry> entries_;
    std::map<std::string, Count, std::less<>> counts_;
};

// "port.p1.speed", quoted as the file would have it.
std::string port_path(std::string_view port, std::string_view key = {});
// "line 7", or "elsewhere" for a value that is not from a file.
std::string at_line(SourcePlace place);

}  // namespace sluice::lint
