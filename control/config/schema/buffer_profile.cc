#include "control/config/schema/buffer_profile.hh"

#include <cassert>

#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/text/embedded_files.hh"

namespace sluice {
namespace schema {
namespace {

Rows<ProfileLimits> limit_rows() {
    using L = ProfileLimits;
    const auto bytes = optional_or(size(0, max_buffer_bytes, "18200"), "preset");
    Rows<L> rows;
    rows.key("dynamic_th", &L::dynamic_th, optional_or(signed_integer(-8, 7), "preset"),
             "Limit on shared use: 2^dynamic_th times what is free in the pool.");
    rows.key("static_th", &L::static_bytes, bytes, "Limit on shared use in bytes; 0: none.");
    rows.key("size", &L::size_bytes, bytes, "Bytes reserved for it alone.");
    rows.key("xon", &L::xon_bytes, bytes, "XON when shared use is at most this.");
    rows.key("xon_offset", &L::xon_offset_bytes, bytes, "Or when it is so far below the limit.");
    return rows;
}

Rows<ProfileHeadroom> headroom_rows() {
    using H = ProfileHeadroom;
    Rows<H> rows;
    rows.required("speed", &H::speed, port_speed(), "Speed of the port.");
    rows.required("cable", &H::cable_m, length(1, 100'000), "Longest cable for which it is.");
    rows.required("xoff", &H::xoff_bytes, size(1, max_buffer_bytes, "100KB"), "Headroom.");
    rows.key("size", &H::size_bytes, optional_or(size(0, max_buffer_bytes, "20KB"), "group"),
             "Bytes reserved for the group, where they differ by speed.");
    return rows;
}

Rows<BufferProfile> profile_rows() {
    using B = BufferProfile;
    constexpr std::size_t max_rows = 256;
    Rows<B> memory;
    memory.required("size", &B::size_bytes, size(1, max_buffer_bytes, "16MB"), "Packet memory.");
    memory.required("cell", &B::cell_bytes, stored_as<std::uint32_t>(size(64, 2048, "256")), "Its unit.");
    Rows<B> rows;
    rows.required("asic", &B::asic, text("the switch's name", 1, 64, "\"Spectrum\""), "The switch.");
    rows.required("ports", &B::ports, text("ports", 1, 64, "\"32 x 100G\""), "Its ports.");
    rows.list("headroom", &B::headroom, headroom_rows(), max_rows, "Headroom by speed and cable.");
    rows.group("buffer", memory, "The shared buffer.");
    rows.named(
        "pool", &B::pools, pool_rows(), [](const B&, const std::string&, bool) { return PoolConfig{}; }, 16,
        "Its pools.");
    rows.nested("lossless_group", &B::lossless_group, limit_rows(), "Lossless priority groups.");
    rows.nested("lossy_group", &B::lossy_group, limit_rows(), "The others.");
    rows.nested("lossless_queue", &B::lossless_queue, limit_rows(), "Lossless queues.");
    rows.nested("lossy_queue", &B::lossy_queue, limit_rows(), "The others.");
    return rows;
}

}  // namespace
}  // namespace schema

const ProfileHeadroom* BufferProfile::headroom_of(Rate speed, std::uint32_t cable_m) const {
    const ProfileHeadroom* best = nullptr;
    for (const ProfileHeadroom& row : headroom)
        if (row.speed == speed && row.cable_m >= cable_m && (best == nullptr || row.cable_m < best->cable_m))
            best = &row;
    return best;
}

namespace {
std::string_view name_of(const embedded::File& file) { return file.name.substr(0, file.name.rfind('.')); }
}  // namespace

std::vector<std::string> buffer_profile_names() {
    std::vector<std::string> names{std::string(no_profile)};
    for (const embedded::File& file : embedded::buffer_profiles) names.emplace_back(name_of(file));
    return names;
}

tl::expected<BufferProfile, std::vector<ConfigError>> parse_buffer_profile(std::string_view text,
                                                                           std::string_view file) {
    const auto document = parse_toml(text, file);
    if (!document) return tl::unexpected(std::vector{document.error()});
    schema::Context context(file);
    BufferProfile profile;
    profile.name = file;
    if (!schema::profile_rows().read(*document, context, profile))
        return tl::unexpected(context.take_errors());
    return profile;
}

const BufferProfile* buffer_profile(std::string_view name) {
    static const std::map<std::string, BufferProfile, std::less<>> profiles = [] {
        std::map<std::string, BufferProfile, std::less<>> all;
        for (const embedded::File& file : embedded::buffer_profiles) {
            auto profile = parse_buffer_profile(file.text, name_of(file));
            assert(profile && "a file of conf/profiles is wrong");
            if (profile) all.emplace(name_of(file), std::move(*profile));
        }
        return all;
    }();
    const auto found = profiles.find(name);
    return found == profiles.end() ? nullptr : &found->second;
}

void start_from_profile(Config& config) {
    static const Config built_in;
    const BufferProfile* profile = buffer_profile(config.buffer_profile);
    config.buffer_size_bytes = profile != nullptr ? profile->size_bytes : built_in.buffer_size_bytes;
    config.cell_bytes = profile != nullptr ? profile->cell_bytes : built_in.cell_bytes;
}

}  // namespace sluice
