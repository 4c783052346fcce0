#include "control/switch/transaction/change_log.hh"

#include <algorithm>
#include <fstream>
#include <utility>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// At the start of a character, so that it stays UTF-8.
std::string shortened(const std::string& value) {
    std::size_t end = ChangeLog::max_value_bytes;
    if (value.size() <= end) return value;
    while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
    return value.substr(0, end) + "...";
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
        const std::size_t name = line.find(':');
        const std::size_t password = name == std::string::npos ? name : line.find(':', name + 1);
        if (password == std::string::npos) continue;
        const auto number =
            parse_integer(line.substr(password + 1, line.find(':', password + 1) - password - 1));
        if (number && *number == uid) return line.substr(0, name);
    }
    return {};
}

}  // namespace sluice
