// Where values stand in the file, for messages that come after parsing.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sluice {

// Line 0: not from a file.
struct SourcePlace {
    unsigned line = 0;
    unsigned column = 0;
    bool operator==(const SourcePlace&) const { return true; }  // never part of a configuration's identity
};

// Where the keys of the file stand, by path ("port.p1.speed"); keys inside lists of tables are not kept.
struct SourceMap {
    std::map<std::string, SourcePlace, std::less<>> places;
    SourcePlace find(std::string_view path) const {
        const auto found = places.find(path);
        return found == places.end() ? SourcePlace{} : found->second;
    }
    bool operator==(const SourceMap&) const { return true; }  // like SourcePlace
};

}  // namespace sluice
