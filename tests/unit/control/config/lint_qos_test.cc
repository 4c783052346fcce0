#include "control/config/lint/judge.hh"

#include <fmt/format.h>

#include <string>

#include "tests/unit/control/config/qos_findings.hh"

namespace sluice::lint_qos_test {
namespace {

const std::string two_ports = "[port.p1]\n[port.p2]\n";

}  // namespace

TEST_GROUP(LintQos){};

TEST(LintQos, findsNothingWrongWithADefaultAtAnySpeed) {
    for (const char* qos : {"lossless", "semi-lossless", "lossy", "lossy-trim", "sonic-t0"})
        for (const char* clock : {"virtual", "real"})
            for (const int speed : {10, 25, 40, 50, 100, 200})
                for (const Finding& finding :
                     findings_of(fmt::format("clock = \"{}\"\n[buffer]\nsize = \"64MB\"\n[default]\nspeed = "
                                             "\"{}G\"\nqos = \"{}\"\n{}",
                                             clock, speed, qos, two_ports))) {
                    // Finds that a real worker of 50 us is too slow at 200G.
                    if (std::string(clock) == "real" && speed == 200 && finding.id == "receive-ring")
                        continue;
                    if (finding.severity != Severity::note) FAIL(finding.text("f").c_str());
                }
    STRCMP_EQUAL("", all_of(two_ports).c_str());
}

TEST(LintQos, refusesAHeadroomThatIsTooSmall) {
    const std::string head = "[port.p1]\nsmall_xoff = ", xoff = "\n[port.p1.priority_group.3]\nxoff = ";
    finds_but_not(
        "headroom-small",
        "f:4:8: error: port.p1.priority_group.3.xoff: 218880 bytes of headroom are 256 too few: 219136 bytes "
        "can still arrive after XOFF; enough for 4 m of cable, 1 m less [headroom-small]; do: set xoff = "
        "219136",
        head + "false" + xoff + "218880", head + "false" + xoff + "219136");
    finds("headroom-small", "f:4:8: warning: port.p1.priority_group.3.xoff: 218880 bytes",
          head + "true" + xoff + "218880");
    finds("headroom-small",
          "f:4:8: error: port.p1.priority_group.3.xoff: 10240 bytes of headroom are 208896 too few: 219136 "
          "bytes can still arrive after XOFF; too few without any cable",
          head + "false" + xoff + "10000");
}

// A port accepts frames of two tags; a next hop may add one.
TEST(LintQos, headroomReckonsWithVlanTags) {
    const ConfigResult config = parse_config("[port.p1]\nmtu = 1522\n", "f");
    const EffectiveQos qos = effective_qos(*config);
    const Headroom& headroom = qos.ports.at("p1").headroom;
    LONGS_EQUAL(1522 + 14 + 8, headroom.max_frame_bytes);
    LONGS_EQUAL(7, headroom.frame_cells);  // 6 without tags
    LONGS_EQUAL(1522 + 14 + 4 + 24, headroom.own_frame_bytes);
    const std::string table = qos_tables(qos);
    STRCMP_CONTAINS("1564  1522 + 14 + 1 VLAN tag of 4 B + 24\n", table.c_str());
    STRCMP_CONTAINS("7 cells of a packet of 1544 B = 1522 + 14 + 2 VLAN tags of 4 B\n", table.c_str());
}

TEST(LintQos, refusesPoolsThatDoNotHoldWhatIsPromised) {
    const auto pool = [](int size, int more) {
        return fmt::format(
            "[buffer]\nsize = {}\n[pool.all]\ndirection = \"ingress\"\nsize = {}\n[port.p1]\n"
            "[default.priority_group.3]\nsize = 256\nxoff = 219136\n",
            size, size + more);
    };
    finds_but_not(
        "pool-no-shared",
        "f:5:8: error: pool.all.size: the 857 cells of 256 bytes of pool all do not hold what is "
        "promised: 1 reserved and 856 of headroom [pool-no-shared]; do: write pool.all.size = 219648 "
        "or more",
        pool(219392, 0), pool(219648, 0));
    const auto two_pools = [](int size, int more) {
        return fmt::format(
            "[buffer]\nsize = {}\n[pool.all]\ndirection = \"ingress\"\nsize = {}\n[pool.more]\ndirection = "
            "\"ingress\"\nsize = {}\n[port.p1]\n[default.priority_group.0]\npool = \"more\"\n",
            size, size - 10240, 10240 + more);
    };
    finds_but_not("pools-exceed-buffer",
                  "f:5:8: error: pool.all.size: the ingress pools take 1000192 bytes of a buffer of 999936 [",
                  two_pools(999936, 256), two_pools(999936, 0));
    finds_but_not("pool-unknown", "f:2:8: error: port.p1.queue.0.pool: there is no egress pool \"x\"",
                  "[port.p1.queue.0]\npool = \"x\"", "[port.p1.queue.0]\npool = \"egress-lossy\"");
    finds_but_not("wred-profile", "f:2:8: error: port.p1.queue.3.wred: there is no WRED profile \"x\"",
                  "[port.p1.queue.3]\nwred = \"x\"", "[port.p1.queue.3]\nwred = \"steep\"");
    finds_but_not("lossless-without-pfc",
                  "f:4:12: error: port.p1.priority_group.3.lossless: the port's pfc_mode",
                  "[port.p1]\npfc_mode = \"off\"\n[port.p1.priority_group.3]\nlossless = true",
                  "[port.p1]\npfc_mode = \"symmetric\"\n[port.p1.priority_group.3]\nlossless = true");
}

// Cells were cut to 32 bits: 1 TiB of them reserved nothing, 256 GiB and 64 bytes a single one.
TEST(LintQos, refusesASizeAboveTheBuffer) {
    const std::string group = "[port.p1.priority_group.3]\n", queue = "[port.p1.queue.0]\n";
    for (const char* size : {"\"1TiB\"", "274877907008", "16000001", "\"512GiB\""}) {
        for (const char* key : {"size", "static_th", "xoff", "xon", "xon_offset"}) {
            const std::string path =
                fmt::format("f:2:{}: error: port.p1.priority_group.3.{}: ", std::string(key).size() + 4, key);
            const bool is_limit = std::string(key) != "size" && std::string(key) != "xoff";
            if (is_limit && std::string(size) == "16000001") continue;  // it is rounded down
            finds_but_not("above-buffer", path, group + key + " = " + size, group + key + " = 25600");
        }
        finds_but_not("above-buffer", "f:2:8: error: port.p1.queue.0.size: ", queue + "size = " + size,
                      queue + "size = 25600");
        const auto pool = [](const std::string& bytes, const std::string& headroom) {
            return "[pool.all]\ndirection = \"ingress\"\nsize = " + bytes +
                   "\nshared_headroom = " + headroom + "\n[port.p1]\n";
        };
        if (std::string(size) != "16000001")
            finds_but_not("above-buffer", "f:3:8: error: pool.all.size: ", pool(size, "\"1MB\""),
                          pool("\"12MB\"", "\"1MB\""));
        finds_but_not("above-buffer", "f:4:19: error: pool.all.shared_headroom: ", pool("\"12MB\"", size),
                      pool("\"12MB\"", "\"1MB\""));
    }
    finds("above-buffer",
          "f:2:8: error: port.p1.priority_group.3.size: 274877907008B are more than the 16MB of the buffer "
          "[above-buffer]; do: write at most 16000000, or enlarge buffer.size",
          group + "size = 274877907008");
    // A default that does not fit is not the user's size.
    finds("above-buffer", "", "[buffer]\nsize = 10000\n[port.p1]\nqos = \"lossy\"\n");
}

TEST(LintQos, refusesABufferOfMoreCellsThanCountsHold) {
    const auto buffer = [](const char* size, int cell) {
        return fmt::format("[buffer]\nsize = {}\ncell = {}\n[port.p1]\n", size, cell);
    };
    finds_but_not(
        "buffer-large",
        "f:2:8: error: buffer.size: 1TiB are 4294967296 cells of 256 bytes, and a buffer has at most "
        "2147483648 [buffer-large]; do: write size = 549755813888 or less, or larger cells",
        buffer("\"1TiB\"", 256), buffer("\"512GiB\"", 256));
    finds("buffer-large", "", buffer("\"1TiB\"", 512));
    finds("buffer-large", "f:2:8: error: buffer.size: 549755814144B", buffer("549755814144", 256));
}

TEST(LintQos, namesTheKeyThatAPoolIsTooSmallFor) {
    // A size that takes most of the pool: the key of the size.
    finds_but_not(
        "pool-no-shared",
        "f:2:8: error: port.p1.priority_group.3.size: the 46875 cells of 256 bytes of pool lossless do "
        "not hold what is promised: 46873 reserved and 856 of headroom [pool-no-shared]; do: write size "
        "= 11780608 or less, or buffer.size = 16291584 or more",
        "[port.p1.priority_group.3]\nsize = 11999488", "[port.p1.priority_group.3]\nsize = 11780608");
    finds("pool-no-shared", "", "buffer.size = 16291584\n[port.p1.priority_group.3]\nsize = 11999488");
    finds("pool-no-shared", "f:3:8: error: port.p1.priority_group.3.size: ",
          "buffer.size = 16291328\n[port.p1.priority_group.3]\nsize = 11999488");
    // The same for all ports by a default.
    finds_but_not("pool-no-shared", "f:2:8: error: default.priority_group.3.size: the 46875 cells",
                  "[default.priority_group.3]\nsize = \"6MB\"\n" + two_ports,
                  "[default.priority_group.3]\nsize = \"5MB\"\n" + two_ports);
    // Many small ones: the pool, at the first port without room.
    std::string many;
    for (int n = 1; n <= 60; ++n) many += fmt::format("[port.p{}]\n", n);
    finds(
        "pool-no-shared",
        "f:53:1: error: buffer.size: the 46875 cells of 256 bytes of pool lossless do not hold what is "
        "promised: "
        "4320 reserved and 51360 of headroom; there is no room from port p51 on [pool-no-shared]; do: write "
        "buffer.size = ",
        "\n\n" + many);
    finds("pool-no-shared", "f:2:8: error: buffer.size: ", "[buffer]\nsize = \"16MB\"\n" + many);
}

TEST(LintQos, saysOnceWhatAllPortsHaveFromADefault) {
    std::string ports;
    for (int n = 1; n <= 32; ++n) ports += fmt::format("[port.p{}]\n", n);
    STRCMP_EQUAL(
        "f:4:8: error: default.priority_group.3.xoff: 218880 bytes of headroom are 256 too few: 219136 bytes "
        "can "
        "still arrive after XOFF; enough for 4 m of cable, 1 m less (of port p1 and 31 others) "
        "[headroom-small]; do: set xoff = 219136, leave "
        "it out, "
        "or say small_xoff = true; or run it so, not lossless: --force\n",
        all_of("[buffer]\nsize = \"64MB\"\n[default.priority_group.3]\nxoff = 218880\n" + ports).c_str());
    STRCMP_EQUAL(
        "f:4:8: error: default.queue.3.wred: there is no WRED profile \"x\" (of port p1 and 31 others) "
        "[wred-profile]; do: name one of linear, steep, sonic, none, or add [wred.x]\n",
        all_of("[buffer]\nsize = \"64MB\"\n[default.queue.3]\nwred = \"x\"\n" + ports).c_str());
}

TEST(LintQos, saysOnceWhatAllHostsHaveFromADefault) {
    std::string hosts, senders;
    for (int n = 1; n <= 32; ++n) {
        hosts += fmt::format(
            "[port.p{0}]\naddress = [\"10.0.{0}.1/24\"]\n[host.p{0}]\naddress = \"10.0.{0}.2\"\n", n);
        if (n != 1) senders += fmt::format("\"p{}\",", n);
    }
    hosts += fmt::format("[[flow]]\nfrom = [{}]\nto = \"p1\"\n", senders);
    // p1 sends no data.
    const auto says = [&](const std::string& defaults, const std::string& line) {
        std::string got;
        for (const Finding& finding : findings_of("[host.default]\n" + defaults + hosts))
            if (finding.id.starts_with("host-")) got += finding.text("f") + "\n";
        STRCMP_EQUAL(("f:2:" + line + "\n").c_str(), got.c_str());
    };
    says("dscp = 0\n",
         "8: warning: host.default.dscp: its RoCE packets of DSCP 0 arrive in class 0, which is lossy at its "
         "port: no PFC protects them (of host p2 and 30 others) [host-data-class]; do: write a dscp of a "
         "lossless class, or roce_tc in the map of its port");
    says("ecn = \"not-ect\"\n",
         "7: warning: host.default.ecn: it sends Not-ECT RoCEv2 into queue 3, which \"linear\" marks: it "
         "never "
         "hears of congestion (of host p2 and 30 others) [host-not-ect]; do: write ecn = \"ect0\"");
    says("cnp_dscp = 26\n[default.map]\ncnp_tc = \"dscp\"\n",
         "12: warning: host.default.cnp_dscp: its CNPs arrive in class 3, whose queue 3 may be paused, is "
         "marked "
         "by linear, shares by weight 50: congestion is told of late (of host p1 and 31 others) "
         "[host-cnp-class]; do: write cnp_dscp = 48, or cnp_tc = 6 in the map of its port, a class whose "
         "queue nothing delays");
}

TEST(LintQos, saysForHowManyGroupsASharedHeadroomIsLossless) {
    const auto shared = [](int bytes) {
        return fmt::format("[pool.all]\ndirection = \"ingress\"\nsize = \"12MB\"\nshared_headroom = {}\n",
                           bytes) +
               two_ports;
    };
    finds_but_not("headroom-pool",
                  "f:4:19: warning: pool.all.shared_headroom: 438016 bytes are 256 fewer than the 438272 of "
                  "headroom that its "
                  "2 lossless groups may need: lossless while no more than 1 of them are in XOFF "
                  "[headroom-pool]; do: "
                  "write shared_headroom = 438272, or 0",
                  shared(438016), shared(438272));
    finds("headroom-pool", "f:4:19: warning", shared(219136));
    finds("headroom-pool", "f:4:19: error", shared(218880));
    finds("headroom-pool", "", shared(0));
}

TEST(LintQos, warnsOfMoreThanTwoLosslessClasses) {
    finds_but_not("lossless-classes",
                  "f:2:7: warning: port.p1.pfc: 3 lossless classes take 657408 bytes of headroom",
                  "[port.p1]\npfc = [1, 3, 4]", "[port.p1]\npfc = [3, 4]");
}

TEST(LintQos, warnsOfAnXonThatComesWithEachPacket) {
    const std::string head = "[port.p1]\nmtu = 1500\n[port.p1.priority_group.3]\nxon_offset = ";
    finds_but_not("xon-offset", "f:4:14: warning: port.p1.priority_group.3.xon_offset: XON 2560 bytes below",
                  head + "2815", head + "2816");
}

TEST(LintQos, warnsOfAReceiveRingThatATurnOverfills) {
    // 84 ns are a small frame at 8 Gb/s.
    const auto ring = [](const char* turn) {
        return fmt::format("virtual.rx_ring = 32\nvirtual.turn = \"{}ns\"\n[port.p1]\nspeed = \"8G\"\n",
                           turn);
    };
    finds_but_not("receive-ring",
                  "f:4:9: warning: port.p1.speed: 33 frames of 64 bytes may arrive in a turn of 2689ns",
                  ring("2689"), ring("2688"));
    const auto real = [](int ns) {
        return fmt::format("clock = \"real\"\nturn_max = \"{}ns\"\n[port.p1]\nspeed = \"8G\"\n", ns);
    };
    finds_but_not("receive-ring", "f:4:9: warning: port.p1.speed: 1048577 bytes arrive in a turn",
                  real(1048577), real(1048576));
}

// S is 12002304 - 2 x (219136 + 18432) less nothing else, so alpha S / (1 + k alpha) is half of it for one
// class.
TEST(LintQos, comparesTheFirstMarkWithTheWorstCase) {
    const auto marked = [](std::uint64_t from, const char* more = "") {
        return fmt::format(
            "[wred.w]\ngreen_min = {}\ngreen_max = 12000000\n[default.queue.3]\nwred = \"w\"\n{}{}", from,
            more, two_ports);
    };
    finds_but_not(
        "ecn-after-pause",
        "f:5:8: note: default.queue.3.wred: the first mark at 2881152 bytes is not below alpha S / "
        "(n (1 + k alpha)) = "
        "2881152 bytes, with S 11524864 bytes, k 1 and dynamic_th 0, for n = 2 ports: marks come "
        "before pauses "
        "while no more than 1 of them are congested (of port p1 and 1 other) [ecn-after-pause]; do: name a "
        "[wred.NAME] with a min "
        "of 2881151 bytes",
        marked(2'881'152), marked(2'881'151));
    finds("ecn-after-pause", "f:5:8: note", marked(5'762'303));
    finds("ecn-after-pause", "f:5:8: warning: default.queue.3.wred: the first mark at 5762304",
          marked(5'762'304));
    const char* fixed = "[default.priority_group.3]\nstatic_th = 512000\n";
    finds_but_not("ecn-after-pause", "f:5:8: note", marked(256'000, fixed), marked(255'999, fixed));
    const char* quarter = "[default.priority_group.3]\ndynamic_th = -2\n";
    finds_but_not("ecn-after-pause", "f:5:8: note", marked(1'152'384, quarter), marked(1'152'383, quarter));
}

// Two classes of a pool leave each other a third of it; a class with a pool of its own is alone there.
TEST(LintQos, countsTheLosslessClassesOfAPool) {
    const auto two = [](int max) {
        return fmt::format(
            "[wred.w]\ngreen_max = {}\n[default]\npfc = [3, 4]\n[default.queue.3]\nwred = \"w\"\n{}", max,
            two_ports);
    };
    finds_but_not("ecn-max",
                  "f:6:8: note: default.queue.3.wred: all is marked from 3683328 bytes on, 256 above",
                  two(3'683'328), two(3'683'072));
    const std::string no_limit = "[default.priority_group.3]\nstatic_th = 0\n";
    finds_but_not("ecn-max",
                  "f:8:8: note: default.queue.3.wred: all is marked from 5524992 bytes on, 256 above",
                  no_limit + two(5'524'992), no_limit + two(5'524'736));
    const std::string own =
        "[pool.a]\ndirection = \"ingress\"\nsize = \"6MB\"\n[pool.b]\ndirection = \"ingress\"\nsize = "
        "\"6MB\"\n"
        "[default.priority_group.3]\npool = \"a\"\n[default.priority_group.4]\npool = \"b\"\n";
    finds_but_not("ecn-max",
                  "f:16:8: note: default.queue.3.wred: all is marked from 2762496 bytes on, 256 above",
                  own + two(2'762'496), own + two(2'762'240));
}

// When classes share a queue, the one whose group is paused first counts.
TEST(LintQos, looksAtTheSmallestGroupOfAQueue) {
    const auto shared = [](int threshold) {
        return fmt::format(
            "[default]\npfc = [3, 4]\n[default.map]\ndscp_to_tc = {{\"34\" = 4}}\ntc_to_queue = {{\"4\" = "
            "3}}\n"
            "[default.priority_group.4]\nstatic_th = {}\n{}",
            threshold, two_ports);
    };
    finds_but_not("ecn-after-pause", "f:8:1: note: port.p1.queue.3.wred", shared(800'000), shared(800'256));
}

TEST(LintQos, saysWhereACurveIsCutByPauses) {
    const auto marked = [](std::uint64_t to) {
        return fmt::format(
            "[wred.w]\ngreen_min = 100000\ngreen_max = {}\n[default.queue.3]\nwred = \"w\"\n{}", to,
            two_ports);
    };
    finds_but_not("ecn-max",
                  "f:5:8: note: default.queue.3.wred: all is marked from 5762560 bytes on, 256 above the "
                  "5762304 at which a "
                  "lone sender is paused: 20 % is marked there",
                  marked(5'762'560), marked(5'762'304));
}

TEST(LintQos, warnsOfMarksInAQueueThatIsOnlyBusy) {
    const auto marked = [](int from) {
        return fmt::format(
            "[wred.w]\ngreen_min = {}\n[port.p1]\nmtu = 1500\n[port.p1.queue.3]\nwred = \"w\"\n", from);
    };
    finds_but_not("ecn-min",
                  "f:6:8: warning: port.p1.queue.3.wred: the first mark at 2999 bytes is 1 below two packets",
                  marked(2999), marked(3000));
    finds_but_not("ecn-off", "f:2:8: warning: port.p1.queue.3.wred: RoCE's queue neither",
                  "[port.p1.queue.3]\nwred = \"none\"", "[port.p1.queue.3]\nwred = \"linear\"");
    finds("ecn-off", "f:4:8: warning",
          "[port.p1]\nqos = \"semi-lossless\"\n[port.p1.queue.3]\nwred = \"none\"");
    finds("ecn-off", "f:6:8: warning",
          "[default.map]\nroce_tc = 0\n[port.p1]\nqos = \"lossy\"\n[port.p1.queue.0]\nwred = \"none\"");
    const std::string drops = "[port.p1.queue.3]\nwred = \"w\"\n[wred.w]\ndrop_non_ect = ";
    finds_but_not("wred-drops-lossless", "f:2:8: warning: port.p1.queue.3.wred", drops + "true",
                  drops + "false");
    finds_but_not("wred-drops-lossless", "f:2:8: warning", drops + "true", drops + "\"lossy\"");
    const std::string red =
        "[default.map]\nroce_tc = 0\n[port.p1]\nqos = \"lossy\"\n[port.p1.queue.0]\nwred = "
        "\"w\"\n[wred.w]\necn = false\n";
    finds("ecn-off", "f:6:8: warning: port.p1.queue.0.wred: wred.w has ecn = false: RoCE's queue drops early",
          red);
    finds("ecn-off",
          "f:6:8: warning: port.p1.queue.0.wred: wred.w has ecn = false, and drop_non_ect = false drops "
          "nothing: the profile has no effect, senders are slowed by losses alone",
          red + "drop_non_ect = false");
}

TEST(LintQos, warnsOfAClassThatIsLosslessHereAndLossyThere) {
    const std::string p2 = "[port.p1]\n[port.p2]\nqos = ";
    finds_but_not(
        "class-queue-lossy",
        "f:2:1: warning: port.p2.queue.3: class 3 is lossless where it comes in on p1, and lossy in queue 3",
        p2 + "\"lossy\"", p2 + "\"lossless\"");
    finds_but_not("class-group-lossy",
                  "f:1:1: note: port.p1.queue.3: class 3 is lossy where it comes in on p2", p2 + "\"lossy\"",
                  p2 + "\"lossless\"");
    const std::string map = "[port.p1]\n[default.map]\ntc_to_queue = {\"0\" = ";
    finds_but_not("class-group-lossy",
                  "f:1:1: warning: port.p1.queue.3: class 0 is lossy where it comes in on p1", map + "3}",
                  map + "1}");
}

TEST(LintQos, warnsOfPausesThatHoldAnotherQueue) {
    const std::string map = "[port.p1]\n[default.map]\ntc_to_queue = {\"3\" = 4}\n";
    finds_but_not(
        "pfc-queue",
        "f:1:1: warning: port.p1.priority_group.3: class 3 leaves by queue 4, but a pause of its priority 3 "
        "holds "
        "queue 3: its pauses are not obeyed [pfc-queue]; do: write pfc_priority_to_queue = {\"3\" = 4}",
        map, map + "pfc_priority_to_queue = {\"3\" = 4}");
    const std::string unused = "[port.p1]\npfc = [3, 4]\n[default.map]\n";
    finds_but_not("lossless-unused",
                  "f:1:1: note: port.p1.priority_group.4: no class comes to it: its 856 cells", unused,
                  unused + "dscp_to_tc = {\"34\" = 4}");
}

TEST(LintQos, warnsOfCnpsThatAreHeldUp) {
    finds_but_not(
        "cnp-queue",
        "f:1:1: warning: port.p1.queue.6: CNPs (class 6) leave by queue 6, which shares by weight 9:",
        "[port.p1.queue.6]\nscheduler = \"dwrr\"\nweight = 9", "[port.p1.queue.6]\nscheduler = \"strict\"");
    finds("cnp-queue",
          "f:1:1: warning: port.p1.queue.6: CNPs (class 6) leave by queue 6, which is marked by steep: ",
          "[port.p1.queue.6]\nwred = \"steep\"");
    const std::string rule = "[port.p1]\n[default.map]\ncnp_tc = ";
    finds_but_not(
        "cnp-queue",
        "f:1:1: warning: port.p1.queue.3: CNPs (class 3) leave by queue 3, which may be paused, is marked "
        "by linear, shares by weight 50: ",
        rule + "3", rule + "7");
    finds("cnp-queue",
          "f:1:1: note: port.p1.queue.6: CNPs (class 6) leave by queue 6, which shares by weight 14",
          "[port.p1]\nqos = \"sonic-t0\"");
}

TEST(LintQos, hasARemedyForCnpsThatMends) {
    const auto doing = [](const std::string& text) {
        for (const Finding& finding : findings_of(text))
            if (finding.id == "cnp-queue") return finding.fix;
        return std::string();
    };
    const std::string lossless = "[port.p1]\npfc = [3, 6]\n", rule = "[default.map]\ncnp_tc = ";
    STRCMP_EQUAL("write cnp_tc = 7 in its map, a class whose queue nothing delays",
                 doing(lossless + rule + "6").c_str());
    STRCMP_EQUAL("", doing(lossless + rule + "7").c_str());
    const std::string by_weight = "[port.p1]\npfc = [3, 6]\nqueue.7.scheduler = \"dwrr\"\n";
    STRCMP_EQUAL("write cnp_tc = 7 in its map, and scheduler = \"strict\" for queue 7",
                 doing(by_weight + rule + "6").c_str());
    STRCMP_EQUAL("", doing("[port.p1]\npfc = [3, 6]\nqueue.7.scheduler = \"strict\"\n" + rule + "7").c_str());
}

TEST(LintQos, findsNothingInTheDefaultsOfAnySpeed) {
    for (const char* speed : {"1G", "2G", "10G", "25G", "100G", "400G", "800G"})
        for (const Finding& finding :
             findings_of("[buffer]\nsize = \"1GB\"\n[port.p1]\nspeed = \"" + std::string(speed) + "\""))
            CHECK_EQUAL_TEXT(false, finding.severity == Severity::warning,
                             (speed + finding.text("f")).c_str());
}

}  // namespace sluice::lint_qos_test
