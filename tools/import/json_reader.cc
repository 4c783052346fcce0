// JSON by nlohmann-json's events. They have no places: a token begins behind the blanks, commas and colons
// that follow the token before, so the number of bytes read says where.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/import/document.hh"

namespace sluice::import {
namespace {

class JsonEvents {
  public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    JsonEvents(std::string_view text, std::istream& stream) : text_(text), stream_(stream) {}

    bool null() { return built.null(take_place()), true; }
    bool boolean(bool value) { return word(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) { return word(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) { return word(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) { return word(text); }
    bool string(string_t& text) { return word(text); }
    bool binary(binary_t&) { return false; }  // there is none in text
    bool key(string_t& name) { return built.key(name, take_place()), true; }
    bool start_object(std::size_t) { return open(Item::Kind::map); }
    bool start_array(std::size_t) { return open(Item::Kind::list); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
        std::string why = error.what();
        if (const auto colon = why.find(": "); colon != why.npos) why.erase(0, colon + 2);
        throw ReadError{place_at(text_, position == 0 ? 0 : position - 1), {}, "is not JSON: " + why, {}};
    }

    // Bytes that the parser has read.
    std::size_t taken() const {
        return static_cast<std::size_t>(stream_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
    }

    Builder built;

  private:
    // Returns the place of the token that was read last, and goes on behind it.
    SourcePlace take_place() {
        while (at_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[at_]) != std::string_view::npos)
            step();
        const SourcePlace place{line_, static_cast<unsigned>(at_ - line_start_ + 1)};
        for (const std::size_t end = taken(); at_ < end;) step();
        return place;
    }
    void step() {
        if (text_[at_++] != '\n') return;
        ++line_;
        line_start_ = at_;
    }
    bool word(std::string text) { return built.word(std::move(text), take_place()), true; }
    bool open(Item::Kind kind) { return built.open(kind, take_place()), true; }
    bool close() { return take_place(), built.close(), true; }

    std::string_view text_;
    std::istream& stream_;
    std::size_t at_ = 0;  // behind the last token
    std::size_t line_start_ = 0;
    unsigned line_ = 1;
};

}  // namespace

Document read_json(const std::string& text) {
    std::istringstream stream(text);
    JsonEvents events(text, stream);
    try {
        if (!nlohmann::json::sax_parse(stream, &events))
            return tl::unexpected(ReadError{place_at(text, events.taken()), {}, "is not JSON", {}});
    } catch (ReadError& error) {
        return tl::unexpected(std::move(error));
    }
    return events.built.take();
}

}  // namespace sluice::import
