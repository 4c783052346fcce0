// The common part of the traffic tests: bytes from hex, frames from a recipe, files in a folder of their own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/file_contents.hh"
#include "tools/traffic/capture.hh"
#include "tools/traffic/generate.hh"
#include "tools/traffic/recipe.hh"

namespace sluice::traffic {

using Bytes = std::vector<std::uint8_t>;

// A CNP of a real adapter.
constexpr std::string_view cnp_vector =
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118"
    "000000000000000000000000000000000000000082fd002a";

inline Bytes from_hex(std::string_view hex) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16)));
    }
    return bytes;
}

inline std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string hex;
    for (const std::uint8_t b : bytes) {
        hex += "0123456789abcdef"[b >> 4];
        hex += "0123456789abcdef"[b & 15];
    }
    return hex;
}

// Two hosts with both families; `flows` follow.
inline std::string two_hosts(std::string_view flows) {
    return std::string{R"(
[host.h0]
mac = "7c:fe:90:64:3b:32"
gateway_mac = "e4:1d:2d:ab:2b:c2"
ip = ["10.0.17.1", "2001:db8::1"]
[host.h1]
mac = "02:00:00:00:00:02"
ip = ["10.0.18.1", "2001:db8:1::1"]
)"} + std::string{flows};
}

// A flow from h0 to h1.
inline std::string one_flow(std::string_view keys) {
    return two_hosts("[[flow]]\nfrom = \"h0\"\nto = \"h1\"\n" + std::string{keys});
}

struct Sent {
    std::int64_t at_ps;
    std::size_t length;
    Bytes bytes;  // captured
};

// The frames that `host` sends; a recipe that is refused throws its first error.
inline std::vector<Sent> sent_by(const std::string& recipe_text, std::size_t host = 0) {
    const LoadedRecipe loaded = load_recipe(recipe_text, "recipe");
    if (!loaded.errors.empty()) throw std::runtime_error{loaded.errors[0]};
    std::vector<Sent> sent;
    send_all(loaded.recipe, host, [&](Duration start, const Frame& frame) {
        const auto bytes = std::span{frame.bytes}.first(frame.captured);
        sent.push_back({start.ps, frame.length, Bytes(bytes.begin(), bytes.end())});
    });
    return sent;
}

// Gone with all that is in it at the end of the test.
class TempFolder {
  public:
    TempFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "traffic-test-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error{"mkdtemp"};
        path_ = pattern;
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    std::size_t entries() const {
        const std::filesystem::directory_iterator all{path_};
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

  private:
    std::filesystem::path path_;
};

inline void put(const std::filesystem::path& file, std::string_view text) {
    std::ofstream stream{file, std::ios::binary};
    stream << text;
}

}  // namespace sluice::traffic
