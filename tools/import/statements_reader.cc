// Statements as a document: one a line, the body of a section below it deeper indented; where nothing is
// indented (a pasted session, a script), by what a section of its kind may hold. Read over are comments,
// prompts, commands that change nothing, banners, certificates, and what was put in up to EOF. A line goes on
// after a backslash at its end. Places stay.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/import/document.hh"
#include "tools/import/statements.hh"

namespace sluice::import {
namespace {

constexpr std::size_t max_name_bytes = 120;
constexpr std::string_view certificate_end = "-----END ";

using Beginnings = std::initializer_list<std::string_view>;

// What a section may hold that begins so, for lines that are not indented. `no` and `default` may be before.
struct SectionKind {
    std::string_view opener;
    std::array<std::string_view, 56> holds;
};
constexpr auto section_kinds = std::to_array<SectionKind>({
    {"interface",
     {"description",
      "mtu",
      "speed",
      "duplex",
      "shutdown",
      "switchport",
      "ip address",
      "ip unnumbered",
      "ipv6 address",
      "ipv6 enable",
      "vrf",
      "priority-flow-control on",
      "priority-flow-control off",
      "priority-flow-control mode",
      "priority-flow-control priority",
      "priority-flow-control pause watchdog port",
      "priority-flow-control pause watchdog disable",
      "priority-flow-control watch-dog-interval",
      "service-policy",
      "service-profile",
      "tx-queue",
      "uc-tx-queue",
      "mc-tx-queue",
      "qos trust",
      "qos cos",
      "qos dscp",
      "shape",
      "channel-group",
      "spanning-tree port",
      "spanning-tree portfast",
      "spanning-tree bpduguard",
      "load-interval",
      "error-correction",
      "lldp",
      "cdp",
      "negotiate",
      "logging event",
      "vpc",
      "encapsulation",
      "flowcontrol",
      "dcbx",
      "phy",
      "bfd",
      "storm-control",
      "medium",
      "beacon",
      "fec",
      "hsrp",
      "ip redirects",
      "ipv6 redirects",
      "queue-limit"}},
    {"qos profile",
     {"qos trust", "qos cos", "qos dscp", "priority-flow-control on", "priority-flow-control mode",
      "priority-flow-control priority", "priority-flow-control pause watchdog port",
      "priority-flow-control pause watchdog disable", "tx-queue", "uc-tx-queue", "mc-tx-queue",
      "service-policy", "shape"}},
    {"tx-queue", {"priority", "bandwidth", "shape", "random-detect", "latency", "buffer"}},
    {"uc-tx-queue", {"priority", "bandwidth", "shape", "random-detect", "latency", "buffer"}},
    {"mc-tx-queue", {"priority", "bandwidth", "shape", "random-detect", "latency", "buffer"}},
    {"class-map", {"match", "description"}},
    {"policy-map", {"class", "description"}},
    {"class",
     {"set", "bandwidth", "priority", "random-detect", "queue-limit", "shape", "pause", "mtu", "police",
      "congestion-control"}},
    {"system qos", {"service-policy"}},
    {"vrf context", {"ip route", "ipv6 route", "description", "rd", "address-family"}},
    {"vrf instance", {"description", "rd"}},
    {"vlan", {"name", "state", "vn-segment"}},
});

const SectionKind* kind_of(std::string_view statement) {
    const auto found = std::ranges::find_if(
        section_kinds, [&](const SectionKind& kind) { return starts_with_words(statement, kind.opener); });
    return found == section_kinds.end() ? nullptr : &*found;
}

bool may_hold(const SectionKind* kind, std::string_view statement) {
    StatementWords words(statement);
    if (!words.take("no")) words.take("default");
    return kind != nullptr && std::ranges::any_of(kind->holds, [&](std::string_view start) {
               return !start.empty() && starts_with_words(words.rest(), start);
           });
}

// The bytes of "leaf1(config-if-Et1/1)# " or "leaf1#" at the front; `mode`: what is in parentheses.
std::size_t mode_prompt(std::string_view line, std::string_view& mode) {
    constexpr std::string_view of_name =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";
    constexpr std::size_t longest = 160;
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    std::size_t at = line.find_first_not_of(of_name, first);
    if (at == first || at > longest) return 0;  // or none
    mode = {};
    if (line[at] == '(') {
        const std::size_t end = line.find(')', at);
        if (end > longest) return 0;  // or none
        mode = line.substr(at + 1, end - at - 1);
        at = end + 1;
        if (!mode.starts_with("conf")) return 0;
    }
    if (at >= line.size() || (line[at] != '#' && line[at] != '>')) return 0;
    return at + 1;
}

bool is_any(std::string_view statement, Beginnings beginnings) {
    return std::ranges::any_of(beginnings,
                               [&](std::string_view words) { return starts_with_words(statement, words); });
}

// A command that enters or leaves a mode, or shows something.
bool changes_nothing(std::string_view statement) {
    return statement == "enable" || statement == "en" || statement == "wr" ||
           is_any(statement, {"end", "exit", "conf", "config", "configure", "show", "copy", "write"});
}

// The words with one blank between them and none around, without the comment behind them.
std::string tidy_statement(std::string_view text) {
    std::string out;
    for (std::string_view rest = trimmed(text); !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r"));
        const bool free_text = is_any(out, {"description", "banner", "username", "no description"});
        if ((word == "!" || word.starts_with("!!")) && !out.empty() && !free_text) break;
        append_item(out, " ", word);
        rest = trimmed(rest.substr(word.size()));
    }
    return out;
}

class StatementReader {
  public:
    explicit StatementReader(std::string_view text) : text_(text) {
        root_->kind = Item::Kind::map;
        for (std::size_t at = 0; at < text.size();) {
            const std::string_view line = text.substr(at, text.find('\n', at) - at);
            if (trimmed(line) == "EOF") last_eof_ = at;
            if (line.find(certificate_end) != line.npos) last_certificate_ = at;
            at += line.size() + 1;
        }
    }

    Document read() {
        std::string_view line;
        while (next_line(line)) {
            if (auto error = read_line(line)) return tl::unexpected(*error);
        }
        return std::move(root_);
    }

  private:
    struct Open {
        Item* item;
        std::size_t indent;
        bool is_flat = false;     // its body is not indented
        bool has_deeper = false;  // its body is
    };

    bool next_line(std::string_view& line) {
        if (at_ >= text_.size()) return false;
        line = text_.substr(at_, text_.find('\n', at_) - at_);
        at_ += line.size() + 1;
        ++number_;
        return true;
    }

    // Leaves out lines up to one that is `end`, or has it.
    void skip_to(std::string_view end, bool whole) {
        std::string_view line;
        while (next_line(line)) {
            if (whole ? trimmed(line) == end : line.find(end) != line.npos) return;
        }
    }

    std::optional<ReadError> read_line(std::string_view line) {
        std::string_view mode;
        const std::size_t prompt = mode_prompt(line, mode);
        if (prompt == 0 && skips_output_) return std::nullopt;
        skips_output_ = false;
        const SourcePlace place{
            number_, static_cast<unsigned>(std::min(line.find_first_not_of(" \t", prompt), line.size()) + 1)};
        std::size_t indent = indent_of(line.substr(prompt));
        if (prompt != 0) indent = 0;
        std::string statement = tidy_statement(line.substr(prompt));
        while (statement.ends_with('\\') && next_line(line)) {
            statement.pop_back();
            append_item(statement, " ", tidy_statement(line));
            statement = tidy_statement(statement);
        }
        if (statement.starts_with("-----BEGIN ")) {
            if (last_certificate_ && *last_certificate_ >= at_) skip_to(certificate_end, false);
            return std::nullopt;
        }
        if (statement == "!") separated_ = true;
        if (statement.empty() || statement.find_first_of("!#%") == 0 || statement == "EOF" ||
            statement.starts_with("/*") || statement.starts_with("//"))
            return std::nullopt;
        if (prompt != 0 && mode.empty()) {  // not a configuration's: a command, and what it answers
            skips_output_ =
                !is_any(statement, {"conf", "configure", "config"}) && !shows_configuration(statement);
            return std::nullopt;
        }
        if (mode == "config") open_.clear();
        if (statement == "exit") return leave(indent), std::nullopt;
        if (statement == "end") open_.clear();
        if (changes_nothing(statement)) return std::nullopt;
        if (auto error = add(statement, indent, place)) return error;
        skip_text(statement);
        return std::nullopt;
    }

    static bool shows_configuration(std::string_view statement) {
        return statement.find("run") != statement.npos || statement.find("start") != statement.npos;
    }

    static std::size_t indent_of(std::string_view line) {
        std::size_t columns = 0;
        for (const char c : line) {
            if (c != ' ' && c != '\t') break;
            columns = c == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
        }
        return columns;
    }

    // Text that a statement takes on further lines, up to its mark.
    void skip_text(std::string_view statement) {
        StatementWords words(statement);
        if (words.take("banner")) {
            words.next();
            if (words.empty()) return skip_to_eof();
            const char mark = words.rest().front();
            if (words.rest().find(mark, 1) != std::string_view::npos) return;
            bool& is_gone = gone_marks_[static_cast<unsigned char>(mark)];
            is_gone = is_gone || text_.find(mark, std::min(at_, text_.size())) == text_.npos;
            if (!is_gone) skip_to({&mark, 1}, false);
            return;
        }
        // With words behind it, `action bash` and `comment` are whole.
        if (statement == "comment" || statement == "action bash" || starts_with_words(statement, "code"))
            skip_to_eof();
        if (starts_with_words(statement, "certificate")) skip_hexadecimal();
    }

    void skip_to_eof() {
        if (last_eof_ && *last_eof_ >= at_) skip_to("EOF", true);
    }

    void skip_hexadecimal() {
        std::string_view line;
        while (at_ < text_.size()) {
            const std::size_t before = at_;
            const unsigned number = number_;
            next_line(line);
            const std::string_view words = trimmed(line);
            if (words == "quit") return;
            if (words.find_first_not_of("0123456789abcdefABCDEF ") == words.npos) continue;
            at_ = before;
            number_ = number;
            return;
        }
    }

    // `exit` ends the section whose body it stands in.
    void leave(std::size_t indent) {
        while (!open_.empty() && kind_of(open_.back().item->word) == nullptr) open_.pop_back();
        while (!open_.empty() && open_.back().indent > indent) open_.pop_back();
        if (!open_.empty()) open_.pop_back();
    }

    std::optional<ReadError> add(std::string& statement, std::size_t indent, SourcePlace place) {
        while (!open_.empty() && open_.back().indent >= indent) {
            Open& top = open_.back();
            const bool is_inner = is_any(statement, {"class", "tx-queue", "uc-tx-queue", "mc-tx-queue"});
            if (top.indent == indent && !top.has_deeper && (!separated_ || is_inner) &&
                may_hold(kind_of(top.item->word), statement)) {
                top.is_flat = true;
                break;
            }
            open_.pop_back();
        }
        separated_ = false;
        // A line that is deeper than the one before it by mistake, and belongs to the section of both.
        while (open_.size() > 1 && kind_of(open_.back().item->word) == nullptr) {
            const SectionKind* of_both = kind_of(open_[open_.size() - 2].item->word);
            if (!may_hold(of_both, statement) && !may_hold(of_both, open_.back().item->word)) break;
            open_.pop_back();
        }
        if (!open_.empty() && open_.back().indent < indent) open_.back().has_deeper = !open_.back().is_flat;
        if (open_.size() >= max_depth)
            return ReadError{place, {}, fmt::format("nested deeper than {}", max_depth), {}};
        if (++nodes_ > max_nodes)
            return ReadError{place, {}, fmt::format("the file has more than {} values", max_nodes), {}};
        auto made = std::make_unique<Item>();
        made->kind = Item::Kind::map;
        made->name = first_characters(statement, max_name_bytes);
        made->word = std::move(statement);
        made->place = place;
        made->parent = open_.empty() ? root_.get() : open_.back().item;
        Item* item = made.get();
        (open_.empty() ? root_.get() : open_.back().item)->members.push_back(std::move(made));
        open_.push_back({item, indent});
        statement = item->word;
        return std::nullopt;
    }

    std::string_view text_;
    std::unique_ptr<Item> root_ = std::make_unique<Item>();
    std::vector<Open> open_;
    std::size_t at_ = 0, nodes_ = 0;
    // The last line that is EOF alone, or the end of a certificate: none, and nothing is left out up to it.
    std::optional<std::size_t> last_eof_, last_certificate_;
    std::array<bool, 256> gone_marks_{};  // that a banner wanted at its end, and that come no more
    unsigned number_ = 0;
    bool separated_ = false;     // by "!" from the statement before
    bool skips_output_ = false;  // of a command
};

}  // namespace

Document read_statements(const std::string& text) { return StatementReader(text).read(); }

}  // namespace sluice::import
