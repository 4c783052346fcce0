// The way of a message's packets through the fabric.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/fabric/plan/forwarding.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

inline constexpr std::string_view several_paths = "several";

struct MessagePath {
    // Its nodes: "h1>leaf1>spine2>leaf4>h16"; a second cable: "spine2-2". Or several_paths; empty: none.
    std::string text;
    std::vector<Channel> channels;  // of that one path

    bool operator==(const MessagePath&) const = default;
};

class MessagePaths {
  public:
    explicit MessagePaths(const Fabric& fabric) : fabric_(fabric) {}

    // As switches forward now; several_paths: load balancing chooses anew meanwhile, or paths have moved
    // since it came. Of a READ: the way of its request.
    MessagePath of(NodeId from, const roce::MessageResult& result);

  private:
    MessagePath walk(NodeId from, const roce::MessageResult& result) const;

    const Fabric& fabric_;
    std::map<std::pair<NodeId, std::uint32_t>, MessagePath> known_;  // of queue pairs that stay
    Time known_since_{};
};

}  // namespace sluice::fabric
