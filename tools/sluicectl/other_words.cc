// Words of SONiC, Cumulus Linux, Onyx, IOS, EOS, Junos and Linux, and how the same is said here. Asked only
// for what is not a command of ours.
#include <algorithm>
#include <array>
#include <utility>

#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {
namespace {

// Ours, where h1 is the port that was said, [h1]: if one was; and the first words of each of theirs.
constexpr std::array<std::pair<const char*, const char*>, 38> other_words{{
    {"buffer show [h1]", "show priority-group"},
    {"buffer show", "show buffer_pool, show buffer, show watermark, watermarkstat"},
    {"clock show", "show clock"},
    {"config apply FILE", "config qos reload, config load"},
    {"config confirm", "commit"},
    {"config diff", "nv config diff, nv config, show startup-config, show |"},
    {"config get",
     "nv show, show running-config, show runningconfiguration, show run, show configuration, show config"},
    {"config get port.h1.address", "show ip interface, ip addr"},
    {"config get watchdog", "pfcwd show config"},
    {"config history", "nv config history"},
    {"config rollback", "config rollback-to, rollback"},
    {"config save", "nv config save, write, wr, copy"},
    {"config save NAME", "config checkpoint"},
    {"decisions on port h1", "tcpdump"},
    {"decisions show", "aclshow"},
    {"events show", "show logging, show log"},
    {"neigh show", "show ip arp, show arp, show ndp, ip neigh"},
    {"pfc show [h1]", "show pfc, pfcstat"},
    {"port set h1 down", "shutdown"},
    {"port set h1 up", "config interface, no shutdown"},
    {"port show [h1]",
     "show priority-group drop, portstat, nv show interface, net show, show interface, show interfaces, "
     "show int, interface, ip link, ethtool"},
    {"port show; see: help", "show"},
    {"qos roce lossless", "nv set qos roce, roce"},
    {"qos show", "show mmu, show ecn, nv show qos, show roce, show qos, tc, mlnx_qos, lldptool, dcb"},
    {"queue show [h1]", "show queue, queuestat"},
    {"queue show h1 total", "show queue persistent-watermark"},
    {"route show", "show ip route, show ipv6 route, show route, ip route"},
    {"set KEY=VALUE", "nv set, configure, conf t"},
    {"set KEY=VALUE --confirm 30s", "commit confirmed"},
    {"set port.h1.priority_group.3.dynamic_th=0", "mmuconfig"},
    {"set watchdog.detection=200ms", "config pfcwd"},
    {"set wred.NAME.green_min=20KB", "ecnconfig"},
    {"stats clear", "sonic-clear, clear"},
    {"unset KEY", "nv unset, delete, no"},
    {"version", "show version"},
    {"watchdog show", "show pfcwd, pfcwd show stats, pfcwd"},
    {"watchdog start h1", "pfcwd start"},
    {"watchdog stop h1", "pfcwd stop"},
}};

}  // namespace

std::string our_words(std::span<const std::string> words) {
    const std::string said = joined(words, " ") + ' ';
    std::string theirs, ours;
    for (const auto& [here, there] : other_words)
        for (std::string_view rest = there; !rest.empty();) {
            const std::string one = std::string(rest.substr(0, rest.find(", "))) + ' ';
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            if (said.starts_with(one) && one.size() > theirs.size()) theirs = one, ours = here;
        }
    if (ours.empty()) return ours;
    // The port that was said: a name has a digit, their other words ("counters", "status") have none.
    std::string port;
    for (const std::string& word : split_words(said.substr(theirs.size())))
        if (port.empty() && word.find_first_of("0123456789") != word.npos) port = word;
    constexpr std::string_view optional = " [h1]", example = "h1";
    if (const std::size_t at = ours.find(optional); at != ours.npos)
        ours.replace(at, optional.size(), port.empty() ? "" : " h1");
    if (!port.empty())
        for (std::size_t at = 0; (at = ours.find(example, at)) != ours.npos; at += port.size())
            ours.replace(at, example.size(), port);
    return ours;
}

}  // namespace sluice::ctl
