#include "tools/sluicectl/other_words.hh"

#include <algorithm>
#include <array>
#include <cstddef>

#include "control/config/schema/words.hh"

namespace sluice::ctl {
namespace {

constexpr std::array other_words_table{
    // SONiC
    OtherWords{"show priority-group", "buffer show [h1]"},
    OtherWords{"show priority-group drop", "port show [h1]"},
    OtherWords{"show queue", "queue show [h1]"},
    OtherWords{"show queue persistent-watermark", "queue show h1 total"},
    OtherWords{"show buffer_pool", "buffer show"},
    OtherWords{"show buffer", "buffer show"},
    OtherWords{"show watermark", "buffer show"},
    OtherWords{"show mmu", "qos show"},
    OtherWords{"show pfc", "pfc show [h1]"},
    OtherWords{"show pfcwd", "watchdog show"},
    OtherWords{"pfcwd show stats", "watchdog show"},
    OtherWords{"pfcwd show config", "config get watchdog"},
    OtherWords{"pfcwd start", "watchdog start h1"},
    OtherWords{"pfcwd stop", "watchdog stop h1"},
    OtherWords{"pfcwd", "watchdog show"},
    OtherWords{"show ecn", "qos show"},
    OtherWords{"ecnconfig", "set wred.NAME.green_min=20KB"},
    OtherWords{"mmuconfig", "set port.h1.priority_group.3.dynamic_th=0"},
    OtherWords{"sonic-clear", "stats clear"},
    OtherWords{"queuestat", "queue show [h1]"},
    OtherWords{"pfcstat", "pfc show [h1]"},
    OtherWords{"portstat", "port show [h1]"},
    OtherWords{"watermarkstat", "buffer show"},
    OtherWords{"aclshow", "decisions show"},
    OtherWords{"config qos reload", "config apply FILE"},
    OtherWords{"config load", "config apply FILE"},
    OtherWords{"config rollback-to", "config rollback"},
    OtherWords{"config checkpoint", "config save NAME"},
    OtherWords{"config interface", "port set h1 up"},
    OtherWords{"config pfcwd", "set watchdog.detection=200ms"},
    // Cumulus Linux, Onyx
    OtherWords{"nv show qos", "qos show"},
    OtherWords{"nv show interface", "port show [h1]"},
    OtherWords{"nv show", "config get"},
    OtherWords{"nv set qos roce", "qos roce lossless"},
    OtherWords{"nv set", "set KEY=VALUE"},
    OtherWords{"nv unset", "unset KEY"},
    OtherWords{"nv config diff", "config diff"},
    OtherWords{"nv config history", "config history"},
    OtherWords{"nv config save", "config save"},
    OtherWords{"nv config", "config diff"},
    OtherWords{"net show", "port show [h1]"},
    OtherWords{"roce", "qos roce lossless"},
    OtherWords{"show roce", "qos show"},
    OtherWords{"show qos", "qos show"},
    OtherWords{"clear", "stats clear"},
    // IOS, EOS, Junos
    OtherWords{"show interface", "port show [h1]"},
    OtherWords{"show interfaces", "port show [h1]"},
    OtherWords{"show int", "port show [h1]"},
    OtherWords{"show ip route", "route show"},
    OtherWords{"show ipv6 route", "route show"},
    OtherWords{"show route", "route show"},
    OtherWords{"show ip arp", "neigh show"},
    OtherWords{"show arp", "neigh show"},
    OtherWords{"show ndp", "neigh show"},
    OtherWords{"show ip interface", "config get port.h1.address"},
    OtherWords{"show running-config", "config get"},
    OtherWords{"show runningconfiguration", "config get"},
    OtherWords{"show run", "config get"},
    OtherWords{"show startup-config", "config diff"},
    OtherWords{"show configuration", "config get"},
    OtherWords{"show config", "config get"},
    OtherWords{"show |", "config diff"},
    OtherWords{"show logging", "events show"},
    OtherWords{"show log", "events show"},
    OtherWords{"show version", "version"},
    OtherWords{"show clock", "clock show"},
    OtherWords{"show", "port show; see: help"},
    OtherWords{"commit confirmed", "set KEY=VALUE --confirm 30s"},
    OtherWords{"commit", "config confirm"},
    OtherWords{"rollback", "config rollback"},
    OtherWords{"configure", "set KEY=VALUE"},
    OtherWords{"conf t", "set KEY=VALUE"},
    OtherWords{"delete", "unset KEY"},
    OtherWords{"no shutdown", "port set h1 up"},
    OtherWords{"shutdown", "port set h1 down"},
    OtherWords{"no", "unset KEY"},
    OtherWords{"write", "config save"},
    OtherWords{"wr", "config save"},
    OtherWords{"copy", "config save"},
    OtherWords{"interface", "port show [h1]"},
    // Linux
    OtherWords{"ip route", "route show"},
    OtherWords{"ip neigh", "neigh show"},
    OtherWords{"ip link", "port show [h1]"},
    OtherWords{"ip addr", "config get port.h1.address"},
    OtherWords{"ethtool", "port show [h1]"},
    OtherWords{"tc", "qos show"},
    OtherWords{"mlnx_qos", "qos show"},
    OtherWords{"lldptool", "qos show"},
    OtherWords{"dcb", "qos show"},
    OtherWords{"tcpdump", "decisions on port h1"},
};

}  // namespace

std::span<const OtherWords> other_words() { return other_words_table; }

std::string said_here(std::span<const std::string> words) {
    std::size_t longest = 0;
    std::string ours;
    for (const OtherWords& entry : other_words_table) {
        const Words theirs = split_words(entry.theirs);
        if (theirs.size() <= longest || theirs.size() > words.size()) continue;
        if (!std::equal(theirs.begin(), theirs.end(), words.begin())) continue;
        longest = theirs.size();
        ours = entry.ours;
    }
    if (ours.empty()) return ours;
    // The port that was said: a name has a digit, their other words ("counters", "status") have none.
    const auto port = std::find_if(
        words.begin() + static_cast<std::ptrdiff_t>(longest), words.end(),
        [](const std::string& word) { return word.find_first_of("0123456789") != std::string::npos; });
    constexpr std::string_view optional = " [h1]", example = "h1";
    if (const std::size_t at = ours.find(optional); at != std::string::npos)
        ours.replace(at, optional.size(), port == words.end() ? "" : " h1");
    if (port != words.end())
        for (std::size_t at = 0; (at = ours.find(example, at)) != std::string::npos; at += port->size())
            ours.replace(at, example.size(), *port);
    return "here: " + ours;
}

}  // namespace sluice::ctl
