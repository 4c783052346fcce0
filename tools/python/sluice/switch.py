"""The methods of the socket by name, with the types of their answers. tests/control/openrpc_test.py compares them with the
switch's own account of them (`rpc.discover`)."""

from __future__ import annotations

from typing import Any, Optional, TypedDict

from sluice.client import Client


class Hello(TypedDict):
    name: str
    api: int
    version: str
    pid: int
    clock: str
    interactive: bool
    config_file: str
    ports: list[str]


class Change(TypedDict, total=False):
    path: str
    to: Optional[str]
    restart: bool


class Finding(TypedDict, total=False):
    severity: str
    id: str
    path: str
    message: str
    do: str
    line: int
    forced: bool
    may_be_forced: bool


class Applied(TypedDict, total=False):
    changes: list[Change]
    generation: int
    pending_cells: int
    findings: list[Finding]
    confirm_by_ns: int
    waiting: int
    kept: int


class Checked(TypedDict):
    usable: bool
    findings: list[Finding]


class Changed(TypedDict):
    changed: int
    generation: int


class Events(TypedDict):
    events: list[dict[str, Any]]
    lost: int
    next: int


Route = dict[str, Any]  # {"prefix": "10.0.0.0/8", "via": ["10.1.0.2", {"address": "10.1.1.2", "weight": 3}]}
Neighbor = dict[str, Any]  # {"address": "10.1.0.2", "port": "p0", "mac": "02:00:00:00:00:01"}


class Switch(Client):
    """A running switch. A parameter that is None is not sent."""

    def _ask(self, method: str, /, **params: Any) -> Any:
        return self.call(method, **{name: value for name, value in params.items() if value is not None})

    def clock_run(self, for_: Optional[str] = None) -> dict[str, int]:
        return self._ask("clock.run", **{"for": for_})

    def clock_show(self) -> dict[str, int]:
        return self._ask("clock.show")

    def command(self, command: str) -> dict[str, Any]:
        return self._ask("command", command=command)

    def config_apply(self, toml: str, confirm: Optional[str] = None, force: Optional[bool] = None) -> Applied:
        return self._ask("config.apply", toml=toml, confirm=confirm, force=force)

    def config_change(self, changes: list[dict[str, Any]], confirm: Optional[str] = None, force: Optional[bool] = None,
                      trial: Optional[bool] = None) -> Applied:
        return self._ask("config.change", changes=changes, confirm=confirm, force=force, trial=trial)

    def config_check(self, toml: str) -> Checked:
        return self._ask("config.check", toml=toml)

    def config_confirm(self, trial: Optional[bool] = None) -> dict[str, int]:
        return self._ask("config.confirm", trial=trial)

    def config_diff(self, toml: str) -> list[Change]:
        return self._ask("config.diff", toml=toml)

    def config_get(self, path: Optional[str] = None) -> dict[str, str]:
        return self._ask("config.get", path=path)

    def config_history(self) -> dict[str, Any]:
        return self._ask("config.history")

    def config_keys(self) -> list[dict[str, Any]]:
        return self._ask("config.keys")

    def config_reload(self) -> Applied:
        return self._ask("config.reload")

    def config_reset(self) -> dict[str, Any]:
        return self._ask("config.reset")

    def config_rollback(self, trial: Optional[bool] = None) -> Applied:
        return self._ask("config.rollback", trial=trial)

    def config_save(self, file: Optional[str] = None, startup: Optional[bool] = None) -> dict[str, str]:
        return self._ask("config.save", file=file, startup=startup)

    def config_set(self, path: str, value: Any, confirm: Optional[str] = None, force: Optional[bool] = None) -> Applied:
        return self._ask("config.set", path=path, value=value, confirm=confirm, force=force)

    def config_unsaved(self) -> dict[str, Any]:
        return self._ask("config.unsaved")

    def control_show(self) -> dict[str, Any]:
        return self._ask("control.show")

    def decisions_list(self, last: Optional[int] = None) -> dict[str, Any]:
        return self._ask("decisions.list", last=last)

    def events_list(self, from_: Optional[int] = None) -> Events:
        return self._ask("events.list", **{"from": from_})

    def events_subscribe(self, on: Optional[bool] = None, from_: Optional[int] = None) -> dict[str, int]:
        return self._ask("events.subscribe", on=on, **{"from": from_})

    def hello(self) -> Hello:
        return self._ask("hello")

    def group_list(self) -> list[dict[str, Any]]:
        return self._ask("group.list")

    def methods(self) -> list[dict[str, Any]]:
        return self._ask("methods")

    def mirror_show(self) -> dict[str, Any]:
        return self._ask("mirror.show")

    def neighbor_add(self, neighbors: list[Neighbor]) -> Changed:
        return self._ask("neighbor.add", neighbors=neighbors)

    def neighbor_delete(self, neighbors: list[str]) -> Changed:
        return self._ask("neighbor.delete", neighbors=neighbors)

    def neighbor_list(self) -> list[Neighbor]:
        return self._ask("neighbor.list")

    def neighbor_replace(self, neighbors: list[Neighbor]) -> Changed:
        return self._ask("neighbor.replace", neighbors=neighbors)

    def port_set(self, port: str, up: bool) -> dict[str, Any]:
        return self._ask("port.set", port=port, up=up)

    def qos_show(self) -> dict[str, Any]:
        return self._ask("qos.show")

    def queue_hold(self, port: str, queue: int, hold: Optional[bool] = None) -> dict[str, Any]:
        return self._ask("queue.hold", port=port, queue=queue, hold=hold)

    def route_add(self, routes: list[Route]) -> Changed:
        return self._ask("route.add", routes=routes)

    def route_delete(self, routes: list[str]) -> Changed:
        return self._ask("route.delete", routes=routes)

    def route_list(self) -> list[Route]:
        return self._ask("route.list")

    def route_lookup(self, destination: str, source: Optional[str] = None, protocol: Optional[int] = None, sport: Optional[int] = None,
                     dport: Optional[int] = None, qp: Optional[int] = None) -> dict[str, Any]:
        return self._ask("route.lookup", destination=destination, source=source, protocol=protocol, sport=sport, dport=dport, qp=qp)

    def route_replace(self, routes: list[Route]) -> Changed:
        return self._ask("route.replace", routes=routes)

    def rpc_discover(self) -> dict[str, Any]:
        return self._ask("rpc.discover")

    def stats_clear(self) -> dict[str, Any]:
        return self._ask("stats.clear")

    def stats_show(self, path: Optional[str] = None) -> Any:
        return self._ask("stats.show", path=path)

    def stats_since(self, path: Optional[str] = None, from_: Optional[str] = None, buckets: Optional[bool] = None) -> dict[str, Any]:
        return self._ask("stats.since", path=path, buckets=buckets, **{"from": from_})

    def stats_watch(self, path: Optional[str] = None, every: Optional[str] = None) -> dict[str, Any]:
        return self._ask("stats.watch", path=path, every=every)

    def why_flow(self, destination: str, source: Optional[str] = None, protocol: Optional[int] = None, sport: Optional[int] = None,
                 dport: Optional[int] = None, qp: Optional[int] = None, last: Optional[int] = None) -> dict[str, Any]:
        return self._ask("why.flow", destination=destination, source=source, protocol=protocol, sport=sport, dport=dport, qp=qp,
                         last=last)

    def why_show(self, at: Optional[str] = None, last: Optional[int] = None) -> dict[str, Any]:
        return self._ask("why.show", at=at, last=last)

    def worker_meter(self, on: bool) -> dict[str, Any]:
        return self._ask("worker.meter", on=on)

    def worker_show(self) -> dict[str, Any]:
        return self._ask("worker.show")
