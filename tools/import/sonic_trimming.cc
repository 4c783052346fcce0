// SWITCH_TRIMMING, the queues whose profile trims, and for "from-tc" TC_TO_DSCP_MAP of each port
// (sonic-net/SONiC, doc/packet_trimming/packet-trimming-design.md, 2.6.1).
//
// Without a DSCP for its trimmed packets a queue drops, and so do queues that Sluice does not trim: lossless
// ones, and the one that trimmed packets go to. The rule of these is the compiler's.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "lib/frame/trim.hh"
#include "tools/import/document.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

constexpr const char* stays = "Sluice leaves the DSCP of a packet as it is";
constexpr unsigned max_class = 255;  // a chip may have more than eight

class Trimming {
  public:
    explicit Trimming(Sonic& in) : in_(in), account_(in.account()), global_(find_global()) {}

    void take() {
        if (global_ != nullptr) {
            size();
            dscp();
            queue();
        }
        if (!from_tc_) pass_maps();
        for (const auto& [at, action] : in_.trimming) trim(*at.first, at.second, *action);
        drop_refused();
        for (const auto& [at, action] : in_.trimming)
            account_.taken(*action, "on_full = \"trim\" of the queues that go by it");
        if (from_tc_) in_.tell_unused("TC_TO_DSCP_MAP", "no port goes by it");
    }

  private:
    const Item* find_global() const {
        const Item* table = in_.table("SWITCH_TRIMMING");
        const Item* entry = table == nullptr ? nullptr : table->find("GLOBAL");
        return entry != nullptr && in_.is_object(*entry) ? entry : nullptr;
    }

    // The word of the field in small letters, as SONiC compares it; null: there is none.
    const Item* field(const char* name, std::string& word) const {
        const Item* node = global_->find(name);
        word.clear();
        if (node != nullptr) word = lower(node->word);
        return node;
    }

    void size();
    void dscp();
    void take_class(const Item& mode);
    void port_dscps();
    void queue();
    void pass_maps();
    void trim(PortConfig& port, unsigned n, const Item& action);
    void drop_refused();

    Sonic& in_;
    Account& account_;
    const Item* global_;
    bool from_tc_ = false;
    std::optional<ClassId> class_;  // of "from-tc"
};

void Trimming::size() {
    const Item* node = global_->find("size");
    const char* key = "trimming.size";
    std::uint16_t& bytes = in_.config().trimming.size_bytes;
    if (node == nullptr)
        return account_.assumed(global_->path() + ".size", fmt::format("{} = {}, SAI's default", key, bytes));
    const auto said = in_.out.number(*node, 1, std::numeric_limits<std::uint32_t>::max());
    if (!said) return;
    bytes = static_cast<std::uint16_t>(std::clamp<std::uint64_t>(*said, min_trim_bytes, max_trim_bytes));
    if (bytes == *said) return account_.taken(*node, fmt::format("{} = {}", key, bytes));
    account_.left_out(*node,
                      fmt::format("{} is not from {} to {}: {} = {}, the nearest", *said, min_trim_bytes,
                                  max_trim_bytes, key, bytes),
                      fmt::format("write a size from {} to {}", min_trim_bytes, max_trim_bytes));
}

void Trimming::dscp() {
    constexpr std::uint64_t max_dscp = 63;
    std::string word;
    const Item* node = field("dscp_value", word);
    from_tc_ = word == "from-tc";
    if (from_tc_) return take_class(*node);
    if (const auto said = in_.out.take_number(node, 0, max_dscp, "trimming.dscp"))
        in_.config().trimming.dscp = static_cast<std::uint8_t>(*said);
    if (const Item* tc = global_->find("tc_value"))
        account_.nothing(*tc, "of use with dscp_value \"from-tc\" alone");
}

void Trimming::take_class(const Item& mode) {
    std::string word;
    const Item* node = field("tc_value", word);
    if (node == nullptr) return account_.left_out(mode, "no tc_value says which class", "write tc_value");
    const auto said = in_.out.number(*node, 0, max_class);
    if (!said) return;
    if (*said >= classes)
        return account_.left_out(*node, fmt::format("class {}: Sluice has eight", *said),
                                 "write a class from 0 to 7");
    class_ = static_cast<ClassId>(*said);
    account_.taken(mode, "port.NAME.trim_dscp, by the map of each port");
    account_.taken(*node, fmt::format("class {} of each port's map is its trim_dscp", *class_));
    port_dscps();
}

void Trimming::port_dscps() {
    constexpr std::uint64_t max_dscp = 63;
    for (const auto& [port, reference] : in_.to_dscp) {
        const Item* map = in_.entry_of(*reference, "TC_TO_DSCP_MAP");
        if (map == nullptr) continue;
        account_.taken(*reference, "trim_dscp of the port");
        for (const Item* entry : map->entries()) {
            const auto tc = parse_integer(entry->name);
            if (!tc || *tc > max_class) {
                account_.wrong(*entry, fmt::format("{} is not a class", in_quotes(entry->name)));
            } else if (*tc != *class_) {
                account_.nothing(*entry, stays);
            } else if (const auto value = in_.out.take_number(entry, 0, max_dscp,
                                                              "trim_dscp of the ports that go by the map")) {
                port->trim_dscp = static_cast<std::uint8_t>(*value);
            }
        }
    }
}

void Trimming::queue() {
    const char* by_dscp = "trimming.queue = \"dscp\": by the map of the port";
    std::string word;
    const Item* node = field("queue_index", word);
    if (node == nullptr) return account_.assumed(global_->path() + ".queue_index", by_dscp);
    if (word == "dynamic") return account_.taken(*node, by_dscp);
    const auto said = in_.out.number(*node, 0, max_class);
    if (!said) return;
    if (*said >= classes)
        return account_.left_out(*node, fmt::format("queue {}: Sluice has eight; {}", *said, by_dscp),
                                 "write a queue from 0 to 7, or dynamic");
    in_.config().trimming.queue = static_cast<ClassId>(*said);
    account_.taken(*node, fmt::format("trimming.queue = {}", *said));
}

void Trimming::pass_maps() {
    const Item* table = in_.table("TC_TO_DSCP_MAP");
    if (table != nullptr)
        account_.nothing(*table, fmt::format("{} ({})", stays, print_count(table->members.size(), "line")));
}

void Trimming::trim(PortConfig& port, unsigned n, const Item& action) {
    if (port.trim_dscp || in_.config().trimming.dscp) {
        port.queue[n].on_full = OnFull::trim;
    } else if (global_ == nullptr) {
        account_.left_out(action, "SWITCH_TRIMMING has no GLOBAL, so trimmed packets have no DSCP: it drops",
                          "add SWITCH_TRIMMING|GLOBAL with size, dscp_value and queue_index");
    } else if (from_tc_ && class_) {
        const auto named =
            std::ranges::find_if(in_.config().ports, [&](const auto& each) { return &each.second == &port; });
        account_.left_out(action,
                          fmt::format("port {} has no TC_TO_DSCP_MAP with class {}: queue {} drops",
                                      named->first, *class_, n),
                          "name one by tc_to_dscp_map in PORT_QOS_MAP");
    } else {
        account_.left_out(action, "SWITCH_TRIMMING|GLOBAL gives trimmed packets no DSCP: it drops",
                          "write a dscp_value");
    }
}

void Trimming::drop_refused() {
    for (const QosProblem& problem : effective_qos(in_.config()).problems) {
        if (problem.id.name() != "trim-lossless" && problem.id.name() != "trim-own-queue") continue;
        for (const auto& [at, action] : in_.trimming) {
            const auto& [port, n] = at;
            if (port != &in_.config().ports.at(problem.port) ||
                problem.key != fmt::format("queue.{}.on_full", n))
                continue;
            port->queue[n].on_full.reset();
            account_.left_out(*action, fmt::format("port {}: {}: it drops", problem.port, problem.wrong),
                              "give the queue a profile that drops");
        }
    }
}

}  // namespace

void take_sonic_trimming(Sonic& in) { Trimming(in).take(); }

}  // namespace sluice::import
