// The files that one command reads and writes. A file that it writes may have no second role.
//
// Files are compared by device and inode, or by those of the folder and the name where there is no file yet,
// so a link, "./" or another spelling hides nothing. Devices and pipes may be shared.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sluice {

// The file that a write to `path` reaches, through links; it need not be there.
std::filesystem::path link_target(std::filesystem::path path);

class FileRoles {
  public:
    struct Role {
        std::string what;  // "--report", "the configuration"
        std::string path;
    };
    struct Clash {
        Role written, other;
        bool other_is_written;
        // "out/x: --report would overwrite the configuration, conf/x".
        std::string text() const;
    };

    // An empty path is none.
    void reads(std::string what, std::string path) { add({std::move(what), std::move(path)}, false); }
    void writes(std::string what, std::string path) { add({std::move(what), std::move(path)}, true); }
    // In the order in which they were added.
    std::vector<Clash> clashes() const;
    // The text of the first, or empty.
    std::string clash_text() const;

  private:
    using Identity = std::tuple<unsigned long, unsigned long, std::string>;
    struct Known {
        Role role;
        bool is_written;
        Identity identity;
    };
    void add(Role role, bool is_written);
    static std::optional<Identity> identity_of(const std::string& path);

    std::vector<Known> all_;
};

}  // namespace sluice
