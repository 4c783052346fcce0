#include "control/config/schema/config.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema_rows.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// Takes a run of digits off the front of `text`, without its leading zeros.
std::string_view take_digits(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

tl::unexpected<std::vector<ConfigError>> one_error(ConfigError error) {
    return tl::unexpected(std::vector{std::move(error)});
}

ConfigError file_error(std::string_view file, std::string wrong, std::string allowed = {},
                       std::string remedy = {}) {
    return {std::string(file), {}, {}, std::move(wrong), std::move(allowed), std::move(remedy)};
}

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }  // only read from
};

// The default MTU, or with XDP the largest that every kernel takes: a frame in one piece, within a page.
std::uint32_t usual_mtu(const PortConfig& port) {
    constexpr std::uint32_t every_kernels = 3800;
    return port.device.starts_with("xdp:") ? std::min(PortConfig{}.mtu, every_kernels) : PortConfig{}.mtu;
}

void choose_mtus(Config& config) {
    const auto says = [&](const std::string& path) { return config.source.find(path).line != 0; };
    if (says("default.mtu") || says("default.port.mtu")) return;
    for (auto& [name, port] : config.ports)
        if (on_kernel_interface(port) && !says("port." + schema::toml_key(name) + ".mtu"))
            port.mtu = usual_mtu(port);
}

ConfigResult parse_into_config(std::string_view text, std::string_view file) {
    if (text.size() > max_config_bytes)
        return one_error(file_error(file, "the file is too large",
                                    fmt::format("at most {} bytes", max_config_bytes), "divide it"));
    const auto document = parse_toml(text, file);
    if (!document) return one_error(document.error());
    schema::Context context(file);
    Config config;
    if (!schema::config_rows().read(*document, context, config)) return tl::unexpected(context.take_errors());
    config.source = context.take_source();
    choose_mtus(config);
    add_host_neighbors(config);
    sort_config(config);
    return config;
}

}  // namespace

bool NaturalOrder::operator()(std::string_view a, std::string_view b) const {
    std::string_view rest_a = a, rest_b = b;
    while (!rest_a.empty() && !rest_b.empty()) {
        if (is_digit(rest_a.front()) && is_digit(rest_b.front())) {
            const std::string_view digits_a = take_digits(rest_a), digits_b = take_digits(rest_b);
            if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
            if (digits_a != digits_b) return digits_a < digits_b;
        } else {
            const auto first_a = static_cast<unsigned char>(rest_a.front());
            const auto first_b = static_cast<unsigned char>(rest_b.front());
            if (first_a != first_b) return first_a < first_b;
            rest_a.remove_prefix(1);
            rest_b.remove_prefix(1);
        }
    }
    if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
    return a < b;  // the same but for leading zeros
}

std::string ConfigError::text() const {
    std::string out = file;
    if (place.line != 0) out += fmt::format(":{}:{}", place.line, place.column);
    if (!path.empty()) out += ": " + path;
    out += ": " + wrong;
    if (!allowed.empty()) out += "; allowed: " + allowed;
    if (!remedy.empty()) out += "; do: " + remedy;
    return out;
}

std::uint32_t packet_buffer_bytes(const Config& config) {
    constexpr std::uint32_t small = 768, large = 2048, step = 64;
    if (config.packet_buffer_bytes) return *config.packet_buffer_bytes;
    if (config.clock == ClockKind::real_time) return large;
    return std::max(small, (config.cell_bytes + step - 1) / step * step);
}

bool on_kernel_interface(const PortConfig& port) {
    return port.device.starts_with("xdp:") || port.device.starts_with("net_af_packet");
}

void sort_config(Config& config) {
    const auto sort_pfc = [](PortConfig& port) {
        if (port.pfc) std::sort(port.pfc->begin(), port.pfc->end());
    };
    sort_pfc(config.port_defaults);
    for (auto& [name, port] : config.ports) sort_pfc(port);
    std::stable_sort(config.events.begin(), config.events.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
}

void add(Config& config, RouteConfig route) {
    std::sort(route.via.begin(), route.via.end());
    config.routes.change().insert(std::move(route));
}

void add(Config& config, NeighborConfig neighbor) { config.neighbors.change().insert(std::move(neighbor)); }

bool has_neighbor(const NeighborSet& neighbors, const NextHopConfig& hop) {
    return hop.port.empty() ? neighbors.contains(hop.address)
                            : neighbors.contains(NeighborKey{hop.address, hop.port});
}

ConfigResult parse_config(std::string_view text, std::string_view file) try {
    return parse_into_config(text, file);
} catch (const std::bad_alloc&) {
    return one_error(file_error(file, "there is not enough memory for it"));
}

tl::expected<std::string, ConfigError> read_config_file(const std::string& path) {
    const auto refused = [&](int error) {
        return tl::unexpected(file_error(path,
                                         fmt::format("the file cannot be read: {}", std::strerror(error)), {},
                                         "name a file that exists and may be read"));
    };
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) return refused(errno);
    std::string text;
    std::array<char, 65536> block;
    while (text.size() <= max_config_bytes) {
        const std::size_t got = std::fread(block.data(), 1, block.size(), file.get());
        text.append(block.data(), got);
        if (got == block.size()) continue;
        if (std::ferror(file.get()) != 0) return refused(errno);
        break;
    }
    return text;
}

ConfigResult load_config(const std::string& path) try {
    const auto text = read_config_file(path);
    if (!text) return one_error(text.error());
    return parse_into_config(*text, path);
} catch (const std::bad_alloc&) {
    return one_error(file_error(path, "there is not enough memory for it"));
}

}  // namespace sluice
