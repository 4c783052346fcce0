#include "control/config/text/json_text.hh"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace sluice {
namespace {

template <class Json>
std::string dumped_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr auto is_special = [] {
    std::array<std::uint8_t, 256> is{};
    for (unsigned c = 0; c < is.size(); ++c) is[c] = c < ' ' || c == '"' || c == '\\' || c > 0x7F ? 1 : 0;
    return is;
}();

// Writes itself what a report is nearly all of: members, plain words and integers. The rest is dump()'s.
template <class Json>
class TreeText {
  public:
    explicit TreeText(int indent) : indent_(indent) {}

    std::string text_of(const Json& json) {
        write(json);
        return std::move(text_);
    }

  private:
    void write(const Json& json) {
        switch (json.type()) {
            case nlohmann::detail::value_t::object:
                return write_object(members_of(json));
            case nlohmann::detail::value_t::array:
                return write_array(json);
            case nlohmann::detail::value_t::string:
                return write_word(json.template get_ref<const std::string&>());
            case nlohmann::detail::value_t::number_integer:
                return write_integer(json.template get<std::int64_t>());
            case nlohmann::detail::value_t::number_unsigned:
                return write_integer(json.template get<std::uint64_t>());
            default:
                text_ += dumped_text(json);
        }
    }

    static const auto& members_of(const Json& json) {
        return json.template get_ref<const typename Json::object_t&>();
    }

    void write_object(const typename Json::object_t& members) {
        char before = '{';
        enter();
        for (const auto& [key, value] : members) {
            begin_entry(std::exchange(before, ','));
            write_word(key);
            text_ += ':';
            if (indent_ >= 0) text_ += ' ';
            write(value);
        }
        leave('{', members.empty(), '}');
    }

    void write_array(const Json& values) {
        char before = '[';
        enter();
        for (const Json& value : values) {
            begin_entry(std::exchange(before, ','));
            write(value);
        }
        leave('[', values.empty(), ']');
    }

    void enter() {
        if (indent_ >= 0) line_.append(static_cast<std::size_t>(indent_), ' ');
    }
    void begin_entry(char before) {
        text_ += before;
        if (indent_ >= 0) text_ += line_;
    }
    void leave(char begin, bool is_empty, char end) {
        if (indent_ >= 0) line_.resize(line_.size() - static_cast<std::size_t>(indent_));
        if (is_empty)
            text_ += begin;
        else if (indent_ >= 0)
            text_ += line_;
        text_ += end;
    }

    void write_word(const std::string& word) {
        if (!needs_no_escape(word)) {
            text_ += dumped_text(Json(word));
            return;
        }
        text_ += '"';
        text_ += word;
        text_ += '"';
    }
    void write_integer(auto number) {
        std::array<char, 24> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        text_.append(digits.data(), end);
    }

    int indent_;
    std::string line_ = "\n";  // the end of a line, and the indent of the next
    std::string text_;
};

}  // namespace

bool needs_no_escape(std::string_view text) {
    unsigned special = 0;
    for (const char c : text) special |= is_special[static_cast<unsigned char>(c)];
    return special == 0;
}

std::string json_text(const nlohmann::json& json, int indent) {
    return TreeText<nlohmann::json>(indent).text_of(json);
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
    return TreeText<nlohmann::ordered_json>(indent).text_of(json);
}

}  // namespace sluice
