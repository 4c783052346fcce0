// Random changes of routes and neighbors, after each of which the tables answer as the model does.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "lib/values/rng.hh"
#include "tests/tries.hh"
#include "tests/unit/control/config/routes_model.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::routes_random_test {
namespace {

using namespace sluice::routes_model;

// Random routes over few addresses, so that they nest, share groups and lose their neighbors.
class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t bound) { return draw({seed_, 40, 0, ++drawn_}) % bound; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    IpAddress any_address(bool v6) {
        const std::uint64_t bits = draw({seed_, 41, 0, ++drawn_});
        IpAddress made{{10, 1}, v6};
        if (bits >> 62 == 0) made.bytes = {0xFF, 0xFF, 0xFF, 0xFF};
        if (v6 && bits >> 62 == 0) made.bytes.fill(0xFF);
        std::uint64_t rest = bits;
        for (const std::size_t byte : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 15U})
            if (v6 || byte < 4) {
                made.bytes[byte] = static_cast<std::uint8_t>(made.bytes[byte] ^ (rest & 0x83U));
                rest >>= 8;
            }
        return made;
    }
    IpAddress any_hop() {
        const bool v6 = one_in(4);
        IpAddress made{{10, 9, 0, static_cast<std::uint8_t>(below(12))}, v6};
        return made;
    }
    IpPrefix any_prefix() {
        const bool v6 = one_in(3);
        const std::uint64_t longest = v6 ? 128 : 32;
        const auto length = static_cast<std::uint8_t>(one_in(3) ? longest - below(9) : below(longest + 1));
        return network_of({any_address(v6), length});
    }
    RouteChanges::Route any_route(const Model& model, RouteOrigin origin) {
        // An entry of one origin that the other has, too.
        const auto& routes = model.by_origin[one_in(2) ? 0 : static_cast<unsigned>(origin)].routes;
        const bool known = one_in(3) && !routes.empty();
        const auto near = known ? routes.lower_bound(any_prefix()) : routes.end();
        const std::optional<IpPrefix> there =
            known ? std::optional(near != routes.end() ? near->first : routes.begin()->first) : std::nullopt;
        if (there && !one_in(4)) return {*there, {}};
        RouteConfig made{there.value_or(any_prefix()), {}, {}};
        if (!one_in(8))
            for (std::uint64_t hops = 1 + below(4); hops > 0; --hops) {
                const NextHopConfig hop{any_hop(), static_cast<std::uint32_t>(1 + below(3)),
                                        one_in(2) ? any_port_name() : std::string()};
                if (std::none_of(made.via.begin(), made.via.end(), [&](const auto& other) {
                        return other.is_to({hop.address, hop.port}) || hop.is_to({other.address, other.port});
                    }))
                    made.via.push_back(hop);
            }
        std::sort(made.via.begin(), made.via.end());
        if (one_in(3)) made.load_balance = one_in(2) ? LoadBalance::flowlet : LoadBalance::hash;
        return {made.prefix, made, made.via.empty() && origin == RouteOrigin::kernel && one_in(2)};
    }
    RouteChanges::Neighbor any_neighbor(RouteOrigin origin) {
        const IpAddress at = one_in(8) ? any_address(false) : any_hop();
        const NeighborKey key{at, any_port_name()};
        if (one_in(3)) return {key, {}};
        return {key, NeighborConfig{at, key.port, mac(static_cast<std::uint8_t>(below(9))), {}, {}},
                origin == RouteOrigin::configuration || !one_in(4)};
    }
    std::string any_port_name() { return fmt::format("p{}", below(4)); }
    RouteChanges any_changes(const Model& model, bool two_origins) {
        RouteChanges changes;
        if (two_origins && one_in(2)) changes.origin = RouteOrigin::kernel;
        const std::uint64_t most = one_in(10) ? 200 : 20;
        for (std::uint64_t n = below(most + 1); n > 0; --n)
            changes.routes.push_back(any_route(model, changes.origin));
        if (one_in(2)) changes.neighbors.push_back(any_neighbor(changes.origin));
        if (one_in(5)) {
            const IpPrefix at = any_prefix();
            changes.addresses.push_back({host_prefix(at.address), one_in(2)});
            changes.subnets.push_back({at, one_in(2)});
        }
        return changes;
    }

  private:
    std::uint64_t seed_, drawn_ = 0;
};

// With two origins everything fits the tables, which leave out the kernel's routes that do not. With one
// origin they refuse some.
void answer_as_a_model_does(Tables& tables, bool two_origins) {
    const std::uint64_t most = tries({.in_long = 1'000'000, .usual = 60'000, .sanitized = 4'000});
    Random random(17);
    Model model;
    std::uint64_t done = 0;
    unsigned refused = 0, number = 0;
    const auto check = [&](const IpAddress& asked) {
        const auto [at, wanted] = model.look_up(asked);
        const Answer found = answer_of(tables.running, asked);
        if (!agree(wanted, found))
            FAIL(fmt::format("after {} changes, {}: wanted {} of {}, found {}", done, print_address(asked),
                             text_of(wanted), at ? print_prefix(*at) : "none", text_of(found))
                     .c_str());
        const auto match = tables.routes->match(asked);
        CHECK_TRUE(at == (match ? std::optional(match->prefix) : std::nullopt));
    };
    while (done < most) {
        RouteChanges changes = random.any_changes(model, two_origins);
        tables.watched.clear();
        for (unsigned i = 0; i < 8; ++i) tables.watched.push_back(random.any_address(random.one_in(3)));
        const std::string error = tables.change(changes);
        LONGS_EQUAL(0, tables.routes->left_out().count);
        if (error.empty()) {
            model.apply(changes);
            done += changes.routes.size() + changes.neighbors.size();
        } else {
            ++refused;
        }
        for (const IpAddress& asked : tables.watched) check(asked);
        for (unsigned i = 0; i < 12; ++i) check(random.any_address(random.one_in(3)));
        for (std::size_t i = 0; i < changes.routes.size(); i += 3) check(changes.routes[i].prefix.address);
        for (const auto& each : changes.neighbors) check(each.at.address);
        if (++number % 400 != 0) continue;  // now and then nearly all of it goes
        for (const RouteOrigin origin : {RouteOrigin::configuration, RouteOrigin::kernel}) {
            const RouteChanges less = model.without(origin, [&] { return !random.one_in(20); });
            model.apply(less);
            tables.must(less);
        }
    }
    if (two_origins)
        LONGS_EQUAL(0, refused);
    else
        CHECK_TRUE(refused > number / 100 && refused < number / 2);
    // At most some thousand routes were there at once, and never more groups.
    CHECK_TRUE(tables.running.next_hop_groups.size() < 8000);
    CHECK_TRUE(tables.running.buckets.size() < tables.running.next_hop_groups.size() * 2 * 256);
    for (const RouteOrigin origin : {RouteOrigin::kernel, RouteOrigin::configuration})
        tables.must(model.without(origin, [] { return true; }));
    LONGS_EQUAL(0, tables.routes->prefixes());
    LONGS_EQUAL(0, tables.routes->next_hop_groups());
    for (const bool v6 : {false, true}) LONGS_EQUAL(0, tables.routes->fib().tables(v6).tables_used());
}

}  // namespace

TEST_GROUP(RoutesRandom){};

TEST(RoutesRandom, answerAsAModelDoesAndLoseNothing) {
    Tables tables({{true, 600}, {false, 3000}});
    answer_as_a_model_does(tables, false);
}

TEST(RoutesRandom, ofTwoOriginsAnswerAsAModelDoesAndLoseNothing) {
    Tables tables({{true, 4000}, {false, 20'000}});
    answer_as_a_model_does(tables, true);
}

}  // namespace sluice::routes_random_test
