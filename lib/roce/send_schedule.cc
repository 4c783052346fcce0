#include "lib/roce/send_schedule.hh"

#include <cassert>

namespace sluice::roce {

SendSchedule::SendSchedule(std::span<const ClassId> class_of_queue_pair)
    : place_(class_of_queue_pair.size()), nodes_(2 * class_of_queue_pair.size()) {
    std::array<std::uint32_t, classes> leaves{};
    for (const ClassId id : class_of_queue_pair) {
        assert(id < classes);
        ++leaves[id];
    }
    std::array<Place, classes> next{};
    std::uint32_t tree = 0;
    for (unsigned id = 0; id < classes; ++id) {
        next[id] = {tree, leaves[id]};
        root_[id] = tree + 1;
        if (leaves[id] != 0) present_ |= 1U << id;
        tree += 2 * leaves[id];
    }
    for (QpIndex qp = 0; qp < place_.size(); ++qp) {
        place_[qp] = next[class_of_queue_pair[qp]];
        ++next[class_of_queue_pair[qp]].leaf;
    }
}

void SendSchedule::set(QpIndex qp, Turn turn) {
    Turn* tree = &nodes_[place_[qp].tree];
    std::uint32_t node = place_[qp].leaf;
    tree[node] = turn;
    for (; node > 1; node /= 2) {
        turn = earlier(turn, tree[node ^ 1U]);
        tree[node / 2] = turn;
    }
}

}  // namespace sluice::roce
