// A switch as tables and lines: of moments that it tells of while it runs, or of its report after the end. A rate is that of the last ten
// moments; after the end, the mean of the whole run.
"use strict";

// `ask(at)`: asks why at a port, "" for all; a promise of answers. `report`: after the end, when there is no switch to ask.
function switch_view(ask, report = null) {
    const kept = 300;    // moments
    const of_rates = 10;
    const max_lines = 8;
    const max_queues = 40;
    const after = report !== null;

    // --- what was told ---
    const moments = [];  // {at_ns, report, thresholds}
    const latest = () => moments[moments.length - 1];
    // The rate of a counter at the nth moment, a second; null while there is one moment.
    const rate_at = (n, get) => {
        const before = after ? { at_ns: 0 } : moments[Math.max(0, n - of_rates)];
        const took = moments[n].at_ns - before.at_ns;
        const [from, to] = [after ? 0 : get(before.report), get(moments[n].report)];
        return took > 0 && from !== undefined && to !== undefined ? ((to - from) * 1e9) / took : null;
    };
    const rate = (get) => rate_at(moments.length - 1, get);

    // --- lines over the last minutes ---
    const over_time = [];  // charts, and the names of their lines now
    // `names`: of lines now; `value(name, n)`: at a moment. `marks`: [{at, name}], thresholds.
    function lines_over_time(label, format, names, value, marks = () => []) {
        const { box } = chart(label, 260, (colors, width) => {
            const shown = names();
            const times = moments.map((moment) => moment.at_ns);
            const thresholds = marks();
            return {
                ...frame(label, format, colors, width, [times[0] ?? 0, times[times.length - 1] ?? 1], [...shown, ...thresholds.map(({ name }) => name)]),
                series: [...shown.map((name, n) => ({ name, type: "line", showSymbol: moments.length < 2, color: color_of(n), lineStyle: { type: dash_of(n), width: 1.6 },
                    data: moments.map((moment, at) => [moment.at_ns, value(name, at)]) })),
                ...thresholds.map(({ at, name }) => ({ name, type: "line", showSymbol: false, color: colors.soft, lineStyle: { type: "dashed", width: 1 },
                    data: [[times[0] ?? 0, at], [times[times.length - 1] ?? 1, at]] }))],
            };
        });
        over_time.push({ box, names });
        return box;
    }
    function frame(label, format, colors, width, [from, to], names) {
        const above = legend_of(names, width, colors);
        return {
            ...above,
            aria: { enabled: true, label: { description: label } },
            grid: { left: 78, right: 34, top: 34 + above.taller, bottom: 34 },
            tooltip: { trigger: "axis", ...tooltip_style(colors), formatter: (hovered) => tip(formats.ns(hovered[0].value[0], 6),
                hovered.filter((each) => each.value[1] !== null).map((each) => [each.color, each.seriesName, format(each.value[1])])) },
            xAxis: { type: "value", min: from, max: to, ...axis_style(colors), splitLine: { show: false },
                axisLabel: { color: colors.soft, formatter: (at) => formats.ns(at, 4), hideOverlap: true } },
            yAxis: { type: "value", min: 0, ...axis_style(colors), axisLabel: { color: colors.soft, formatter: (at) => format(at) } },
        };
    }
    // After the end the report has no depths over time, but microbursts: from beginning to end the queue stayed above half of the
    // threshold, and at one instant it was at its peak.
    function microburst_lines() {
        return chart("Microbursts over time: how long each lasted, and its peak at its instant", 260, (colors, width) => {
            const { microbursts, end_ns } = latest().report;
            const queues = new Map();
            for (const burst of microbursts) {
                const name = `${burst.port}.${burst.queue}`;
                if (!queues.has(name) && queues.size === max_lines) continue;
                const points = queues.get(name) ?? [];
                const to = burst.start_ns + burst.length_ns;
                const least = burst.threshold_bytes / 2;
                points.push([burst.start_ns, least], [burst.peak_at_ns, least], { value: [burst.peak_at_ns, burst.peak_bytes], symbol: "circle" },
                    [burst.peak_at_ns, least], [to, least], [to, null]);
                queues.set(name, points);
            }
            return {
                ...frame("Microbursts", formats.bytes, colors, width, [0, end_ns], [...queues.keys()]),
                series: [...queues].map(([name, data], n) => ({ name, type: "line", symbol: "none", symbolSize: 6, showAllSymbol: true, color: color_of(n), lineStyle: { type: dash_of(n), width: 1.6 }, data })),
            };
        }).box;
    }

    const each_port = (report) => Object.entries(report.ports).map(([name, port]) => ({ key: name, name, port }));
    const of_port = (name, get) => (report) => (own(report.ports, name) ? get(report.ports[name]) : undefined);
    const paused_share = (name, way) => rate(of_port(name, (port) => Math.max(...port.pfc[way]) / 1e9));
    const worst = (names, value) => names.map((name) => [name, value(name) ?? 0]).sort((a, b) => b[1] - a[1]).filter(([, got]) => got > 0).slice(0, max_lines).map(([name]) => name).sort();

    // Lines of a chart: the largest over all moments, not of the last alone.
    const largest = (names, value) => worst(names, (name) => Math.max(...moments.map((moment, n) => value(name, n) ?? 0)));
    const queue_names = () => each_port(latest().report).flatMap(({ name, port }) => port.queues.map((queue, n) => `${name}.${n}`));
    const queue_at = (name, n) => {
        const dot = name.lastIndexOf(".");
        return own(moments[n].report.ports, name.slice(0, dot))?.queues[Number(name.slice(dot + 1))]?.occupancy_bytes ?? null;
    };
    const deepest = () => (moments.length > 0 ? largest(queue_names(), queue_at) : []);
    const share_at = (name, n) => {
        const [port, way] = [name.slice(0, name.lastIndexOf(" ")), name.endsWith("Tx") ? "tx_paused_ns" : "rx_paused_ns"];
        const before = moments[Math.max(n - 1, 0)];
        const took = moments[n].at_ns - before.at_ns;
        const at = (report) => of_port(port, (of) => Math.max(...of.pfc[way]))(report) ?? 0;
        return took > 0 ? Math.min(1, Math.max(0, (at(moments[n].report) - at(before.report)) / took)) : 0;
    };
    const pausing = () => (moments.length > 0 ? largest(Object.keys(latest().report.ports).flatMap((name) => [`${name} Tx`, `${name} Rx`]), share_at) : []);

    const head = head_of_view();
    const ports = live_table("Ports", [
        { head: "Port", get: (row) => row.name },
        { head: "Link", get: (row) => (row.port.link_up ? "up" : "down"), bad: (row) => !row.port.link_up },
        { head: "In", get: (row) => rate(of_port(row.name, (port) => 8 * port.rx.bytes)), show: formats.bps },
        { head: "Out", get: (row) => rate(of_port(row.name, (port) => 8 * port.tx.bytes)), show: formats.bps },
        { head: "Marked", get: (row) => rate(of_port(row.name, (port) => port.queues.reduce((all, queue) => all + queue.ecn_marked_packets, 0))), show: per_second },
        { head: "CNPs out", get: (row) => rate(of_port(row.name, (port) => port.cnp_sent_packets)), show: per_second },
        { head: "Missed", get: (row) => row.port.missed_packets, bad: (row) => row.port.missed_packets > 0 },
        { head: "Dropped", get: (row) => sum(row.port.drops), bad: (row) => sum(row.port.lossless_drops) > 0 },
        { head: "Peer paused by us", get: (row) => paused_share(row.name, "tx_paused_ns"), show: percent },
        { head: "Paused by peer", get: (row) => paused_share(row.name, "rx_paused_ns"), show: percent, bad: (row) => paused_share(row.name, "rx_paused_ns") > 0.1 },
        { head: "Flaps", get: (row) => row.port.flaps },
    ], "The switch has no ports.");
    const queues = live_table("Queues that were used, the deepest first: totals since the start", [
        { head: "Queue", get: (row) => row.key },
        { head: "Now", get: (row) => row.queue.occupancy_bytes, show: formats.bytes },
        { head: "Deepest", get: (row) => row.queue.deepest_bytes, show: formats.bytes },
        { head: "Sent", get: (row) => row.queue.tx_packets },
        { head: "Marked", get: (row) => row.queue.ecn_marked_packets },
        { head: "Dropped", get: (row) => row.queue.dropped_packets, bad: (row) => row.queue.dropped_packets > 0 },
        { head: "Trimmed", get: (row) => row.queue.trimmed_packets ?? 0 },
        ...quantile_columns("Wait", (row) => row.queue.latency_ns),
    ], "No queue has held a packet.");
    const pauses = live_table("Pauses by port and priority since the start", [
        { head: "Port", get: (row) => row.key },
        { head: "Peer paused by us", get: (row) => row.pfc.tx_paused_ns[row.n], show: formats.ns },
        { head: "of the time", get: (row) => row.pfc.tx_paused_ns[row.n] / Math.max(row.end_ns, 1), show: percent },
        { head: "XOFF out", get: (row) => row.pfc.tx_xoff[row.n] },
        { head: "Paused by peer", get: (row) => row.pfc.rx_paused_ns[row.n], show: formats.ns },
        { head: "of the time", get: (row) => row.pfc.rx_paused_ns[row.n] / Math.max(row.end_ns, 1), show: percent },
        { head: "XOFF in", get: (row) => row.pfc.rx_xoff[row.n] },
    ], "No pauses.");
    const pools = live_table("Buffer: what pools share, and headroom", [
        { head: "Pool", get: (row) => row.name },
        { head: "In use", get: (row) => row.pool.used_bytes, show: formats.bytes },
        { head: "of", get: (row) => row.pool.shared_bytes, show: formats.bytes },
        { head: "", get: (row) => bar(row.pool.used_bytes, row.pool.shared_bytes, row.pool.used_bytes > 0.9 * row.pool.shared_bytes) },
        { head: "Highest", get: (row) => row.pool.watermark_bytes, show: formats.bytes },
        { head: "Headroom in use", get: (row) => row.pool.headroom_used_bytes, show: formats.bytes },
        { head: "of", get: (row) => row.pool.headroom_size_bytes, show: formats.bytes },
    ], "The switch has no pools.");
    const groups = live_table("Lossless priority groups", [
        { head: "Group", get: (row) => row.key },
        { head: "Paused now", get: (row) => (row.group.xoff ? "yes" : "no"), bad: (row) => row.group.xoff },
        { head: "XOFF", get: (row) => row.group.xoff_transitions },
        { head: "Shared", get: (row) => row.group.shared_bytes, show: formats.bytes },
        { head: "Highest", get: (row) => row.group.shared_watermark_bytes, show: formats.bytes },
        { head: "Headroom", get: (row) => bar(row.group.headroom_watermark_bytes, row.group.headroom_size_bytes, row.group.headroom_watermark_bytes > 0.8 * row.group.headroom_size_bytes) },
        { head: "at most", get: (row) => row.group.headroom_watermark_bytes, show: formats.bytes },
        { head: "of", get: (row) => row.group.headroom_size_bytes, show: formats.bytes },
        { head: "Overruns", get: (row) => row.group.headroom_overruns, bad: (row) => row.group.headroom_overruns > 0 },
    ], "No class is lossless.");
    const watchdog = live_table("PFC watchdog", [
        { head: "Queue", get: (row) => row.key },
        { head: "State", get: (row) => row.queue.state, bad: (row) => row.queue.detected > row.queue.restored },
        { head: "Action", get: (row) => row.queue.action },
        { head: "Storms", get: (row) => row.queue.detected },
        { head: "Restored", get: (row) => row.queue.restored },
        { head: "Dropped", get: (row) => row.queue.total_dropped },
        { head: "Passed", get: (row) => row.queue.total_passed },
    ], "The PFC watchdog watches no queue.");
    const ecmp = live_table("ECMP: share of each next hop since the start", [
        { head: "Group", get: (row) => row.group },
        { head: "Member", get: (row) => row.member },
        { head: "Packets", get: (row) => row.packets },
        { head: "Share", get: (row) => row.share, show: percent },
    ], "No route has several next hops.");
    const events = events_table();

    // --- why ---
    const answer = element("ul", { class: "answer", "aria-live": "polite" });
    const which = element("select", {});
    // An answer is a sentence, or a list: the sentence, then its evidence and the remedy.
    const answer_with = (answers) => answer.replaceChildren(...answers.map((said) => {
        const [sentence, ...evidence] = [said].flat();
        return element("li", {}, [sentence, ...(evidence.length > 0 ? [element("ul", {}, evidence.map((text) => element("li", {}, text)))] : [])]);
    }));
    const ask_now = async () => {
        answer.replaceChildren(element("li", { class: "note" }, "asking"));
        try {
            const answers = await ask(which.value);
            answer_with(answers.length > 0 ? answers : ["no packet was dropped, marked or paused there"]);
        } catch (error) {
            answer.replaceChildren(element("li", { class: "false" }, error.message));
        }
    };
    const offer_ports = (names) => {
        const known = [...which.options].map((option) => option.value).join(" ");
        if (known === ["", ...names].join(" ")) return;
        const chosen = which.value;
        which.replaceChildren(element("option", { value: "" }, "all ports"), ...names.map((name) => element("option", { value: name }, name)));
        which.value = names.includes(chosen) ? chosen : "";
    };

    // Queues that sent, held or dropped something.
    const queue_rows = (report) => each_port(report)
        .flatMap(({ name, port }) => port.queues.map((queue, n) => ({ key: `${name}.${n}`, queue })))
        .filter(({ queue }) => queue.tx_packets > 0 || queue.dropped_packets > 0 || queue.deepest_bytes > 0)
        .sort((a, b) => b.queue.deepest_bytes - a.queue.deepest_bytes || b.queue.tx_packets - a.queue.tx_packets).slice(0, max_queues);
    const pause_rows = ({ end_ns, ...report }) => each_port(report).flatMap(({ name, port: { pfc } }) =>
        pfc.tx_xoff.map((_, n) => ({ key: `${name}.${n}`, pfc, n, end_ns }))
            .filter(({ n }) => pfc.tx_xoff[n] > 0 || pfc.rx_xoff[n] > 0 || pfc.tx_paused_ns[n] > 0 || pfc.rx_paused_ns[n] > 0));

    function show() {
        const { report } = latest();
        head.show(report.verdict, [["clock", `${report.clock}, ${formats.ns(report.end_ns, 6)}`], ["lossless packets", count(report.verdict.lossless_packets)],
            ["in", count(report.ledger.rx)], ["out", count(report.ledger.tx)], ["dropped", count(report.ledger.dropped)], ["queued", count(report.ledger.queued)]]);
        const span = formats.ns(report.end_ns - moments[Math.max(0, moments.length - 1 - of_rates)].at_ns);
        ports.title.textContent = after ? `Ports: rates are means of the whole run of ${formats.ns(report.end_ns)}`
            : moments.length < 2 ? "Ports: totals since the start; rates come with the clock" : `Ports: rates of the last ${span} of the switch's clock, totals since the start`;
        for (const { box, names } of over_time) box.hidden = names().length === 0;
        ports.update(each_port(report));
        queues.update(queue_rows(report));
        pauses.update(pause_rows(report));
        pools.update(Object.entries(report.pools).map(([name, pool]) => ({ key: name, name, pool })));
        groups.update(each_port(report).flatMap(({ name, port }) => port.priority_groups.map((group, n) => ({ key: `${name}.${n}`, group })).filter(({ group }) => group.lossless)));
        watchdog.update(report.watchdog.map((queue) => ({ key: `${queue.port}.${queue.queue}`, queue })));
        ecmp.update(Object.entries(report.ecmp).flatMap(([group, { members }]) => {
            const all = members.reduce((total, member) => total + member.packets, 0);
            return members.map((member, n) => ({ key: `${group} ${n}`, group, member: `${member.via} at ${member.port}`, packets: member.packets, share: all > 0 ? member.packets / all : 0 }));
        }));
        events.update(event_rows(report.events, after ? 1000 : 30));
        if (after) answer_with(report.decisions.why?.map((each) => each.sentence) ?? []);
        else offer_ports(Object.keys(report.ports));
    }

    function take({ report, thresholds }) {
        if (moments.length > 0 && report.end_ns < latest().at_ns) moments.length = 0;  // another switch
        if (moments.length > 0 && report.end_ns === latest().at_ns) moments.pop();     // a clock that stands
        moments.push({ at_ns: report.end_ns, report, thresholds });
        if (moments.length > kept) moments.shift();
    }

    const marks = () => {
        if (moments.length === 0) return [];
        const values = new Map();
        for (const name of deepest()) {
            const dot = name.lastIndexOf(".");
            const curve = own(own(latest().thresholds, name.slice(0, dot)), name.slice(dot + 1));
            if (curve) { values.set(curve.min_bytes, "WRED min"); values.set(curve.max_bytes, "WRED max"); }
        }
        return [...values].slice(0, 4).map(([at, name]) => ({ at, name: `${name} at ${formats.bytes(at)}` }));
    };
    const note = (text) => element("p", { class: "note" }, text);
    const depths = () => {
        if (!after)
            return [note("Deepest queues, sampled once a second; dashed: WRED min and max."),
                lines_over_time("Depth of the deepest queues over time", formats.bytes, deepest, queue_at, marks)];
        if (report.microbursts.length === 0)
            return note("No queue was above the threshold of microbursts. The report has no other depths over time and no WRED thresholds: sluiced --trace writes them, and tools/picture draws them.");
        return [note("Microbursts: a dot is the peak at its instant; the line at half of the threshold is as long as the queue was above that. The report has no other depths over time and no WRED thresholds."),
            microburst_lines()];
    };

    const root = element("div", { class: "view" }, head.nodes);
    root.append(
        section("ports", "Ports", ports.nodes),
        section("queues", "Queues", depths(), queues.nodes),
        section("pauses", "Pauses", after ? note("A report has the sums of pauses, not when each was.")
            : [note("Share of time: Tx, peer paused by us; Rx, paused by peer."), lines_over_time("Share of time paused", percent, pausing, share_at)], pauses.nodes),
        section("buffer", "Buffer", pools.nodes, groups.nodes),
        section("watchdog", "Watchdog", watchdog.nodes),
        section("ecmp", "ECMP", ecmp.nodes),
        section("why", "Why", !after ? element("div", { class: "controls" }, element("label", {}, "At ", which), element("button", { type: "button", onclick: ask_now }, "Ask"))
            : report.decisions.why?.length ? null : note("The report has no answers: the switch ran without decisions. A switch that runs answers sluicectl why."), answer),
        section("events", "Events", events.nodes));
    head.facts.after(contents(root));
    if (after) take({ report, thresholds: {} });
    // `wait`: for another switch, of which nothing is known yet.
    const wait = (text) => {
        if (after) return;
        moments.length = 0;
        head.wait(text);
        answer.replaceChildren();
        for (const each of [ports, queues, pauses, pools, groups, watchdog, ecmp, events]) each.update([]);
    };
    return { root, take, show, wait, has_data: () => moments.length > 0 };
}
