#include "control/fabric/workload/text_lines.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace sluice::fabric {

TextLines::Source TextLines::source_of(std::string_view text) {
    return [text](std::span<char> block) mutable {
        const std::size_t got = text.copy(block.data(), block.size());
        text.remove_prefix(got);
        return static_cast<std::ptrdiff_t>(got);
    };
}

bool TextLines::stop(std::string wrong, std::string remedy) {
    wrong_ = {std::move(wrong), std::move(remedy)};
    is_over_ = true;
    begin_ = end_ = 0;
    line_ = {};
    return false;
}

// Reads on behind the bytes that are there. False: an error.
bool TextLines::fill() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    const std::ptrdiff_t got = source_(std::span(buffer_).subspan(end_));
    if (got < 0)
        return stop(fmt::format("the file cannot be read: {}", std::strerror(errno)),
                    "name a file that may be read");
    is_over_ = got == 0;
    end_ += static_cast<std::size_t>(got);
    return true;
}

bool TextLines::next() {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (!wrong_.wrong.empty()) return false;
    if (number_ == std::numeric_limits<std::uint32_t>::max())
        return stop("the file has too many lines", "divide it");
    std::size_t searched = 0;
    while (true) {
        const std::string_view there(buffer_.data() + begin_, end_ - begin_);
        const std::size_t newline = there.find('\n', searched);
        if (newline == there.npos && there.size() <= max_line_bytes && !is_over_) {
            searched = there.size();
            if (!fill()) return false;
            continue;
        }
        line_ = there.substr(0, newline);
        if (line_.empty() && newline == there.npos) return false;
        ++number_;
        if (line_.size() > max_line_bytes)
            return stop(fmt::format("the line is longer than {} bytes", max_line_bytes),
                        "name a file of shorter lines");
        if (line_.find('\0') != line_.npos)
            return stop("the line has a NUL byte, so this is not a text",
                        "unpack the file, or save it as text in UTF-8");
        begin_ += line_.size() + (newline == there.npos ? 0 : 1);
        if (line_.ends_with('\r')) line_.remove_suffix(1);
        if (number_ == 1 && line_.starts_with(byte_order_mark)) line_.remove_prefix(byte_order_mark.size());
        return true;
    }
}

}  // namespace sluice::fabric
