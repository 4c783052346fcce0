#include "control/switch/running/capture_span.hh"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t day_ns = 86'400 * second_ns;

std::string date(std::uint64_t stamp_ns) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                       fmt::gmtime(static_cast<std::time_t>(stamp_ns / second_ns)));
}

std::string days(std::uint64_t ns) {
    if (ns < day_ns) return fmt::format("{:.1f} hours", static_cast<double>(ns) / 3600e9);
    return fmt::format("{:.1f} days", static_cast<double>(ns) / 86'400e9);
}

std::uint64_t first_of(const StampRanges& stamps) { return stamps.all().begin()->first; }
std::uint64_t last_of(const StampRanges& stamps) { return stamps.all().rbegin()->second; }

}  // namespace

void CaptureSpan::add(const std::string& file, const StampRanges& stamps) {
    if (first_file_.empty() || first_of(stamps) < first_of(stamps_)) first_file_ = file;
    if (last_file_.empty() || last_of(stamps) > last_of(stamps_)) last_file_ = file;
    stamps_.add(stamps);
}

std::string CaptureSpan::too_long() const {
    const std::uint64_t span_ns = timeline().span_ns();
    if (span_ns <= max_days * day_ns) return {};
    const std::string begins = date(first_of(stamps_)), ends = date(last_of(stamps_));
    return fmt::format(
        "{} {}, with every gap above an hour counted as an hour; at most {} days are allowed; do: take a "
        "part "
        "of it with editcap -A START -B STOP{}",
        first_file_ == last_file_
            ? fmt::format("{} begins at {} and ends at {}:", in_quotes(first_file_, 200), begins, ends)
            : fmt::format("{} begins at {} and {} ends at {}:", in_quotes(first_file_, 200), begins,
                          in_quotes(last_file_, 200), ends),
        days(span_ns), max_days,
        first_file_ == last_file_ ? "" : ", or shift a file whose clock is wrong with editcap -t SECONDS");
}

std::string shortened_text(const CaptureTimeline& timeline) {
    const std::size_t gaps = timeline.shortened_gaps();
    if (gaps == 0) return {};
    return fmt::format("{} above an hour, common to all captures, {} shortened to an hour{}: {} left out",
                       print_count(gaps, "gap"), gaps == 1 ? "is" : "are", gaps == 1 ? "" : " each",
                       days(timeline.removed_ns()));
}

}  // namespace sluice
