// A fabric: its verdict, its figures as a whole and by phase, its switches, each a link to its own view, its links and its flows. While it
// runs, rates are those of the last ten moments; after the end, the means of the whole run or of the phase.
"use strict";

// A run is good when its assertions hold; the text names loss that they allow, too. [class, text]
function verdict_of(run) {
    const errors = run.errors.join("; ");
    if (!run.fabric) return ["bad", `It did not run: ${errors}`];
    const { verdict: { lossless, headline, interrupted }, asserts } = run.fabric;
    const failed = asserts.filter((each) => each.met !== true).length;
    const loss = lossless === null ? "no lossless packet was sent" : lossless ? "lossless" : headline;
    const said = asserts.length === 0 ? "it asserts nothing"
        : failed === 0 ? `${asserts.length} of ${plural(asserts.length, "assertion")} hold`
            : `${failed} of ${plural(asserts.length, "assertion")} ${failed === 1 ? "is" : "are"} false`;
    const text = `${loss}; ${said}${interrupted ? "; interrupted" : ""}${errors ? `; ${errors}` : ""}`;
    const state = failed || errors || (lossless === false && asserts.length === 0) ? "bad" : lossless === false || interrupted ? "open" : "good";
    return [state, text[0].toUpperCase() + text.slice(1)];
}

function assertions(asserts) {
    if (asserts.length === 0) return [element("p", { class: "note" }, "The scenario asserts nothing.")];
    return table("Each with its figure, and where to look", [
        { head: "Holds", get: (each) => element("span", { class: each.met === true ? "met" : "false" }, each.met === true ? "\u2713 holds" : "\u2717 FALSE") },
        { head: "Assertion", get: (each) => each.that, code: true },
        { head: "Phase", get: (each) => each.phase ?? "whole run" },
        { head: "Figure", get: (each) => (each.wrong ? each.wrong : each.value) },
        { head: "Where", get: (each) => each.where, code: true },
        { head: "Why", get: (each) => each.why },
    ], asserts);
}

// Chains that share their end, as a tree from where the pauses began to the hosts that waited.
function pause_tree(tree) {
    const root = new Map();
    for (const chain of tree.chains) {
        let level = root;
        for (const name of [...chain.nodes].reverse()) {
            if (!level.has(name)) level.set(name, { ns: 0, pauses: 0, below: new Map() });
            const node = level.get(name);
            node.ns += chain.paused_ns;
            node.pauses += chain.pauses;
            level = node.below;
        }
    }
    const list = (level, first) => element("ul", { class: first ? "tree" : null }, [...level].map(([name, node]) =>
        element("li", {}, element("b", {}, name), first ? " " : " waited ", figure(node.ns, formats.ns), ` in ${plural(node.pauses, "pause")}`,
            node.below.size > 0 ? list(node.below, false) : null)));
    const more = tree.chains.length >= 20 ? [element("p", { class: "note" }, "The 20 longest chains; the report has the sums.")] : [];
    const victims = tree.victims === 0 ? [] : [element("p", {}, `${plural(tree.victims, "flow")} of those hosts ${tree.victims === 1 ? "was a victim" : "were victims"} (their packets do not go there): `,
        tree.worst_victims.slice(0, 5).map((each) => `${each.flow} from ${each.from} to ${each.to} (${formats.ns(each.waited_ns)})`).join(", "), tree.victims > 5 ? ", \u2026" : ".")];
    return [element("h3", {}, tree.text), element("p", { class: "note" }, figure(tree.paused_ns, formats.ns), ` in all, ${plural(tree.pauses, "pause")}, up to ${plural(tree.hops, "hop")}, ${plural(Object.keys(tree.hosts).length, "host")} waited`),
        list(root, true), more, victims];
}

function pause_section(fabric) {
    const { pauses: { count }, pause_trees, pause_cycles, phases } = fabric;
    if (count === 0) return [element("p", {}, "No host or switch was paused.")];
    const by_phase = Object.keys(phases).length === 0 ? [] : table("Pauses by phase", [
        { head: "Phase", get: ([name]) => name },
        { head: "Pauses", get: ([, { pauses }]) => pauses.count },
        { head: "Sum", get: ([, { pauses }]) => pauses.paused_ns, show: formats.ns },
        { head: "Longest", get: ([, { pauses }]) => pauses.longest_ns, show: formats.ns },
    ], Object.entries(phases));
    return [pause_chart(fabric), element("p", {}, `${plural(count, "pause")}, each from its root down to the hosts that waited.`),
        pause_cycles.map((each) => element("p", { class: "false" }, `Circle at ${formats.ns(each.at_ns)}: ${each.text}`)),
        pause_trees.slice(0, 10).map(pause_tree),
        pause_trees.length > 10 ? element("p", { class: "note" }, `and ${pause_trees.length - 10} more roots in the report`) : null, by_phase];
}

function ledger_section(ledger) {
    const entries = Object.entries(ledger).filter(([, value]) => typeof value === "number");
    const losses = Object.entries(ledger.dropped_by).flatMap(([place, reasons]) => Object.entries(reasons).map(([reason, frames]) => ({ place, reason, frames })));
    return [table(`Every frame; the ledger ${ledger.balanced ? "balances" : "does NOT balance"}`, [
        { head: "Frames", get: ([name]) => name.replaceAll("_", " ") }, { head: "Number", get: ([, value]) => value },
    ], entries),
        losses.length === 0 ? element("p", {}, "Nothing was lost.") : table("Lost", [
            { head: "Place", get: (row) => row.place }, { head: "Reason", get: (row) => row.reason }, { head: "Frames", get: (row) => row.frames },
        ], losses)];
}

const paused_ns_of = (direction) => Math.max(0, ...Object.values(direction.paused_ns));

// `link_to(name)`: of a switch. `run`: what has ended; null: what is told while it runs.
function fabric_view(link_to, run) {
    const of_rates = 10;
    const most = 200;
    const after = run !== null;
    const moments = [];  // of the fabric, the latest last
    const latest = () => moments[moments.length - 1];
    // The whole and each phase have the same figures; `before`: those of links from which on they count.
    const parts = () => {
        const fabric = latest();
        const whole = after ? { ...fabric, name: "the whole run", from_ns: 0, to_ns: fabric.end_ns } : { ...fabric, from_ns: moments[0].end_ns, to_ns: fabric.end_ns, before: moments[0].links };
        return [whole, ...Object.entries(fabric.phases ?? {}).map(([name, phase]) => ({ ...phase, name }))];
    };
    let chosen = 0;
    const part = () => parts()[chosen];

    const head = head_of_view();
    const cause = element("div");
    const switches = live_table("Switches: totals since the start", [
        { head: "Switch", get: (row) => element("a", { href: link_to(row.key) }, row.key) },
        { head: "Tier", get: (row) => row.of.tier },
        { head: "Lossless", get: (row) => (row.of.verdict.lossless === null ? "no lossless packets" : row.of.verdict.lossless ? "yes" : "NO"), bad: (row) => row.of.verdict.lossless === false },
        { head: "Lost", get: (row) => row.of.verdict.lost_packets, bad: (row) => row.of.verdict.lost_packets > 0 },
        { head: "In", get: (row) => row.of.ledger.rx },
        { head: "Out", get: (row) => row.of.ledger.tx },
        { head: "Dropped", get: (row) => row.of.ledger.dropped },
        { head: "Queued", get: (row) => row.of.ledger.queued },
    ], "The fabric has no switches.", most);
    const links = live_table("Links, each direction", [
        { head: "Link", get: (row) => row.name },
        { head: "From", get: (row) => row.direction.from },
        { head: "To", get: (row) => row.direction.to },
        { head: "Cable", get: (row) => (row.cut ? "cut" : "whole"), bad: (row) => row.cut },
        { head: "Speed", get: (row) => row.speed_bps, show: formats.bps },
        { head: "Rate", get: (row) => row.rate((direction) => 8 * direction.bytes), show: formats.bps },
        { head: "Load", get: (row) => row.direction.load_ppm, show: formats.ppm },
        { head: "Sender paused", get: (row) => { const share = row.rate(paused_ns_of); return share === null ? null : share / 1e9; }, show: percent },
        { head: "Packets", get: (row) => row.direction.packets },
        { head: "Lost", get: (row) => row.direction.lost_on_wire + row.direction.lost_into_cut, bad: (row) => row.direction.lost_on_wire + row.direction.lost_into_cut > 0 },
    ], "The fabric has no links.", most);
    const flows = live_table("Flows: totals since the start", [
        { head: "Flow", get: (row) => row.flow.name },
        { head: "Queue pairs", get: (row) => row.flow.queue_pairs },
        { head: "Throughput", get: (row) => row.flow.throughput_bps, show: formats.bps },
        { head: "Messages", get: (row) => row.flow.messages },
        { head: "Failed", get: (row) => row.flow.failed_messages, bad: (row) => row.flow.failed_messages > 0 },
        ...quantile_columns("Completion", (row) => row.flow.completion_ns),
        { head: "Slowdown p99", get: (row) => row.flow.slowdown_permille.p99, show: formats.quantile_permille, longest: (row) => row.flow.slowdown_permille.max },
        { head: "Sent again", get: (row) => row.flow.retransmitted_packets },
        { head: "CNPs", get: (row) => row.flow.cnp_received_packets },
        { head: "Paused", get: (row) => row.flow.paused_ns, show: formats.ns },
    ], "The fabric has no flows.", most);
    const queues = live_table("Queues that held packets", [
        { head: "Switch", get: (queue) => queue.switch },
        { head: "Port", get: (queue) => queue.port },
        { head: "Queue", get: (queue) => queue.queue },
        { head: "Deepest", get: (queue) => queue.deepest, show: formats.bytes },
        { head: "Packets sent", get: (queue) => queue.tx_packets ?? 0 },
        { head: "Marked", get: (queue) => queue.ecn_marked_packets ?? 0 },
        { head: "Dropped", get: (queue) => queue.dropped_packets ?? 0 },
        { head: "Trimmed", get: (queue) => queue.trimmed_packets ?? 0 },
    ], "No queue held a packet.", 15);
    const collectives = live_table("Collectives: steps that all ranks have ended", [
        { head: "Collective", get: (row) => row.key },
        { head: "Ranks", get: (row) => row.ranks },
        { head: "Steps", get: (row) => row.steps },
        ...quantile_columns("Step", (row) => row.step_ns),
        { head: "Bus bandwidth", get: (row) => row.bus_bandwidth_bps, show: formats.bps },
        { head: "State", get: (row) => row.state },
        { head: "Last in most steps", get: ({ straggler: { host, steps, by_ns } }) => (host === null ? "" : `${host} in ${plural(steps, "step")}, by ${formats.ns(by_ns)}`) },
        { head: "Slowest path", get: ({ slowest_path: { from, to, over_median_permille } }) => (from === null ? "" : `${from} to ${to}, ${formats.permille(over_median_permille)} of the median`) },
    ], "The fabric has no collectives.");
    const schedules = live_table("Schedules: means over their ranks", [
        { head: "Schedule", get: (row) => row.key },
        { head: "Ranks", get: (row) => row.ranks },
        { head: "Operations", get: (row) => `${row.ended_operations} of ${row.operations}` },
        { head: "Time", get: (row) => row.completion_ns, show: formats.ns },
        { head: "Compute", get: (row) => row.compute_ns, show: formats.ns },
        { head: "Waiting exposed", get: (row) => row.exposed_ns, show: formats.ns },
        { head: "Hidden", get: (row) => row.hidden_ns, show: formats.ns },
        { head: "State", get: (row) => row.state },
        { head: "Last", get: ({ straggler: { host, by_ns } }) => (host === null ? "" : `${host}, by ${formats.ns(by_ns)}`) },
        { head: "Longest wait, or what ranks wait for", get: ({ state, waiting: [waits], slow_operations: [slow] }) => (state !== "done" && waits ? `rank ${waits.rank} (${waits.host}) ${waits.operation}` : slow?.why ?? "") },
    ], "The fabric has no schedules.");
    const jobs = live_table("Jobs", [
        { head: "Job", get: (row) => row.key },
        { head: "Hosts", get: (row) => row.hosts },
        { head: "Steps", get: (row) => row.steps },
        ...quantile_columns("Step", (row) => row.step_ns),
        { head: "Completion", get: (row) => row.completion_ns, show: formats.ns },
        { head: "Compute", get: (row) => row.compute_ns, show: formats.ns },
        { head: "Communication exposed", get: (row) => row.exposed_ns, show: formats.ns },
        { head: "Hidden", get: (row) => row.hidden_ns, show: formats.ns },
        { head: "Bus bandwidth", get: (row) => row.bus_bandwidth_bps, show: formats.bps },
        { head: "State", get: (row) => row.state },
        { head: "Lost to others", get: (row) => row.lost_to ?? "" },
        { head: "Slowest step", get: ({ slow_steps: [slow] }) => slow?.why ?? "" },
    ], "The fabric has no jobs.");
    const balance = live_table("ECMP groups, the most uneven first", [
        { head: "Switch", get: (row) => row.switch },
        { head: "Cables", get: (row) => row.links.join(", ") },
        { head: "Mean load", get: (row) => row.mean_load_ppm, show: formats.ppm },
        { head: "Busiest over mean", get: (row) => row.max_over_mean_permille, show: formats.permille },
        { head: "Jain's index", get: (row) => row.jain_permille, show: (value) => (value / 1000).toFixed(3) },
    ], "No switch chooses among cables.", most);
    const events = events_table();

    // `rate`: of a counter of the direction, a second; null while there is one moment.
    function link_rows({ links: all, before, from_ns, to_ns }) {
        return Object.entries(all).flatMap(([name, { speed_bps, cut, directions }]) => directions.map((direction, n) => ({
            key: `${name} ${n}`, name, speed_bps, cut, direction,
            rate: (get) => {
                const start = before ? own(before, name)?.directions[n] : null;
                return to_ns > from_ns && start !== undefined ? ((get(direction) - (start ? get(start) : 0)) * 1e9) / (to_ns - from_ns) : null;
            },
        })));
    }
    // Those that sent or held something; what a phase leaves out is zero.
    function queue_rows({ switches: all }) {
        return Object.entries(all).flatMap(([name, { ports }]) => Object.entries(ports ?? {}).flatMap(([port, of]) => (of.queues ?? []).map((queue, n) => ({
            key: `${name} ${port}.${n}`, switch: name, port, queue: n, ...queue, deepest: queue.deepest_bytes ?? queue.user_deepest_bytes ?? 0,
        })))).filter((queue) => queue.tx_packets || queue.dropped_packets || queue.deepest).sort((a, b) => b.deepest - a.deepest);
    }

    function take(fabric) {
        if (moments.length > 0 && fabric.end_ns === latest().end_ns) moments.pop();  // a clock that stands
        moments.push(fabric);
        if (moments.length > of_rates + 1) moments.shift();
    }
    function show() {
        const fabric = latest();
        const now = part();
        const held = queue_rows(parts()[0]);
        head.show(fabric.verdict, [["fabric", fabric.fabric], ["seed", count(fabric.seed)], ["virtual time", formats.ns(fabric.end_ns, 6)],
            ["lossless packets", count(fabric.verdict.lossless_packets)], ["of them lost", count(fabric.verdict.lost_packets)],
            ["throughput of all flows", formats.bps(fabric.flows.reduce((all, flow) => all + flow.throughput_bps, 0))],
            ...(after ? [["deepest queue", formats.bytes(held[0]?.deepest ?? 0)], ["pauses", count(fabric.pauses.count)]] : []),
            ["sent", count(fabric.ledger.sent)], ["delivered", count(fabric.ledger.delivered)], ["dropped", count(fabric.ledger.dropped)],
            ["in switches", count(fabric.ledger.queued)], ["on cables", count(fabric.ledger.on_wire)]], after ? verdict_of(run) : undefined);
        const span = formats.ns(now.to_ns - now.from_ns);
        links.title.textContent = after ? `Links, each direction: rates are means of ${now.name} of ${span}`
            : moments.length < 2 ? "Links, each direction: totals since the start; rates come with the clock" : `Links, each direction: rates of the last ${span} of the clock, totals since the start`;
        if (after) flows.title.textContent = `Flows, ${now.name}`;
        switches.update(Object.entries(fabric.switches).map(([key, of]) => ({ key, of })));
        links.update(link_rows(now));
        flows.update(now.flows.map((flow) => ({ key: flow.name, flow })));
        queues.update(queue_rows(now));
        jobs.update(Object.entries(fabric.jobs ?? {}).map(([key, row]) => ({ key, ...row })));
        collectives.update(fabric.collectives.map((row) => ({ key: row.name, ...row })));
        schedules.update((fabric.schedules ?? []).map((row) => ({ key: row.name, ...row })));
        balance.update(fabric.balance.map((row) => ({ key: `${row.switch} ${row.links.join(" ")}`, ...row })));
        events.update(event_rows(fabric.events, after ? 1000 : 30));
    }

    const root = element("div", { class: "view" }, head.nodes);
    head.facts.before(cause);
    const sections_of = (...sections) => root.append(...sections.filter(Boolean));
    const picks = [];
    let topology = null;
    const pick = () => {
        if (!after || parts().length < 2) return null;
        picks.push(choice("Figures of", parts().map((each) => each.name), (n) => {
            chosen = n;
            for (const each of picks) each.querySelector("select").selectedIndex = n;
            show();
            topology.draw();
        }));
        return element("div", { class: "controls" }, picks[picks.length - 1]);
    };
    if (after) {
        const { fabric, series } = run;
        take(fabric);
        const [first] = fabric.pause_trees;
        if (first)
            cause.append(element("p", { class: "cause" }, "Pauses began here: ", element("b", {}, first.text), `: ${formats.ns(first.paused_ns)} in ${plural(first.pauses, "pause")}`));
        topology = topology_chart(fabric, part);
        sections_of(
            section("assertions", "Assertions", assertions(fabric.asserts)),
            section("topology", "Topology: load and pauses", pick(), topology.box, topology_legend(fabric)),
            section("time", "Rates and queues over time", time_section(fabric, series)),
            section("completion", "Slowdown and completion times of messages", completion_section(fabric, series)),
            section("pauses", "Pauses and where they began", pause_section(fabric)));
    }
    sections_of(
        section("switches", "Switches", switches.nodes),
        section("links", "Links", pick(), links.nodes),
        section("flows", after ? "Flows and queues" : "Flows", pick(), flows.nodes, after ? queues.nodes : null),
        after && section("jobs", "Jobs", jobs.nodes),
        section("collectives", "Collectives", collectives.nodes),
        section("schedules", "Schedules", schedules.nodes),
        section("balance", "ECMP balance", balance.nodes),
        after && section("ledger", "Ledger", ledger_section(run.fabric.ledger)),
        section("events", "Events", events.nodes));
    head.facts.after(contents(root));
    const wait = (text) => {
        if (after) return;
        moments.length = 0;
        head.wait(text);
        for (const each of [switches, links, flows, queues, collectives, schedules, balance, events]) each.update([]);
    };
    return { root, take, show, wait, has_data: () => moments.length > 0 };
}
