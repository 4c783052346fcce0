#include "control/report/figures/shaped_json.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "dataplane/base/file_descriptor.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using ShapePart = JsonShape::Part;

constexpr std::size_t max_levels = 32;  // ours have fewer than half as many
constexpr std::size_t max_token_bytes = 1U << 20;

// The text in blocks, and how far the parser has come.
class Source {
  public:
    Source(std::string_view text, std::uint64_t max_bytes) : block_(text) { count(max_bytes); }
    Source(int file, std::uint64_t max_bytes) : file_(file), max_bytes_(max_bytes), room_(1U << 16) {}

    bool more() {
        if (at_ == block_.size() && error.empty()) fill();
        if (!error.empty()) return false;
        ends_ = at_ == block_.size();
        return !ends_;
    }
    char now() const { return block_[at_]; }
    void step() {
        if (std::exchange(new_line_, block_[at_] == '\n')) {
            ++line;
            column = 0;
        }
        ++column;
        ++at_;
        if (++token_ > max_token_bytes && error.empty())
            error = fmt::format("line {}: it is not text of ours: a word has more than {} bytes", line,
                                max_token_bytes);
    }
    void token_ends() { token_ = 0; }
    std::uint64_t next_line() const { return line + (new_line_ ? 1 : 0); }
    bool ends() const { return ends_; }  // the parser asked for more than there is

    std::uint64_t line = 1, column = 0;  // of the last byte
    std::string error;

  private:
    void fill() {
        if (file_ < 0) return;
        const ssize_t got = ::read(file_, room_.data(), room_.size());
        if (got < 0) error = fmt::format("cannot be read: {}", std::strerror(errno));
        block_ = {room_.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
        at_ = 0;
        count(max_bytes_);
    }
    void count(std::uint64_t max_bytes) {
        bytes_ += block_.size();
        if (bytes_ > max_bytes) error = fmt::format("it is longer than {} MB", max_bytes >> 20);
    }

    int file_ = -1;  // none: all is there
    std::uint64_t max_bytes_ = 0, bytes_ = 0;
    std::vector<char> room_;
    std::string_view block_;
    std::size_t at_ = 0, token_ = 0;
    bool new_line_ = false, ends_ = false;
};

class SourceIterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    explicit SourceIterator(Source* source = nullptr) : source_(source) {}  // none: the end
    char operator*() const { return source_->now(); }
    SourceIterator& operator++() { return source_->step(), *this; }
    SourceIterator operator++(int) { return source_->step(), *this; }
    bool operator==(const SourceIterator& end) const {
        return source_ == end.source_ || (source_ != nullptr && !source_->more());
    }
    bool operator!=(const SourceIterator& end) const { return !(*this == end); }

  private:
    Source* source_;
};

std::string kind_of(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    if (value.is_string()) return "a text";
    return json_text(value);
}

std::string wanted_text(unsigned is) {
    std::string text;
    constexpr std::array words{std::pair(part::text, "a text"), std::pair(part::flag, "true or false"),
                               std::pair(part::null, "null")};
    if ((is & part::number) == part::number)
        text = "a number";
    else if ((is & part::count) != 0)
        text = "a whole number from 0";
    for (const auto& [kind, word] : words)
        if ((is & kind) != 0) append_item(text, " or ", word);
    return text;
}

// Takes the events of the parser.
class Taker {
  public:
    using number_integer_t = Json::number_integer_t;
    using number_unsigned_t = Json::number_unsigned_t;
    using number_float_t = Json::number_float_t;
    using string_t = Json::string_t;
    using binary_t = Json::binary_t;

    // `left`: of the memory for what is kept.
    Taker(const JsonShape& shape, Source& source, std::uint64_t& left)
        : shape_(shape), source_(source), left_(left) {}

    bool null() { return take(nullptr, part::null); }
    bool boolean(bool value) { return take(value, part::flag); }
    bool number_integer(number_integer_t value) { return take(value, part::number & ~part::count); }
    bool number_unsigned(number_unsigned_t value) { return take(value, part::number); }
    bool number_float(number_float_t value, const string_t&) {
        return take(value, part::number & ~part::count);
    }
    bool string(string_t& value) { return take(std::move(value), part::text); }
    bool binary(binary_t&) { return false; }  // there is none in text
    bool start_object(std::size_t) { return open(false); }
    bool start_array(std::size_t) { return open(true); }

    bool key(string_t& name) {
        source_.token_ends();
        if (skipped_ != 0) return true;
        Frame& frame = frames_.back();
        frame.key = std::move(name);
        frame.child = frame.node;
        if ((frame.node->is & part::any) != 0) return true;
        const auto& children = frame.node->children;
        auto found = std::ranges::find(children, frame.key, &ShapePart::segment);
        if (found != children.end()) frame.seen |= std::uint64_t{1} << (found - children.begin());
        if (found == children.end())
            found = std::ranges::find_if(children, [](const ShapePart& each) { return each.segment == "*"; });
        frame.child = found == children.end() ? nullptr : &*found;
        return true;
    }

    bool end_object() {
        source_.token_ends();
        if (skipped_ != 0) return --skipped_, true;
        Frame& frame = frames_.back();
        frame.key.clear();
        for (std::size_t n = 0; n < frame.node->children.size(); ++n) {
            const ShapePart& child = frame.node->children[n];
            if (child.may_miss || child.segment == "*" || (frame.seen >> n & 1) != 0) continue;
            frame.key = child.segment;
            return refuse(path() + " is missing");
        }
        if (const std::string* twice = name_there_twice(frame); twice != nullptr) {
            frame.key = *twice;
            return refuse(path() + " is there twice");
        }
        Json made = Json::object();
        auto& object = made.get_ref<Json::object_t&>();
        object.reserve(frame.members.size());
        for (auto& [name, value] : frame.members) object.emplace_back(std::move(name), std::move(value));
        frames_.pop_back();
        return put(std::move(made));
    }

    bool end_array() {
        source_.token_ends();
        if (skipped_ != 0) return --skipped_, true;
        Frame& frame = frames_.back();
        frame.at_end = true;
        if (frame.items.empty() && frame.child->segment == "+") return refuse(path() + " is empty");
        Json made(std::move(frame.items));
        frames_.pop_back();
        return put(std::move(made));
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& why) {
        constexpr int number_beyond_double = 406;
        const bool is_start = source_.line == 1 && source_.column == 0;
        if (!error.empty()) return false;
        if (why.id == number_beyond_double)
            error = "one of its numbers is too large";
        else if (source_.ends())
            error =
                is_start ? "it is empty" : "it is truncated: it ends in line " + std::to_string(source_.line);
        else
            error = fmt::format("it is not valid JSON from line {}, column {}", source_.line, source_.column);
        return false;
    }

    std::string error;
    Json whole;

  private:
    struct Frame {
        const ShapePart* node;   // of this list or object
        const ShapePart* child;  // of what comes next in it; none: it is not kept
        bool is_list;
        bool at_end = false;
        std::uint64_t seen = 0;  // by child of the node
        std::string key;
        std::vector<std::pair<std::string, Json>> members;
        Json::array_t items;
    };

    static const std::string* name_there_twice(const Frame& frame) {
        std::vector<const std::string*> names;
        names.reserve(frame.members.size());
        for (const auto& member : frame.members) names.push_back(&member.first);
        std::ranges::sort(names, [](const auto* a, const auto* b) { return *a < *b; });
        const auto found =
            std::ranges::adjacent_find(names, [](const auto* a, const auto* b) { return *a == *b; });
        return found == names.end() ? nullptr : *found;
    }

    const ShapePart* next() const { return frames_.empty() ? &shape_.root() : frames_.back().child; }

    // The path of the next value.
    std::string path() const {
        std::string text;
        for (const Frame& frame : frames_) {
            if (frame.at_end) continue;
            const std::string segment = frame.is_list ? std::to_string(frame.items.size()) : frame.key;
            if (!segment.empty()) append_item(text, ".", segment);
        }
        return text.empty() ? "it" : in_quotes(text, 120);
    }

    bool refuse(std::string why) { return error = std::move(why), false; }
    bool refuse_kind(const std::string& kind, const ShapePart& node) {
        const std::string wanted = node.is != 0     ? wanted_text(node.is)
                                   : node.is_list() ? "a list"
                                                    : "an object";
        return refuse(fmt::format("{} is {}, not {}", path(), kind, wanted));
    }

    bool take(Json value, unsigned kind) {
        source_.token_ends();
        const ShapePart* node = skipped_ != 0 ? nullptr : next();
        if (node == nullptr) return true;
        if ((node->is & part::present) != 0) return put(nullptr);
        // A count is a number, too.
        if ((node->is & (kind | part::any)) == 0) return refuse_kind(kind_of(value), *node);
        return put(std::move(value));
    }

    bool open(bool is_list) {
        source_.token_ends();
        if (frames_.size() + skipped_ >= max_levels)
            return refuse(fmt::format("it has more than {} levels", max_levels));
        const ShapePart* node = skipped_ != 0 ? nullptr : next();
        const bool is_present = node != nullptr && (node->is & part::present) != 0;
        if (is_present && !put(nullptr)) return false;
        if (node == nullptr || is_present) return ++skipped_, true;
        const bool is_any = (node->is & part::any) != 0;
        if (!is_any && (node->is != 0 || node->is_list() != is_list))
            return refuse_kind(is_list ? "a list" : "an object", *node);
        frames_.push_back(
            {node, is_any || !is_list ? node : &node->children.front(), is_list, false, 0, {}, {}, {}});
        return true;
    }

    bool put(Json value) {
        std::uint64_t bytes = sizeof(Json);
        if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
        if (!frames_.empty() && !frames_.back().is_list)
            bytes += sizeof(std::string) + frames_.back().key.size();
        if (bytes > left_) return refuse("it is too much: what is used of it does not fit the memory for it");
        left_ -= bytes;
        if (frames_.empty())
            whole = std::move(value);
        else if (frames_.back().is_list)
            frames_.back().items.push_back(std::move(value));
        else
            frames_.back().members.emplace_back(frames_.back().key, std::move(value));
        return true;
    }

    const JsonShape& shape_;
    Source& source_;
    std::uint64_t& left_;
    std::vector<Frame> frames_;
    std::size_t skipped_ = 0;  // levels below what is not kept
};

// `alone`: nothing follows.
tl::expected<Json, std::string> read_from(Source& source, const JsonShape& shape, std::uint64_t& left,
                                          bool alone = true) {
    Taker taker(shape, source, left);
    const bool good = Json::sax_parse(SourceIterator(&source), SourceIterator(), &taker,
                                      nlohmann::detail::input_format_t::json, alone);
    if (!source.error.empty()) return tl::unexpected(source.error);
    if (!good) return tl::unexpected(taker.error);
    return std::move(taker.whole);
}

tl::expected<FileDescriptor, std::string> open_to_read(const std::string& path) {
    FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return tl::unexpected(fmt::format("cannot be read: {}", std::strerror(errno)));
    return file;
}

}  // namespace

JsonShape& JsonShape::add(std::span<const JsonPart> parts, std::string_view below) {
    for (const JsonPart& part : parts) {
        const std::string whole = std::string(below) + std::string(part.path);
        const std::size_t brace = std::min(whole.find('{'), whole.size());
        std::istringstream names(whole.substr(brace));
        names.ignore();  // the brace
        if (brace == whole.size()) add(whole, part.is);
        for (std::string name; names >> name;)
            add(whole.substr(0, brace) + name.substr(0, name.find('}')), part.is);
    }
    return *this;
}

void JsonShape::add(std::string_view path, unsigned is) {
    ShapePart* node = &root_;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        std::string_view name = path.substr(0, end);
        path.remove_prefix(std::min(end + 1, path.size()));
        const bool optional = name.ends_with('?');
        if (optional) name.remove_suffix(1);
        const auto known = std::ranges::find(node->children, name, &ShapePart::segment);
        node = known != node->children.end()
                   ? &*known
                   : &node->children.emplace_back(ShapePart{std::string(name), optional, 0, {}});
    }
    node->is = is;
}

tl::expected<Json, std::string> read_shaped(std::string_view text, const JsonShape& shape,
                                            const JsonBounds& bounds) {
    Source source(text, bounds.bytes);
    std::uint64_t left = bounds.kept_bytes;
    return read_from(source, shape, left);
}

tl::expected<Json, std::string> read_shaped_file(const std::string& path, const JsonShape& shape,
                                                 const JsonBounds& bounds) {
    const auto file = open_to_read(path);
    if (!file) return tl::unexpected(file.error());
    Source source(file->get(), bounds.bytes);
    std::uint64_t left = bounds.kept_bytes;
    return read_from(source, shape, left);
}

std::string read_shaped_lines(const std::string& path, const JsonShape& shape,
                              const std::function<std::string(Json value)>& take, const JsonBounds& bounds) {
    const auto file = open_to_read(path);
    if (!file) return file.error();
    Source source(file->get(), bounds.bytes);
    std::uint64_t left = bounds.kept_bytes;
    while (source.more()) {
        if (std::string_view(" \t\r\n").find(source.now()) != std::string_view::npos) {
            source.step();
            source.token_ends();
            continue;
        }
        const std::uint64_t line = source.next_line();
        auto value = read_from(source, shape, left, false);
        const std::string error = value ? take(std::move(*value)) : value.error();
        if (!error.empty()) return fmt::format("line {}: {}", line, error);
    }
    return source.error;
}

}  // namespace sluice
