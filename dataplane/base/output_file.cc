#include "dataplane/base/output_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "dataplane/base/file_roles.hh"

namespace sluice {
namespace {

constexpr std::size_t buffer_bytes = 1U << 16;
constexpr mode_t permission_bits = 07777;

std::string why_not(const std::string& path, int error) {
    return path + ": cannot be written: " + std::strerror(error);
}

std::optional<struct stat> status_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    return status;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A descriptor of ours that is this file already, such as standard output: opened anew it would be truncated.
FileDescriptor standard_stream(const struct stat& status) {
    for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat ours {};
        if (fstat(number, &ours) == 0 && same_file(ours, status))
            return FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, 0));
    }
    return {};
}

}  // namespace

bool OutputClaim::is_for(const std::string& path) {
    const auto there = status_of(path);
    return !path.empty() && (!there || S_ISREG(there->st_mode));
}

tl::expected<OutputClaim, std::string> OutputClaim::take(const std::string& path) {
    const auto before = status_of(path);
    if (before && access(path.c_str(), W_OK) != 0) return tl::unexpected(why_not(path, errno));
    OutputClaim claim(FileDescriptor(), link_target(path).string());
    claim.file_ = open_locked(claim.part(), O_RDWR | O_CREAT);
    if (claim.file_ && ftruncate(claim.file(), 0) == 0) return claim;
    if (errno == EWOULDBLOCK)
        return tl::unexpected(path + ": is being written already: " + claim.part() + " is locked");
    return tl::unexpected(why_not(path, errno));
}

OutputClaim::~OutputClaim() {
    if (file_) static_cast<void>(std::remove(part().c_str()));
}

std::string OutputClaim::publish() {
    if (const auto before = status_of(path_)) {
        // Only root may give a file away; another user keeps it.
        if (before->st_uid != geteuid() || before->st_gid != getegid())
            static_cast<void>(fchown(file(), before->st_uid, before->st_gid) == 0);
        if (fchmod(file(), before->st_mode & permission_bits) != 0) return why_not(path_, errno);
    }
    if (std::rename(part().c_str(), path_.c_str()) != 0) return why_not(path_, errno);
    file_ = FileDescriptor();
    return {};
}

tl::expected<std::unique_ptr<OutputFile>, std::string> OutputFile::create(const std::string& path) {
    std::unique_ptr<OutputFile> made(new OutputFile(path));
    made->buffer_.reserve(buffer_bytes);
    const auto there = status_of(path);
    if (there) made->in_place_ = standard_stream(*there);
    if (made->in_place_) return made;
    if (OutputClaim::is_for(path)) {
        auto claim = OutputClaim::take(path);
        if (!claim) return tl::unexpected(claim.error());
        made->claim_ = std::make_unique<OutputClaim>(std::move(*claim));
        return made;
    }
    made->in_place_ = FileDescriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!made->in_place_) return tl::unexpected(why_not(path, errno));
    return made;
}

void OutputFile::write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() >= buffer_bytes)
        write_through(bytes);
    else
        buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void OutputFile::flush() {
    write_through({buffer_.data(), buffer_.size()});
    buffer_.clear();
}

void OutputFile::write_through(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
        const ssize_t written = ::write(file(), bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error_ = errno;
    }
}

std::string OutputFile::close(const std::function<std::string(const std::string&)>& complete, bool durable) {
    if (closed_) return {};
    closed_ = true;
    flush();
    if (error_ == 0 && claim_ && durable && fsync(file()) != 0) error_ = errno;
    // Some file systems report only at close that there was no room.
    if (error_ == 0) {
        const int copy = fcntl(file(), F_DUPFD_CLOEXEC, 0);
        if (copy < 0 || ::close(copy) != 0) error_ = errno;
    }
    std::string failed = error_ != 0 ? why_not(path_, error_) : std::string();
    if (failed.empty() && claim_) failed = complete(claim_->part());
    if (failed.empty() && claim_) failed = claim_->publish();
    claim_.reset();
    in_place_ = FileDescriptor();
    return failed;
}

}  // namespace sluice
