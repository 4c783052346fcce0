// Where an exception ends. Control has few such places: a request, a duty of its loop, a handler of a
// socket, a callback of DPDK, `main`. Between them no code catches an unknown exception.
#pragma once

#include <exception>
#include <new>
#include <utility>

namespace sluice {

// What `boundary` says when there was none.
inline constexpr const char* lack_of_memory = "there is not enough memory";

// Does `work`. When it throws, does `failed(what)` and returns false. `failed` may throw for lack of memory:
// then nobody is told.
template <class Work, class Failed>
bool boundary(Work&& work, Failed&& failed) noexcept {
    const auto tell = [&](const char* what) noexcept {
        try {
            failed(what);
        } catch (...) {
            return false;
        }
        return false;
    };
    try {
        std::forward<Work>(work)();
        return true;
    } catch (const std::bad_alloc&) {
        return tell(lack_of_memory);
    } catch (const std::exception& error) {
        return tell(error.what());
    } catch (...) {
        return tell("an unknown exception");
    }
}

}  // namespace sluice
