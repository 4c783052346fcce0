// Tables and quantities for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/sluicectl/client.hh"

namespace sluice::ctl {

constexpr double ns_a_second = 1e9;

// Columns as wide as their texts; a title that begins with '<' is of a column of words, set to the left.
class Table {
  public:
    explicit Table(std::vector<std::string> titles);
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.size() == 1; }
    std::string text() const;

  private:
    std::vector<bool> has_words_;  // by column
    std::vector<std::vector<std::string>> rows_;
};

std::string count_text(const Json& number);   // "1 234 567"
std::string bytes_text(const Json& number);   // "322.0 KB"
std::string ns_text(const Json& number);      // "207.0 us"
std::string word_text(const Json& value);     // text as it is, anything else as JSON
std::string bits_text(double bits_a_second);  // "92.5 Gb/s"
std::string times_text(double a_second);      // "1.2 M/s"
std::string share_text(double share);         // "12.3 %"
// A number, or the sum of those in a list or an object, at any depth; 0 of anything else.
double sum_of(const Json& value);
// A number, or the largest sum in a list; 0 of anything else.
double largest_of(const Json& value);
// A number of packets, or with `seconds` their rate.
std::string packets_text(std::uint64_t packets, double seconds);

// The figures of a part of the report, each written as the catalogue (control/report/figures/figures.def) has
// it.
class Figures {
  public:
    // `path`: the part's in the catalogue, such as "ports.{port}.queues.{queue}"; `part` outlives this.
    // `seconds`: not 0: counters are shown a second: bytes as bits, times as a share.
    Figures(std::string path, const Json& part, double seconds = 0)
        : path_(std::move(path)), part_(&part), seconds_(seconds) {}
    // `names`: separated by blanks.
    std::vector<std::string> row(std::string first, std::string_view names) const;
    // "-" where the part lacks `name`, such as "latency_ns.p50". Throws std::logic_error: no such figure.
    std::string operator()(std::string_view name) const;

  private:
    std::string path_;
    const Json* part_;
    double seconds_;
};

}  // namespace sluice::ctl
