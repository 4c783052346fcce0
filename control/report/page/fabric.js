// A fabric as tables: its switches, each a link to its own view, its links and its flows. Rates as in switch.js.
"use strict";

// `link_to(name)`: of a switch. `after`: there is one moment, the end.
function fabric_view(link_to, after) {
    const of_rates = 10;
    const max_flows = 200;
    const moments = [];  // of the fabric, the latest last
    const latest = () => moments[moments.length - 1];
    // Of a counter of a link's direction, a second; null while there is one moment.
    const rate = (row, get) => {
        const now = latest();
        const took = now.end_ns - (after ? 0 : moments[0].end_ns);
        const before = after ? 0 : get(own(moments[0].links, row.name)?.directions[row.n]);
        return took > 0 && before !== undefined ? ((get(now.links[row.name].directions[row.n]) - before) * 1e9) / took : null;
    };
    const paused = (direction) => direction && Math.max(0, ...Object.values(direction.paused_ns));

    const head = head_of_view();
    const switches = live_table("Switches: totals since the start", [
        { head: "Switch", get: (row) => element("a", { href: link_to(row.key) }, row.key) },
        { head: "Tier", number: true, get: (row) => row.of.tier },
        { head: "Lossless", get: (row) => (row.of.verdict.lossless === null ? "no lossless packets" : row.of.verdict.lossless ? "yes" : "NO"), bad: (row) => row.of.verdict.lossless === false },
        { head: "Lost", number: true, get: (row) => row.of.verdict.lost_packets, bad: (row) => row.of.verdict.lost_packets > 0 },
        { head: "In", number: true, get: (row) => row.of.ledger.rx },
        { head: "Out", number: true, get: (row) => row.of.ledger.tx },
        { head: "Dropped", number: true, get: (row) => row.of.ledger.dropped },
        { head: "Queued", number: true, get: (row) => row.of.ledger.queued },
    ], "The fabric has no switches.");
    const links = live_table("Links, each direction", [
        { head: "Link", get: (row) => row.name },
        { head: "From", get: (row) => row.direction.from },
        { head: "To", get: (row) => row.direction.to },
        { head: "Cable", get: (row) => (row.cut ? "cut" : "whole"), bad: (row) => row.cut },
        { head: "Speed", number: true, get: (row) => row.speed_bps, show: formats.bps },
        { head: "Rate", number: true, get: (row) => rate(row, (direction) => direction && 8 * direction.bytes), show: formats.bps },
        { head: "Sender paused", number: true, get: (row) => { const share = rate(row, paused); return share === null ? null : share / 1e9; }, show: percent },
        { head: "Packets", number: true, get: (row) => row.direction.packets },
        { head: "Lost", number: true, get: (row) => row.direction.lost_on_wire + row.direction.lost_into_cut, bad: (row) => row.direction.lost_on_wire + row.direction.lost_into_cut > 0 },
    ], "The fabric has no links.");
    const flows = live_table("Flows: totals since the start", [
        { head: "Flow", get: (row) => row.flow.name },
        { head: "Throughput", number: true, get: (row) => row.flow.throughput_bps, show: formats.bps },
        { head: "Messages", number: true, get: (row) => row.flow.messages },
        { head: "Failed", number: true, get: (row) => row.flow.failed_messages, bad: (row) => row.flow.failed_messages > 0 },
        { head: "Completion, median", number: true, get: (row) => row.flow.completion_ns.p50, show: formats.quantile_ns, longest: (row) => row.flow.completion_ns.max },
        { head: "99 %", number: true, get: (row) => row.flow.completion_ns.p99, show: formats.quantile_ns, longest: (row) => row.flow.completion_ns.max },
        { head: "Sent again", number: true, get: (row) => row.flow.retransmitted_packets },
        { head: "CNPs", number: true, get: (row) => row.flow.cnp_received_packets },
        { head: "Paused", number: true, get: (row) => row.flow.paused_ns, show: formats.ns },
    ], "The fabric has no flows.");
    const collectives = live_table("Collectives: steps that all ranks have ended", collective_columns, "The fabric has no collectives.");
    const balance = live_table("ECMP groups, the most uneven first", balance_columns, "No switch chooses among cables.");
    const events = events_table();
    const cause = element("div");

    function take(fabric) {
        if (moments.length > 0 && fabric.end_ns === latest().end_ns) moments.pop();  // a clock that stands
        moments.push(fabric);
        if (moments.length > of_rates + 1) moments.shift();
    }
    function show() {
        const fabric = latest();
        head.show(fabric.verdict, [["fabric", fabric.fabric], ["virtual time", formats.ns(fabric.end_ns, 6)], ["lossless packets", count(fabric.verdict.lossless_packets)],
            ["sent", count(fabric.ledger.sent)], ["delivered", count(fabric.ledger.delivered)], ["dropped", count(fabric.ledger.dropped)],
            ["in switches", count(fabric.ledger.queued)], ["on cables", count(fabric.ledger.on_wire)]]);
        if (after) cause.replaceChildren(first_cause(fabric.pause_trees) ?? "");
        const span = formats.ns(fabric.end_ns - (after ? 0 : moments[0].end_ns));
        links.title.textContent = after ? `Links, each direction: rates are means of the whole run of ${span}`
            : moments.length < 2 ? "Links, each direction: totals since the start; rates come with the clock" : `Links, each direction: rates of the last ${span} of the clock, totals since the start`;
        switches.update(Object.entries(fabric.switches).map(([key, of]) => ({ key, of })));
        links.update(Object.entries(fabric.links).flatMap(([name, { speed_bps, cut, directions }]) => directions.map((direction, n) => ({ key: `${name} ${n}`, name, n, speed_bps, cut, direction }))));
        flows.update(fabric.flows.slice(0, max_flows).map((flow) => ({ key: flow.name, flow })));
        collectives.update(fabric.collectives.map((row) => ({ key: row.name, ...row })));
        balance.update(fabric.balance.map((row) => ({ key: `${row.switch} ${row.links.join(" ")}`, ...row })));
        events.update(event_rows(fabric.events, after ? 1000 : 30));
    }

    const root = element("div", { class: "view" }, head.nodes);
    head.facts.before(cause);
    root.append(
        section("switches", "Switches", ...switches.nodes),
        section("links", "Links", ...links.nodes),
        section("flows", "Flows", ...flows.nodes),
        section("collectives", "Collectives", ...collectives.nodes),
        section("balance", "ECMP balance", ...balance.nodes),
        section("fabric-events", "Events", ...events.nodes),
        after ? element("p", { class: "note" }, "Where pauses began, and rates and depths over time: sluice-fabric report, on the run's folder.") : "");
    head.facts.after(contents(root));
    const wait = (text) => {
        moments.length = 0;
        head.wait(text);
        for (const each of [switches, links, flows, collectives, balance, events]) each.update([]);
    };
    return { root, take, show, wait, has_data: () => moments.length > 0 };
}
