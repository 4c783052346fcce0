// A text line by line, as a stream: the longest line is bounded, and no more than two of them are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::fabric {

constexpr std::size_t max_line_bytes = 65'536;

class TextLines {
  public:
    // As read(2): the bytes that it has put into the block; 0 at the end, -1 with errno for an error.
    using Source = std::function<std::ptrdiff_t(std::span<char>)>;
    // The text outlives it.
    static Source source_of(std::string_view text);
    explicit TextLines(Source source) : source_(std::move(source)), buffer_(2 * max_line_bytes) {}

    // Goes to the next line. False: the text is over, or wrong() says why reading stops.
    bool next();
    // Without its end of line (LF or CR LF) and without a byte order mark; valid until next().
    std::string_view text() const { return line_; }
    std::uint32_t number() const { return number_; }  // from 1
    // A sentence about the current line with what to do, or both are empty.
    struct Wrong {
        std::string wrong, remedy;
    };
    const Wrong& wrong() const { return wrong_; }

  private:
    bool fill();
    bool stop(std::string wrong, std::string remedy);

    Source source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // of the bytes that are not used yet
    bool is_over_ = false;
    std::string_view line_;
    std::uint32_t number_ = 0;
    Wrong wrong_;
};

}  // namespace sluice::fabric
