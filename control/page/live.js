// The page of a running switch: what it tells once a second, as tables and lines. Rates are of the last ten seconds of its clock.
"use strict";

{
    const kept = 300;  // moments
    const window_ns = 10e9;
    const most_lines = 8;
    const token = new URLSearchParams(location.search).get("token");
    const with_token = (path, words = {}) => {
        const query = new URLSearchParams(token ? { ...words, token } : words).toString();
        return query ? `${path}?${query}` : path;
    };

    // --- what was told ---
    const moments = [];  // {at_ns, wall, report, thresholds}
    const latest = () => moments[moments.length - 1];
    const sum = (of) => (typeof of === "number" ? of : Object.values(of ?? {}).reduce((all, each) => all + sum(each), 0));
    const index_before = (n) => {
        let first = n;
        while (first > 0 && moments[n].at_ns - moments[first].at_ns < window_ns) first -= 1;
        return first;
    };
    // Of a counter at the nth moment, a second; null while there is one moment.
    const rate_at = (n, get) => {
        const before = moments[index_before(n)];
        const took = moments[n].at_ns - before.at_ns;
        const [from, to] = [get(before.report), get(moments[n].report)];
        return took > 0 && from !== undefined && to !== undefined ? ((to - from) * 1e9) / took : null;
    };
    const rate = (get) => rate_at(moments.length - 1, get);
    const per_second = (text) => (value) => `${text(value)}/s`;

    // --- a table whose cells change in place: what has the focus keeps it ---
    function live_table(caption, columns) {
        let sorted_by = null;
        let down = true;
        const heads = columns.map((column, n) => element("th", { scope: "col", class: column.number ? "number" : null },
            element("button", { type: "button", onclick: () => {
                down = sorted_by === n ? !down : Boolean(column.number);
                sorted_by = n;
                heads.forEach((head, at) => (at === n ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
                update(rows_now);
            } }, column.head)));
        const body = element("tbody");
        const none = element("p", { class: "note" }, "none");
        const lines = new Map();  // key -> {row, cells}
        let rows_now = [];
        function update(rows) {
            rows_now = rows;
            const value = (row) => columns[sorted_by].get(row) ?? "";
            const order = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
            const wanted = sorted_by === null ? rows : [...rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
            const keys = new Set(wanted.map((row) => row.key));
            for (const [key, line] of lines) if (!keys.has(key)) { line.row.remove(); lines.delete(key); }
            wanted.forEach((row, place) => {
                let line = lines.get(row.key);
                if (!line) {
                    const cells = columns.map((column) => element("td", { class: column.number ? "number" : null }));
                    line = { row: element("tr", { "data-key": row.key }, cells), cells };
                    lines.set(row.key, line);
                }
                columns.forEach((column, n) => {
                    const got = column.get(row);
                    const shown = got instanceof Node ? got : figure(got, column.show ?? count);
                    const cell = line.cells[n];
                    if (!(shown instanceof Node)) { if (cell.textContent !== shown) cell.textContent = shown; } else if (!cell.contains(document.activeElement)) cell.replaceChildren(shown);
                    if (column.bad) cell.classList.toggle("false", Boolean(column.bad(row)));
                });
                if (body.children[place] !== line.row) body.insertBefore(line.row, body.children[place] ?? null);
            });
            none.hidden = wanted.length > 0;
        }
        return { update, nodes: [element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
            element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)), body)), none] };
    }

    // --- lines over the last minutes ---
    // `names`: of lines now; `value(name, n)`: at a moment. `marks`: [{at, name}], thresholds.
    function lines_over_time(label, format, names, value, marks = () => []) {
        const made = chart(label, 260, (colors) => {
            const shown = names();
            const times = moments.map((moment) => moment.at_ns);
            const thresholds = marks();
            return {
                aria: { enabled: true, label: { description: label } },
                grid: { left: 78, right: 34, top: 34, bottom: 34 },
                legend: { top: 0, left: 0, textStyle: { color: colors.ink }, data: [...shown, ...thresholds.map(({ name }) => name)] },
                tooltip: { trigger: "axis", ...tooltip_style(colors), formatter: (hovered) => tip(formats.ns(hovered[0].value[0], 6),
                    hovered.filter((each) => each.value[1] !== null).map((each) => [each.color, each.seriesName, format(each.value[1])])) },
                xAxis: { type: "value", min: times[0] ?? 0, max: times[times.length - 1] ?? 1, ...axis_style(colors), splitLine: { show: false },
                    axisLabel: { color: colors.soft, formatter: (at) => formats.ns(at, 4), hideOverlap: true } },
                yAxis: { type: "value", min: 0, ...axis_style(colors), axisLabel: { color: colors.soft, formatter: (at) => format(at) } },
                series: [...shown.map((name, n) => ({ name, type: "line", showSymbol: moments.length < 2, color: color_of(n), lineStyle: { type: dash_of(n), width: 1.6 },
                    data: moments.map((moment, at) => [moment.at_ns, value(name, at)]) })),
                ...thresholds.map(({ at, name }) => ({ name, type: "line", showSymbol: false, color: colors.soft, lineStyle: { type: "dashed", width: 1 },
                    data: [[times[0] ?? 0, at], [times[times.length - 1] ?? 1, at]] }))],
            };
        });
        return made.box;
    }

    const each_port = (report) => Object.entries(report.ports).map(([name, port]) => ({ key: name, name, port }));
    const of_port = (name, get) => (report) => (report.ports[name] ? get(report.ports[name]) : undefined);
    const paused_share = (name, way) => rate(of_port(name, (port) => Math.max(...port.pfc[way]) / 1e9));
    const worst = (names, value) => names.map((name) => [name, value(name) ?? 0]).sort((a, b) => b[1] - a[1]).filter(([, got]) => got > 0).slice(0, most_lines).map(([name]) => name).sort();

    // Lines of a chart: the largest over all moments, not of the last alone.
    const largest = (names, value) => worst(names, (name) => Math.max(...moments.map((moment, n) => value(name, n) ?? 0)));
    const queue_names = () => each_port(latest().report).flatMap(({ name, port }) => port.queues.map((queue, n) => `${name}.${n}`));
    const queue_at = (name, n) => {
        const dot = name.lastIndexOf(".");
        return moments[n].report.ports[name.slice(0, dot)]?.queues[Number(name.slice(dot + 1))]?.occupancy_bytes ?? null;
    };
    const deepest = () => largest(queue_names(), queue_at);
    const share_at = (name, n) => {
        const [port, way] = [name.slice(0, name.lastIndexOf(" ")), name.endsWith("Tx") ? "tx_paused_ns" : "rx_paused_ns"];
        const before = moments[Math.max(n - 1, 0)];
        const took = moments[n].at_ns - before.at_ns;
        const at = (report) => (report.ports[port] ? Math.max(...report.ports[port].pfc[way]) : 0);
        return took > 0 ? Math.min(1, Math.max(0, (at(moments[n].report) - at(before.report)) / took)) : 0;
    };
    const pausing = () => largest(Object.keys(latest().report.ports).flatMap((name) => [`${name} Tx`, `${name} Rx`]), share_at);
    const percent = (share) => `${(share * 100).toFixed(1)} %`;

    const bar = (used, limit, bad) => element("span", { class: "bar", role: "img", "aria-label": percent(limit > 0 ? used / limit : 0) },
        element("span", { class: bad ? "bad" : null, style: `width:${limit > 0 ? Math.min(100, (100 * used) / limit) : 0}%` }));

    const verdict = element("p", { class: "verdict", role: "status" }, "waiting for the switch");
    const reasons = element("ul", {});
    const facts = element("ul", { class: "facts" });
    const link = element("p", { class: "note", role: "status" }, "");
    const pause = element("button", { type: "button", "aria-pressed": "false", onclick: () => {
        held = !held;
        pause.setAttribute("aria-pressed", String(held));
        pause.textContent = held ? "Go on" : "Hold";
    } }, "Hold");
    let held = false;

    const ports = live_table("Ports: rates of the last ten seconds, totals since the start", [
        { head: "Port", get: (row) => row.name },
        { head: "Link", get: (row) => (row.port.link_up ? "up" : "down"), bad: (row) => !row.port.link_up },
        { head: "In", number: true, get: (row) => rate(of_port(row.name, (port) => 8 * port.rx.bytes)), show: formats.bps },
        { head: "Out", number: true, get: (row) => rate(of_port(row.name, (port) => 8 * port.tx.bytes)), show: formats.bps },
        { head: "Marked", number: true, get: (row) => rate(of_port(row.name, (port) => port.queues.reduce((all, queue) => all + queue.ecn_marked_packets, 0))), show: per_second(count) },
        { head: "CNPs out", number: true, get: (row) => rate(of_port(row.name, (port) => port.cnp_sent_packets)), show: per_second(count) },
        { head: "Dropped", number: true, get: (row) => sum(row.port.drops), bad: (row) => sum(row.port.lossless_drops) > 0 },
        { head: "We pause it", number: true, get: (row) => paused_share(row.name, "tx_paused_ns"), show: percent },
        { head: "It pauses us", number: true, get: (row) => paused_share(row.name, "rx_paused_ns"), show: percent, bad: (row) => paused_share(row.name, "rx_paused_ns") > 0.1 },
        { head: "Flaps", number: true, get: (row) => row.port.flaps },
    ]);
    const pools = live_table("Buffer: what pools share, and headroom", [
        { head: "Pool", get: (row) => row.name },
        { head: "In use", number: true, get: (row) => row.pool.used_bytes, show: formats.bytes },
        { head: "of", number: true, get: (row) => row.pool.shared_bytes, show: formats.bytes },
        { head: "", get: (row) => bar(row.pool.used_bytes, row.pool.shared_bytes, row.pool.used_bytes > 0.9 * row.pool.shared_bytes) },
        { head: "Highest", number: true, get: (row) => row.pool.watermark_bytes, show: formats.bytes },
        { head: "Headroom in use", number: true, get: (row) => row.pool.headroom_used_bytes, show: formats.bytes },
        { head: "of", number: true, get: (row) => row.pool.headroom_size_bytes, show: formats.bytes },
    ]);
    const groups = live_table("Lossless priority groups", [
        { head: "Group", get: (row) => row.key },
        { head: "Paused now", get: (row) => (row.group.xoff ? "yes" : "no"), bad: (row) => row.group.xoff },
        { head: "XOFF", number: true, get: (row) => row.group.xoff_transitions },
        { head: "Shared", number: true, get: (row) => row.group.shared_bytes, show: formats.bytes },
        { head: "Highest", number: true, get: (row) => row.group.shared_watermark_bytes, show: formats.bytes },
        { head: "Headroom", get: (row) => bar(row.group.headroom_watermark_bytes, row.group.headroom_size_bytes, row.group.headroom_watermark_bytes > 0.8 * row.group.headroom_size_bytes) },
        { head: "at most", number: true, get: (row) => row.group.headroom_watermark_bytes, show: formats.bytes },
        { head: "of", number: true, get: (row) => row.group.headroom_size_bytes, show: formats.bytes },
        { head: "Overruns", number: true, get: (row) => row.group.headroom_overruns, bad: (row) => row.group.headroom_overruns > 0 },
    ]);
    const watchdog = live_table("PFC watchdog", [
        { head: "Queue", get: (row) => row.key },
        { head: "State", get: (row) => row.queue.state, bad: (row) => row.queue.detected > row.queue.restored },
        { head: "Action", get: (row) => row.queue.action },
        { head: "Storms", number: true, get: (row) => row.queue.detected },
        { head: "Restored", number: true, get: (row) => row.queue.restored },
        { head: "Dropped", number: true, get: (row) => row.queue.total_dropped },
        { head: "Passed", number: true, get: (row) => row.queue.total_passed },
    ]);
    const ecmp = live_table("ECMP: what took which member since the start", [
        { head: "Group", get: (row) => row.group },
        { head: "Member", get: (row) => row.member },
        { head: "Packets", number: true, get: (row) => row.packets },
        { head: "Share", number: true, get: (row) => row.share, show: percent },
    ]);
    const events = live_table("The last events", [
        { head: "At", number: true, get: (row) => row.event.at_ns, show: (at) => formats.ns(at, 6) },
        { head: "Kind", get: (row) => row.event.kind },
        { head: "What", get: (row) => row.event.text },
    ]);

    // --- why ---
    const answer = element("ul", { class: "answer", "aria-live": "polite" });
    const which = element("select", {});
    const ask = async () => {
        answer.replaceChildren(element("li", { class: "note" }, "asking"));
        try {
            const got = await (await fetch(with_token("why", which.value ? { at: which.value } : {}))).json();
            const entries = got.result?.entries ?? [];
            const sentences = got.error ? [got.error.message] : entries.map((entry) => entry.sentence);
            answer.replaceChildren(...(sentences.length > 0 ? sentences : ["nothing was paused, dropped or held there"]).map((text) => element("li", {}, text)));
        } catch (error) {
            answer.replaceChildren(element("li", { class: "false" }, `the switch does not answer: ${error.message}`));
        }
    };
    const offer_ports = (names) => {
        const known = [...which.options].map((option) => option.value).join(" ");
        if (known === ["", ...names].join(" ")) return;
        const chosen = which.value;
        which.replaceChildren(element("option", { value: "" }, "all ports"), ...names.map((name) => element("option", { value: name }, name)));
        which.value = names.includes(chosen) ? chosen : "";
    };

    function show() {
        const { report } = latest();
        const lossless = report.verdict.lossless;
        verdict.className = `verdict ${lossless === null ? "" : lossless ? "good" : "bad"}`;
        verdict.textContent = lossless === null ? "no lossless packets yet" : lossless ? "lossless: nothing was lost" : `NOT lossless: ${plural(report.verdict.lost_packets, "packet")} lost`;
        reasons.replaceChildren(...report.verdict.reasons.map((reason) => element("li", { class: "false" }, typeof reason === "string" ? reason : JSON.stringify(reason))));
        const fact = (name, text) => element("li", {}, element("b", {}, name), text);
        facts.replaceChildren(fact("clock", `${report.clock}, ${formats.ns(report.end_ns, 6)}`), fact("lossless packets", count(report.verdict.lossless_packets)),
            fact("in", count(report.ledger.rx)), fact("out", count(report.ledger.tx)), fact("dropped", count(report.ledger.dropped)), fact("queued", count(report.ledger.queued)));
        document.title = `${lossless === false ? "NOT lossless" : lossless ? "lossless" : "Sluice"} \u2013 Sluice`;
        ports.update(each_port(report));
        pools.update(Object.entries(report.pools).map(([name, pool]) => ({ key: name, name, pool })));
        groups.update(each_port(report).flatMap(({ name, port }) => port.priority_groups.map((group, n) => ({ key: `${name}.${n}`, group })).filter(({ group }) => group.lossless)));
        watchdog.update(report.watchdog.map((queue) => ({ key: `${queue.port}.${queue.queue}`, queue })));
        ecmp.update(Object.entries(report.ecmp).flatMap(([group, of]) => {
            const members = of.members ?? of;
            const all = members.reduce((total, member) => total + member.packets, 0);
            return members.map((member, n) => ({ key: `${group} ${n}`, group, member: member.address ?? member.name ?? String(n), packets: member.packets, share: all > 0 ? member.packets / all : 0 }));
        }));
        events.update(report.events.slice(-30).reverse().map((event, n) => ({ key: `${event.at_ns} ${event.kind} ${event.text} ${n}`, event })));
        offer_ports(Object.keys(report.ports));
        draw_all();
        document.documentElement.dataset.ready = "true";
    }

    function take({ report, thresholds }) {
        if (moments.length > 0 && report.end_ns < latest().at_ns) moments.length = 0;  // another switch
        if (moments.length > 0 && report.end_ns === latest().at_ns) moments.pop();     // a clock that stands
        moments.push({ at_ns: report.end_ns, report, thresholds });
        if (moments.length > kept) moments.shift();
        if (!held) show();
    }

    const marks = () => {
        const all = latest().thresholds;
        const values = new Map();
        for (const name of deepest()) {
            const dot = name.lastIndexOf(".");
            const curve = all[name.slice(0, dot)]?.[name.slice(dot + 1)];
            if (curve) { values.set(curve.min_bytes, "marks begin"); values.set(curve.max_bytes, "all is marked"); }
        }
        return [...values].slice(0, 4).map(([at, name]) => ({ at, name: `${name} at ${formats.bytes(at)}` }));
    };
    const has_data = () => moments.length > 0;

    const page = document.getElementById("page");
    page.replaceChildren(element("h1", {}, "Sluice"), verdict, reasons, facts, element("div", { class: "controls" }, pause, link),
        section("ports", "Ports", ...ports.nodes),
        section("queues", "Queues", element("p", { class: "note" }, "The deepest of the last five minutes, and where marking begins and is complete."),
            lines_over_time("Depth of the deepest queues over time", formats.bytes, () => (has_data() ? deepest() : []), queue_at, () => (has_data() ? marks() : []))),
        section("pauses", "Pauses", element("p", { class: "note" }, "Share of time: Tx, we pause the peer; Rx, the peer pauses us."),
            lines_over_time("Share of time paused", percent, () => (has_data() ? pausing() : []), share_at)),
        section("buffer", "Buffer", ...pools.nodes, ...groups.nodes),
        section("watchdog", "Watchdog", ...watchdog.nodes),
        section("ecmp", "ECMP", ...ecmp.nodes),
        section("why", "Why", element("div", { class: "controls" }, element("label", {}, "At ", which), element("button", { type: "button", onclick: ask }, "Ask")), answer),
        section("events", "Events", ...events.nodes));
    facts.after(contents(page));

    const source = new EventSource(with_token("live"));
    source.onmessage = (message) => take(JSON.parse(message.data));
    source.onopen = () => { link.textContent = ""; };
    source.onerror = () => { link.textContent = "The switch does not answer; what is here is the last that it said."; };
}
