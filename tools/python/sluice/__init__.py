"""A client of sluiced's control socket: the standard library, and nothing else.

    with sluice.connect("/run/sluice.sock") as switch:
        switch.config_set("port.p0.queue.3.wred", "steep", confirm="30s")
        assert switch.stats_show("ports.p0.pfc.tx_xoff.3") == 0
        switch.config_confirm()

Each method of the socket is a method here, with its dots as underscores; an error is `Refused`. API 1: see README.md.
"""

from sluice.client import API, Client, HungUp, Notification, Refused, connect
from sluice.switch import Switch

__all__ = ["API", "Client", "HungUp", "Notification", "Refused", "Switch", "connect"]
