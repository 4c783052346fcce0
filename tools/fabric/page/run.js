// A run: its verdict, and what it came to as a whole and by phase.
"use strict";

function verdict_of(run) {
    if (!run.verdict) return ["bad", `It did not run: ${(run.errors ?? []).join("; ")}`];
    const failed = run.asserts.filter((each) => each.met !== true).length;
    const lossless = run.verdict.lossless;
    const loss = lossless === null ? "no lossless packet was sent" : lossless ? "lossless" : run.verdict.headline;
    const asserts = run.asserts.length === 0 ? "it asserts nothing"
        : failed === 0 ? `${run.asserts.length} of ${plural(run.asserts.length, "assertion")} hold`
            : `${failed} of ${plural(run.asserts.length, "assertion")} ${failed === 1 ? "is" : "are"} false`;
    const text = `${loss}; ${asserts}${run.verdict.interrupted ? "; interrupted" : ""}${run.errors?.length ? `; ${run.errors.join("; ")}` : ""}`;
    // What a scenario asserts is what is good; loss that it allows is told all the same.
    const state = failed || run.errors?.length || (lossless === false && run.asserts.length === 0) ? "bad" : lossless === false || run.verdict.interrupted ? "open" : "good";
    return [state, text[0].toUpperCase() + text.slice(1)];
}

function facts(pairs) {
    return element("ul", { class: "facts" }, pairs.map(([name, value]) => element("li", {}, element("b", {}, name), value)));
}

function assertions(run) {
    if (run.asserts.length === 0) return [element("p", { class: "note" }, "The scenario asserts nothing.")];
    return table("Each with its figure, and where to look", [
        { head: "Holds", get: (each) => element("span", { class: each.met === true ? "met" : "false" }, each.met === true ? "\u2713 holds" : "\u2717 FALSE") },
        { head: "Assertion", get: (each) => each.that, code: true },
        { head: "Phase", get: (each) => each.phase ?? "whole run" },
        { head: "Figure", get: (each) => (each.wrong ? each.wrong : each.value), show: (value) => (typeof value === "number" ? `${count(value)}` : value) },
        { head: "Where", get: (each) => each.where ?? "", code: true },
        { head: "Why", get: (each) => each.why ?? "" },
    ], run.asserts);
}

const paused_share = (direction, length_ns) => Math.max(0, ...Object.values(direction.paused_ns)) / Math.max(length_ns, 1);

function link_table(part) {
    const length = part.to_ns - part.from_ns;
    const rows = part.links.flatMap((link) => link.directions.map((direction) => ({ link, direction })));
    return table(`Links, ${part.name}: each direction`, [
        { head: "Link", get: (row) => row.link.name },
        { head: "From", get: (row) => row.direction.from },
        { head: "To", get: (row) => row.direction.to },
        { head: "Speed", get: (row) => row.link.speed_bps, show: formats.bps },
        { head: "Load", get: (row) => row.direction.load_ppm, show: formats.ppm },
        { head: "Paused", get: (row) => Math.round(paused_share(row.direction, length) * 1e6), show: formats.ppm },
        { head: "Packets", get: (row) => row.direction.packets },
        { head: "Lost", get: (row) => row.direction.lost_on_wire + row.direction.lost_into_cut },
    ], rows);
}

function flow_table(part) {
    const quantile = (name, head) => ({ head, get: (flow) => flow.completion_ns[name], show: formats.quantile_ns, longest: (flow) => flow.completion_ns.max });
    return table(`Flows, ${part.name}`, [
        { head: "Flow", get: (flow) => flow.name },
        { head: "Queue pairs", get: (flow) => flow.queue_pairs },
        { head: "Throughput", get: (flow) => flow.throughput_bps, show: formats.bps },
        { head: "Messages", get: (flow) => flow.messages },
        { head: "Failed", get: (flow) => flow.failed_messages },
        quantile("p50", "Completion p50"), quantile("p99", "p99"), { head: "max", get: (flow) => flow.completion_ns.max, show: formats.ns },
        { head: "Slowdown p99", get: (flow) => flow.slowdown_permille.p99, show: formats.quantile_permille, longest: (flow) => flow.slowdown_permille.max },
        { head: "Sent again", get: (flow) => flow.retransmitted_packets },
        { head: "CNPs", get: (flow) => flow.cnp_received_packets },
        { head: "Paused", get: (flow) => flow.paused_ns, show: formats.ns },
    ], part.flows);
}

function queue_table(part) {
    return table(`Queues that held packets, ${part.name}`, [
        { head: "Switch", get: (queue) => queue.switch },
        { head: "Port", get: (queue) => queue.port },
        { head: "Queue", get: (queue) => queue.queue },
        { head: "Deepest", get: (queue) => queue.deepest_bytes, show: formats.bytes },
        { head: "Packets sent", get: (queue) => queue.tx_packets },
        { head: "Marked", get: (queue) => queue.ecn_marked_packets },
        { head: "Dropped", get: (queue) => queue.dropped_packets },
    ], [...part.queues].sort((a, b) => b.deepest_bytes - a.deepest_bytes), 15);
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
    const victims = tree.victims === 0 ? [] : [element("p", {}, `${plural(tree.victims, "flow")} of those hosts had nothing to do with it: `,
        tree.worst_victims.slice(0, 5).map((each) => `${each.flow} from ${each.from} to ${each.to} (${formats.ns(each.waited_ns)})`).join(", "), tree.victims > 5 ? ", \u2026" : ".")];
    return [element("h3", {}, tree.text), element("p", { class: "note" }, figure(tree.paused_ns, formats.ns), ` in all, ${plural(tree.pauses, "pause")}, up to ${plural(tree.hops, "hop")}, ${plural(Object.keys(tree.hosts).length, "host")} waited`),
        list(root, true), more, victims];
}

function pause_section(run) {
    const whole = run.parts[0].pauses;
    const by_phase = run.parts.length < 2 ? [] : table("Pauses by phase", [
        { head: "Phase", get: (part) => part.name },
        { head: "Pauses", get: (part) => part.pauses.count },
        { head: "Sum", get: (part) => part.pauses.paused_ns, show: formats.ns },
        { head: "Longest", get: (part) => part.pauses.longest_ns, show: formats.ns },
    ], run.parts.slice(1));
    const trees = run.pause_trees.slice(0, 10).map(pause_tree).flat();
    const cycles = run.pause_cycles.map((each) => element("p", { class: "false" }, `Circle at ${formats.ns(each.at_ns)}: ${each.text}`));
    if (whole.count === 0) return [element("p", {}, "No host or switch was paused.")];
    return [element("p", {}, `${plural(whole.count, "pause")}, from where each began down to who waited for it.`), cycles, trees,
        run.pause_trees.length > 10 ? element("p", { class: "note" }, `and ${run.pause_trees.length - 10} more roots in the report`) : null, by_phase];
}

function ledger_section(run) {
    const ledger = run.ledger;
    const entries = Object.entries(ledger).filter(([, value]) => typeof value === "number");
    const losses = Object.entries(ledger.dropped_by).flatMap(([place, reasons]) => Object.entries(reasons).map(([reason, frames]) => ({ place, reason, frames })));
    return [table(`Every frame; the ledger ${ledger.balanced ? "balances" : "does NOT balance"}`, [
        { head: "Frames", get: ([name]) => name.replaceAll("_", " ") }, { head: "Number", get: ([, value]) => value },
    ], entries),
        losses.length === 0 ? element("p", {}, "Nothing was lost.") : table("Lost", [
            { head: "Place", get: (row) => row.place }, { head: "Reason", get: (row) => row.reason }, { head: "Frames", get: (row) => row.frames },
        ], losses)];
}

function run_page(root, run) {
    const [state, text] = verdict_of(run);
    root.append(element("p", { class: `verdict ${state}`, id: "verdict" }, text));
    if (!run.verdict) return;
    const whole = run.parts[0];
    const deepest = Math.max(0, ...whole.queues.map((queue) => queue.deepest_bytes));
    const rate = whole.flows.reduce((sum, flow) => sum + flow.throughput_bps, 0);
    root.append(facts([
        ["Fabric", run.fabric], ["Seed", figure(run.seed, count)], ["Virtual time", figure(run.end_ns, formats.ns)],
        ["Lossless packets lost", figure(run.verdict.lost_packets, count)], ["Throughput of all flows", figure(rate, formats.bps)],
        ["Deepest queue", figure(deepest, formats.bytes)], ["Pauses", figure(whole.pauses.count, count)],
    ]));
    if (run.verdict.reasons.length > 0) root.append(element("ul", {}, run.verdict.reasons.map((reason) => element("li", {}, reason))));

    root.append(first_cause(run.pause_trees) ?? "");

    const by_part = element("div");
    const topology = topology_chart(run, () => part);
    let part = whole;
    const fill = () => {
        by_part.replaceChildren(...[flow_table(part), queue_table(part)].flat().filter(Boolean));
        links.replaceChildren(...link_table(part));
        topology.draw();
    };
    const links = element("div");
    const pick = () => (run.parts.length < 2 ? null : choice("Figures of", run.parts.map((each) => each.name), (n) => {
        part = run.parts[n];
        for (const select of selects) select.querySelector("select").selectedIndex = n;
        fill();
    }));
    const selects = [pick(), pick()].filter(Boolean);
    root.append(
        section("assertions", "Assertions", assertions(run)),
        section("topology", "Topology: load and pauses", element("div", { class: "controls" }, selects[0] ?? null), topology.box, topology_legend(run), folded("Every link as a table", links)),
        section("time", "Rates and queues over time", time_section(run)),
        section("completion", "Completion times of messages", completion_section(run)),
        section("pauses", "Pauses and where they began", pause_section(run)),
        section("flows", "Flows and queues", element("div", { class: "controls" }, selects[1] ?? null), by_part),
        ...(run.collectives.length > 0 ? [section("collectives", "Collectives", table("Steps that all ranks have ended", collective_columns, run.collectives))] : []),
        ...(run.balance.length > 0 ? [section("balance", "ECMP balance", table("ECMP groups, the most uneven first", balance_columns, run.balance))] : []),
        section("ledger", "Ledger", ledger_section(run)),
    );
    if (run.events.length > 0)
        root.append(section("events", "Events", table("What happened to the fabric", [
            { head: "At", get: (event) => event.at_ns, show: formats.ns }, { head: "Kind", get: (event) => event.kind }, { head: "Event", get: (event) => event.text },
        ], run.events)));
    fill();
}
