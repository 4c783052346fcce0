#include "dataplane/base/hugepages.hh"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

namespace sluice {

std::string HugepagePool::command_for(std::uint64_t bytes) const {
    constexpr std::uint64_t usual = std::uint64_t{2} << 20;
    const std::uint64_t each = page_bytes != 0 ? page_bytes : usual;
    const std::uint64_t used = pages - std::min(free, pages);
    return "sysctl vm.nr_hugepages=" + std::to_string(std::max(pages, used + (bytes + each - 1) / each));
}

HugepagePool read_hugepages(const std::string& root) {
    std::ifstream file(root + "/proc/meminfo");
    std::map<std::string, std::uint64_t> numbers;
    std::string key;
    std::uint64_t value = 0;
    while (file >> key >> value) {
        numbers[key] = value;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    const std::uint64_t free = numbers["HugePages_Free:"];
    return {numbers["Hugepagesize:"] * 1024, numbers["HugePages_Total:"],
            free - std::min(free, numbers["HugePages_Rsvd:"])};
}

}  // namespace sluice
