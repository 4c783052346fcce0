#include "tests/fabric/random_fabric.hh"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t last_event_us = 150;  // then everything is mended

struct Cable {
    std::string one, other;
    bool to_host;
    std::string name() const { return one + "-" + other; }
};

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : seed_(scramble(seed)) {}

    RandomFabric make() {
        shape();
        policies();
        flows();
        made_.whole = below(3) == 0;
        if (!made_.whole) go_wrong();
        return std::move(made_);
    }

  private:
    std::uint64_t below(std::uint64_t end) { return (seed_ = scramble(seed_)) % end; }
    bool odds(unsigned per_cent) { return below(100) < per_cent; }
    template <class T>
    T one_of(std::initializer_list<T> all) {
        return all.begin()[below(all.size())];
    }
    const std::string& one_of(const std::vector<std::string>& all) { return all[below(all.size())]; }
    template <class... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        made_.text += fmt::format(format, std::forward<Values>(values)...);
        made_.text += '\n';
    }
    std::string cable_length() { return one_of({"1m", "5m", "40m", "300m"}); }

    void host(const std::string& name, const std::string& of) {
        hosts_.push_back(name);
        cables_.push_back({name, of, true});
    }
    void join(const std::string& low, const std::string& high) { cables_.push_back({low, high, false}); }

    void shape() {
        say("seed = {}", below(1000));
        switch (below(5)) {
            case 0:
                return star();
            case 1:
                return dumbbell();
            case 2:
                return leaf_spine();
            case 3:
                return ring();
            default:
                return by_name();
        }
    }
    void topology(const char* kind) {
        say("[topology]\nkind = \"{}\"\nhost_speed = \"{}\"\nspeed = \"{}\"", kind,
            one_of({"10G", "25G", "100G"}), one_of({"25G", "40G", "100G", "400G"}));
        say("host_cable = \"{}\"\ncable = \"{}\"", cable_length(), cable_length());
    }
    void star() {
        topology("star");
        const std::uint64_t hosts = 2 + below(4);
        say("hosts = {}", hosts);
        switches_ = {"sw1"};
        for (std::uint64_t n = 1; n <= hosts; ++n) host(fmt::format("h{}", n), "sw1");
    }
    void dumbbell() {
        topology("dumbbell");
        const std::uint64_t hosts = 1 + below(3);
        say("hosts = {}", hosts);
        switches_ = {"left", "right"};
        for (std::uint64_t n = 1; n <= 2 * hosts; ++n)
            host(fmt::format("h{}", n), n <= hosts ? "left" : "right");
        join("left", "right");
    }
    void leaf_spine() {
        topology("leaf-spine");
        const std::uint64_t leaves = 2 + below(2), spines = 1 + below(2), hosts = 1 + below(2);
        say("leaves = {}\nspines = {}\nhosts = {}", leaves, spines, hosts);
        for (std::uint64_t leaf = 1; leaf <= leaves; ++leaf) {
            switches_.push_back(fmt::format("leaf{}", leaf));
            for (std::uint64_t n = 1; n <= hosts; ++n)
                host(fmt::format("h{}", (leaf - 1) * hosts + n), switches_.back());
        }
        for (std::uint64_t spine = 1; spine <= spines; ++spine) {
            switches_.push_back(fmt::format("spine{}", spine));
            for (std::uint64_t leaf = 1; leaf <= leaves; ++leaf)
                join(fmt::format("leaf{}", leaf), switches_.back());
        }
    }
    // Three switches: each is next to each, so that pauses cannot go round.
    void ring() {
        topology("ring");
        say("switches = 3\nhosts = 1");
        for (unsigned n = 1; n <= 3; ++n) {
            switches_.push_back(fmt::format("sw{}", n));
            host(fmt::format("h{}", n), switches_.back());
        }
        for (const auto& [low, high] : {std::pair("sw1", "sw2"), {"sw2", "sw3"}}) join(low, high);
    }
    // A line of switches, with a host or two at each.
    void by_name() {
        const std::uint64_t switches = 2 + below(3);
        unsigned hosts = 0;
        const auto link = [&](const std::string& one, const std::string& other) {
            say("[[link]]\nends = [\"{}\", \"{}\"]\nspeed = \"{}\"\ncable = \"{}\"", one, other,
                one_of({"10G", "25G", "40G", "100G", "200G"}), cable_length());
        };
        for (std::uint64_t n = 1; n <= switches; ++n) {
            switches_.push_back(fmt::format("s{}", n));
            say("[[node]]\nname = \"{}\"\nkind = \"switch\"", switches_.back());
            if (n > 1) {
                link(fmt::format("s{}", n - 1), switches_.back());
                join(fmt::format("s{}", n - 1), switches_.back());
            }
            for (std::uint64_t more = 1 + below(2); more != 0; --more) {
                const std::string name = fmt::format("x{}", ++hosts);
                say("[[node]]\nname = \"{}\"\nkind = \"host\"", name);
                link(name, switches_.back());
                host(name, switches_.back());
            }
        }
    }

    void policies() {
        say("[routing]\ndetection = \"{}\"\nconvergence = \"{}\"", one_of({"0ns", "5us", "20us"}),
            one_of({"0ns", "10us", "30us"}));
        // Draws apart, here and in balance(): without them the others stay as they are.
        if (const std::uint64_t drawn = scramble(seed_ ^ 0x9E11) % 4; drawn < 2)
            say("remote_quality = \"{}\"", drawn == 0 ? "1us" : "7us");
        say("[switch.default]\nbuffer.size = \"{}\"\nbuffer.cell = {}", one_of({"12MB", "16MB"}),
            one_of({144, 208, 256}));
        if (odds(30)) say("workers = {}", 1 + below(3));
        const bool lossy = odds(25);
        // Drawn apart, as below.
        const std::uint64_t trimming = scramble(seed_ ^ 0x7218) % 4;
        trims_ = lossy && trimming != 0;
        if (trims_) say("[switch.default.trimming]\nsize = {}", 64U << (trimming - 1));
        say("[switch.default.default]\nqos = \"{}\"", !lossy          ? "lossless"
                                                      : trimming == 0 ? "lossy"
                                                                      : "lossy-trim");
        if (odds(30)) say("reaction = \"{}\"", one_of({"0ns", "2us", "10us"}));
        if (!lossy && odds(30)) say("[switch.default.default.priority_group.4]\nlossless = false");
        if (odds(40))
            say("[switch.default.default.priority_group.3]\n{}",
                one_of({"dynamic_th = -4", "dynamic_th = 0", "static_th = \"20KB\""}));
        say("[host.default]\ncc = \"{}\"\nmtu = {}", one_of({"none", "dcqcn", "dcqcn-timer"}),
            one_of({256, 1024, 4096}));
        balance();
        for (const std::string& each : hosts_)
            if (odds(20)) {
                made_.ordered = false;  // its receive buffer may overflow
                say("[host.{}]\ndrain = \"{}\"\nreceive_buffer = \"{}\"", each, one_of({"2G", "5G", "20G"}),
                    one_of({"20KB", "64KB"}));
            }
    }

    // Belongs under [host.default].
    void balance() {
        const std::uint64_t drawn = scramble(seed_ ^ 0xBA1A) % 4;
        if (drawn == 0) return;
        made_.ordered = drawn == 1;
        if (!made_.ordered) say("recovery = \"selective\"");
        if (const std::uint64_t naks = scramble(seed_ ^ 0x7AC) % 3; !made_.ordered && trims_ && naks != 0)
            say("trim = \"nak\"\ntrim_cc = \"{}\"", naks == 1 ? "mark" : "none");
        say("[switch.default.load_balance]\nmode = \"{}\"", drawn == 1   ? "flowlet"
                                                            : drawn == 2 ? "adaptive"
                                                                         : "packet");
        say("flowlet_gap = \"{}\"\nmove_interval = \"10us\"\nmove_margin = 1", drawn == 1 ? "500ms" : "5us");
    }

    void flows() {
        for (std::uint64_t n = 1 + below(4); n != 0; --n) {
            const std::string& to = one_of(hosts_);
            std::string from = one_of(hosts_);
            while (from == to) from = one_of(hosts_);
            std::string list = fmt::format("\"{}\"", from);
            if (odds(40))  // an incast
                for (const std::string& each : hosts_)
                    if (each != to && each != from) list += fmt::format(", \"{}\"", each);
            say("[[flow]]\nfrom = [{}]\nto = \"{}\"\nkind = \"{}\"", list, to,
                one_of({"write", "write", "send", "read"}));
            say("message = \"{}\"\nmessages = {}\nstart = \"{}us\"",
                one_of({"1B", "900B", "5KB", "20KB", "1KB..30KB"}), 1 + below(6), below(60));
            if (odds(30)) say("dscp = {}", one_of({0, 26, 34}));
            if (odds(30)) say("qps = 2");
            if (odds(70)) say("depth = {}", 1 + below(6));
        }
    }

    void event(std::uint64_t us, const std::string& command) {
        say("[[event]]\nat = \"{}us\"\ndo = \"{}\"", us, command);
    }
    void go_wrong() {
        for (std::uint64_t n = 1 + below(6); n != 0; --n) {
            const std::uint64_t at = 1 + below(last_event_us - 20);
            const Cable& cable = cables_[below(cables_.size())];
            switch (below(6)) {
                case 0:
                    event(at, fmt::format("link {} down", cable.name()));
                    if (odds(70)) event(at + 1 + below(20), fmt::format("link {} up", cable.name()));
                    break;
                case 1: {
                    const std::string& device = one_of(switches_);
                    event(at, fmt::format("switch {} down", device));
                    if (odds(70)) event(at + 1 + below(20), fmt::format("switch {} up", device));
                    break;
                }
                case 2:
                    event(at, fmt::format("host {} drain {}", one_of(hosts_),
                                          one_of({"1G", "10G", "unlimited"})));
                    break;
                default:
                    event(at, fmt::format("link {} {}", cable.name(), fault(cable)));
            }
        }
        mend();
    }
    std::string fault(const Cable& cable) {
        const bool to_host = odds(30);
        std::string to;
        if (to_host) to = fmt::format("to {} ", cable.one);
        if (!to_host && odds(30)) to = fmt::format("to {} ", cable.other);
        std::string frames = one_of({"drop_every 7", "drop_chance 3%", "corrupt_chance 3%", "ber 1e-6",
                                     "duplicate_chance 5%", "delay 3us", "delay 300ns"});
        if (cable.to_host && to_host) return to + frames;
        return to + (odds(60)
                         ? frames
                         : one_of({"pfc_lose_every 2", "pfc_lose_chance 30%", "pfc_duplicate_chance 50%",
                                   "pfc_delay 4us", "pfc_quanta 50", "pfc_class_vector 255",
                                   "storm_classes [3]", "stuck_xoff [3]", "overshoot 3KB", "slow_receiver 5G",
                                   "tx_drop_every 5", "tx_delay 2us", "tx_ber 1e-6"}));
    }
    void mend() {
        for (const Cable& cable : cables_) {
            event(last_event_us, fmt::format("link {} clear", cable.name()));
            event(last_event_us, fmt::format("link {} up", cable.name()));
        }
        for (const std::string& each : switches_) event(last_event_us, fmt::format("switch {} up", each));
        for (const std::string& each : hosts_)
            event(last_event_us, fmt::format("host {} drain unlimited", each));
    }

    std::uint64_t seed_;
    bool trims_ = false;
    RandomFabric made_;
    std::vector<std::string> hosts_, switches_;
    std::vector<Cable> cables_;
};

}  // namespace

RandomFabric random_fabric(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace sluice::fabric
