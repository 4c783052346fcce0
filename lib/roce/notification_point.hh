// DCQCN's notification point: whether a CE-marked packet is answered by a CNP.
//
// At most one CNP goes per interval and scope: the queue pair, the peer's address, or the whole port, as NICs
// differ. The caller numbers queue pairs and peers from 0. A NIC that never echoes CE has no notification
// point.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::roce {

enum class CnpScope : std::uint8_t { queue_pair, peer, port };

class NotificationPoint {
  public:
    // interval >= 0; 0: a CNP for each marked packet.
    NotificationPoint(CnpScope scope, Duration interval, std::size_t queue_pairs, std::size_t peers)
        : scope_(scope),
          interval_(interval),
          last_(scope == CnpScope::queue_pair ? queue_pairs
                : scope == CnpScope::peer     ? peers
                                              : 1) {
        assert(interval.ps >= 0);
    }

    // A packet of `queue_pair` arrived from `peer` with CE. True: send a CNP.
    bool on_marked(std::size_t queue_pair, std::size_t peer, Time now) {
        std::optional<Time>& last = last_[scope_ == CnpScope::queue_pair ? queue_pair
                                          : scope_ == CnpScope::peer     ? peer
                                                                         : 0];
        // Unsigned: long ago is a large number.
        if (last && now.ps - last->ps < static_cast<std::uint64_t>(interval_.ps)) return false;
        last = now;
        return true;
    }

    // Ahead of on_marked.
    void fetch(std::size_t queue_pair) const {
        if (scope_ == CnpScope::queue_pair) __builtin_prefetch(&last_[queue_pair]);
    }

  private:
    CnpScope scope_;
    Duration interval_;
    std::vector<std::optional<Time>> last_;  // CNP of each queue pair, peer, or the port
};

}  // namespace sluice::roce
