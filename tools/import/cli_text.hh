// Statements of EOS and NX-OS on their way out: bodies of sections, what changes of them, and their text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/exporting.hh"

namespace sluice::import {

// A statement of a body, or of a section in it ("tx-queue 3"); the next one of the same key replaces it. One
// without a text does not matter to the port: another may stand there; without a key none of its section
// does.
struct CliLine {
    std::string section, key, text;
    bool stays = false;  // never taken back: others take over what it says, or nothing depends on it
    bool operator==(const CliLine&) const = default;
};
using CliBody = std::vector<CliLine>;
using CliBodies = std::map<std::string, CliBody, NaturalOrder>;  // by port

bool says_nothing(const CliBody& body);
// The lines of `wanted` that `today` does not have, and `no` where a key is not said any more.
CliBody changed_lines(const CliBody& today, const CliBody& wanted);
// A line of the account for each change, under `where`.
void tell_changes(Account& account, const std::string& where, const CliBody& today, const CliBody& changes);

// Interfaces by port: its own name where all `fits`, else numbered behind `stem`.
PortNames interface_names(Exporting& out, std::string_view stem, bool (*fits)(std::string_view name));
// Buffer and pools, of which a platform has its own.
void tell_memory(Exporting& out);
// "40000 kbps", at least one of a rate that is not 0; told when rounded.
std::string kbps_text(Exporting& out, const std::string& path, Rate rate, std::string_view maker);
// A section; with an empty head its lines alone. `indent`: the blanks before a line of a section.
std::string section_text(std::string_view head, const CliBody& body, std::string_view indent);
// Sections of interfaces; neighbors that say the same are one: "interface Ethernet1/1-4".
std::string interfaces_text(const CliBodies& bodies, const PortNames& names, std::string_view indent);

// The name of a body that ports share: that of an equal one, or `stem`, `stem`_2 ... that `shared` has not.
// An empty body stands for one that is not ours.
using SharedBodies = std::map<std::string, CliBody, NaturalOrder>;
std::string share_body(SharedBodies& shared, const std::string& stem, const CliBody& body);

// Sections of bodies that `known` has not, their names behind `head`.
std::string shared_text(std::string_view head, const SharedBodies& shared, const SharedBodies& known,
                        std::string_view indent);
inline constexpr std::string_view class_map_head = "class-map type qos match-any ";
// Those whose name, the last word of their head, ends a line of `text`, or of another of them.
SharedBodies referred_in(const std::string& text, const SharedBodies& shared);
// Names that a file has, behind `head`, as bodies that are not ours. Null: none.
SharedBodies names_taken(const SharedNames* names, std::string_view head);

// Takes lines of these keys out of a body: the file may say them in other words, which come to the same
// today.
void forget_lines(CliBody& body, std::initializer_list<std::string_view> keys);
// The line of a key in two bodies is not the same.
bool differs(const CliBody& one, const CliBody& other, std::string_view key);

// A class of a policy, "class sluice-N" with `set` N, and its class-map: packets by these values of fields.
struct CliMatch {
    const char* field;
    std::vector<unsigned> values;
};
void add_class(SharedBodies& class_maps, CliBody& policy, unsigned number, const char* set,
               const std::vector<CliMatch>& matches);

// What changes at each interface, and of the statements of no section; told.
CliBodies changed_links(Account& account, const CliBodies& today, const CliBodies& wanted,
                        const PortNames& names);
std::string changed_top(Account& account, const CliBody& today, const CliBody& wanted);

// Changes of a policy or profile by its name, where they are right for all ports that go by it; without a
// name those of a port, also where it says the same itself.
struct SharedChange {
    std::string name;
    std::vector<std::string> ports;
    CliBody changes;
};
// `names`: what ports go by today. `own_keys`: what they say themselves, over it.
std::vector<SharedChange> shared_changes(const CliBodies& today, const CliBodies& wanted,
                                         const std::map<std::string, std::string>& names,
                                         const std::map<std::string, std::set<std::string>>& own_keys);

// The statements of a link that both makers have alike, but for its speed; of a static route.
void add_link(Exporting& out, const std::string& name, const PortConfig& port, CliBody& body);
void add_routes(Exporting& out, CliBody& top);

}  // namespace sluice::import
