// CSV with a header: columns by their names, as simulators and traces call them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "control/config/text/wrapped.hh"
#include "control/fabric/workload/csv_record.hh"
#include "control/fabric/workload/list_maker.hh"

namespace sluice::fabric {
namespace csv {
namespace {

enum Column : std::uint8_t { source, destination, bytes, start, traffic_class, qps, name, after, columns };

struct Suffix {
    std::string_view text;
    std::uint64_t unit = 1;
};
struct Known {
    std::string_view title;  // in messages
    std::vector<std::string_view> words;
    std::vector<Suffix> suffixes;  // behind a word: what it is a number of
};

const std::array<Known, columns>& known_columns() {
    static const std::vector<Suffix> nothing{{""}};
    static const std::vector<Suffix> of_host{{""},       {"host"}, {"node"}, {"id"},
                                             {"server"}, {"rank"}, {"name"}};
    static const std::vector<Suffix> of_size{{""},
                                             {"b"},
                                             {"byte"},
                                             {"bytes"},
                                             {"inbytes"},
                                             {"kb", 1'000},
                                             {"mb", 1'000'000},
                                             {"gb", 1'000'000'000},
                                             {"kib", 1ULL << 10},
                                             {"mib", 1ULL << 20},
                                             {"gib", 1ULL << 30}};
    static const std::vector<Suffix> of_time{{"", 1'000'000'000'000},
                                             {"s", 1'000'000'000'000},
                                             {"sec", 1'000'000'000'000},
                                             {"seconds", 1'000'000'000'000},
                                             {"ms", 1'000'000'000},
                                             {"us", 1'000'000},
                                             {"ns", 1'000},
                                             {"ps", 1}};
    static const std::array<Known, columns> all{
        {{"source", {"src", "source", "from", "sender"}, of_host},
         {"destination", {"dst", "dest", "destination", "to", "receiver"}, of_host},
         {"size", {"bytes", "size", "flowsize", "length", "flowbytes", "messagesize"}, of_size},
         {"start", {"start", "starttime", "time", "arrival", "arrivaltime", "flowstart"}, of_time},
         {"class", {"class", "tc", "priority", "prio", "pg", "trafficclass"}, nothing},
         {"qps", {"qps", "queuepairs", "qp"}, nothing},
         {"name", {"name", "id", "flow", "flowid", "flowname", "label"}, nothing},
         {"after", {"after", "depends", "dependson", "dependency", "parent"}, nothing}}};
    return all;
}

struct Found {
    Column column;
    std::uint64_t unit;
};

// "Start [us]" is the start in microseconds.
std::optional<Found> find_column(std::string_view title) {
    std::string plain;
    for (const char c : title) {
        if (c == '\xC2' || c == '\xCE') continue;  // the first byte of U+00B5 and U+03BC, the micro signs
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\xB5' || c == '\xBC')
            plain += 'u';
        else if (std::isalnum(byte) != 0)
            plain += static_cast<char>(std::tolower(byte));
    }
    for (std::uint8_t n = 0; n < columns; ++n)
        for (const std::string_view word : known_columns()[n].words)
            for (const Suffix& suffix : known_columns()[n].suffixes)
                if (plain.starts_with(word) && plain.substr(word.size()) == suffix.text)
                    return Found{static_cast<Column>(n), suffix.unit};
    return {};
}

std::string_view header_in(std::string_view line) {
    line = trimmed(line);
    while (line.starts_with('#')) line = trimmed(line.substr(1));
    return line;
}

class CsvReader {
  public:
    CsvReader(TextLines& lines, ListMaker& maker) : lines_(lines), maker_(maker) {}

    void read() {
        if (!read_header()) return;
        while (!maker_.is_full() && lines_.next()) {
            if (is_blank(trimmed(lines_.text()))) continue;
            const std::uint32_t line = lines_.number();
            if (!read_record()) return;
            read_flow(line);
        }
    }

  private:
    // False: it has no end.
    bool read_record() {
        bool is_whole = record_.split(lines_.text(), lines_.number());
        while (!is_whole && record_.bytes() <= max_line_bytes && lines_.next())
            is_whole = record_.split(lines_.text(), lines_.number());
        if (!is_whole && lines_.wrong().wrong.empty())
            maker_.refuse(record_.last_place(), "the quote is not closed", "close it, or leave it out");
        return is_whole;
    }

    bool read_header() {
        const std::string header(header_in(lines_.text()));
        record_.set_separator(csv_separator(header).value_or(','));
        const SourcePlace place{lines_.number(), 1};
        if (!record_.split(header, lines_.number())) {
            maker_.refuse(place, "a quote of the header is not closed", "close it, or leave it out");
            return false;
        }
        width_ = record_.size();
        for (std::size_t n = 0; n < width_; ++n) {
            const auto title = record_[n].text;
            const auto found = find_column(title);
            if (!found) {
                if (!title.empty()) left_out_.push_back(in_quotes(title, 32));
                continue;
            }
            const std::string_view what = known_columns()[found->column].title;
            if (at_[found->column]) {
                maker_.refuse(record_[n].place,
                              fmt::format("columns {} and {} are both the {}",
                                          in_quotes(titles_[found->column]), in_quotes(title), what),
                              "rename the one that is not");
                return false;
            }
            at_[found->column] = n;
            units_[found->column] = found->unit;
            titles_[found->column] = title;
        }
        return has_columns(place) && (note_columns(), true);
    }

    bool has_columns(SourcePlace place) {
        std::vector<Column> wanted{source, destination, bytes};
        if (!at_[after]) wanted.push_back(start);
        if (at_[after]) wanted.push_back(name);
        for (const Column column : wanted) {
            if (at_[column]) continue;
            maker_.refuse(place,
                          fmt::format("the header has no column for the {}", known_columns()[column].title),
                          fmt::format("call one {}; comma, semicolon or tab divide columns",
                                      fmt::join(known_columns()[column].words, ", ")));
            return false;
        }
        return true;
    }

    void note_columns() {
        std::vector<std::string> read;
        for (std::uint8_t n = 0; n < columns; ++n) {
            if (!at_[n]) continue;
            read.push_back(fmt::format("{} {}", known_columns()[n].title, in_quotes(titles_[n], 32)));
            if (n == bytes && units_[n] != 1) read.back() += fmt::format(" in {}", print_size(units_[n]));
            if (n == start)
                read.back() += fmt::format(" in {}", print_time({static_cast<std::int64_t>(units_[n])}));
        }
        maker_.note(fmt::format("columns: {}", fmt::join(read, ", ")));
        if (!left_out_.empty()) maker_.note("columns left out: " + join_briefly(left_out_, ", "));
    }

    ListMaker::Cell cell(Column column) const {
        const auto [text, place] = record_[*at_[column]];
        return {text, place};
    }
    // The value of an optional column; nothing: there is none.
    std::optional<ListMaker::Cell> value_of(Column column) const {
        if (!at_[column] || cell(column).text.empty()) return {};
        return cell(column);
    }

    void read_flow(std::uint32_t line) {
        std::size_t size = record_.size();
        while (size > width_ && record_[size - 1].text.empty()) --size;
        if (size != width_)
            return maker_.refuse({line, 1},
                                 fmt::format("the line has {}, and the header {}", print_count(size, "value"),
                                             print_count(width_, "column")),
                                 "write a value for each column, or nothing between two separators");
        ListedFlow flow = maker_.begin(line);
        bool good = maker_.read_ends(cell(source), cell(destination), flow);
        good = maker_.read_bytes(cell(bytes), units_[bytes], flow) && good;
        const auto waits_for = value_of(after);
        if (const auto value = value_of(start))
            good = maker_.read_start(*value, units_[start], flow) && good;
        else if (at_[start] && !waits_for)
            good = maker_.read_start(cell(start), units_[start], flow);  // it is empty
        if (const auto value = value_of(traffic_class)) good = maker_.read_class(*value, flow) && good;
        if (const auto value = value_of(qps)) good = maker_.read_qps(*value, flow) && good;
        if (const auto value = value_of(name)) good = maker_.read_name(*value, flow) && good;
        if (good && waits_for) good = maker_.read_after(*waits_for);
        if (good) maker_.add(flow, waits_for.has_value());
    }

    TextLines& lines_;
    ListMaker& maker_;
    CsvRecord record_;
    std::size_t width_ = 0;
    std::array<std::optional<std::size_t>, columns> at_;
    std::array<std::uint64_t, columns> units_{};
    std::array<std::string, columns> titles_;
    std::vector<std::string> left_out_;
};

}  // namespace
}  // namespace csv

bool is_csv_header(std::string_view line) {
    using namespace csv;
    const std::string_view header = header_in(line);
    CsvRecord record;
    record.set_separator(csv_separator(header).value_or(','));
    if (!record.split(header, 1)) return false;
    std::array<bool, columns> has{};
    for (std::size_t n = 0; n < record.size(); ++n)
        if (const auto found = find_column(record[n].text)) has[found->column] = true;
    return has[source] && has[destination] && has[bytes];
}

void read_csv(TextLines& lines, ListMaker& maker) {
    maker.set_format(WorkloadFormat::csv);
    csv::CsvReader(lines, maker).read();
}

}  // namespace sluice::fabric
