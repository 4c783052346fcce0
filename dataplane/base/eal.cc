#include "dataplane/base/eal.hh"

#include <dlfcn.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mempool.h>
#include <rte_version.h>
#include <rte_vfio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string_view>

#include "dataplane/base/packet.hh"

namespace sluice {

using namespace std::string_view_literals;

namespace {

// A process has one EAL and one log of it; nothing else in Sluice is global.
struct LogBuffer {
    std::mutex mutex;
    std::string text;
    std::size_t forgotten = 0;
    static constexpr std::size_t limit = 65536;
};

LogBuffer& log_buffer() {
    static LogBuffer buffer;
    return buffer;
}

ssize_t append_log(void*, const char* bytes, std::size_t count) {
    LogBuffer& buffer = log_buffer();
    const std::lock_guard lock(buffer.mutex);
    buffer.text.append(bytes, count);
    if (buffer.text.size() > LogBuffer::limit) {
        const std::size_t cut = buffer.text.size() - LogBuffer::limit / 2;
        buffer.text.erase(0, cut);
        buffer.forgotten += cut;
    }
    return static_cast<ssize_t>(count);
}

bool takes_cards = false;  // this process's EAL, once

constexpr std::size_t own_bytes = std::size_t{64} << 20;  // that EAL takes for itself

// EAL writes under a runtime directory even when told not to share; an ordinary user may have none.
void ensure_runtime_directory() {
    if (geteuid() == 0 || std::getenv("XDG_RUNTIME_DIR") != nullptr) return;
    static_cast<void>(setenv("XDG_RUNTIME_DIR", "/tmp", 0));
}

// DPDK makes every pool with these operations first, by a driver that it loads or has built in.
bool has_ring_driver() {
    const std::span known(rte_mempool_ops_table.ops, rte_mempool_ops_table.num_ops);
    return std::ranges::any_of(known, [](const rte_mempool_ops& one) { return "ring_mp_mc"sv == one.name; });
}

}  // namespace

std::string Eal::lacks_of_sysfs(bool for_cards, const std::string& machine) {
    const auto wants = [&](const char* folder, const char* why) {
        return access((machine + folder).c_str(), F_OK) == 0
                   ? std::string()
                   : std::string("there is no ") + folder + ", " + why + "; do: mount -t sysfs sysfs /sys";
    };
    std::string lack = wants("/sys/devices/system/cpu", "where DPDK finds CPUs");
    if (lack.empty() && for_cards) lack = wants("/sys/module", "where DPDK finds vfio, for cards");
    return lack;
}

std::optional<Eal::Lack> Eal::lacks_of_hugepages(const EalOptions& options, const HugepagePool& pool,
                                                 std::uint64_t usable) {
    const std::size_t wanted = options.memory_bytes + options.hugepage_bytes + own_bytes;
    if (usable >= wanted) return std::nullopt;
    return Lack{options.needs_hugepages + " needs " + std::to_string(wanted >> 20) + " MB of hugepages and " +
                    std::to_string(usable >> 20) + " MB are free",
                pool.command_for(wanted)};
}

tl::expected<bool, Eal::Lack> Eal::finds_hugepages(const EalOptions& options) {
    const bool allowed =
        options.allow_hugepages && std::ranges::find(options.extra, "--no-huge") == options.extra.end();
    const HugepagePool pool = read_hugepages();
    auto lack = lacks_of_hugepages(options, pool, allowed && geteuid() == 0 ? pool.free_bytes() : 0);
    if (!lack) return true;
    if (options.needs_hugepages.empty()) return false;
    return tl::unexpected(std::move(*lack));
}

tl::expected<Eal, std::string> Eal::start(const EalOptions& options) {
    std::vector<std::string> args{"sluiced", "--no-shconf", "--log-level=lib.eal:4"};
    Eal eal;
    const auto huge = finds_hugepages(options);
    if (!huge) return tl::unexpected(huge.error().wrong + "; do: " + huge.error().remedy);
    if (*huge) {
        args.emplace_back("--in-memory");
        eal.note_ = "hugepages";
    } else {
        const std::size_t megabytes = ((options.memory_bytes + own_bytes) >> 20) + 1;
        args.insert(args.end(), {"--no-huge", "-m", std::to_string(megabytes)});
        eal.note_ = "ordinary memory (no hugepages)";
    }
    args.emplace_back("--no-telemetry");
    takes_cards = !options.pci.empty();
    if (std::string lack = lacks_of_sysfs(takes_cards); !lack.empty()) return tl::unexpected(std::move(lack));
    if (!takes_cards) args.emplace_back("--no-pci");
    for (const std::string& device : options.pci) args.insert(args.end(), {"-a", device});
    // A floating lcore: workers are threads of our own that register themselves.
    const std::string last_cpu = std::to_string(sysconf(_SC_NPROCESSORS_ONLN) - 1);
    args.insert(args.end(), {"--lcores", "0@(0-" + last_cpu + ")"});
    args.insert(args.end(), options.extra.begin(), options.extra.end());

    ensure_runtime_directory();
    cookie_io_functions_t functions{};
    functions.write = append_log;
    static FILE* stream = fopencookie(nullptr, "w", functions);  // as long as EAL's log: the process
    setvbuf(stream, nullptr, _IONBF, 0);
    rte_openlog_stream(stream);

    std::vector<char*> argv;
    for (auto& arg : args) argv.push_back(arg.data());
    if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0)
        return tl::unexpected(std::string("DPDK does not start: ") + rte_strerror(rte_errno) + " (" +
                              log_since(0) + ")");
    eal.running_ = true;
    if (!has_ring_driver())
        return tl::unexpected(
            std::string("DPDK has no librte_mempool_ring, without which it makes no memory pool; do: install "
                        "librte-mempool-ring for ") +
            rte_version());
    if (std::string error = reserve_packet_meta(); !error.empty()) return tl::unexpected(std::move(error));
    return eal;
}

Eal::~Eal() {
    if (running_) rte_eal_cleanup();
}

Eal::LogMark Eal::log_mark() {
    LogBuffer& buffer = log_buffer();
    const std::lock_guard lock(buffer.mutex);
    return buffer.forgotten + buffer.text.size();
}

std::string Eal::log_since(LogMark mark) {
    LogBuffer& buffer = log_buffer();
    const std::lock_guard lock(buffer.mutex);
    const std::size_t from = mark > buffer.forgotten ? mark - buffer.forgotten : 0;
    std::string text = buffer.text.substr(std::min(from, buffer.text.size()));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (char& c : text)
        if (c == '\n') c = ';';
    return text;
}

std::string Eal::errors_since(LogMark mark) {
    std::string errors;
    std::string all = log_since(mark);
    for (std::string_view rest = all; !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find(';'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (!line.starts_with("EAL: ")) continue;
        if (!errors.empty()) errors += "; ";
        errors += line;
    }
    return errors;
}

}  // namespace sluice

// EAL sets VFIO up at every start, and fails where there is no /sys/module (systemd-nspawn). It finds this
// function by its name, so ours comes first: without cards it sets nothing up.
int rte_vfio_enable(const char* module) {
    if (!sluice::takes_cards) return 0;
    const auto dpdks = reinterpret_cast<decltype(&rte_vfio_enable)>(dlsym(RTLD_NEXT, "rte_vfio_enable"));
    return dpdks != nullptr ? dpdks(module) : -1;
}
