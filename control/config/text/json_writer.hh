// Writes JSON as it is made, for what is too large for a tree: the text is json_text's of such a tree, on one
// line.
//
// It holds at most 4 KB and passes them on when they are full. The caller gives each value of an object a
// key, each key once, and none to those of a list. A double goes by `tree`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace sluice {

class JsonWriter {
  public:
    using Sink = std::function<void(std::string_view text)>;
    explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;
    ~JsonWriter() = default;

    // `body` writes what is in it.
    template <class Body>
    void object(Body body) {
        nest('{', '}', body);
    }
    template <class Body>
    void list(Body body) {
        nest('[', ']', body);
    }
    // Its value is next.
    JsonWriter& key(std::string_view name) {
        value(name);
        put(':');
        comma_ = false;
        return *this;
    }
    void value(std::string_view text);  // any bytes, as json_text has them
    void value(std::nullptr_t) { word("null"); }
    template <std::integral Number>  // or a flag; no pointer becomes one
    void value(Number number) {
        if constexpr (std::same_as<Number, bool>) {
            word(number ? "true" : "false");
        } else {
            reserve(1 + most_digits);
            separate();
            digits(number);
        }
    }
    // A list of these numbers.
    template <std::integral... Numbers>
    void row(Numbers... numbers) {
        reserve(2 + sizeof...(numbers) * (1 + most_digits));
        separate();
        char before = '[';
        (..., (room_[used_++] = std::exchange(before, ','), digits(numbers)));
        room_[used_++] = ']';
    }
    void tree(const nlohmann::ordered_json& small);
    // Passes on the rest.
    void flush();

  private:
    static constexpr std::size_t most_digits = 20;  // of 64 bits, with their sign

    template <class Body>
    void nest(char begin, char end, Body& body) {
        reserve(2);
        separate();
        room_[used_++] = begin;
        comma_ = false;
        body();
        put(end);
        comma_ = true;
    }
    void word(std::string_view text);
    void append(std::string_view text);
    void put(char one) {
        reserve(1);
        room_[used_++] = one;
    }
    void reserve(std::size_t bytes) {
        if (bytes > room_.size() - used_) flush();
    }
    // There is room for it.
    void separate() {
        if (comma_) room_[used_++] = ',';
        comma_ = true;
    }
    // There is room for it.
    template <std::integral Number>
    void digits(Number number) {
        static_assert(sizeof(Number) <= 8 && !std::same_as<Number, bool>);
        auto left = static_cast<std::uint64_t>(number);
        if constexpr (std::signed_integral<Number>)
            if (number < 0) {
                room_[used_++] = '-';
                left = 0 - left;
            }
        if (left < 10)
            room_[used_++] = static_cast<char>('0' + left);
        else
            append_digits(left);
    }
    void append_digits(std::uint64_t number);

    Sink sink_;
    std::array<char, 4096> room_{};
    std::size_t used_ = 0;
    bool comma_ = false;  // before the next value, or key
};

}  // namespace sluice
