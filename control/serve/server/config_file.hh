// The file that a running switch was started with, and the one folder in which a client may have it write a
// configuration. A client gives a plain name: no folder, no link, no existing file but a configuration.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "control/config/schema/config.hh"

namespace sluice {

// Which of two files a switch starts from: what a client saved for the next start (--startup) where that is
// newer than the configuration. `why`: a sentence; empty: there is one file.
struct StartupChoice {
    std::string path, why;
};
StartupChoice startup_choice(const std::string& config, const std::string& startup);

class ConfigFile {
  public:
    // `folder`: empty: that of the file. All are resolved now: a link that changes later is not followed.
    // `startup`: --startup; empty: there is none. `overrides`: the command line's settings over the file's.
    ConfigFile(std::string file, std::string startup, std::string folder, Overrides overrides);

    struct Saved {
        std::string path;
        std::string original;  // the text before is kept there; empty: it was changed where it had to be
    };
    // `read`: the file's configuration when it was read last. An error's text names the file and the reason.
    tl::expected<Saved, std::string> save(const std::string& name, const Config& config,
                                          const Config& read) const;
    // For the next start.
    tl::expected<Saved, std::string> save_startup(const Config& config) const;
    // The next start is from the configuration. False: it was so already.
    tl::expected<bool, std::string> reset_startup() const;

  private:
    // `read`: of our own file; null: of another.
    tl::expected<Saved, std::string> write(const std::string& path, const Config& config,
                                           const Config* read) const;

    std::string name_, path_, startup_, folder_;
    Overrides overrides_;
};

}  // namespace sluice
