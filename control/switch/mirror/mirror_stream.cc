// Blocks of pcapng for a file or a FIFO.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "control/config/schema/values.hh"
#include "control/switch/mirror/mirror_writer.hh"
#include "dataplane/base/file_descriptor.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/record/pcapng.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

constexpr std::size_t file_batch_bytes = 1U << 16;
constexpr mode_t usual_mode = 0666;  // less the process's umask
constexpr int wanted_pipe_bytes = 1 << 20;
constexpr auto look_period = std::chrono::milliseconds(20);

std::string pause_text(const PauseMap& map) {
    std::string off, quanta, on;
    for_each_class(map.class_enable, [&](ClassId n) {
        append_item(map.quanta[n] != 0 ? off : on, ",", std::to_string(n));
        if (map.quanta[n] != 0) append_item(quanta, ",", std::to_string(map.quanta[n]));
    });
    std::string text;
    if (!off.empty()) text += fmt::format(" xoff={} quanta={}", off, quanta);
    if (!on.empty()) text += " xon=" + on;
    return text;
}

// The comment of a packet block: a word, pairs NAME=VALUE, and for a drop the sentence of its reason.
// Programs read the pairs: they stay as they are, and new ones may be added.
//   drop reason=queue_limit ingress=h1 egress=h4 queue=3 class=3 lossless=no sequence=119 at_ns=59800: ...
//   delay waited_ns=120000 ingress=h1 egress=h4 queue=3 class=3 lossless=yes sequence=119 at_ns=59800
//   pause sent port=h1 xoff=3,4 quanta=65535,65535 xon=0 at_ns=59800
std::string mirror_comment(const MirroredFrame& frame, const std::vector<MirrorInterface>& ports) {
    const MirrorHead& head = frame.head;
    std::string text;
    const auto add = [&]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
    };
    if (head.event == MirrorEvent::pause) {
        const bool sent = head.egress != no_port;
        add("pause {} port={}{}", sent ? "sent" : "received", ports[head.shown_at()].port,
            pause_text(decode_mac_control(frame.bytes, {}).map));
    } else {
        if (head.event == MirrorEvent::drop)
            add("drop reason={}", to_string(head.reason));
        else
            add("delay waited_ns={}", head.waited.ps / 1000);
        add(" ingress={}", ports[head.ingress].port);
        if (head.egress != no_port) add(" egress={} queue={}", ports[head.egress].port, head.queue);
        for_each_class(head.of_classes, [&](ClassId n) { add(" class={}", n); });
        add(" lossless={} sequence={}", head.lossless ? "yes" : "no", head.sequence);
    }
    add(" at_ns={}", head.at.ps / 1000);
    if (head.event == MirrorEvent::drop)
        add(": {}", drop_reason_texts[static_cast<std::size_t>(head.reason)].sentence);
    return text;
}

// The section header of a mirror's file.
std::string section() {
    std::string bytes;
    pcapng::add_section(bytes, "sluiced");
    return bytes;
}

class MirrorStream : public MirrorWriter {
  public:
    Taken write(std::deque<MirroredFrame>& waiting, const ServedSwitch& of) final;

  protected:
    MirrorStream(std::string path, std::size_t batch_bytes, const std::vector<MirrorInterface>& ports)
        : path_(std::move(path)), batch_bytes_(batch_bytes), ports_(ports), header_(section()) {
        for (const MirrorInterface& each : ports)
            pcapng::add_interface(header_, each.port, max_mirrored_bytes, each.bits_per_second);
    }
    // All of it, or nothing and false.
    virtual bool put(std::string_view blocks) = 0;
    const std::string& path() const { return path_; }
    const std::string& header() const { return header_; }  // of the file, and of each new one
    const Taken& taken() const { return taken_; }
    std::string cannot_be_written(std::string_view why, std::string_view remedy) const {
        return fmt::format("{}: cannot be written: {}; do: {}", path_, why, remedy);
    }

  private:
    std::string path_;
    std::size_t batch_bytes_;
    const std::vector<MirrorInterface>& ports_;
    std::string header_;
    Taken taken_;  // in all
};

MirrorWriter::Taken MirrorStream::write(std::deque<MirroredFrame>& waiting, const ServedSwitch&) {
    Taken taken;
    std::string batch, block;
    std::uint64_t in_batch = 0;
    const auto flush = [&] {
        if (in_batch != 0) (put(batch) ? taken.written : taken.lost) += in_batch;
        batch.clear();
        in_batch = 0;
    };
    for (const MirroredFrame& frame : waiting) {
        const MirrorHead& head = frame.head;
        const std::string comment = mirror_comment(frame, ports_);
        block.clear();
        pcapng::add_packet(
            block, {head.shown_at(), frame.stamp_ns, head.frame_bytes, frame.bytes,
                    head.is_inbound() ? pcapng::Direction::inbound : pcapng::Direction::outbound, comment});
        if (batch.size() + block.size() > batch_bytes_) flush();
        batch += block;
        ++in_batch;
    }
    flush();
    waiting.clear();
    taken_ = {taken_.written + taken.written, taken_.lost + taken.lost};
    return taken;
}

// True for an empty file, and one that begins as ours do.
bool may_be_replaced(int file) {
    const std::string ours = section();
    std::string there(ours.size(), '\0');
    const ssize_t count = pread(file, there.data(), there.size(), 0);
    return count == 0 || there == ours;
}

// The same for a path, where the file may be missing, too.
bool may_be_replaced(const std::string& path) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    return file ? may_be_replaced(file.get()) : errno == ENOENT;
}

class MirrorFile final : public MirrorStream {
  public:
    MirrorFile(const std::string& path, const std::vector<MirrorInterface>& ports)
        : MirrorStream(path, file_batch_bytes, ports) {}
    ~MirrorFile() override {
        if (is_new_ && !begun_) static_cast<void>(std::remove(path().c_str()));
    }

    // An error's text, or empty.
    std::string open();
    void configure(const MirrorConfig& config, std::uint32_t) override { max_bytes_ = config.file_bytes; }
    void begin() override;
    std::string state() const override { return why_.empty() ? "written" : "cannot be written: " + why_; }
    std::string fault() const override {
        return why_.empty() ? why_ : cannot_be_written(why_, "make room, or name another file");
    }
    std::string close() override;

  private:
    bool put(std::string_view blocks) override;
    bool put_all(std::string_view bytes);
    bool turn_over();
    std::string before_this() const { return path() + ".1"; }
    bool fail(int error) {
        why_ = complaint_ = std::strerror(error);
        return false;
    }

    FileDescriptor file_;
    std::uint64_t max_bytes_ = 0;
    std::uint64_t bytes_ = 0;  // whole blocks in the file
    bool is_regular_ = true;
    bool is_new_ = false;
    bool begun_ = false;
    bool torn_ = false;      // behind them stands part of one, which could not be taken away
    std::string why_;        // the last write failed
    std::string complaint_;  // any did
};

std::string MirrorFile::open() {
    struct stat before {};
    is_new_ = stat(path().c_str(), &before) != 0;
    // O_NONBLOCK: a FIFO or a device must not block.
    file_ = FileDescriptor(
        ::open(path().c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, usual_mode));
    if (!file_ && errno == EACCES && !is_new_ && !S_ISREG(before.st_mode))
        file_ = FileDescriptor(::open(path().c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file_)
        return cannot_be_written(std::strerror(errno),
                                 "name a file in a folder that exists and that the switch may write");
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) return cannot_be_written(std::strerror(errno), "name another file");
    is_regular_ = S_ISREG(status.st_mode);
    if (S_ISFIFO(status.st_mode)) return cannot_be_written("it is a FIFO", "write fifo instead of file");
    if (!is_regular_) return {};
    if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return cannot_be_written("another mirror or switch writes it", "give each a file of its own");
    if (!may_be_replaced(file_.get()))
        return cannot_be_written("it is a file of something else, and no mirror's",
                                 "name another file, or remove this one");
    if (!may_be_replaced(before_this()))
        return cannot_be_written(
            before_this() + ", which it becomes when it is full, is a file of something else",
            "name another file, or remove that one");
    return {};
}

void MirrorFile::begin() {
    begun_ = true;
    if (is_regular_ && ftruncate(file_.get(), 0) != 0)
        fail(errno);
    else
        static_cast<void>(put({}));
}

bool MirrorFile::put(std::string_view blocks) {
    if (is_regular_ && bytes_ > header().size() && bytes_ + blocks.size() > max_bytes_ && !turn_over())
        return false;
    if (torn_ && ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) return fail(errno);
    torn_ = false;
    for (const std::string_view bytes : {bytes_ == 0 ? std::string_view(header()) : "", blocks}) {
        if (!put_all(bytes)) return false;
        bytes_ += bytes.size();
    }
    why_.clear();
    return true;
}

// Writes all behind `bytes_`, or nothing.
bool MirrorFile::put_all(std::string_view bytes) {
    std::uint64_t at = bytes_;
    while (!bytes.empty()) {
        const ssize_t written = is_regular_
                                    ? pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at))
                                    : ::write(file_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            if (is_regular_ && at != bytes_) torn_ = ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0;
            return fail(error);
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
    return true;
}

// FILE becomes FILE.1, and a new FILE begins.
bool MirrorFile::turn_over() {
    if (!may_be_replaced(before_this())) return fail(EEXIST);
    if (std::rename(path().c_str(), before_this().c_str()) != 0 && errno != ENOENT) return fail(errno);
    FileDescriptor next(::open(path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, usual_mode));
    if (!next) return fail(errno);
    static_cast<void>(flock(next.get(), LOCK_EX | LOCK_NB));
    file_ = std::move(next);
    bytes_ = 0;
    return true;
}

std::string MirrorFile::close() {
    // Some file systems report a full disk only at a close.
    const int copy = fcntl(file_.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::close(copy) != 0) fail(errno);
    file_ = FileDescriptor();
    if (complaint_.empty()) return {};
    return fmt::format("{}: {} of {} frames could not be written: {}", path(), taken().lost,
                       taken().written + taken().lost, complaint_);
}

class MirrorFifo final : public MirrorStream {
  public:
    MirrorFifo(const std::string& path, const std::vector<MirrorInterface>& ports)
        : MirrorStream(path, PIPE_BUF, ports) {}
    ~MirrorFifo() override {
        if (is_made_) static_cast<void>(std::remove(path().c_str()));
    }

    // An error's text, or empty.
    std::string open();
    void begin() override { look_for_reader(); }
    PortId look(const ServedSwitch&) override {
        look_for_reader();
        return no_port;
    }
    std::string state() const override { return why_.empty() ? "read" : why_; }

  private:
    using Clock = std::chrono::steady_clock;

    bool put(std::string_view blocks) override;
    void look_for_reader();
    void send_header();
    void lose_reader(std::string why) {
        end_ = FileDescriptor();
        why_ = std::move(why);
    }

    FileDescriptor end_;  // none: no reader
    Clock::time_point next_look_{};
    bool is_made_ = false;
    std::string why_ = "has no reader";  // empty: it has one
};

std::string MirrorFifo::open() {
    is_made_ = mkfifo(path().c_str(), usual_mode) == 0;
    if (!is_made_ && errno != EEXIST)
        return cannot_be_written(std::strerror(errno),
                                 "name a FIFO in a folder that exists and that the switch may write");
    struct stat status {};
    if (stat(path().c_str(), &status) != 0)
        return cannot_be_written(std::strerror(errno), "name another FIFO");
    if (!S_ISFIFO(status.st_mode))
        return cannot_be_written("it is not a FIFO", "write file instead of fifo, or name another");
    if (access(path().c_str(), W_OK) != 0)
        return cannot_be_written(std::strerror(errno), "let the switch write it");
    return {};
}

void MirrorFifo::look_for_reader() {
    const auto now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + look_period;
    if (end_) {
        // A later reader needs a new stream.
        struct pollfd end = {end_.get(), 0, 0};
        if (poll(&end, 1, 0) <= 0 || (end.revents & POLLERR) == 0) return;
        lose_reader("has no reader");
    }
    end_ = FileDescriptor(::open(path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!end_) {
        why_ = errno == ENXIO ? "has no reader" : fmt::format("cannot be opened: {}", std::strerror(errno));
        return;
    }
    static_cast<void>(fcntl(end_.get(), F_SETPIPE_SZ, wanted_pipe_bytes));  // as much as this user may
    why_.clear();
    send_header();
}

void MirrorFifo::send_header() {
    for (std::string_view left = header(); !left.empty();) {
        const ssize_t sent = ::write(end_.get(), left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return lose_reader(fmt::format("takes no header: {}", std::strerror(errno)));
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool MirrorFifo::put(std::string_view blocks) {
    while (end_) {
        const ssize_t sent = ::write(end_.get(), blocks.data(), blocks.size());
        if (sent == static_cast<ssize_t>(blocks.size())) return true;
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return false;  // full: its reader is slow
        lose_reader("has no reader");
    }
    return false;
}

template <class Stream>
tl::expected<std::unique_ptr<MirrorWriter>, std::string> opened(std::unique_ptr<Stream> stream) {
    if (std::string error = stream->open(); !error.empty()) return tl::unexpected(std::move(error));
    return stream;
}

}  // namespace

tl::expected<std::unique_ptr<MirrorWriter>, std::string> open_mirror_stream(
    const MirrorConfig& config, const std::vector<MirrorInterface>& ports) {
    if (config.file.empty()) return opened(std::make_unique<MirrorFifo>(config.fifo, ports));
    return opened(std::make_unique<MirrorFile>(config.file, ports));
}

}  // namespace sluice
