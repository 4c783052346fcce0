#include "control/switch/transaction/change_log.hh"

#include <algorithm>
#include <fstream>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"

namespace sluice {
namespace {

std::string shortened(const std::string& value) {
    const std::string_view start = first_characters(value, ChangeLog::max_value_bytes);
    return start.size() < value.size() ? std::string(start) + "..." : value;
}

}  // namespace

void ChangeLog::add(Time at, std::string what, const Author& who, const std::vector<ConfigChange>& changes) {
    Entry entry{at, std::chrono::system_clock::now(), std::move(what), who, {}, {}, 0};
    if (who.uid) entry.user = user_name(*who.uid);
    for (std::size_t i = 0; i < std::min(changes.size(), max_changes); ++i)
        entry.changes.push_back(
            {changes[i].path, shortened(changes[i].from), shortened(changes[i].to), changes[i].restart});
    entry.left_out = changes.size() - entry.changes.size();
    entries_.push_back(std::move(entry));
    if (entries_.size() <= max_entries) return;
    entries_.pop_front();
    ++lost_;
}

std::string user_name(uid_t uid) {
    constexpr std::size_t max_bytes = 1U << 20;
    std::ifstream file("/etc/passwd");  // name:password:uid:...
    std::size_t read = 0;
    for (std::string line; read < max_bytes && std::getline(file, line); read += line.size() + 1) {
        const Words fields = split(line, ':');
        if (fields.size() < 3) continue;
        if (const auto number = parse_integer(fields[2]); number && *number == uid) return fields[0];
    }
    return {};
}

}  // namespace sluice
