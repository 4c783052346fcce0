#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "control/switch/mirror/mirror_output.hh"
#include "lib/record/pcapng.hh"

namespace sluice {
namespace {

constexpr std::size_t file_batch_bytes = 1U << 16;
constexpr mode_t usual_mode = 0666;  // less the process's umask

// An empty file, or one that begins as ours do.
bool may_be_replaced(int file) {
    std::string ours;
    pcapng::add_section(ours, mirror_application);
    std::string there(ours.size(), '\0');
    const ssize_t count = pread(file, there.data(), there.size(), 0);
    return count == 0 || there == ours;
}

// Likewise; one that is not there may be, too.
bool may_be_replaced(const std::string& path) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    return file ? may_be_replaced(file.get()) : errno == ENOENT;
}

class MirrorFile : public MirrorStream {
  public:
    MirrorFile(const std::string& path, std::uint64_t max_bytes)
        : MirrorStream(path, file_batch_bytes), max_bytes_(max_bytes) {}
    ~MirrorFile() override {
        if (is_new_ && !begun_) static_cast<void>(std::remove(path().c_str()));
    }

    // An error's text, or empty.
    std::string open();
    void begin(std::string header) override;
    void set_max_bytes(std::uint64_t bytes) override { max_bytes_ = bytes; }
    std::string state() const override { return why_.empty() ? "written" : "cannot be written: " + why_; }
    std::string fault() const override {
        return why_.empty() ? why_ : cannot_be_written(why_, "make room, or name another file");
    }
    std::string close() override;

  private:
    bool write(std::string_view blocks) override;
    bool write_all(std::string_view bytes);
    bool turn_over();
    std::string before_this() const { return path() + ".1"; }
    bool fail(int error) {
        why_ = complaint_ = std::strerror(error);
        return false;
    }

    FileDescriptor file_;
    std::string header_;
    std::uint64_t max_bytes_;
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
    // A FIFO or a device that waits for somebody is not waited for.
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

void MirrorFile::begin(std::string header) {
    header_ = std::move(header);
    begun_ = true;
    if (is_regular_ && ftruncate(file_.get(), 0) != 0) {
        fail(errno);
        return;
    }
    static_cast<void>(write({}));
}

bool MirrorFile::write(std::string_view blocks) {
    if (is_regular_ && bytes_ > header_.size() && bytes_ + blocks.size() > max_bytes_ && !turn_over())
        return false;
    if (torn_ && ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) return fail(errno);
    torn_ = false;
    const bool has_header = bytes_ != 0;
    if (!has_header && !write_all(header_)) return false;
    if (!has_header) bytes_ = header_.size();
    if (!write_all(blocks)) return false;
    bytes_ += blocks.size();
    why_.clear();
    return true;
}

// All of it behind `bytes_`, or no part.
bool MirrorFile::write_all(std::string_view bytes) {
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
    flush();
    // Some file systems tell only at a close that there was no room.
    const int copy = fcntl(file_.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || ::close(copy) != 0) fail(errno);
    file_ = FileDescriptor();
    if (complaint_.empty()) return {};
    return fmt::format("{}: {} of {} frames could not be written: {}", path(), lost(), written() + lost(),
                       complaint_);
}

}  // namespace

tl::expected<std::unique_ptr<MirrorOutput>, std::string> MirrorOutput::open_file(const std::string& path,
                                                                                 std::uint64_t max_bytes) {
    auto made = std::make_unique<MirrorFile>(path, max_bytes);
    if (std::string error = made->open(); !error.empty()) return tl::unexpected(std::move(error));
    return made;
}

}  // namespace sluice
