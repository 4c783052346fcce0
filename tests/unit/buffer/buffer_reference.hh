// A slow second opinion on the shared buffer: mechanisms.md section 3 in rational arithmetic, nothing shared
// with lib/. alpha is the fraction num/den, every comparison is multiplied out in 128 bits, every pool is
// summed up anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace reference {

__extension__ using Wide = __int128;

enum class Where { reserved, shared, headroom, ingress_limit, headroom_overrun };

struct Limits {
    bool dynamic = true;
    int n = 0;                          // alpha = 2^n
    std::optional<std::int64_t> fixed;  // static threshold
    std::int64_t reserved = 0;
    std::int64_t headroom = 0;
    std::int64_t xon = 0;
    std::int64_t xon_offset = 0;
    bool lossless = false;
    unsigned pool = 0;

    Wide num() const { return n >= 0 ? Wide{1} << n : 1; }
    Wide den() const { return n >= 0 ? 1 : Wide{1} << -n; }
};

struct PoolLimits {
    std::int64_t shared = 0;
    std::int64_t shared_headroom = 0;
};

struct Group {
    std::int64_t reserved = 0;
    std::int64_t shared = 0;
    std::int64_t headroom = 0;
    bool xoff = false;
};

struct Buffer {
    std::vector<PoolLimits> pools;
    std::vector<Limits> limits;
    std::vector<Group> groups;

    std::int64_t shared_used(unsigned pool) const {
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (limits[g].pool == pool) sum += groups[g].shared;
        return sum;
    }
    std::int64_t headroom_used(unsigned pool) const {
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (limits[g].pool == pool) sum += groups[g].headroom;
        return sum;
    }

    // True when `use` is within T, while the pool has `free` cells left and the group holds `own` of the
    // others.
    static bool within(const Limits& l, std::int64_t use, std::int64_t free, std::int64_t own) {
        free = std::max<std::int64_t>(free, 0);
        if (l.dynamic) return use * l.den() <= l.num() * free;
        if (l.fixed) return use <= *l.fixed;
        return use <= own + free;
    }

    Where admit(std::size_t g, std::int64_t c) {
        const Limits& l = limits[g];
        Group& group = groups[g];
        const std::int64_t in_use = shared_used(l.pool);
        const std::int64_t size = pools[l.pool].shared;
        if (group.reserved + c <= l.reserved) {
            group.reserved += c;
            return Where::reserved;
        }
        const std::int64_t free = size - in_use - c;
        if (!group.xoff && in_use + c <= size && within(l, group.shared + c, free, group.shared + c)) {
            group.shared += c;
            return Where::shared;
        }
        if (!l.lossless) return Where::ingress_limit;
        const std::int64_t common = pools[l.pool].shared_headroom;
        if (group.headroom + c > l.headroom || (common != 0 && headroom_used(l.pool) + c > common))
            return Where::headroom_overrun;
        group.headroom += c;
        group.xoff = true;
        return Where::headroom;
    }

    void release(std::size_t g, std::int64_t c) {
        for (std::int64_t* part : {&groups[g].headroom, &groups[g].shared, &groups[g].reserved}) {
            const std::int64_t take = std::min(c, *part);
            *part -= take;
            c -= take;
        }
    }

    bool over(std::size_t g) const {
        const std::int64_t free = pools[limits[g].pool].shared - shared_used(limits[g].pool);
        return groups[g].headroom > 0 || !within(limits[g], groups[g].shared, free, groups[g].shared);
    }

    // The state after one evaluation.
    void evaluate(std::size_t g) {
        const Limits& l = limits[g];
        Group& group = groups[g];
        if (!l.lossless) {
            group.xoff = false;
        } else if (!group.xoff) {
            group.xoff = over(g);
        } else {
            const std::int64_t free = pools[l.pool].shared - shared_used(l.pool);
            const bool low =
                group.shared <= l.xon || within(l, group.shared + l.xon_offset, free, group.shared);
            if (low && !over(g)) group.xoff = false;
        }
    }
};

}  // namespace reference
