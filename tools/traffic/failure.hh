// An error outside the program (a file, a folder, an interrupt), as one line for the user. Thrown by this
// tool's parts, caught in `main`; nothing of the switch itself uses it.
#pragma once

#include <stdexcept>

namespace sluice::traffic {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace sluice::traffic
