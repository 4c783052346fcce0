#include "control/config/text/json_text.hh"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "CppUTest/TestHarness.h"

namespace sluice::json_text_test {
namespace {

// A document of every kind of value; a word of any bytes, or of letters.
template <class Json>
class AnyJson {
  public:
    Json made(unsigned depth) {
        constexpr unsigned leaves = 7, kinds = 11, deepest = 4;
        switch (below(depth > deepest ? leaves : kinds)) {
            case 0:
                return nullptr;
            case 1:
                return below(2) == 1;
            case 2:
                return static_cast<std::int64_t>(random_()) - (std::int64_t{1} << 31);
            case 3:
                return std::uint64_t{random_()} * random_();
            case 4:
                return static_cast<double>(random_()) / 7;
            case 5:
                return word(256);
            case 6:
                return below(8) == 0 ? Json(NAN) : Json(word(26));
            case 7: {
                Json list = Json::array();
                for (unsigned n = below(5); n > 0; --n) list.push_back(made(depth + 1));
                return list;
            }
            default: {
                Json object = Json::object();
                for (unsigned n = below(5); n > 0; --n)
                    object[word(below(8) == 0 ? 256 : 26)] = made(depth + 1);
                return object;
            }
        }
    }

  private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    std::string word(unsigned letters) {
        std::string text;
        for (unsigned n = below(40); n > 0; --n) text += static_cast<char>('a' + below(letters));
        return text;
    }

    std::mt19937 random_{1};
};

template <class Json>
void check_any() {
    AnyJson<Json> any;
    for (unsigned n = 0; n < 2000; ++n) {
        const Json json = any.made(0);
        for (const int indent : {-1, 0, 2})
            CHECK_TRUE(json_text(json, indent) ==
                       json.dump(indent, ' ', false, Json::error_handler_t::replace));
    }
}

}  // namespace

TEST_GROUP(JsonText){};

TEST(JsonText, isWhatDumpWrites) {
    check_any<nlohmann::json>();
    check_any<nlohmann::ordered_json>();
}

}  // namespace sluice::json_text_test
