#include "control/dpdk_telemetry.hh"

#include <fmt/format.h>
#include <rte_telemetry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>

#include "control/boundary.hh"
#include "control/report.hh"
#include "control/report_path.hh"
#include "control/values.hh"
#include "lib/units.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds patience{2};

struct Slot {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    bool registered = false;
    std::uint64_t asked = 0;     // requests so far
    std::uint64_t answered = 0;  // those before it have a report
    std::shared_ptr<const Json> report;
};

// Never destroyed: DPDK's threads may be in a callback until the process has ended.
Slot& slot() {
    static Slot& made = *new Slot;
    return made;
}

// A report made after the call; null: there is no switch, or it does not answer.
std::shared_ptr<const Json> fresh_report() {
    Slot& at = slot();
    std::unique_lock lock(at.mutex);
    if (!at.open) return nullptr;
    const std::uint64_t mine = ++at.asked;
    at.changed.wait_for(lock, patience, [&] { return !at.open || at.answered >= mine; });
    return at.open && at.answered >= mine ? at.report : nullptr;
}

// What DPDK takes for a name within an answer.
std::string name_of(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        const bool good =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/';
        if (!good) c = '_';
    }
    return out;
}

void fill_dict(const Json& object, rte_tel_data* data);

// Lists of numbers or of words; of a list of objects nothing.
bool fill_array(const Json& list, rte_tel_data* data) {
    const bool words = !list.empty() && list.front().is_string();
    rte_tel_data_start_array(data, words ? RTE_TEL_STRING_VAL : RTE_TEL_U64_VAL);
    for (const Json& value : list) {
        if (words && value.is_string())
            rte_tel_data_add_array_string(data, value.get_ref<const std::string&>().c_str());
        else if (!words && value.is_number_integer())
            rte_tel_data_add_array_u64(data, value.get<std::uint64_t>());
        else
            return false;
    }
    return true;
}

// Whatever DPDK has no room for is left out: 256 names, 512 values of a list, 127 bytes of a word.
void fill_dict(const Json& object, rte_tel_data* data) {
    rte_tel_data_start_dict(data);
    for (const auto& [key, value] : object.items()) {
        const std::string name = name_of(key);
        if (value.is_boolean()) {
            rte_tel_data_add_dict_int(data, name.c_str(), value.get<bool>() ? 1 : 0);
        } else if (value.is_number_integer()) {
            rte_tel_data_add_dict_u64(data, name.c_str(), value.get<std::uint64_t>());
        } else if (value.is_string()) {
            rte_tel_data_add_dict_string(data, name.c_str(), value.get_ref<const std::string&>().c_str());
        } else if (value.is_structured()) {
            rte_tel_data* inner = rte_tel_data_alloc();
            if (inner == nullptr) continue;
            bool good = true;
            if (value.is_object())
                fill_dict(value, inner);
            else
                good = fill_array(value, inner);
            constexpr int freed_by_dpdk = 0;
            if (!good || rte_tel_data_add_dict_container(data, name.c_str(), inner, freed_by_dpdk) != 0)
                rte_tel_data_free(inner);
        }
    }
}

Json names_of(const Json& object) {
    Json names = Json::array();
    for (const auto& [name, value] : object.items()) names.push_back(name);
    return names;
}

// The part of a report that a command is about; null: there is none of that name.
using Part = Json (*)(const Json& report, const std::string& name);

Json one_of(const Json& report, const char* list, const std::string& name) {
    const Json& all = report[list];
    return all.contains(name) ? all[name] : Json();
}

// "h1.3" of a list that every port has.
Json one_of_port(const Json& report, const char* list, const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return {};
    const Json port = one_of(report, "ports", name.substr(0, dot));
    const auto index = parse_integer(std::string_view(name).substr(dot + 1));
    if (port.is_null() || !index || *index >= classes) return {};
    return port[list][*index];
}

Json port_of(const Json& report, const std::string& name) {
    Json port = one_of(report, "ports", name);
    if (port.is_object()) port.erase("queues"), port.erase("priority_groups");
    return port;
}

Json lossless_of(const Json& report, const std::string&) {
    return {{"lossless", report["lossless"]}, {"reasons", report["verdict"]["reasons"]}};
}

struct TelemetryCommand {
    const char* name;
    const char* help;
    bool wants_name;
    Part part;
};

constexpr std::array commands{
    TelemetryCommand{"/sluice/ledger", "What became of every frame", false,
                     [](const Json& report, const std::string&) -> Json { return report["ledger"]; }},
    TelemetryCommand{"/sluice/lossless", "Whether a promise of losslessness is broken, and why", false,
                     lossless_of},
    TelemetryCommand{"/sluice/ports", "Names of ports", false,
                     [](const Json& report, const std::string&) { return names_of(report["ports"]); }},
    TelemetryCommand{"/sluice/port", "Counters of a port. Parameters: NAME", true, port_of},
    TelemetryCommand{
        "/sluice/queue", "Counters of a queue. Parameters: PORT.N", true,
        [](const Json& report, const std::string& name) { return one_of_port(report, "queues", name); }},
    TelemetryCommand{"/sluice/priority_group", "Counters of a priority group. Parameters: PORT.N", true,
                     [](const Json& report, const std::string& name) {
                         return one_of_port(report, "priority_groups", name);
                     }},
    TelemetryCommand{"/sluice/pools", "Names of the buffer's pools", false,
                     [](const Json& report, const std::string&) { return names_of(report["pools"]); }},
    TelemetryCommand{
        "/sluice/pool", "Use of a pool. Parameters: NAME", true,
        [](const Json& report, const std::string& name) { return one_of(report, "pools", name); }},
    TelemetryCommand{"/sluice/stats",
                     "A part of the report, all of it but lists of objects. Parameters: PATH", true,
                     [](const Json& report, const std::string& name) {
                         const Json* part = find_part(report, name).value;
                         return part == nullptr ? Json() : *part;
                     }},
};

// A negative value makes the answer null.
int answer_or_throw(const char* cmd, const char* params, rte_tel_data* data) {
    const auto command = std::find_if(commands.begin(), commands.end(), [&](const TelemetryCommand& one) {
        return std::strcmp(one.name, cmd) == 0;
    });
    const bool named = params != nullptr && *params != '\0';
    if (command == commands.end() || named != command->wants_name) return -EINVAL;
    const auto report = fresh_report();
    if (!report) return -ENODEV;
    const Json part = command->part(*report, named ? params : "");
    if (part.is_object())
        fill_dict(part, data);
    else if (!part.is_array() || !fill_array(part, data))
        return -ENOENT;
    return 0;
}

// On a thread of DPDK, called by C.
int answer(const char* cmd, const char* params, rte_tel_data* data) {
    int status = -ENOMEM;
    boundary([&] { status = answer_or_throw(cmd, params, data); }, [](const char*) {});
    return status;
}

// 0, or what DPDK said. Once in the process.
int register_commands() {
    if (slot().registered) return 0;
    for (const TelemetryCommand& command : commands)
        if (const int error = rte_telemetry_register_cmd(command.name, answer, command.help); error != 0)
            return error;
    slot().registered = true;
    return 0;
}

}  // namespace

tl::expected<std::unique_ptr<DpdkTelemetry>, std::string> DpdkTelemetry::open(Report report) {
    if (const int error = register_commands(); error != 0)
        return tl::unexpected(fmt::format("--telemetry: DPDK refuses a command: {}", std::strerror(-error)));
    return std::unique_ptr<DpdkTelemetry>(new DpdkTelemetry(std::move(report)));
}

DpdkTelemetry::DpdkTelemetry(Report report) : report_(std::move(report)) {
    const std::lock_guard lock(slot().mutex);
    slot().open = true;
}

DpdkTelemetry::~DpdkTelemetry() {
    const std::lock_guard lock(slot().mutex);
    slot().open = false;
    slot().report.reset();
    slot().changed.notify_all();
}

bool DpdkTelemetry::is_asked() const {
    const std::lock_guard lock(slot().mutex);
    return slot().asked != slot().answered;
}

void DpdkTelemetry::serve() {
    Slot& at = slot();
    std::unique_lock lock(at.mutex);
    if (at.asked == at.answered) return;
    const std::uint64_t asked = at.asked;
    lock.unlock();
    auto made = std::make_shared<const Json>(report_());
    lock.lock();
    at.report = std::move(made);
    at.answered = asked;
    at.changed.notify_all();
}

}  // namespace sluice
