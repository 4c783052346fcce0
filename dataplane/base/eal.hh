// DPDK's environment, started once in a process. Its options are derived, so that a user need not know any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "dataplane/base/memory.hh"

namespace sluice {

struct EalOptions {
    std::size_t memory_bytes = 0;    // for its own part of pools
    std::size_t hugepage_bytes = 0;  // packets and tables, which go into hugepages only (memory.hh)
    std::vector<std::string> pci;    // the PCI devices that DPDK may probe, with their arguments
    std::string needs_hugepages;     // named in the refusal: "a PCI port"; empty: nothing does
    bool allow_hugepages = true;     // false: the virtual clock, which needs no fast memory
    std::vector<std::string> extra;  // the user's own arguments, last
};

class Eal {
  public:
    // True when free hugepages hold the memory that EAL takes; an error where it needs them and they do not.
    struct Lack {
        std::string wrong, remedy;
    };
    static tl::expected<bool, Lack> finds_hugepages(const EalOptions& options);
    // The lack where `usable` bytes of the pool are free for EAL, and the command that mends it.
    static std::optional<Lack> lacks_of_hugepages(const EalOptions& options, const HugepagePool& pool,
                                                  std::uint64_t usable);
    // The part of /sys without which it does not start: an error's text, or empty. `machine`: its root, for
    // tests.
    static std::string lacks_of_sysfs(bool for_cards, const std::string& machine = {});
    // Hugepages if enough of them are free, else ordinary memory, which needs no privilege.
    static tl::expected<Eal, std::string> start(const EalOptions& options);
    ~Eal();
    Eal(Eal&& other) noexcept : running_(other.running_), note_(std::move(other.note_)) {
        other.running_ = false;
    }
    Eal(const Eal&) = delete;
    Eal& operator=(const Eal&) = delete;

    const std::string& memory_note() const { return note_; }

    // DPDK's log goes to a bounded buffer: an error of ours quotes the lines logged since a mark.
    using LogMark = std::size_t;
    static LogMark log_mark();
    static std::string log_since(LogMark mark);
    // The lines of EAL itself among them: it logs errors only.
    static std::string errors_since(LogMark mark);

  private:
    Eal() = default;
    bool running_ = false;  // to be cleaned up
    std::string note_;
};

}  // namespace sluice
