// Transfers of a host: messages of a list, each on a queue pair of its own that comes when the transfer
// starts and goes when it has ended.
//
// A transfer is one end: at its requester it starts by itself, at its responder with its first packet.
// Transfer n has the queue pair number first + n, where `first` is behind those of the queue pairs that are
// there from the start, so no number is used twice, and a late packet finds its transfer. A requester's
// transfer may wait for others: those of the same host, at either end of theirs, end when all is
// acknowledged, or delivered; of those between two other hosts one tells the caller, who calls `release`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "lib/frame/ip_address.hh"
#include "lib/roce/requester.hh"
#include "lib/roce/send_schedule.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

inline constexpr std::uint64_t max_transfer_bytes = std::uint64_t{1} << 40;

struct ListedTransfer {
    std::uint64_t bytes;      // payload, in [1, max_transfer_bytes]; in messages of max_message_bytes
    Time start;               // at the requester; where it waits, the time since the last of those has ended
    std::uint32_t message;    // of the list: several transfers may share its bytes
    std::uint32_t peer;       // index of TransferList::peers
    std::uint32_t peer_qp;    // its number
    std::uint32_t flow;       // index of the host's flows
    std::uint32_t waits = 0;  // transfers of this host that end before it starts
    bool requests = true;     // else it responds

    // Messages of its queue pair.
    std::uint32_t messages() const {
        return static_cast<std::uint32_t>((bytes + max_message_bytes - 1) / max_message_bytes);
    }
    // PSNs of its queue pair.
    std::uint64_t packets(std::uint32_t mtu) const {
        const std::uint64_t whole = bytes / max_message_bytes;
        const std::uint64_t rest = bytes % max_message_bytes;
        return whole * ((max_message_bytes + mtu - 1) / mtu) + (rest + mtu - 1) / mtu;
    }
};

// Those of one host.
struct TransferList {
    std::vector<IpAddress> peers;
    std::vector<ListedTransfer> transfers;
    // The second waits for the first; sorted.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
    // A transfer of another host waits for one of this host's; sorted.
    struct Elsewhere {
        std::uint32_t first;  // of this host
        std::uint32_t host;   // the caller's number of the other
        std::uint32_t then;   // of that host
        auto operator<=>(const Elsewhere&) const = default;
    };
    std::vector<Elsewhere> elsewhere;
};

class Transfers {
  public:
    // The list outlives it and is valid; nothing: no transfer.
    explicit Transfers(std::shared_ptr<const TransferList> list);

    // Memory that a transfer takes at its two ends, before it starts.
    static const std::size_t bytes_each;

    std::uint32_t count() const { return static_cast<std::uint32_t>(states_.size()); }
    const ListedTransfer& operator[](std::uint32_t transfer) const { return list_->transfers[transfer]; }
    const IpAddress& peer(std::uint32_t transfer) const { return list_->peers[(*this)[transfer].peer]; }
    const TransferList* list() const { return list_.get(); }

    // A requester's transfer that is due, the earliest first, then the lowest number.
    struct Start {
        Time at;
        std::uint32_t transfer;
        bool operator>(const Start& other) const {
            return at == other.at ? other.transfer < transfer : other.at < at;
        }
    };
    std::optional<Start> next_start() const;
    void start(const Start& next);  // takes it
    // It has ended, once; those that waited for it may start.
    void end(std::uint32_t transfer, Time now);
    // A transfer of this host need not wait any more for one that ended elsewhere.
    void release(std::uint32_t transfer, Time now);
    // That wait elsewhere for transfers of this host, since these have ended; the caller clears it.
    struct Told {
        Time ended;
        TransferList::Elsewhere waits;
    };
    std::vector<Told>& told() { return told_; }
    bool has_ended(std::uint32_t transfer) const { return states_[transfer].ended; }
    // None starts from now on.
    void stop();

    // Its place among the host's queue pairs; nobody: it has none.
    QpIndex slot(std::uint32_t transfer) const { return states_[transfer].slot; }
    void set_slot(std::uint32_t transfer, QpIndex slot) { states_[transfer].slot = slot; }

  private:
    struct State {
        QpIndex slot = Calendar::nobody;
        std::uint32_t waits : 31 = 0;
        std::uint32_t ended : 1 = 0;
    };

    std::shared_ptr<const TransferList> list_;
    std::vector<State> states_;
    std::vector<std::uint32_t> timed_;  // those that start at a time of the list, in its order
    std::size_t next_ = 0;              // of those
    std::priority_queue<Start, std::vector<Start>, std::greater<>> released_;  // which had to wait
    std::vector<Told> told_;
};

}  // namespace sluice::roce
