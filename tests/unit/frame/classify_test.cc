#include "lib/frame/classify.hh"

#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::classify_test {
namespace {

ClassMap random_map(std::uint64_t seed) {
    std::uint64_t number = 0;
    const auto draw_class = [&] { return static_cast<ClassId>(draw({seed, 0, 0, number++}) % classes); };
    const auto fill = [&](auto& map) {
        for (ClassId& tc : map) tc = draw_class();
    };
    ClassMap map;
    fill(map.dscp_to_tc);
    fill(map.pcp_to_tc);
    fill(map.tc_to_queue);
    fill(map.tc_to_priority_group);
    if ((seed & 1U) != 0) map.roce_tc = draw_class();
    if ((seed & 2U) != 0) map.cnp_tc = draw_class();
    map.default_tc = draw_class();
    map.trust = static_cast<Trust>(seed / 4 % 3);
    return map;
}

}  // namespace

TEST_GROUP(Classify){};

TEST(Classify, rules_for_cnps_and_roce_stand_before_trust) {
    ClassMap map;
    map.dscp_to_tc[26] = 5;
    Parsed parsed;
    parsed.tos = 26 << 2;
    CHECK_EQUAL(5, traffic_class(parsed, map));
    parsed.roce = true;
    CHECK_EQUAL(5, traffic_class(parsed, map));
    map.roce_tc = 3;
    CHECK_EQUAL(3, traffic_class(parsed, map));
    parsed.cnp = true;
    CHECK_EQUAL(5, traffic_class(parsed, map));  // no data: the rule for RoCE does not speak of it
    map.cnp_tc = 6;
    CHECK_EQUAL(6, traffic_class(parsed, map));
}

TEST(Classify, pcp_counts_only_where_it_is_trusted_and_there_is_a_tag) {
    ClassMap map;
    map.pcp_to_tc[4] = 4;
    map.default_tc = 1;
    Parsed parsed;
    parsed.pcp = 4;
    parsed.tags = 1;
    CHECK_EQUAL(0, traffic_class(parsed, map));
    map.trust = Trust::pcp;
    CHECK_EQUAL(4, traffic_class(parsed, map));
    parsed.tags = 0;
    CHECK_EQUAL(1, traffic_class(parsed, map));
    parsed.tags = 1;
    map.trust = Trust::port;
    CHECK_EQUAL(1, traffic_class(parsed, map));
}

TEST(Classify, the_table_says_what_the_rules_say) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const ClassMap map = random_map(seed);
        const auto lossless = static_cast<std::uint8_t>(1U << seed % 8);
        const ClassTable table(map, lossless);
        CHECK_TRUE(table.is_of(map, lossless) && !table.is_of(map, 0));
        for (unsigned octet = 0; octet < 256; ++octet)
            for (unsigned kind = 0; kind < 3; ++kind)
                for (unsigned tags = 0; tags < 2; ++tags) {
                    Parsed parsed;
                    parsed.tos = static_cast<std::uint8_t>(octet);
                    parsed.roce = kind != 0;
                    parsed.cnp = kind == 2;
                    parsed.tags = static_cast<std::uint8_t>(tags);
                    parsed.pcp = static_cast<std::uint8_t>(octet % 8);
                    CHECK_EQUAL(tags == 0 || map.trust != Trust::pcp, table.has(parsed));
                    if (!table.has(parsed)) continue;
                    const ClassWay wanted = class_way(parsed, map, lossless);
                    const ClassWay& way = table.way(parsed.class_key());
                    CHECK_EQUAL(traffic_class(parsed, map), way.treatment.traffic_class);
                    CHECK_EQUAL(map.tc_to_priority_group[way.treatment.traffic_class], way.priority_group);
                    CHECK_EQUAL(wanted.treatment.ecn.bits, way.treatment.ecn.bits);
                    CHECK_EQUAL(wanted.kinds, way.kinds);
                }
    }
}

TEST(Classify, a_way_counts_its_packet_as_what_it_is) {
    Parsed parsed;
    CHECK_EQUAL(0U, class_way(parsed, {}, 1).kinds);
    CHECK_EQUAL(0U, class_way(parsed, {}, 0).kinds);
    parsed.roce = true;
    CHECK_EQUAL(1U, class_way(parsed, {}, 0b01).kinds);
    CHECK_EQUAL(0x01'00'00'01U, class_way(parsed, {}, 0b10).kinds);
    parsed.cnp = true;
    parsed.tos = static_cast<std::uint8_t>(Ecn::ce);
    CHECK_EQUAL(0x01'01'01U, class_way(parsed, {}, 0).kinds);
    CHECK_TRUE(class_way(parsed, {}, 0).treatment.ecn.is_exempt());
}

}  // namespace sluice::classify_test
