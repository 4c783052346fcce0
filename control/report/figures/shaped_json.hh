// Reads JSON files that a program of Sluice wrote (a report, a row of a sweep, a manifest), and that may be
// wrong.
//
// A shape names the parts that the reader of a file uses, and what each is. Nothing else is kept, so memory
// depends on the parts that are used, not on the size of the file; and of these parts none is missing, there
// twice, or of another kind, so the reader need not check them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace sluice {

// What a part may be: a sum of these.
namespace part {
constexpr unsigned null = 1, flag = 2, count = 4 /* a whole number from 0 to 2^64 - 1 */, text = 16;
constexpr unsigned number = 8 | count;
constexpr unsigned scalar = null | flag | number | text;
constexpr unsigned any = 32;      // with all that is in it
constexpr unsigned present = 64;  // anything, of which nothing is kept but that it is there: null
}  // namespace part

// Names with dots. NAME?: it may be missing. *: each other member of an object; #: each entry of a list; +:
// of a list that has one. {PATH PATH} at the end: each of them.
struct JsonPart {
    std::string_view path;
    unsigned is;
};

class JsonShape {
  public:
    struct Part {
        std::string segment;
        bool may_miss = false;
        unsigned is = 0;  // 0: it has children
        std::vector<Part> children;

        bool is_list() const { return children.front().segment == "#" || children.front().segment == "+"; }
    };

    JsonShape(std::initializer_list<JsonPart> parts) { add(parts); }
    // `below`: the path in front of each, with its dot.
    JsonShape& add(std::span<const JsonPart> parts, std::string_view below = {});
    const Part& root() const { return root_; }

  private:
    void add(std::string_view path, unsigned is);

    Part root_;
};

struct JsonBounds {
    std::uint64_t bytes = std::uint64_t{4} << 30;       // of the text
    std::uint64_t kept_bytes = std::uint64_t{1} << 30;  // of memory for what is kept, about
};

// The error is a sentence about the text: line and column where it is not JSON, else the path of the part.
tl::expected<nlohmann::ordered_json, std::string> read_shaped(std::string_view text, const JsonShape& shape,
                                                              const JsonBounds& bounds = {});
tl::expected<nlohmann::ordered_json, std::string> read_shaped_file(const std::string& path,
                                                                   const JsonShape& shape,
                                                                   const JsonBounds& bounds = {});
// A file of such values one after the other, as lines of it; the bounds are those of all. An error of `take`
// ends it. The error, with its line, or empty.
std::string read_shaped_lines(const std::string& path, const JsonShape& shape,
                              const std::function<std::string(nlohmann::ordered_json value)>& take,
                              const JsonBounds& bounds = {});

}  // namespace sluice
