"""Frames at the far ends of cables as a BPF program in the kernel saw them: a clock that is not the switch's own."""

import contextlib
import json
import subprocess

from loopback import Programs


@contextlib.contextmanager
def observing(test, *interfaces):
    """Yields a list that holds, once the block has ended, every frame at these interfaces by time.

    A frame: ns, at (interface), sent (by the interface's owner, not to it), bytes; of IP dscp, ecn, udp_port; of PFC
    classes (bits) and quanta (8)."""
    frames = []
    program = Programs.sluiced.parent / "tests/netns/observe"
    process = subprocess.Popen([program, *interfaces], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        test.assertEqual(process.stdout.readline(), '{"listens": true}\n')
        yield frames
    finally:
        said, _ = process.communicate()
    *seen, last = [json.loads(line) for line in said.splitlines()]
    test.assertEqual((process.returncode, last), (0, {"lost": 0}))
    frames.extend(sorted(seen, key=lambda frame: frame["ns"]))
