"""Waiting for what must come. PATIENCE_S is the one guard against a hang, in the lab and in all tests: nothing is measured by it."""

import time

# A machine at load 12 gives a switch a tenth of a core. Meson's limit for a whole test program (tests/meson.build) is larger.
PATIENCE_S = 300


class Failed(Exception):
    """A program refused, or an expected event did not come; in words."""


def wait_for(what, holds=bool, why="", alive=lambda: True, every_s=0.02):
    """Asks until `holds` of what it gives, which it returns; fails as soon as `alive` no longer holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds(value := what()):
        if not alive() or time.monotonic() > end:
            raise Failed(f"{why or 'waited in vain'}{'' if alive() else ', the switch has ended'}: {str(value)[:2000]}")
        time.sleep(every_s)
    return value
