#!/usr/bin/python3
"""Cases in which a benchmark must refuse a figure, and the output of figures. Nothing is measured here.

    benchmarks_test.py SLUICE_TRAFFIC        the binary; the last line is `N passed, N failed`
"""

import contextlib
import copy
import io
import pathlib
import struct
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import xml.dom.minidom

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "workshop" / "benchmarks"))

import bench  # noqa: E402
import chart  # noqa: E402
import control_load  # noqa: E402
import latency  # noqa: E402
import main  # noqa: E402
import results  # noqa: E402
import scale  # noqa: E402
import sluiced  # noqa: E402
import traffic  # noqa: E402

FACTS = {"benchmark": "b", "commit": "1234", "machine": {"cpu": "c", "cores": 2, "memory": "ordinary memory", "rounds": 1,
                                                         "seconds": 1, "load_average": 0.0, "repeated": 0, "stolen": 0.0}}
OPTIONS = types.SimpleNamespace(build=pathlib.Path("."), rounds=1, seconds=1, htsim=None, l3fwd=None, against=None)


def report(dropped=0, balanced=True, sent=100):
    queues = [{"tx_packets": sent} for _ in range(8)]
    return {"ledger": {"rx": 1000, "dropped": dropped, "balanced": balanced},
            "ports": {"p0": {"queues": queues, "drops": {"queue_limit": dropped}, "tx": {"packets": sent}}}, "end_ns": sent * 1000}


class Refusals(unittest.TestCase):
    def refuses(self, judge, *arguments):
        with self.assertRaisesRegex(RuntimeError, "no figure"):
            judge(*arguments)

    def test_lost_packets(self):
        self.refuses(sluiced.refuse_losses, report(dropped=1))
        self.refuses(sluiced.refuse_losses, report(dropped=7), 1)
        self.refuses(sluiced.refuse_losses, report(balanced=False), 0)
        sluiced.refuse_losses(report())
        sluiced.refuse_losses(report(dropped=7), 0)

    def measured(self, then, now):
        """Of a switch with these two reports, and the second one at its end."""
        shown = iter([then, now])
        switch = types.SimpleNamespace(stats=lambda: next(shown), report=now)
        with unittest.mock.patch.object(sluiced, "Sluiced", lambda *_: contextlib.nullcontext(switch)), \
                unittest.mock.patch.object(sluiced.time, "sleep", lambda _: None):
            return sluiced.rate(types.SimpleNamespace(seconds=1), "")

    def test_losses_while_it_was_measured(self):
        self.refuses(self.measured, report(dropped=7), report(dropped=8, sent=200))
        self.refuses(self.measured, report(), report())
        self.assertEqual(self.measured(report(dropped=7), report(dropped=7, sent=200)), 1.0)

    def test_a_queue_that_sent_nothing(self):
        after = report(sent=200)
        after["ports"]["p0"]["queues"][5]["tx_packets"] = 100
        self.refuses(sluiced.refuse_idle_queues, report(), after)
        sluiced.refuse_idle_queues(report(), report(sent=200))

    def test_another_load_than_wanted(self):
        seen = {"sent": 2000, "received": 2000, "seconds": 2.0}
        latency.refuse_other_load(seen, 1000, 0)
        latency.refuse_other_load({**seen, "sent": 1810, "received": 1810}, 1000, 0)
        latency.refuse_other_load({**seen, "received": 1999}, 1000, 0.001)
        self.refuses(latency.refuse_other_load, {**seen, "sent": 1790, "received": 1790}, 1000, 0)
        self.refuses(latency.refuse_other_load, {**seen, "received": 1999}, 1000, 0)
        self.refuses(latency.refuse_other_load, {**seen, "received": 1990}, 1000, 0.001)
        self.refuses(latency.refuse_other_load, {**seen, "received": 2001}, 1000, 0.001)  # of another load
        with self.assertRaises(bench.Late):
            latency.refuse_other_load({**seen, "sent": 1790, "received": 1790}, 1000, 0)
        with self.assertRaises(RuntimeError) as lost:
            latency.refuse_other_load({**seen, "received": 1990}, 1000, 0.001)
        self.assertNotIsInstance(lost.exception, bench.Late)  # it counts, whatever the machine did

    def test_what_stood_still(self):
        self.refuses(bench.row, "a", "Mpps", [0.0])
        self.refuses(bench.row, "a", "Mpps", [1.0], "y", [0.0])
        self.refuses(bench.row, "a", "Mpps", [1.0], "y", [-0.5])

    def test_a_client_that_did_not_keep_its_pace(self):
        client = types.SimpleNamespace(send_line=lambda line: None, read_line=lambda: time.sleep(0.1) or {}, close=lambda: None)
        switch = types.SimpleNamespace(connect=lambda: client)
        of = types.SimpleNamespace(control_core=min(bench.os.sched_getaffinity(0)))

        def late():
            with control_load.load(of, switch, [b""], 1000, []):
                time.sleep(0.3)

        self.refuses(late)


class Rounds(unittest.TestCase):
    """By a clock of a second a measure, on a machine that takes what a test says from one core or the other."""

    def setUp(self):
        self.now, self.taken, self.order = 0.0, 0.0, []
        for module, name, fake in ((bench, "stolen_s", lambda: {0: 0.0, 1: self.taken}),
                                   (bench.time, "monotonic", lambda: self.now)):
            patched = unittest.mock.patch.object(module, name, fake)
            patched.start()
            self.addCleanup(patched.stop)
        self.bench = bench.Bench(types.SimpleNamespace(**{**vars(OPTIONS), "rounds": 3}), None)

    def by_turns(self, shares, late=()):
        """Rounds whose share so much is taken; a round's number is its figure. The rest of them lose nothing."""
        rounds = []

        def judged():
            number = len(rounds)
            rounds.append(number)
            self.order.append("judged")
            self.now += 1
            self.taken += 2 * shares[number] if number < len(shares) else 0.0
            if number in late:
                raise bench.Late(f"round {number}")
            return {"one": number, "two": 10 * number}

        def yardstick():
            self.order.append("yardstick")
            self.now += 1
            return 7

        return self.bench.by_turns("name", yardstick=yardstick, judged=judged)

    def test_every_other_round_begins_with_the_last(self):
        self.assertEqual(self.by_turns([]), {"yardstick": [7] * 3, "one": [0, 1, 2], "two": [0, 10, 20]})
        self.assertEqual(self.order, ["yardstick", "judged", "judged", "yardstick", "yardstick", "judged"])
        self.assertEqual((self.bench.repeated, self.bench.stolen), (0, 0.0))

    def test_a_round_that_was_taken_is_repeated(self):
        self.assertEqual(self.by_turns([0.5, 0.0, 0.005, 0.02])["one"], [1, 4, 2])
        self.assertEqual(self.bench.repeated, 2)
        self.assertAlmostEqual(self.bench.stolen, 0.005)

    def test_where_all_are_those_count_that_lost_least(self):
        shares = [0.5, 0.4, 0.3, 0.02, 0.6, 0.03, 0.7, 0.9, 0.25, 0.0]
        self.assertEqual(self.by_turns(shares)["one"], [3, 5, 8])
        self.assertEqual(self.bench.repeated, 6)
        self.assertAlmostEqual(self.bench.stolen, 0.25)

    def test_who_is_late_says_nothing_in_a_round_that_was_taken(self):
        self.assertEqual(self.by_turns([0.5], late=[0])["one"], [1, 2, 3])
        with self.assertRaisesRegex(bench.Late, "round 0"):
            self.by_turns([0.0], late=[0])
        with self.assertRaisesRegex(bench.Late, "round 8"):
            self.by_turns([0.5] * 9, late=range(9))


class Figures(unittest.TestCase):
    def test_what_was_taken_is_known_of_each_core(self):
        stat = "cpu  9 9 9 9 9 9 9 900 0 0\ncpu0 1 2 3 4 5 6 7 250 9 9\ncpu1 1 2 3 4 5 6 7 50 9 9\nintr 77\n"
        with unittest.mock.patch.object(bench.pathlib.Path, "read_text", lambda path: stat), \
                unittest.mock.patch.object(bench.os, "sched_getaffinity", lambda process: {0, 5}), \
                unittest.mock.patch.object(bench.os, "sysconf", lambda name: 100):
            self.assertEqual(bench.stolen_s(), {0: 2.5, 5: 0.0})

    def test_a_ratio_is_the_median_of_the_rounds_ratios(self):
        row = bench.row("a", "Mpps", [5.0, 2.0, 3.0], "y", [10.0, 4.0, 3.0])
        self.assertEqual((row["value"], row["yardstick_value"], row["ratio"]), (3.0, 4.0, 0.5))

    def test_a_ratio_above_one_is_better_whatever_the_unit(self):
        more = bench.row("a", "Mpps", [1.0, 9.0, 2.0], "y", [4.0, 4.0, 4.0], reach=0.5)
        self.assertEqual((more["value"], more["yardstick_value"], more["ratio"], more["met"]), (2.0, 4.0, 0.5, True))
        self.assertFalse(bench.row("a", "Mpps", [1.0], "y", [4.0], reach=0.5)["met"])
        self.assertEqual(bench.row("a", "s", [2.0], "y", [4.0], better="less")["ratio"], 2.0)
        self.assertIsNone(bench.row("a", "s", [2.0], "y", [4.0])["met"])

    def test_the_time_that_senders_stood_still_is_a_share(self):
        def at(ns, *held):
            return {"end_ns": ns, "ports": {f"p{n}": {"held_ns": held_ns} for n, held_ns in enumerate(held)}}
        self.assertEqual(sluiced.held(at(1000, 100, 0), at(2000, 600, 0)), 0.25)

    def test_a_benchmark_that_fails_is_a_row_without_a_figure(self):
        def fails(_):
            raise RuntimeError("sluiced lost packets")

        main.BENCHMARKS["fails"] = fails
        self.addCleanup(main.BENCHMARKS.pop, "fails")
        (row,), = main.measure(["fails"], OPTIONS)
        self.assertEqual((row["name"], row["value"], row["met"], row["why"]), ("fails", None, False, "sluiced lost packets"))
        self.assertIn("memory", row["machine"])

    def test_two_versions_only_where_the_other_one_is_named(self):
        tried = []
        with unittest.mock.patch.object(main, "measured_and_kept", lambda names, _: tried.append(names) or []), \
                unittest.mock.patch.object(main.signal, "signal"), contextlib.redirect_stderr(io.StringIO()):
            for words in ([], ["--against", "."]):
                with unittest.mock.patch.object(sys, "argv", ["tools/bench", *words]):
                    main.main()
        self.assertEqual(["two_versions" in names for names in tried], [False, True])
        rows = [row for more in main.measure(["two_versions"], OPTIONS) for row in more]
        self.assertEqual({row["why"] for row in rows}, {"--against names the other build"})

    def test_versions_run_by_turns_and_are_counted_by_their_own_cpu_time(self):
        log = []

        class Running:
            """One that forwards 4 million packets a second of CPU time, the second 5, and of which only one may run."""
            running = set()

            def __init__(self, number):
                self.number, self.cpu_s, self.report = number, 0.0, report()
                self.process = types.SimpleNamespace(send_signal=self.signal)
                self.stats = lambda: {"ports": {"p0": {"tx": {"packets": self.cpu_s * (4 + number) * 1e6}}}}

            def signal(self, which):
                (self.running.discard if which == sluiced.signal.SIGSTOP else self.running.add)(self.number)

            __enter__ = lambda self: self  # noqa: E731

            def __exit__(self, *_):
                log.append(("ends", self.number in self.running))

        switches = [Running(0), Running(1)]

        def sleep(seconds):
            (number,) = Running.running
            log.append(number)
            switches[number].cpu_s += seconds

        made = iter(switches)
        with unittest.mock.patch.object(sluiced, "Sluiced", lambda *_: next(made)), \
                unittest.mock.patch.object(sluiced, "worker_cpu_s", lambda switch: switch.cpu_s), \
                unittest.mock.patch.object(sluiced.time, "sleep", sleep):
            rates = sluiced.rates_by_slices(types.SimpleNamespace(seconds=4 * sluiced.SLICE_S), [None] * 2, "")
        self.assertEqual([round(rate, 3) for rate in rates], [4.0, 5.0])
        self.assertEqual(log[2:10], [0, 1, 1, 0, 0, 1, 1, 0])
        self.assertEqual(log[10:], [("ends", True)] * 2)  # what stands still would not end

    def test_both_kinds_of_memory_are_rows_of_their_own(self):
        for there, names in ((True, ["rate", "rate_huge"]), (False, ["rate"])):
            with unittest.mock.patch.dict(main.BENCHMARKS, {"both": lambda made: [bench.row("rate", "Mpps", [1.0 + len(made.memory.sluiced)])]}), \
                    unittest.mock.patch.object(main, "WITH_HUGEPAGES", {"both"}), \
                    unittest.mock.patch.object(main, "hugepages", lambda: contextlib.nullcontext(there)):
                rows = [row for more in main.measure(["both"], OPTIONS) for row in more]
            self.assertEqual([row["name"] for row in rows], names)
            self.assertEqual([(row["machine"]["memory"], row["value"]) for row in rows], [("ordinary memory", 2.0), ("hugepages", 1.0)][:len(rows)])
        self.assertIn("ordinary memory, hugepages", results.footer([{**row, **FACTS, "machine": {**FACTS["machine"], "memory": memory}}
                                                                    for row, memory in zip([rows[0]] * 2, ("ordinary memory", "hugepages"))]))

    def test_hugepages_that_were_reserved_go_back(self):
        page = 2 << 20
        with tempfile.TemporaryDirectory() as folder:
            reserved = pathlib.Path(folder) / "nr_hugepages"
            for before, free, wanted in ((0, 0, 1024), (100, 30, 1094), (2000, 1024, 2000)):
                reserved.write_text(f"{before}\n")
                with unittest.mock.patch.object(bench, "RESERVED", reserved), \
                        unittest.mock.patch.object(bench, "free_hugepages", lambda: ((free + int(reserved.read_text()) - before) * page, page)), \
                        contextlib.suppress(KeyboardInterrupt), bench.hugepages() as there:
                    self.assertTrue(there)
                    self.assertEqual(int(reserved.read_text()), wanted)
                    raise KeyboardInterrupt
                self.assertEqual(int(reserved.read_text()), before)
            with unittest.mock.patch.object(bench, "RESERVED", pathlib.Path(folder) / "none" / "nr_hugepages"), \
                    unittest.mock.patch.object(bench, "free_hugepages", lambda: (0, page)), bench.hugepages() as there:
                self.assertFalse(there)  # nobody but root may

    def test_what_was_measured_before_an_interruption_is_kept(self):
        def interrupted(_):
            raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()) as errors, \
                unittest.mock.patch.object(main, "OUT", pathlib.Path(folder)), \
                unittest.mock.patch.object(main.signal, "signal"), \
                unittest.mock.patch.dict(main.BENCHMARKS, {"one": lambda _: [bench.row("one", "s", [1.0])], "two": interrupted}), \
                unittest.mock.patch.object(sys, "argv", ["tools/bench", "one", "two"]):
            self.assertEqual(main.main(), 1)
            self.assertEqual([row["name"] for row in results.read(pathlib.Path(folder) / "bench.json")], ["one"])
            self.assertIn("interrupted; not measured: two", errors.getvalue())

    def test_the_picture_has_every_row(self):
        rows = [{**bench.row("fast", "Mpps", [2.0], "a < b", [1.0], 0.5), **FACTS},
                {**bench.no_figure("gone", "lost & found"), **FACTS}]
        text = xml.dom.minidom.parseString(chart.picture(rows)).toxml()
        for word in ("fast", "gone", "no figure", "a &lt; b"):
            self.assertIn(word, text)


class Comparison(unittest.TestCase):
    def setUp(self):
        self.then = [{**bench.row("rate", "Mpps", [1.0], "y", [2.0], 0.5), **FACTS},
                     {**bench.row("load", "s", [10.0], better="less"), **FACTS}]
        self.now = copy.deepcopy(self.then)

    def worse(self):
        return results.compare(self.now, self.then, 0.05)[1]

    def test_the_same_is_not_worse(self):
        self.assertEqual(self.worse(), [])

    def test_worse_by_more_than_the_tolerance(self):
        self.now[0]["ratio"] = 0.474
        self.assertEqual(self.worse(), ["rate"])
        self.now[0]["ratio"] = 0.476
        self.assertEqual(self.worse(), [])

    def test_ratios_count_and_not_figures(self):
        self.now[0]["value"] = 0.1
        self.assertEqual(self.worse(), [])

    def test_without_a_ratio_figures_do_and_less_may_be_better(self):
        self.now[1]["value"] = 11.0
        self.assertEqual(self.worse(), ["load"])
        self.now[1]["value"] = 5.0
        self.assertEqual(self.worse(), [])

    def test_what_has_no_figure_any_more_is_worse(self):
        self.now = [{**bench.no_figure("rate", "lost"), **FACTS}]  # and the other row of the benchmark is not there
        self.assertEqual(self.worse(), ["rate", "load"])

    def test_what_was_not_tried_is_only_named(self):
        self.then[1]["benchmark"] = "other"
        self.now = self.now[:1]
        text, worse = results.compare(self.now, self.then, 0.05)
        self.assertEqual(worse, [])
        self.assertIn("not measured now: load", text)

    def test_memory_modes_and_machines_are_not_compared(self):
        self.now[0]["ratio"] = 0.1
        self.now[0]["machine"]["memory"] = self.now[1]["machine"]["memory"] = "hugepages"
        self.assertEqual(self.worse(), [])
        self.now = copy.deepcopy(self.then)
        self.now[1]["value"], self.now[1]["machine"]["cores"] = 100.0, 16
        self.assertEqual(self.worse(), [])

    def test_the_exit_status_says_it(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / name for name in ("then", "now", "none")}
            results.write(files["then"], self.then)
            self.now[0]["ratio"] = 0.1
            results.write(files["now"], self.now)
            files["none"].write_text('[{"name": 1}]')

            def status(*arguments):
                sys.argv = ["tools/bench", *map(str, arguments)]
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    return main.main()

            self.assertEqual(status("--measured", files["now"], "--compare", files["then"]), 1)
            self.assertEqual(status("--measured", files["now"], "--compare", files["now"]), 0)
            self.assertEqual(status("--measured", files["now"], "--compare", files["none"]), 2)
            self.assertEqual(status("no-such-benchmark"), 2)


class Captures(unittest.TestCase):
    sluice_traffic = None

    def test_destinations_are_spread_over_all_routes(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = set()
            for port, capture in enumerate(traffic.generate(self.sluice_traffic.parent, pathlib.Path(folder), scale.spread(64), traffic.PORTS)):
                for record in traffic.records(capture)[1]:
                    number = (struct.unpack_from(">I", record, 46)[0] - scale.FIRST_PREFIX) >> 8
                    self.assertEqual(number % 4, (port + 1) % 4)
                    self.assertLess(number, scale.MILLION)
                    seen.add(number)
            self.assertEqual(len(seen), 4 * 64)
            self.assertGreater(len({number // 10_000 for number in seen}), 40)

    def test_a_million_different_prefixes(self):
        self.assertEqual([scale.route(n)["prefix"] for n in (0, 255, 256, 999_999)],
                         ["16.0.0.0/24", "16.0.255.0/24", "16.1.0.0/24", "31.66.63.0/24"])


def run():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Captures.sluice_traffic = pathlib.Path(sys.argv[1]).resolve()
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    done = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    run()
