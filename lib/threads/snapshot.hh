// An immutable value that control publishes and workers read.
//
// Control alone writes `current_`, worker w alone `acknowledged_[w]`, the generation that it runs. A worker
// reads once a turn; the value stays valid until it acknowledges another. Control frees a value when every
// worker runs a newer one, so a worker never waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "lib/values/ids.hh"

namespace sluice {

template <class Value>
class Snapshot {
  public:
    Snapshot(unsigned workers, std::unique_ptr<const Value> first) : workers_(workers) {
        publish(std::move(first));
    }

    // Control. Returns the generation that `acknowledged` is asked for.
    std::uint64_t publish(std::unique_ptr<const Value> value) {
        nodes_.push_back(std::make_unique<Node>(Node{std::move(value), ++generation_}));
        // release: a worker that sees the pointer sees the value behind it.
        current_.store(nodes_.back().get(), std::memory_order_release);
        return generation_;
    }

    // Control. True once every worker runs `generation` or a later one; frees values that no worker runs.
    bool acknowledged(std::uint64_t generation) {
        std::uint64_t oldest = generation_;
        // acquire: pairs with the worker's release, so its last use of an older value is over.
        for (unsigned w = 0; w < workers_; ++w)
            oldest = std::min(oldest, acknowledged_[w].value.load(std::memory_order_acquire));
        while (!nodes_.empty() && nodes_.front()->generation < oldest) nodes_.pop_front();
        return oldest >= generation;
    }

    // Control: the value published last.
    const Value& latest() const { return *nodes_.back()->value; }
    std::uint64_t generation() const { return generation_; }

    // Worker, once a turn: the value published last.
    struct View {
        const Value* value;
        std::uint64_t generation;
    };
    View view() const {
        const Node* node = current_.load(std::memory_order_acquire);  // pairs with publish
        return {node->value.get(), node->generation};
    }
    void acknowledge(WorkerId worker, std::uint64_t generation) {
        // release: this worker's last use of the value before comes first.
        acknowledged_[worker].value.store(generation, std::memory_order_release);
    }

  private:
    struct Node {
        std::unique_ptr<const Value> value;
        std::uint64_t generation;
    };
    struct alignas(64) Acknowledged {
        std::atomic<std::uint64_t> value{0};
    };

    unsigned workers_;
    std::uint64_t generation_ = 0;
    std::deque<std::unique_ptr<Node>> nodes_;
    std::atomic<const Node*> current_{nullptr};
    std::array<Acknowledged, max_workers> acknowledged_{};
};

}  // namespace sluice
