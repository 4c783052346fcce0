// DPDK's environment, started once a process with options that are derived, so that a user need not know any.
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
    std::size_t memory_bytes = 0;    // what it keeps of pools
    std::size_t hugepage_bytes = 0;  // packets and tables, which it has in hugepages alone (memory.hh)
    std::vector<std::string> pci;    // PCI devices, with their arguments: all that DPDK may have
    std::string needs_hugepages;     // what does, for the refusal: "a PCI port"; empty: nothing
    bool allow_hugepages = true;     // false: the virtual clock, where speed of memory is not the point
    std::vector<std::string> extra;  // the user's own arguments, last
};

class Eal {
  public:
    // Whether free hugepages hold the memory it takes; an error where it must have them and they do not.
    struct Lack {
        std::string wrong, remedy;
    };
    static tl::expected<bool, Lack> finds_hugepages(const EalOptions& options);
    // What it lacks where `usable` bytes of the pool are for it, and the command that mends it.
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
    // Of these the lines of EAL itself, which logs nothing but errors.
    static std::string errors_since(LogMark mark);

  private:
    Eal() = default;
    bool running_ = false;  // to be cleaned up
    std::string note_;
};

}  // namespace sluice
