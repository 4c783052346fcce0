#include "control/fabric/schedule/goal_labels.hh"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/values/rng.hh"

namespace sluice::fabric::goal {

namespace {

// 0 where the kernel has no random numbers.
std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    return getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed) ? seed : 0;
}

}  // namespace

Labels::Labels() : labels_(0, Hash{random_seed()}) {}

std::size_t Labels::Hash::operator()(std::string_view label) const {
    std::uint64_t hash = scramble(seed ^ label.size());
    while (!label.empty()) {
        std::uint64_t part = 0;
        const std::size_t size = std::min(label.size(), sizeof part);
        std::memcpy(&part, label.data(), size);
        hash = scramble(hash ^ part);
        label.remove_prefix(size);
    }
    return hash;
}

Label& Labels::of(const Token& word) {
    if (const auto found = labels_.find(word.text); found != labels_.end()) return found->second;
    const auto made = labels_.try_emplace(std::string(word.text)).first;
    made->second.name = made->first;
    made->second.place = word.place;
    return made->second;
}

void Labels::wait(ProgramMaker& maker, const Label& operation, const Label& before, bool until_begun) {
    if (operation.operation && before.operation)
        maker.wait(*operation.operation, *before.operation, until_begun);
    else
        later_.push_back({&operation, &before, until_begun});
}

std::vector<const Label*> Labels::finish(ProgramMaker& maker) const {
    for (const Wait& each : later_)
        if (each.operation->operation && each.before->operation)
            maker.wait(*each.operation->operation, *each.before->operation, each.until_begun);
    std::vector<const Label*> unknown;
    for (const auto& [name, label] : labels_)
        if (!label.operation) unknown.push_back(&label);
    std::ranges::sort(unknown, {},
                      [](const Label* each) { return std::pair(each->place.line, each->place.column); });
    return unknown;
}

// The table of a map that is only cleared stays as large as that of the largest rank.
void Labels::clear() {
    labels_ = decltype(labels_)(0, labels_.hash_function());
    later_.clear();
}

}  // namespace sluice::fabric::goal
