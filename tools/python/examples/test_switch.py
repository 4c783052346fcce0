"""What a team may want to know of its switch in CI: run it with pytest; SLUICED names the program where it is not in PATH."""

import sluice


def test_nothing_is_lost(switch):
    switch.clock_run()
    assert switch.stats_show("verdict")["lossless"] is True
    assert switch.stats_show("ports.p1.queues.3.tx_packets") > 0


def test_a_route_takes_the_port_that_it_should(switch):
    switch.route_add([{"prefix": "192.0.2.0/24", "via": ["10.0.1.2"]}])
    assert switch.route_lookup("192.0.2.7")["port"] == "p1"


def test_a_change_goes_back_unless_it_is_confirmed(switch):
    before = switch.config_get("port.p1.queue.3.wred")
    switch.config_set("port.p1.queue.3.wred", "steep", confirm="1ms")
    assert switch.config_get("port.p1.queue.3.wred")["value"] == '"steep"'
    switch.clock_run("2ms")
    assert switch.config_get("port.p1.queue.3.wred") == before


def test_a_wrong_value_is_refused_with_its_place(switch):
    try:
        switch.config_set("port.p1.mtu", 99999)
    except sluice.Refused as error:
        assert error.data["path"] == "port.p1.mtu"
    else:
        raise AssertionError("it was taken")


def test_events_come_as_they_happen(switch):
    switch.events_subscribe()
    switch.port_set("p1", False)
    switch.clock_run("1us")
    assert switch.next_notification()["params"]["kind"] == "port_down"
