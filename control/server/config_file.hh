// The file that a running switch was started with, and the one folder in which a client may have it write a
// configuration. A client gives a plain name: no folder, no link, no existing file but a configuration.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "control/config/config.hh"
#include "control/config/overrides.hh"

namespace sluice {

class ConfigFile {
  public:
    // `folder`: empty: that of the file. Both are resolved now: a link that changes later is not followed.
    // `overrides`: the command line's settings over the file's.
    ConfigFile(std::string file, std::string folder, Overrides overrides);

    const std::string& name() const { return name_; }  // as it was given

    struct Saved {
        std::string path;
        std::string original;  // the text before is kept there; empty: it was changed where it had to be
    };
    // `read`: the file's configuration when it was read last. An error's text names the file and the reason.
    tl::expected<Saved, std::string> save(const std::string& name, const Config& config,
                                          const Config& read) const;

  private:
    std::string name_, path_, folder_;
    Overrides overrides_;
};

}  // namespace sluice
