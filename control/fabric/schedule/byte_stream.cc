#include "control/fabric/schedule/byte_stream.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sluice::fabric {

void ByteStream::fill(std::size_t wanted) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    while (!is_over_ && end_ < wanted) {
        const std::ptrdiff_t got = source_(std::span(buffer_).subspan(end_));
        if (got < 0) wrong_ = fmt::format("the file cannot be read: {}", std::strerror(errno));
        is_over_ = got <= 0;
        if (got > 0) end_ += static_cast<std::size_t>(got);
    }
}

}  // namespace sluice::fabric
