// The charts of a fabric after the end: topology, figures over time, pauses, completion times.
"use strict";

// Hosts: the ends of links that are not switches.
function nodes_of({ switches, links }) {
    const ends = new Set(Object.values(links).flatMap(({ directions }) => directions.map(({ from }) => from)));
    return [...[...ends].filter((name) => !Object.hasOwn(switches, name)).map((name) => ({ name, tier: 0 })), ...Object.entries(switches).map(([name, { tier }]) => ({ name, tier }))];
}
// Hosts at the bottom, each tier above those that it joins; a ring as a circle.
function places_of(nodes, links) {
    const tiers = new Map();
    for (const node of nodes) tiers.set(node.tier, [...(tiers.get(node.tier) ?? []), node]);
    const top = Math.max(...tiers.keys());
    const tier_of = new Map(nodes.map((node) => [node.name, node.tier]));
    const level = links.some((link) => tier_of.get(link.directions[0].from) === tier_of.get(link.directions[0].to));
    const places = new Map();
    const ring = tiers.get(1) ?? [];
    if (level && top <= 1 && ring.length > 2) {
        const angle = (n) => (2 * Math.PI * n) / ring.length - Math.PI / 2;
        ring.forEach((node, n) => places.set(node.name, [500 + 200 * Math.cos(angle(n)), 300 + 130 * Math.sin(angle(n))]));
        const at = new Map(ring.map((node, n) => [node.name, n]));
        const behind = new Map();
        for (const { directions: [{ from, to }] } of links)
            if (at.has(from) !== at.has(to)) behind.set(at.has(from) ? from : to, [...(behind.get(at.has(from) ? from : to) ?? []), at.has(from) ? to : from]);
        for (const [name, hosts] of behind)
            hosts.forEach((host, n) => {
                const turn = angle(at.get(name)) + (n - (hosts.length - 1) / 2) * Math.min(0.28, 5 / ring.length / hosts.length);
                places.set(host, [500 + 420 * Math.cos(turn), 300 + 260 * Math.sin(turn)]);
            });
        nodes.forEach((node, n) => places.has(node.name) || places.set(node.name, [10 * n, 620]));
        return [places, 600];
    }
    for (const [tier, level_nodes] of tiers)
        level_nodes.forEach((node, n) => places.set(node.name, [(1000 * (n + 0.5)) / level_nodes.length, (top - tier) * 150]));
    return [places, 150 * top];
}

// The node at which most time of pauses began: a host that takes packets too slowly, else the switch whose queue stood.
const culprit_of = ([first]) => first && (first.slow_host ? first.to : first.switch);

// `part()`: whose load and pauses it shows.
function topology_chart(fabric, part) {
    const nodes = nodes_of(fabric);
    const culprit = culprit_of(fabric.pause_trees);
    const [places, rows] = places_of(nodes, Object.values(fabric.links));
    const far = (n) => [Math.min(...[...places.values()].map((place) => place[n])), Math.max(...[...places.values()].map((place) => place[n]))];
    const [[left, right], [top, bottom]] = [far(0), far(1)];
    const crowded = nodes.filter((node) => node.tier === 0).length > 40;
    const option = (colors, width, height) => {
        const { links, from_ns, to_ns } = part();
        // In pixels, so that the library scales nothing.
        const place = ([x, y]) => [((x - left) / (right - left || 1)) * (width - 80), ((y - top) / (bottom - top || 1)) * (height - 70)];
        const ids = new Map(nodes.map((node, n) => [node.name, `n${n}`]));
        const seen = new Map();
        const edges = Object.values(links).flatMap((link) => {
            const pair = [link.directions[0].from, link.directions[0].to].sort().join("\n");
            const copy = seen.get(pair) ?? 0;
            seen.set(pair, copy + 1);
            return link.directions.map((direction) => {
                const paused = paused_ns_of(direction) / Math.max(to_ns - from_ns, 1);
                return {
                    source: ids.get(direction.from), target: ids.get(direction.to), link, direction, paused,
                    lineStyle: {
                        width: 1 + 6 * Math.min(1, direction.load_ppm / 1e6), color: paused_color(paused),
                        curveness: 0.05 + 0.08 * copy, opacity: 1, type: link.cut ? "dashed" : "solid",
                    },
                };
            });
        });
        return {
            tooltip: { ...tooltip_style(colors), formatter: ({ dataType, data }) => (dataType === "node" ? tip(data.name, data.name === culprit ? [[null, "pauses began here", fabric.pause_trees[0].text]] : []) : tip(`${data.direction.from} to ${data.direction.to}`, [
                [null, "load", formats.ppm(data.direction.load_ppm)], [null, "paused", formats.ppm(Math.round(data.paused * 1e6))],
                [null, "speed", formats.bps(data.link.speed_bps)], [null, "packets", count(data.direction.packets)],
                [null, "lost", count(data.direction.lost_on_wire + data.direction.lost_into_cut)],
            ])) },
            series: [{
                type: "graph", layout: "none", roam: !printing, left: 40, right: 40, top: 30, bottom: 40, edges, emphasis: { scale: false },
                data: nodes.map((node) => ({
                    id: ids.get(node.name), name: node.name, x: place(places.get(node.name))[0], y: place(places.get(node.name))[1],
                    symbol: node.tier === 0 ? "circle" : "roundRect", symbolSize: node.tier === 0 ? (crowded ? 7 : 13) : [Math.max(46, 8 * node.name.length + 12), 22],
                    itemStyle: { color: node.tier === 0 ? colors.host : colors.node, ...(node.name === culprit ? { borderColor: colors.paused, borderWidth: 4 } : {}) },
                    label: { show: true, position: node.tier === 0 ? "bottom" : "inside", color: node.tier === 0 ? colors.ink : "#ffffff", fontSize: crowded && node.tier === 0 ? 9 : 12, rotate: crowded && node.tier === 0 ? 90 : 0 },
                })),
            }],
        };
    };
    return chart("Topology; the table below it has the same figures", Math.min(640, Math.max(300, rows + 120)), option);
}

function topology_legend({ pause_trees }) {
    const shares = [0, 0.05, 0.25, 0.5, 1];
    const swatches = shares.map((share) => element("span", {}, element("span", { class: "swatch", "data-share": share }), `${share * 100} %\u2002`));
    return element("p", { class: "note" }, "Width: load. Color: share of time its sender was paused: ", swatches, " Two lines a link, one for each direction.", pause_trees.length > 0 ? " Red frame: where most time of pauses began." : "");
}

// The rate of a total in each interval, per second; the first sample is the beginning.
const rates_of = (totals, at_ns, factor) => totals.map((total, n) => {
    const length = n === 0 ? 0 : at_ns[n] - at_ns[n - 1];
    return length <= 0 ? 0 : ((total - totals[n - 1]) * factor) / length;
});
const microseconds = (ns) => ns / 1000;
const time_labels = (colors) => ({ color: colors.soft, hideOverlap: true, formatter: (value) => short(formats.ns(value * 1000)) });

function paused_rows({ pause_timeline: { rows, bin_ns }, end_ns }) {
    return rows.map((row) => {
        const bins = new Map();
        for (const [bin, , share] of row.parts) bins.set(bin, (bins.get(bin) ?? 0) + share / 10);
        const last = Math.ceil(end_ns / bin_ns);
        const data = Array.from({ length: last + 1 }, (_, bin) => [microseconds(Math.min(bin * bin_ns, end_ns)), Math.min(100, bins.get(bin) ?? 0)]);
        return { name: `${row.paused} by ${row.by}, class ${row.class}`, data };
    });
}

function time_section(fabric, series) {
    if (!series) return [element("p", { class: "note" }, "The page was made without samples over time; sluice-fabric report, on the run's folder, makes it with them.")];
    const at = series.at_ns;
    const line = (values) => values.map((value, n) => [microseconds(at[n]), value]);
    let allowed = false;
    const flows = series.flows.map((flow) => ({ name: flow.name, delivered: line(rates_of(flow.delivered_bytes, at, 8)), allowed: line(flow.rate_bps.map((rate) => rate / 1e9)) }));
    const queues = series.queues.map((queue) => ({ name: `${queue.switch} to ${queue.port}, queue ${queue.queue}`, data: line(queue.bytes.map((bytes) => bytes / 1000)) }));
    const paused = paused_rows(fabric);
    const signals = [["ECN marks", series.ecn_marked_packets], ["CNPs", series.cnp_sent_packets], ["XOFF", series.xoff_transitions]]
        .map(([name, totals]) => ({ name, data: line(rates_of(totals, at, 1e6)) }));
    const first = (list, most) => new Set(list.slice(0, most).keys());
    const deepest = [...queues.keys()].sort((a, b) => Math.max(...queues[b].data.map((each) => each[1])) - Math.max(...queues[a].data.map((each) => each[1])));
    const chosen = { flows: first(flows, 8), queues: new Set(deepest.slice(0, 6)), signals: first(signals, 3), paused: first(paused, 6) };
    const grids = () => [
        { title: allowed ? "Rate that congestion control allows, Gb/s" : "Delivered, Gb/s", unit: "Gb/s", step: allowed ? false : "start", chosen: chosen.flows, lines: flows.map((flow) => ({ name: flow.name, data: allowed ? flow.allowed : flow.delivered })) },
        { title: "Queue depth, KB", unit: "KB", step: false, chosen: chosen.queues, lines: queues },
        { title: "Marks, CNPs and XOFF, per ms", unit: "per ms", step: "start", chosen: chosen.signals, lines: signals },
        { title: "Paused, % of the time", unit: "%", step: "end", chosen: chosen.paused, lines: paused },
    ].filter((grid) => grid.lines.length > 0);
    const height = 150;
    const option = (colors) => {
        const list = grids();
        const phases = Object.entries(fabric.phases).map(([name, { from_ns, to_ns }], n) => [{ name, xAxis: microseconds(from_ns), itemStyle: { color: n % 2 ? "transparent" : colors.band } }, { xAxis: microseconds(to_ns) }]);
        const all = list.map((_, n) => n);
        return {
            title: list.map((grid, n) => ({ text: grid.title, left: 6, top: n * height + 2, textStyle: { color: colors.ink, fontSize: 13, fontWeight: 600 } })),
            grid: list.map((_, n) => ({ left: 64, right: 18, top: n * height + 28, height: height - 56 })),
            xAxis: list.map((_, n) => ({ gridIndex: n, type: "value", min: 0, max: microseconds(fabric.end_ns), ...axis_style(colors), splitLine: { show: false }, axisLabel: time_labels(colors) })),
            yAxis: list.map((grid, n) => ({ gridIndex: n, type: "value", min: 0, ...(grid.unit === "%" ? { max: 100, interval: 50 } : {}), splitNumber: 3, ...axis_style(colors) })),
            axisPointer: { link: [{ xAxisIndex: "all" }], lineStyle: { color: colors.soft } },
            dataZoom: printing ? [] : [{ type: "slider", xAxisIndex: all, bottom: 4, height: 20, borderColor: colors.line, textStyle: { color: colors.soft }, labelFormatter: (value) => formats.ns(value * 1000) },
                { type: "inside", xAxisIndex: all, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false }],
            tooltip: { ...tooltip_style(colors), trigger: "axis", axisPointer: { type: "line" }, formatter: (items) => {
                const shown = items.slice(0, 24);
                return tip(`at ${formats.ns(items[0].axisValue * 1000)}`, shown.map((item) => [item.color, item.seriesName, `${+item.value[1].toPrecision(4)} ${item.seriesId.split("|")[1]}`]));
            } },
            series: list.flatMap((grid, g) => grid.lines.map((each, n) => (!grid.chosen.has(n) ? null : {
                id: `${g}.${n}|${grid.unit}`, type: "line", name: each.name, xAxisIndex: g, yAxisIndex: g, data: each.data, step: grid.step, symbol: "none",
                lineStyle: { width: 1.6, type: dash_of(n), color: color_of(n) }, itemStyle: { color: color_of(n) }, emphasis: { disabled: true },
            })).filter(Boolean).map((made, n) => (n > 0 ? made : {
                ...made, markArea: { silent: true, data: phases, label: { show: g === 0, color: colors.soft, fontSize: 11, position: "insideTop" } },
            }))),
        };
    };
    const picture = chart("Rates and queues over time; a table is below it", grids().length * height + 40, option, zoom_keys);
    const redraw = () => picture.draw();
    const rows = at.map((_, n) => n);
    const column = (head, lines) => lines.map((each) => ({ head: `${head} ${each.name}`, get: (n) => +each.data[n][1].toPrecision(6) }));
    const numbers = folded("The samples as a table");
    numbers.addEventListener("toggle", () => numbers.children.length === 1 && numbers.append(...table("Rates in Gb/s since the sample before, depths in KB, events per ms", [
        { head: "At \u00b5s", get: (n) => microseconds(at[n]) },
        ...column("Rate", flows.map((flow) => ({ name: flow.name, data: flow.delivered }))), ...column("Depth", queues), ...column("", signals),
    ], rows, 40)), { once: true });
    return [
        element("div", { class: "controls screen" }, choice("Rates", ["that arrived", "that congestion control allows"], (n) => { allowed = n === 1; redraw(); })),
        chooser("Flows", flows.map((flow) => flow.name), chosen.flows, 0, redraw), chooser("Queues", queues.map((queue) => queue.name), chosen.queues, 0, redraw),
        chooser("Signals", signals.map((signal) => signal.name), chosen.signals, 0, redraw), chooser("Paused, longest first", paused.map((row) => row.name), chosen.paused, 0, redraw),
        picture.box, zoom_buttons(picture),
        element("p", { class: "note" }, `${count(at.length)} samples; a depth is that of its instant, a rate the mean since the sample before.`,
            series.flows_left_out > 0 ? ` ${count(series.flows_left_out)} flows that delivered less are left out.` : ""),
        numbers,
    ];
}

// Rows of senders and the nodes that paused them; the height in a bin of time is the share of it that was paused, the color the root. So pauses
// too short to be seen one by one do not look like one that lasts.
function pause_chart({ pause_timeline: { rows, roots, bin_ns, bins, rows_left_out }, end_ns }) {
    const names = rows.map((row) => `${row.paused} by ${row.by}${row.class === 3 ? "" : `, class ${row.class}`}`);
    const by_bin = rows.map(({ parts }) => {
        const made = new Map();
        for (const part of parts) made.set(part[0], [...(made.get(part[0]) ?? []), part]);
        return made;
    });
    const option = (colors, width) => ({
        aria: { enabled: true, label: { description: "Who was paused by whom, over time" } },
        grid: { left: Math.min(230, width / 3), right: 24, top: 6, bottom: 30 },
        xAxis: { type: "value", min: 0, max: microseconds(end_ns), ...axis_style(colors), splitLine: { show: false }, axisLabel: time_labels(colors) },
        yAxis: { type: "value", min: 0, max: rows.length, interval: 1, ...axis_style(colors),
            axisLabel: { color: colors.soft, fontSize: 11, verticalAlign: "bottom", width: Math.min(220, width / 3 - 10), overflow: "truncate", formatter: (floor) => names[rows.length - 1 - floor] ?? "" } },
        tooltip: { ...tooltip_style(colors), trigger: "axis", axisPointer: { type: "line" }, formatter: (items) => {
            const bin = Math.round((items[0].axisValue * 1000) / bin_ns);
            return tip(`at ${formats.ns(bin * bin_ns)}`, rows.flatMap((_, n) => (by_bin[n].get(bin) ?? []).map(([, root, share]) => [color_of(root), names[n], `${share / 10} %`])).slice(0, 24));
        } },
        // The area of all roots of a row, before it that of all but the last, and so on.
        series: rows.flatMap((row, n) => {
            const floor = rows.length - 1 - n;
            const of_row = [...new Set(row.parts.map(([, root]) => root))].sort((a, b) => b - a);
            return of_row.map((last) => ({
                type: "line", name: names[n], step: "end", symbol: "none", silent: true, lineStyle: { width: 0 }, itemStyle: { color: color_of(last) }, areaStyle: { color: color_of(last), opacity: 1, origin: floor },
                data: Array.from({ length: bins + 1 }, (_, bin) => [microseconds(Math.min(bin * bin_ns, end_ns)),
                    floor + 0.0009 * Math.min(1000, (by_bin[n].get(bin) ?? []).reduce((all, [, root, share]) => all + (root <= last ? share : 0), 0))]),
            }));
        }),
    });
    return [chart("Who was paused by whom over time; a table is below it", 22 * rows.length + 40, option).box,
        element("p", { class: "note" }, "Height: share of the time. Color: where the pauses began. ", roots.map((root, n) => [element("span", { class: "swatch", "data-color": n }), `${root}\u2003`]),
            rows_left_out > 0 ? `and ${plural(rows_left_out, "row")} more` : null),
        folded("As a table", table("Who was paused by whom", [
            { head: "Paused", get: (row) => row.paused }, { head: "By", get: (row) => row.by }, { head: "Class", get: (row) => row.class },
            { head: "Time", get: (row) => row.paused_ns, show: formats.ns },
        ], rows))];
}

// The figure by which transports are compared.
function slowdown_figure(sizes) {
    const quantiles = ["p50", "p95", "p99"];
    const option = (colors) => ({
        legend: { data: quantiles, top: 4, textStyle: { color: colors.ink } },
        grid: { left: 60, right: 24, top: 40, bottom: 46 },
        xAxis: { type: "category", data: sizes.map((each) => short(formats.bytes(each.to_bytes))), name: "size up to", nameLocation: "middle", nameGap: 26, ...axis_style(colors) },
        yAxis: { type: "log", min: 1, name: "slowdown", ...axis_style(colors) },
        tooltip: { ...tooltip_style(colors), trigger: "axis", formatter: (items) => {
            const each = sizes[items[0].dataIndex];
            return tip(`up to ${formats.bytes(each.to_bytes)}`, [[null, "messages", count(each.messages)], ...items.map((item) => [item.color, item.seriesName, formats.quantile_permille(each.slowdown_permille[item.seriesName], each.slowdown_permille.max)])]);
        } },
        series: quantiles.map((name, n) => ({
            type: "line", name, symbol: "circle", symbolSize: 6, showAllSymbol: true, itemStyle: { color: color_of(n) }, lineStyle: { color: color_of(n), width: 1.8, type: dash_of(n) },
            data: sizes.map((each) => Math.max(1, each.slowdown_permille[name] / 1000)),
        })),
    });
    return chart("Slowdown over the size of messages; a table is below it", 300, option);
}

function completion_section({ message_sizes }, series) {
    const completions = series?.completions;
    if (!completions) return [element("p", { class: "note" }, "The page was made without samples.")];
    const sizes = completions.sizes.map((each) => ({ ...each, name: formats.bytes(each.to_bytes) })).filter((each) => each.messages > 0);
    const figures = Object.values(message_sizes).filter((each) => each.messages > 0);
    const flows = completions.flows.filter((each) => each.messages > 0);
    if (sizes.length === 0) return [element("p", {}, "No message was completed.")];
    let lines = sizes;
    let of_slowdown = false;
    const figure = slowdown_figure(figures);
    const option = (colors, width) => {
        const above = legend_of(lines.slice(0, 16).map((each) => each.name), width, colors);
        return {
            ...above,
            grid: { left: 60, right: 24, top: 56 + above.taller, bottom: 50 },
            xAxis: { type: "log", ...axis_style(colors), ...(of_slowdown ? { min: 1 } : { axisLabel: time_labels(colors) }) },
            yAxis: { type: "value", min: 0, max: 100, name: "% of messages", ...axis_style(colors) },
            tooltip: { ...tooltip_style(colors), trigger: "item", formatter: (item) => tip(item.seriesName, [[null, `${item.value[1]} % within`, of_slowdown ? `${+item.value[0].toPrecision(3)}\u00d7` : formats.ns(item.value[2])]]) },
            series: lines.slice(0, 16).map((each, n) => ({
                type: "line", name: each.name, step: "end", symbol: "circle", symbolSize: 5, showAllSymbol: true, itemStyle: { color: color_of(n) }, lineStyle: { color: color_of(n), width: 1.8, type: dash_of(n) },
                data: each.ns.map((ns, i) => [of_slowdown ? each.permille[i] / 1000 : Math.max(ns, 1) / 1000, completions.per_mille[i] / 10, ns]),
            })),
        };
    };
    const picture = chart("Distribution of completion times and slowdowns; a table is below it", 340, option);
    const at = (each, share) => each.ns[completions.per_mille.indexOf(share)];
    const quantile = (share, head) => ({ head, get: (each) => at(each, share), show: formats.quantile_ns, longest: (each) => at(each, 1000) });
    const columns = (head) => [{ head, get: (each) => each.name }, { head: "Messages", get: (each) => each.messages },
        quantile(0, "min"), quantile(500, "p50"), quantile(900, "p90"), quantile(990, "p99"), quantile(999, "p999"), { head: "max", get: (each) => at(each, 1000), show: formats.ns }];
    const shown = ["completion time by size of message", "slowdown by size of message", "completion time by flow"];
    return [
        figure.box, element("p", { class: "note" }, "Slowdown: completion time over that of the same message on an empty path."),
        table("Slowdown by size", [
            { head: "Size up to", get: (each) => formats.bytes(each.to_bytes) }, { head: "Messages", get: (each) => each.messages },
            ...["p50", "p95", "p99", "max"].map((name) => ({ head: name, get: (each) => each.slowdown_permille[name], show: formats.quantile_permille, longest: (each) => each.slowdown_permille.max })),
        ], figures),
        element("div", { class: "controls screen" }, choice("Distribution of", shown, (n) => { lines = n === 2 ? flows : sizes; of_slowdown = n === 1; picture.draw(); })),
        picture.box, table("Completion time by size", columns("Size up to"), sizes), folded("By flow", table("By flow", columns("Flow"), flows)),
    ];
}
