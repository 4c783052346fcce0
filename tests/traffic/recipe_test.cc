// A recipe that is wrong is refused whole, with one line for each mistake that says where.
#include "tools/traffic/recipe.hh"

#include "tests/traffic/support.hh"
#include "tools/traffic/failure.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::recipe_test {

using namespace sluice::traffic;

namespace {

std::vector<std::string> errors_of(std::string_view text) { return load_recipe(text, "r.toml").errors; }

// The one error of h0's flow with these keys; they start in line 12.
std::string error_of(std::string_view keys) {
    const auto errors = errors_of(one_flow(keys));
    CHECK_EQUAL(1U, errors.size());
    if (errors.empty()) return "";
    CHECK_TRUE(errors[0].find('\n') == std::string::npos);
    return errors[0];
}

void check_refused(std::string_view keys, std::string_view expected) {
    const std::string error = error_of(keys);
    if (error.find(expected) == std::string::npos) STRCMP_EQUAL(std::string{expected}.c_str(), error.c_str());
}

}  // namespace

TEST_GROUP(Recipe){};

TEST(Recipe, refusesBrokenToml) { CHECK_TRUE(errors_of("a = \n").at(0).starts_with("r.toml:1:")); }

TEST(Recipe, refusesOneWithoutHostsOrFlows) {
    const auto errors = errors_of("");
    CHECK_EQUAL(2U, errors.size());
}

TEST(Recipe, reportsAllMistakesInTheirOrder) {
    const auto errors = errors_of(
        two_hosts("[host.h2]\nmac = 7\n[[flow]]\nkind = \"x\"\n[[flow]]\nkind = \"pfc\"\nfrom = \"h9\"\n"));
    CHECK_EQUAL(4U, errors.size());
    STRCMP_EQUAL("r.toml:10:7: host.h2.mac: 7 is not a MAC address such as \"02:00:00:00:00:01\"",
                 errors[0].c_str());
    CHECK_TRUE(errors[1].starts_with("r.toml:12:8: flow[0].kind: 'x' is not one of"));
    CHECK_TRUE(errors[2].starts_with("r.toml:13:1: flow[1].pfc: is needed"));
    STRCMP_EQUAL("r.toml:15:8: flow[1].from: 'h9' is not a host of this recipe", errors[3].c_str());
}

TEST(Recipe, refusesValuesOutOfRangeAndSaysThePlace) {
    STRCMP_EQUAL("r.toml:13:8: flow[0].dscp: 64 is not an integer from 0 to 63",
                 error_of("kind = \"roce\"\ndscp = 64").c_str());
    check_refused("kind = \"roce\"\nttl = -1", "r.toml:13:7: flow[0].ttl: -1");
    check_refused("kind = \"roce\"\necn = \"no\"", "ecn: 'no' is not one of");
    check_refused("kind = \"roce\"\nqp = 16777216", "flow[0].qp");
    check_refused("kind = \"roce\"\nqp = 16777215\nqps = 2", "24 bits");
    check_refused("kind = \"roce\"\nsize = 59", "flow[0].size: 59 is not bytes");
    check_refused("kind = \"roce\"\nsize = []", "the list is empty");
    check_refused("kind = \"roce\"\nsize = \"random 9..5\"", "flow[0].size");
    check_refused("kind = \"roce\"\nsize = 64\npayload = 4", "not both");
    check_refused("kind = \"roce\"\nrate = \"fast\"", "is not a rate");
    check_refused("kind = \"roce\"\nrate = \"1G\"\ngap = \"1us\"", "not both");
    check_refused("kind = \"roce\"\ngap = \"1.5ps\"", "is not a time");
    check_refused("kind = \"roce\"\nstart = \"100000s\"", "a day");
    check_refused("kind = \"roce\"\nburst = {frames = 3}", "flow[0].burst: needs frames and every");
    check_refused("kind = \"roce\"\nopcodes = \"send\"", "is not an opcode");
    check_refused("kind = \"roce\"\ntransport = \"ud\"\nopcodes = \"write_only\"",
                  "is not an opcode of this transport");
    check_refused("kind = \"roce\"\nopcodes = \"ack x0\"", "repetition");
    check_refused("kind = \"roce\"\nsport = 5\nflows = 70000", "only 65531 source ports");
    check_refused("kind = \"udp\"\nsport = \"9..5\"", "is not a port");
    check_refused("kind = \"udp\"\nsport = \"1..5\"\nflows = 6", "only 5 pairs");
    check_refused("kind = \"malformed\"\nvariant = \"odd\"", "is not a known variant");
    check_refused("kind = \"malformed\"\nvariant = \"ipv6_extension\"", "does not exist in IPv4");
    check_refused("kind = \"malformed\"\nip_version = 6\nvariant = \"bad_ihl\"", "does not exist in IPv6");
    check_refused("kind = \"malformed\"", "variant: is needed");
}

TEST(Recipe, refusesKeysThatAreUnknownOrMeanNothingHere) {
    check_refused("kind = \"roce\"\ncolour = 1", "r.toml:13:10: flow[0].colour: unknown key");
    check_refused("kind = \"udp\"\nqp = 1", "without meaning for kind = \"udp\"");
    check_refused("kind = \"cnp\"\nsize = 100", "without meaning for kind = \"cnp\"");
    const auto errors = errors_of(two_hosts("[[flow]]\nfrom = \"h0\"\nkind = \"pfc\"\npfc = {8 = 1}\n"));
    STRCMP_EQUAL("r.toml:12:12: flow[0].pfc.8: classes are 0 to 7", errors.at(0).c_str());
}

TEST(Recipe, refusesTargetsThatCannotBeReached) {
    const std::string head =
        two_hosts("[host.h2]\nmac = \"02:00:00:00:00:03\"\nip = \"10.0.19.1\"\n[[flow]]\nkind = \"udp\"\n");
    CHECK_EQUAL(1U, errors_of(head + "from = \"h2\"\nto = \"10.9.9.9\"\n").size());  // no gateway
    CHECK_EQUAL(1U, errors_of(head + "from = \"h2\"\nto = \"2001:db8::5\"\nto_mac = \"02:00:00:00:00:09\"\n")
                        .size());  // no IPv6
    CHECK_EQUAL(1U, errors_of(head + "from = \"h0\"\nto = \"h2\"\nip_version = 6\n").size());
    CHECK_EQUAL(1U, errors_of(head + "from = \"h0\"\nto = \"nowhere\"\n").size());
    CHECK_EQUAL(0U, errors_of(head + "from = \"h2\"\nto = \"h0\"\n").size());
}

TEST(Recipe, refusesHostsThatAreNoFileNamesOrTooFast) {
    const std::string flow = "[[flow]]\nkind = \"pfc\"\npfc = {3 = 1}\nfrom = \"a/b\"\n";
    CHECK_EQUAL(1U, errors_of("[host.\"a/b\"]\nmac = \"02:00:00:00:00:01\"\n" + flow).size());
    const auto errors = errors_of(
        "[host.a]\nmac = \"02:00:00:00:00:01\"\nspeed = \"3G\"\n[[flow]]\nkind = \"pfc\"\npfc = {3 = "
        "1}\nfrom = \"a\"\n");
    CHECK_TRUE(errors.at(0).starts_with("r.toml:3:9: host.a.speed: must be"));
}

TEST(Recipe, ofAFileThatIsNotThereFails) { CHECK_THROWS(Failure, load_recipe_file("/nowhere/at/all")); }

}  // namespace sluice::recipe_test
