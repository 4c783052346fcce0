// Bytes of a file as a stream: a look ahead of 64 KiB at most, and how many bytes have been used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/workload/text_lines.hh"

namespace sluice::fabric {

class ByteStream {
  public:
    static constexpr std::size_t most_ahead = 65'536;

    explicit ByteStream(TextLines::Source source, std::size_t ahead = most_ahead)
        : source_(std::move(source)), buffer_(ahead) {}

    // The bytes that come next, at least `wanted` (at most as many as there is room for) unless the file ends
    // before; valid until the next call.
    std::string_view ahead(std::size_t wanted = 1) {
        if (end_ - begin_ < wanted) fill(wanted);
        return {buffer_.data() + begin_, end_ - begin_};
    }
    bool at_end() { return begin_ == end_ && ahead().empty(); }
    // Uses bytes up; they are ahead.
    void skip(std::size_t bytes) {
        begin_ += bytes;
        used_ += bytes;
    }
    std::uint64_t used() const { return used_; }
    // Why the file cannot be read, which ends the stream; empty: it can.
    const std::string& wrong() const { return wrong_; }

  private:
    void fill(std::size_t wanted);

    TextLines::Source source_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // of the bytes that are not used yet
    std::uint64_t used_ = 0;
    bool is_over_ = false;
    std::string wrong_;
};

}  // namespace sluice::fabric
