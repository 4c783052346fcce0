#!/usr/bin/python3
"""`sluiced headroom`: the sums of `--check`, and as many ports as a configuration may have."""

import re

import loopback
from loopback import Programs, run

DONE, USAGE = 0, 2


def rows(text):
    """{name: (bytes, formula)} of a table of terms."""
    return {name: (int(number), formula) for name, number, formula in re.findall(r"(?m)^ {4}(\S.*?) {2,}(\d+)  (.*)$", text)}


class HeadroomVerb(loopback.Case):
    def answer(self, *words, status=DONE):
        done = run([Programs.sluiced, "headroom", *words])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def check(self, ports, mtu, classes, buffer):
        folder = loopback.Switch(self, hosts=0).folder
        file = folder / "sluice.toml"
        file.write_text(f'[buffer]\nsize = "{buffer}"\n[default]\nspeed = "100G"\ncable = "40m"\nmtu = {mtu}\npfc = {classes}\n' +
                        "".join(f'[port.p{n}]\naddress = ["10.0.{n}.1/24"]\n' for n in range(ports)))
        return run([Programs.sluiced, "--config", file, "--check"])

    def test_it_is_the_table_of_a_configuration(self):
        theirs = rows(self.check(2, 4200, [3], "32MB").stdout)
        self.assertIn("headroom (SONiC's xoff)", theirs)
        ours = rows(self.answer("--speed", "100G", "--cable", "40m", "--mtu", "4200"))
        self.assertEqual(ours, {name: theirs[name] for name in ours})

    def test_so_many_ports_fit_and_no_more(self):
        for mtu, classes in ((9100, [3]), (1500, [3, 4])):
            text = self.answer("--speed", "100G", "--cable", "40m", "--mtu", mtu, "--classes", len(classes), "--buffer", "8MB")
            most, size, reserved, headroom, shared = map(int, text.splitlines()[-2].split())
            self.assertTrue(text.endswith(f"\n{most} ports is the most that fits\n"), text)
            self.assertEqual(size, reserved + headroom + shared)
            self.assertEqual(self.check(most, mtu, classes, "8MB").returncode, DONE)
            refused = self.check(most + 1, mtu, classes, "8MB")
            self.assertEqual(refused.returncode, USAGE)
            self.assertIn("shared", refused.stderr)

    def test_a_buffer_that_takes_none_and_one_that_takes_all(self):
        self.assertIn("takes no such port", self.answer("--speed", "800G", "--cable", "2km", "--classes", "2"))
        self.assertIn("is the most that a switch may have", self.answer("--speed", "10G", "--buffer", "1GB"))

    def test_turns_and_a_reaction_are_terms(self):
        plain = rows(self.answer("--speed", "25G"))
        turns = rows(self.answer("--speed", "25G", "--turn", "40us"))
        self.assertEqual(plain["own turn"][0], 0)
        self.assertGreater(turns["own turn"][0], 25_000 * 40 // 8 - 1)
        self.assertEqual(rows(self.answer("--speed", "25G", "--reaction", "1us"))["peer reaction"][0], 25_000 // 8)

    def test_what_is_wrong_is_named(self):
        for words, said in (([], "--speed is missing"), (["--speed"], "--speed wants a value"), (["--speed", "5X"], 'unknown unit "X"'),
                            (["--speed", "900G"], "1G to 800G"), (["--speed", "3G"], "not a speed of a port"), (["--speed", "1G", "--mtu", "4"], "68 to 9216"), (["--sped", "1G"], "is not an option"),
                            (["--speed", "1G", "--cable", "500km"], "is not from 0m to 100000m"), (["--speed", "1G", "--classes", "9"], "1 to 8"),
                            (["--speed", "1G", "--turn", "0ns"], "1us to 10ms"), (["--speed", "1G", "--buffer", "0B"], "is not from 1B to 1TiB")):
            with self.subTest(words):
                self.assertIn(said, self.answer(*words, status=USAGE).splitlines()[0])
        self.assertIn("usage: sluiced headroom", self.answer("--help"))


if __name__ == "__main__":
    loopback.main()
