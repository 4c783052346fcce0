// What every program does around its work, so that all end alike: a closed stream, a reader that went away
// and a file that may not grow are errors of a write, and an exception becomes a sentence.
#pragma once

#include <malloc.h>

#include <csignal>
#include <string_view>

#include "control/config/text/say.hh"
#include "control/serve/server/boundary.hh"

namespace sluice {

// Libraries put the name of an error first: "[json.exception.type_error.302] ...".
inline std::string_view without_tag(std::string_view what) {
    const std::size_t end = what.starts_with('[') ? what.find("] ") : what.npos;
    return end == what.npos ? what : what.substr(end + 2);
}

// Large memory comes from the kernel, in pages of zeroes that a table may never touch, and goes back there.
// The C library would do so until the first is freed, and from then on fill a table's memory with zeroes.
inline void keep_large_memory_apart() {
    constexpr int apart_bytes = 128 << 10;
    static_cast<void>(mallopt(M_MMAP_THRESHOLD, apart_bytes));
}

// Does `work`, which gives the exit status; `failed`: that of what it could not foresee.
template <class Work>
int run_program(const char* name, int failed, Work&& work) noexcept {
    hold_standard_streams();
    outlive_readers();
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    keep_large_memory_apart();
    int status = failed;
    boundary([&] { status = work(); },
             [&](const char* what) {
                 if (what == lack_of_memory)
                     complain("{}: {}\n", name, what);
                 else
                     complain("{}: internal error: {}; do: report it, with the command and its files\n", name,
                              without_tag(what));
             });
    return all_said(name) || status != 0 ? status : failed;
}

}  // namespace sluice
