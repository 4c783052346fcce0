// Text for a terminal: lines of `width` with the further ones indented.
#pragma once

#include <algorithm>
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

}  // namespace sluice
