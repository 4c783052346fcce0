// Collects findings: places, ports and hosts that inherit the same key, and not too many of a kind.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/finding.hh"
#include "control/config/schema/finding_id.hh"

namespace sluice::lint {

class Findings {
  public:
    explicit Findings(const Config& config) : config_(config) {}

    // At the place of the key `path`. A port's key that the file has under [default], and a host's that it
    // has under [host.default], is named and placed as it stands there. Those that inherit it are one finding
    // when `message` is the same: it names none of them. At `fallback` when the file has neither, which for
    // keys of ports and hosts is their section.
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
    // `others`: ports beside the one of `path` that have the same to hear.
    void add(Severity severity, FindingId id, std::string path, std::string message, std::string fix,
             SourcePlace fallback = {}, std::size_t others = 0);
    std::vector<Finding> take();

  private:
    struct Count {
        std::size_t found = 0;
        Severity severity = Severity::error;
    };
    struct Entry {
        Finding finding;
        std::string owner;  // "port p1", the first that inherits the key; empty: the key is its own
        std::size_t others;
    };
    const Config& config_;
    std::vector<Entry> entries_;
    std::map<std::string, Count, std::less<>> counts_;
};

// "port.p1.speed", quoted as the file would have it.
std::string port_path(std::string_view port, std::string_view key = {});
// "line 7", or "elsewhere" for a value that is not from a file.
std::string at_line(SourcePlace place);

}  // namespace sluice::lint
