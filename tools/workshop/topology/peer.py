"""RoCEv2 between hosts: sluice-peer (tools/traffic) on one of them."""

import json
import subprocess
import time

from network import Failed
from waiting import PATIENCE_S


class Peer:
    """Runs until `end`. Options are those of sluice-peer."""

    def __init__(self, program, host, **options):
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        self.process = host.start(program, "host", "--interface", "eth0", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=None, text=True)
        self.show()  # it listens

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def show(self):
        """Its account."""
        self.tell("show")
        line = self.process.stdout.readline()
        if not line:
            raise Failed("sluice-peer has ended")
        return json.loads(line)

    def until(self, holds):
        """Its account when it `holds`, for which it may take as long as it goes on changing."""
        last, end = None, 0
        while not holds(account := self.show()):
            if account != last:
                last, end = account, time.monotonic() + PATIENCE_S
            if time.monotonic() > end:
                raise Failed(f"sluice-peer stands still: {account}")
            time.sleep(0.05)
        return account

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
