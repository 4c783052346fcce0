// Text for people: indented lines of a width, and lists that are shortened in the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// `sentence` in lines of `width`, the first already begun at `indent`.
inline std::string wrapped(std::string_view sentence, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t at = indent;
    while (!sentence.empty()) {
        const std::size_t end = std::min(sentence.find(' '), sentence.size());
        if (at + end > width && at != indent) {
            out += "\n" + std::string(indent, ' ');
            at = indent;
        } else if (at != indent) {
            out += ' ';
            ++at;
        }
        out += sentence.substr(0, end);
        at += end;
        sentence.remove_prefix(std::min(end + 1, sentence.size()));
    }
    return out;
}

// All `items`; beyond `most` of them the first, the last and the number between.
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
