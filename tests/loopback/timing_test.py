#!/usr/bin/python3
"""When frames leave: link model, queues, priorities and the receive gate, to the nanosecond."""

import bisect
import heapq
import json

import loopback
from frames import pfc, plain, routed
from loopback import Switch, flow, wire_ps

HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS


def back_to_back(count, frame, start_ns=0, gigabits=100):
    """Frames at line rate; timestamps rounded down, as captures have them."""
    step = wire_ps(len(frame), gigabits)
    return [(start_ns + n * step // 1000, frame) for n in range(count)]


def xoff_of_class_3(frame):
    """Whether it is a PFC frame that pauses class 3."""
    return frame[12:16] == b"\x88\x08\x01\x01" and frame[17] & 8 != 0 and frame[24:26] != b"\0\0"


def stamped(frames, offset_ns=0):
    return [frame.at_ns - offset_ns for frame in frames]


def arrivals(frames, gigabits=100):
    """(picosecond, moved?) of each frame behind the receive gate."""
    free, out = 0, []
    for at_ns, data in frames:
        at = max(at_ns * 1000, free)
        out.append((at, at != at_ns * 1000))
        free = at + wire_ps(len(data), gigabits)
    return out


def cells(frame):
    return -(-len(frame) // 256)


def incast(inputs, limit, gigabits=100):
    """Many ports into one queue of `limit` cells: ([(departure in ps, frame)], drops by input), apart from the switch.

    At an instant first everything that has arrived is queued, by input and in order, then the wire takes a frame if it
    is free.
    """
    waiting = [(at, port, n, data) for port, frames in enumerate(inputs)
               for n, ((at, _), (_, data)) in enumerate(zip(arrivals(frames), frames))]
    heapq.heapify(waiting)
    queue, left, drops, free = [], [], [0] * len(inputs), 0
    while waiting or queue:
        now = max(waiting[0][0], 0) if not queue else min(free, waiting[0][0]) if waiting else free
        while waiting and waiting[0][0] <= now:
            _, port, _, data = heapq.heappop(waiting)
            if sum(map(cells, queue)) + cells(data) <= limit:
                queue.append(data)
            else:
                drops[port] += 1
        if queue and free <= now:
            data = queue.pop(0)
            left.append((now, data))
            free = now + wire_ps(len(data), gigabits)
    return left, drops


class Link(loopback.Case):
    def test_a_frame_alone_leaves_when_it_arrives(self):
        switch = Switch(self, hosts=2)
        times = [0, 1, 999, 1_000_000, 123_456_789]
        switch.give("h0", [(at, plain(64)) for at in (0, 100, 999, 1_000_000, 123_456_789)])
        self.assertEqual(stamped(switch.run().frames["h1"]), [0, 100] + times[2:])

    def test_a_slower_port_serializes(self):
        """Every speed: a frame starts when the one before has ended, its 24 bytes of overhead included."""
        for speed in (1, 10, 25, 40, 50, 100, 200, 400, 800):
            switch = Switch(self, hosts=2, **{"buffer.size": "4MB"})
            switch.port("h0", speed="800G")
            switch.port("h1", speed=f"{speed}G")
            sizes = [60, 61, 1500, 9000, 60, 777]
            frames = back_to_back(1, plain(60)) + [(1, plain(size)) for size in sizes[1:]]
            switch.give("h0", frames)
            out = switch.run()
            free, expected = 0, []
            for (at, _), size in zip(arrivals(frames, 800), sizes):
                begin = max(at, free)
                expected.append(begin // 1000)
                free = begin + wire_ps(size, speed)
            self.assertEqual(stamped(out.frames["h1"]), expected, speed)

    def test_line_rate_passes_without_a_queue(self):
        switch = Switch(self, hosts=2)
        frames = back_to_back(1000, plain(60))
        switch.give("h0", frames)
        out = switch.run()
        self.assertEqual(stamped(out.frames["h1"]), [at for at, _ in frames])
        self.assertEqual(out.port("h1")["queues"][0]["watermark_bytes"], 0)  # no more than the reserved cells
        self.assertEqual(out.port("h1")["queues"][0]["deepest_bytes"], 256)  # one at a time, a cell each

    def test_a_longer_frame_on_the_way_out_takes_its_own_time(self):
        """The tag that a next hop adds is serialized too."""
        switch = Switch(self, hosts=2)
        switch.neighbor_keys("10.0.1.2", vlan=5)
        switch.give("h0", back_to_back(50, plain(96)))  # 120 bytes of wire in, 124 out
        out = switch.run()
        self.assertEqual(stamped(out.frames["h1"]), [n * 124 * 80 // 1000 for n in range(50)])

    def test_turns_collect_what_arrives_and_the_wire_stays_full(self):
        """On a grid frames wait for their turn, then leave back to back; a later turn's never before its instant."""
        for turn_ns in (500, 5000):
            switch = Switch(self, hosts=2)
            switch.section("virtual", turn=f"{turn_ns}ns")
            switch.give("h0", [(100, plain(1000)), (300, plain(1000)), (20_001, plain(1000))])
            out = switch.run()
            # The origin is the first frame, which so is in the turn at 0.
            self.assertEqual(stamped(out.frames["h1"], 100), [0, turn_ns, -(-19_901 // turn_ns) * turn_ns])

    def test_pauses_are_obeyed_and_sent_within_a_turn_and_a_burst(self):
        """Of ports that are 95 % busy, in frames of other sizes than come in: the first XOFF of a turn and its last."""
        pause_ns, every_ns, run_us, longest = 60_000, 103_700, 2000, 1082  # no whole turns: pauses come at any time of one
        burst_ns = 32 * wire_ps(longest) // 1000
        pauses = [flow("pfc", "h1", None, pfc={"3": quanta}, start=f"{start}ns", gap=f"{every_ns}ns", count=(run_us * 1000 - start) // every_ns)
                  for quanta, start in ((65535, 107_000), (0, 107_000 + pause_ns))]
        for turn_us in (5, 20):
            switch = Switch(self, hosts=4, **{"buffer.size": "32MB"})
            switch.section("virtual", turn=f"{turn_us}us")
            switch.section("decisions", **{"class": [3]})
            switch.section("default.priority_group.3", static_th="100KB")
            switch.recipe(flow("roce", ["h0", "h2"], "h1", dscp=26, size="random 250..1082", flows=64, rate="60G", duration=f"{run_us}us"),
                          *(flow("roce", ["h1", "h3"], to, dscp=0, size=longest, flows=64, rate="47500M", duration=f"{run_us}us") for to in ("h0", "h2")),
                          *pauses)
            decisions = switch.folder / "decisions.jsonl"
            out = switch.run("--decisions", decisions)
            data = [(frame.at_ns, frame.at_ns + wire_ps(len(frame.bytes)) / 1000) for frame in out.frames["h1"]
                    if frame.bytes[12:14] == b"\x08\x00" and frame.bytes[15] >> 2 == 26]
            begins = [begin for begin, _ in data]
            obeyed = []  # from each XOFF to the end of the last data frame before the XON, if data was under way when it came
            for at in (frame.at_ns for frame in switch.sent("h1") if xoff_of_class_3(frame.bytes)):
                first, last = bisect.bisect_right(begins, at) - 1, bisect.bisect_left(begins, at + pause_ns) - 1
                if first >= 0 and data[first][1] > at:
                    obeyed.append(data[last][1] - at)
            sent = []  # from each packet that took its group over the limit to the end of the XOFF frame on the same port
            ends = {port: [frame.at_ns + wire_ps(len(frame.bytes)) / 1000 for frame in frames if xoff_of_class_3(frame.bytes)]
                    for port, frames in out.frames.items()}
            for line in decisions.read_text().splitlines():
                if '"fired_xoff":true' in line:
                    record = json.loads(line)
                    at = record["arrival"]["at_ps"] / 1000
                    sent.append(ends[record["port"]][bisect.bisect_left(ends[record["port"]], at)] - at)
            for took in (obeyed, sent):
                self.assertGreater(len(took), 12)
                self.assertLessEqual(max(took), turn_us * 1000 + burst_ns)

    def test_the_depth_trace_shows_the_queue(self):
        switch = Switch(self, hosts=3)
        for n in (0, 1):
            switch.give(f"h{n}", back_to_back(100, plain(1000, source=n, to=2)))
        trace = switch.folder / "trace.json"
        out = switch.run("--trace", trace)
        queues = json.loads(trace.read_text())["ports"]["h2"]["queues"]
        self.assertEqual(list(queues), ["0"])
        peak = max(peak for _, peak, _ in queues["0"])
        self.assertEqual(peak, 101 * 1024)  # two in and one out for 100 slots: the last pair finds 99
        self.assertEqual(queues["0"][-1][2], 0)
        reserved = 9216  # an MTU of 9100, rounded up to cells
        queue = out.port("h2")["queues"][0]
        self.assertEqual((queue["deepest_bytes"], queue["watermark_bytes"]), (peak, peak - reserved))
        self.assertRegex(out.stdout, r"\nh2 +0 +0 +200 .* 103\.4 KB ", "the summary has the depth, not the shared use")


class Queues(loopback.Case):
    def test_a_small_incast_worked_out_by_hand(self):
        """Three senders, ten slots, a limit of four: each slot three come and one goes.

        Slot 0: 3 are taken, 1 leaves. Slot 1: 2 find room, h2's does not. From slot 2 on one of each three, h0's.
        """
        switch = Switch(self, hosts=4)
        switch.limit("h3", 0, 16)  # four frames of four cells
        for n in range(3):
            switch.give(f"h{n}", back_to_back(10, plain(1000, source=n, to=3)))
        out = switch.run()
        self.assertEqual([out.drops(f"h{n}") for n in range(3)], [{}, {"queue_limit": 8}, {"queue_limit": 9}])
        self.assertEqual(stamped(out.frames["h3"]), [n * 81_920 // 1000 for n in range(13)])
        queue = out.port("h3")["queues"][0]
        self.assertEqual((queue["watermark_bytes"], queue["dropped_packets"], queue["tx_packets"]), (4096, 17, 13))

    def test_an_incast_is_dropped_exactly_as_computed(self):
        for senders, sizes, limit in ((2, (60, 1500), 6), (4, (300, 300, 1500), 40), (7, (9000, 60, 1000), 50), (3, (1082,), 4000)):
            switch = Switch(self, hosts=senders + 1)
            switch.default(qos="lossy")
            switch.limit(f"h{senders}", 3, limit)
            inputs = []
            for n in range(senders):
                frames, at = [], 0
                for k in range(150):
                    data = plain(sizes[(k + n) % len(sizes)], source=n, to=senders, dscp=26, identification=k)
                    frames.append((at // 1000, data))
                    at += wire_ps(len(data)) + 1000 * ((k * 7 + n) % 40)
                inputs.append(frames)
                switch.give(f"h{n}", frames)
            left, drops = incast(inputs, limit)
            out = switch.run()
            got = out.frames[f"h{senders}"]
            self.assertEqual([out.drops(f"h{n}").get("queue_limit", 0) for n in range(senders)], drops)
            self.frames_equal(got, [routed(data, senders) for _, data in left])
            self.assertEqual(stamped(got), [at // 1000 for at, _ in left])
            self.assertEqual(sum(drops) > 0, limit < 4000)

    def test_limits_are_of_one_queue(self):
        """A full queue refuses its own class only."""
        switch = Switch(self, hosts=3)
        switch.section("port.h2.queue.0", size=0, static_th=8 * 256)
        switch.give("h0", back_to_back(50, plain(1000, to=2)))
        switch.give("h1", back_to_back(50, plain(1000, source=1, to=2, dscp=26)))
        out = switch.run()
        self.assertEqual(out.drops("h1"), {})
        self.assertEqual(len([f for f in out.frames["h2"] if f.bytes[15] >> 2 == 26]), 50)
        self.assertGreater(out.drops("h0")["queue_limit"], 15)

    def test_limits_round_down_to_whole_cells(self):
        """Cells are of 256 bytes. A limit below one cell admits nothing; 0 is not a limit."""
        for limit, admitted in ((1, 0), (255, 0), (256, 1), (511, 1), (512, 2), (0, 10)):
            for part in ("port.h0.priority_group.0", "port.h1.queue.0"):
                switch = Switch(self, hosts=2)
                switch.default(qos="lossy")
                switch.section("port.h1.queue.0", size=0)
                switch.section(part, size=0, static_th=limit)
                switch.give("h0", back_to_back(10, plain(60)))
                switch.event("0ns", "queue h1.0 hold")
                queue = switch.run("--duration", "1us").port("h1")["queues"][0]
                self.assertEqual(queue["occupancy_packets"], admitted, (limit, part))

    def test_a_pause_holds_until_its_own_deadline(self):
        """10 quanta at 10G, behind a frame of 67.2 ns, end at 579.2 ns, whatever frames come before."""
        xoff = pfc({4: 10})
        for second, until in ((None, 579), (pfc({3: 10}), 579), (pfc({3: 0}), 579), (pfc({}), 579),
                              (pfc({4: 0}), 520), (pfc({4: 20}), 520 + 67 + 1024)):
            switch = Switch(self, hosts=2)
            switch.default(speed="10G", pfc=[3, 4])
            switch.give("h1", [(0, xoff)] + ([(520, second)] if second else []))
            switch.give("h0", [(50, plain(60, dscp=32))])
            switch.section("map.default", dscp_to_tc={"32": 4})
            self.assertEqual(stamped(switch.run().frames["h1"]), [until], second and second.hex())

    def test_strict_priority(self):
        """A CNP goes ahead of every frame that waits, and never cuts the one under way."""
        switch = Switch(self, hosts=4)
        for n in range(2):  # 20 slots of 81.92 ns in, so 40 out: the queue is busy until 3276.8 ns
            switch.give(f"h{n}", back_to_back(20, plain(1000, source=n, to=3, dscp=26)))
        late = [100, 1000, 1001, 2500, 3200]
        switch.give("h2", [(at, plain(60, source=2, to=3, dscp=48)) for at in late])
        out = switch.run()
        data, high = wire_ps(1000), wire_ps(60)
        expected, free, waiting = [], 0, [at * 1000 for at in late]
        waiting[2] = max(waiting[2], waiting[1] + high)  # the receive gate
        left = 40
        while left or waiting:
            if waiting and waiting[0] <= free:
                waiting.pop(0)
                expected.append((free // 1000, 48))
                free += high
            else:
                expected.append((free // 1000, 26))
                free += data
                left -= 1
        self.assertEqual([(frame.at_ns, frame.bytes[15] >> 2) for frame in out.frames["h3"]], expected)
        self.assertEqual([dscp for _, dscp in expected].index(48), 2)

    def test_strict_priority_by_class(self):
        """All eight classes at one instant: highest first, then in order of arrival."""
        switch = Switch(self, hosts=9, **{"buffer.size": "4MB"})
        switch.section("map.default", dscp_to_tc={str(n): n for n in range(8)})
        for n in range(8):
            switch.section(f"port.h8.queue.{n}", scheduler="strict")
        for n in range(8):
            switch.give(f"h{n}", [(0, plain(1000, source=n, to=8, dscp=n)), (0, plain(1000, source=n, to=8, dscp=7 - n))])
        seen = [frame.bytes[15] >> 2 for frame in switch.run().frames["h8"]]
        self.assertEqual(seen[0], 7)
        # At 81.92 ns the second ones join: 7 again, then 6, 6, ...
        self.assertEqual(seen, [7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0])

    def test_trust_chooses_the_class(self):
        frame = plain(100, tags=[(0x8100, 0x6001)], dscp=48)  # PCP 3, DSCP 48
        bare = plain(100, dscp=48)
        for keys, classes in (({"trust": "dscp"}, (6, 6)), ({"trust": "pcp"}, (3, 0)), ({"trust": "port", "default_tc": 5}, (5, 5)),
                              ({"trust": "pcp", "default_tc": 2}, (3, 2))):
            switch = Switch(self, hosts=2)
            switch.port("h0", **keys)
            switch.give("h0", [(0, frame), (1000, bare)])
            queues = switch.run().port("h1")["queues"]
            used = [n for n in range(8) for _ in range(queues[n]["tx_packets"])]
            self.assertEqual(used, sorted(classes), keys)


class ReceiveGate(loopback.Case):
    def test_equal_timestamps_are_serialized(self):
        switch = Switch(self, hosts=2)
        frames = [(500, plain(1000 + n)) for n in range(10)]
        switch.give("h0", frames)
        out = switch.run()
        gate = arrivals(frames)
        self.assertEqual(stamped(out.frames["h1"]), [at // 1000 for at, _ in gate])
        self.assertEqual(out.port("h0")["moved_packets"], 9)

    def test_backward_timestamps_keep_their_order_and_are_counted(self):
        switch = Switch(self, hosts=2)
        times = [1000, 5000, 4000, 4500, 6000, 5999, 10_000]
        frames = [(at, plain(60, identification=n)) for n, at in enumerate(times)]
        switch.give("h0", frames)
        out = switch.run()
        # 5000.00 ends at 5006.72; 4000 and 4500 follow it; 6000 is free; 5999 waits for it
        self.assertEqual(stamped(out.frames["h1"]), [1000, 5000, 5006, 5013, 6000, 6006, 10_000])
        self.frames_equal(out.frames["h1"], [routed(data, 1) for _, data in frames])
        self.assertEqual(out.port("h0")["moved_packets"], 3)

    def test_a_slow_port_takes_frames_at_its_own_speed(self):
        switch = Switch(self, hosts=2)
        switch.port("h0", speed="1G")
        switch.give("h0", back_to_back(20, plain(60)))
        self.assertEqual(stamped(switch.run().frames["h1"]), [n * 672 for n in range(20)])

    def test_the_origin_is_the_earliest_timestamp_of_all_inputs(self):
        """Also when it is not the first of its file; events count from there."""
        origin = 1_700_000_000 * 10**9 + 123_456_789
        switch = Switch(self, hosts=3)
        switch.give("h0", [(origin + 1000, plain()), (origin + 100_000, plain())])
        switch.give("h1", [(origin + 2000, plain(source=1, to=0)), (origin, plain(source=1, to=0)), (origin + 90_000, plain(source=1, to=2))])
        switch.event("95us", "port h1 down")
        out = switch.run()
        self.assertEqual(stamped(out.frames["h1"], origin), [1000])
        self.assertEqual(stamped(out.frames["h0"], origin), [2000, 2006])
        self.assertEqual(out.drops("h0"), {"link_down": 1})
        self.assertEqual(out.events(), [(95_000, "port_down")])

    def test_a_gap_of_all_inputs_above_an_hour_is_shortened_to_one(self):
        """Output frames have the stamps of the captures, and so have records: there the gaps have their length."""
        stamps = [0, HOUR_NS, 5 * HOUR_NS, 200 * DAY_NS, 200 * DAY_NS + HOUR_NS + 1, 90 * 365 * DAY_NS]
        removed = [3 * HOUR_NS, 200 * DAY_NS - 6 * HOUR_NS, 1, stamps[5] - stamps[4] - HOUR_NS]
        switch = Switch(self, hosts=3)
        for port in range(2):  # gaps of one of them alone are longer
            switch.give(f"h{port}", [(stamp, plain(source=port, to=2, identification=n)) for n, stamp in enumerate(stamps) if n % 2 == port])
        out = switch.run("--decisions", switch.folder / "out" / "decisions.jsonl")
        self.assertEqual(stamped(out.frames["h2"]), stamps)
        arrivals_seen = [json.loads(line)["arrival"] for line in (switch.folder / "out" / "decisions.jsonl").read_text().splitlines()]
        self.assertEqual([arrival["captured_ns"] for arrival in arrivals_seen], stamps)
        self.assertEqual([arrival["at_ps"] for arrival in arrivals_seen], [n * HOUR_NS * 1000 for n in range(6)])
        self.assertEqual(out.report["captures"], {"origin_ns": 0, "shortened_gaps": 4, "removed_ns": sum(removed), "gaps": [
            {"at_ns": n * HOUR_NS, "stamp_ns": stamps[n], "removed_ns": gone} for n, gone in zip(range(2, 6), removed)]})
        (event,) = out.report["events"]
        self.assertEqual((event["at_ns"], event["kind"]), (0, "capture_gaps"))
        self.assertIn("4 gaps above an hour", event["text"])
        self.assertIn("days left out", event["text"])
        self.assertIn(event["text"], out.stdout)

    def test_without_such_a_gap_nothing_is_said_of_gaps(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(7 + n * HOUR_NS, plain()) for n in range(3)])
        out = switch.run()
        self.assertEqual(stamped(out.frames["h1"]), [7, 7 + HOUR_NS, 7 + 2 * HOUR_NS])
        self.assertEqual(out.report["captures"], {"origin_ns": 7, "shortened_gaps": 0, "removed_ns": 0, "gaps": []})
        self.assertEqual(out.events(), [])

    def test_a_span_of_100_days_with_its_gaps_shortened_is_the_limit(self):
        hours = [(n * HOUR_NS, plain()) for n in range(2401)]
        switch = Switch(self, hosts=2)
        switch.give("h0", hours)
        self.assertEqual(stamped(switch.run().frames["h1"]), [at for at, _ in hours])
        switch = Switch(self, hosts=2)
        path = switch.give("h0", [(2400 * HOUR_NS + 1, plain()), *hours])
        switch.refused(1, str(path), "1970-01-01 00:00:00 UTC", "1970-04-11 00:00:00 UTC", "100 days", "editcap -A")
        switch = Switch(self, hosts=2)  # between two inputs
        first, last = switch.give("h0", hours), switch.give("h1", [(20000 * DAY_NS, plain(source=1, to=0))])
        switch.refused(1, f'"{first}" begins at 1970', f'"{last}" ends at 2024-10-04', "editcap -t")

    def test_stamps_on_both_sides_of_2038(self):
        middle = 2**31 * 10**9
        stamps = [middle - 1000, middle - 1, middle, middle + 1000, (2**32 - 1) * 10**9 + 999_999_999]
        switch = Switch(self, hosts=3)
        for port in range(2):
            switch.give(f"h{port}", [(stamp, plain(60, source=port, to=2)) for n, stamp in enumerate(stamps) if n % 2 == port])
        out = switch.run()
        self.assertEqual(out.report["captures"]["origin_ns"], stamps[0])
        self.assertEqual(stamped(out.frames["h2"])[::4], [stamps[0], stamps[-1]])
        self.assertEqual(len(out.frames["h2"]), 5)

    def test_ports_sleep_for_days_while_others_do_not(self):
        days = [[0, 27, 60, 100], [n / 24 for n in range(2401)], [99], []]
        switch = Switch(self, hosts=4)
        for port, moments in enumerate(days):
            switch.give(f"h{port}", [(round(day * 24) * HOUR_NS, plain(source=port, to=(port + 1) % 4)) for day in moments])
        out = switch.run()
        for port, moments in enumerate(days):
            self.assertEqual(stamped(out.frames[f"h{(port + 1) % 4}"]), [round(day * 24) * HOUR_NS for day in moments])

    def test_a_port_that_sleeps_hears_of_its_link(self):
        switch = Switch(self, hosts=3)
        switch.give("h0", [(0, plain(to=1)), (50_000, plain(to=1)), (90_000, plain(to=1))])
        switch.give("h1", [(60_000, plain(source=1, to=0))])
        switch.event("20us", "port h2 down")
        switch.event("30us", "port h1 down")
        switch.event("70us", "port h1 up")
        out = switch.run()
        self.assertEqual(stamped(out.frames["h1"]), [0, 90_000])
        self.assertEqual(out.drops("h0"), {"link_down": 1})
        self.assertEqual(out.report["ports"]["h1"]["lost_on_wire_packets"], 1)
        self.assertEqual([out.report["ports"][host]["flaps"] for host in ("h0", "h1", "h2")], [0, 1, 1])

    def test_sluice_traffic_and_the_gate_agree(self):
        """Frames that the generator puts back to back fit on the link: none is moved by a nanosecond or more."""
        switch = Switch(self, hosts=2)
        switch.recipe(flow("roce", size="random 60..4000", count=2000), flow("udp", size="random 60..1500", count=2000))
        frames = [(frame.at_ns, frame.bytes) for frame in switch.sent("h0")]
        for (at, _), (stamp, _) in zip(arrivals(frames), frames):
            self.assertLess(at - stamp * 1000, 1000)
        self.assertEqual(stamped(switch.run().frames["h1"]), [at for at, _ in frames])


if __name__ == "__main__":
    loopback.main()
