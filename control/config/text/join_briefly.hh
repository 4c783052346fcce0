// Lists for people: whole where they are short.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// The list of all `items`; beyond `most` of them the first and the last ones, and how many are between.
template <class Items>
std::string join_briefly(const Items& items, std::string_view separator, std::size_t most = 16) {
    std::string out;
    const std::size_t last = items.size() > most ? items.size() - most / 2 : 0;
    for (std::size_t n = 0; n < items.size(); ++n) {
        if (n != 0) out += separator;
        if (last != 0 && n == most / 2) {
            (out += "... " + std::to_string(last - n) + " more ...") += separator;
            n = last;
        }
        out += items[n];
    }
    return out;
}

}  // namespace sluice
