// A sweep: a figure of all runs over what varied, with its spread over seeds, and every run.
"use strict";

// An assertion of a row goes by its name, for each variant has its own.
const assert_name = (each) => (each.phase ? `${each.that} in ${each.phase}` : each.that);
const assert_of = (row, name) => row.asserts.find((each) => assert_name(each) === name);

// Figures that a row has, each with its unit; of assertions, too.
function figures_of(rows) {
    const figures = new Map();
    for (const row of rows) {
        for (const [name, value] of Object.entries(row.figures))
            if (typeof value === "number" && !figures.has(name)) figures.set(name, { name: name.replaceAll("_", " "), show: format_of(name), get: (of) => of.figures[name] });
        for (const each of row.asserts) {
            const name = assert_name(each);
            if (typeof each.value === "number" && !figures.has(name))
                figures.set(name, { name, show: / ratio to /.test(each.that) ? count : format_of(each.that), get: (of) => assert_of(of, name)?.value });
        }
    }
    figures.set("met", { name: "part of the runs in which all assertions hold", show: (value) => `${+(100 * value).toFixed(1)} %`, get: (row) => (row.error === null ? Number(row.met) : null) });
    figures.delete("end_ns");
    return [...figures.values()];
}

// Over seeds: of the rows where `wanted` (value by axis) holds.
function spread(rows, wanted, figure_of) {
    const values = rows.filter((row) => wanted.every(([axis, value]) => axis.of(row) === value)).map(figure_of.get).filter((value) => typeof value === "number");
    if (values.length === 0) return null;
    return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, least: Math.min(...values), most: Math.max(...values), runs: values.length };
}

function sweep_page(root, sweep, rows) {
    const failed = rows.filter((row) => row.error !== null).length;
    const met = rows.filter((row) => row.met).length;
    const seeds = [...new Set(rows.map((row) => row.seed))];
    const asserts = rows.some((row) => row.asserts.length > 0);
    const whole = rows.length === sweep.runs;
    root.append(
        element("p", { class: `verdict ${met < rows.length ? "bad" : asserts ? "good" : "open"}`, id: "verdict" },
            `${asserts ? `All assertions hold in ${met} of ${rows.length} runs` : `${plural(rows.length, "run")}; nothing is asserted`}${failed ? `; ${failed} could not be judged` : ""}${whole ? "" : `; ${sweep.runs} were wanted`}`),
        element("ul", { class: "facts" }, facts_of([["Runs", figure(rows.length, count)], ["Seeds", figure(seeds.length, count)], ...sweep.axes.map((axis) => [axis.path, axis.values.join(", ")])])));
    const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
    let axes = sweep.axes.map((axis) => ({ name: axis.path, short: short_path(axis.path), values: axis.values.map(text), of: (row) => text(row.values[axis.path]) }));
    if (axes.length === 0) axes = [{ name: "seed", short: "seed", values: seeds.map(String), of: (row) => String(row.seed) }];
    const figures = figures_of(rows);
    // The first figure: that of an assertion which is true in some runs and false in others.
    const truths = new Map();
    for (const row of rows)
        for (const each of row.asserts) truths.set(assert_name(each), (truths.get(assert_name(each)) ?? new Set()).add(each.met));
    const deciding = [...truths.keys()].filter((name) => truths.get(name).size > 1);
    const first = figures.findIndex((each) => deciding.includes(each.name));
    let shown = figures[first >= 0 ? first : Math.max(0, figures.findIndex((each) => each.name === "completion p99 ns"))];
    const pick_figure = () => choice("Figure", figures.map((each) => each.name), (n) => { shown = figures[n]; for (const each of pickers) each.querySelector("select").selectedIndex = n; redraw(); }, figures.indexOf(shown));
    const pickers = [];
    const tables = element("div");
    const redraw = () => { lines.draw(); heat?.draw(); fill(); };
    // Axes of the charts; the others stand still at a value.
    let along = axes.reduce((best, axis) => (axis.values.length > best.values.length ? axis : best));
    let across = axes.find((axis) => axis !== along) ?? null;
    const fixed = new Map(axes.map((axis) => [axis, axis.values[0]]));
    const others = () => axes.filter((axis) => axis !== along && axis !== across).map((axis) => [axis, fixed.get(axis)]);
    const at = (x, y) => spread(rows, [[along, x], ...(across ? [[across, y]] : []), ...others()], shown);
    const lines_option = (colors) => {
        const names = across ? across.values : [shown.name];
        const cells = names.map((name) => along.values.map((x) => at(x, name)));
        const values = cells.flat().filter((cell) => cell !== null).flatMap((cell) => [cell.least, cell.most]);
        const digits = Math.max(...values) - Math.min(...values) < 0.05 * Math.max(...values) ? 5 : 3;
        const band = (name, pick, more) => ({ type: "line", name, data: pick, symbol: "none", stack: `band ${name}`, lineStyle: { opacity: 0 }, itemStyle: { color: color_of(names.indexOf(name)) }, silent: true, tooltip: { show: false }, ...more });
        return {
            grid: { left: 84, right: 24, top: across ? 64 : 40, bottom: 56 },
            title: { text: across ? `Lines: ${across.name}` : "", left: 6, top: 4, textStyle: { color: colors.soft, fontSize: 12, fontWeight: 400 } },
            legend: across ? { top: 24, left: 6, data: names, textStyle: { color: colors.ink } } : { show: false },
            xAxis: { type: "category", data: along.values, name: along.name, nameLocation: "middle", nameGap: 32, ...axis_style(colors) },
            yAxis: { type: "value", scale: true, ...axis_style(colors), axisLabel: { color: colors.soft, formatter: (value) => short(shown.show(value, digits)) } },
            tooltip: { ...tooltip_style(colors), trigger: "axis", formatter: (items) => {
                const x = items[0].axisValue;
                return tip(`${along.short} = ${x}`, names.map((name, n) => [color_of(n), name, cells[n][along.values.indexOf(x)]]).filter(([, , cell]) => cell !== null)
                    .map(([color, name, cell]) => [color, name, `${shown.show(cell.mean)} (${shown.show(cell.least)} to ${shown.show(cell.most)}, ${cell.runs} runs)`]));
            } },
            series: names.flatMap((name, n) => [
                band(name, cells[n].map((cell) => cell?.least ?? null), {}),
                band(name, cells[n].map((cell) => (cell ? cell.most - cell.least : null)), { areaStyle: { color: color_of(n), opacity: 0.18 } }),
                { type: "line", name, data: cells[n].map((cell) => cell?.mean ?? null), symbol: "circle", symbolSize: 7, itemStyle: { color: color_of(n) }, lineStyle: { color: color_of(n), width: 2, type: dash_of(n) } },
            ]),
        };
    };
    const heat_option = (colors) => {
        const cells = across.values.flatMap((y, j) => along.values.map((x, i) => [i, j, at(x, y)])).filter(([, , cell]) => cell !== null);
        const means = cells.map(([, , cell]) => cell.mean);
        return {
            grid: { left: 110, right: 110, top: 14, bottom: 56 },
            xAxis: { type: "category", data: along.values, name: along.name, nameLocation: "middle", nameGap: 32, ...axis_style(colors), splitLine: { show: false } },
            yAxis: { type: "category", data: across.values, name: across.name, nameLocation: "middle", nameGap: 84, ...axis_style(colors) },
            visualMap: { type: "continuous", min: Math.min(...means), max: Math.max(...means), orient: "vertical", right: 0, top: "center", calculable: false, inRange: { color: colors.heat }, textStyle: { color: colors.soft }, formatter: (value) => shown.show(value), text: [shown.show(Math.max(...means)), shown.show(Math.min(...means))] },
            tooltip: { ...tooltip_style(colors), formatter: (item) => {
                const cell = cells[item.dataIndex][2];
                return tip(`${along.short} = ${along.values[item.value[0]]}, ${across.short} = ${across.values[item.value[1]]}`, [[null, "mean", shown.show(cell.mean)], [null, "over seeds", `${shown.show(cell.least)} to ${shown.show(cell.most)}`], [null, "runs", count(cell.runs)]]);
            } },
            series: [{ type: "heatmap", data: cells.map(([i, j, cell]) => [i, j, cell.mean]), itemStyle: { borderColor: colors.paper, borderWidth: 1 },
                label: { show: cells.length <= 150, formatter: (item) => shown.show(item.value[2]), color: colors.ink, backgroundColor: colors.paper, padding: [2, 4], borderRadius: 3, fontSize: 11 } }],
        };
    };
    const fill = () => tables.replaceChildren(...table(`${shown.name}: mean and spread over seeds`, [
        { head: along.name, get: (cell) => cell.x }, ...(across ? [{ head: across.name, get: (cell) => cell.y }] : []),
        { head: "Mean", get: (cell) => cell.mean, show: shown.show }, { head: "Least", get: (cell) => cell.least, show: shown.show },
        { head: "Most", get: (cell) => cell.most, show: shown.show }, { head: "Runs", get: (cell) => cell.runs },
    ], along.values.flatMap((x) => (across ? across.values : [null]).map((y) => { const cell = at(x, y); return cell && { x, y, ...cell }; }).filter(Boolean))));
    const lines = chart("The figure over what varied; a table is below it", 380, lines_option);
    const heat = across ? chart("Heat map of the figure over two keys; a table is below it", Math.min(640, 120 + 46 * across.values.length), heat_option) : null;
    const axis_controls = axes.length < 3 ? [] : [
        choice("Along", axes.map((axis) => axis.name), (n) => { if (axes[n] === across) across = along; along = axes[n]; redraw(); }, axes.indexOf(along)),
        choice("Across", axes.map((axis) => axis.name), (n) => { if (axes[n] === along) along = across; across = axes[n]; redraw(); }, axes.indexOf(across)),
        ...axes.map((axis) => choice(`${axis.short} (where it is neither)`, axis.values, (n) => { fixed.set(axis, axis.values[n]); redraw(); }))];
    pickers.push(pick_figure());
    if (heat) pickers.push(pick_figure());
    if (heat) root.append(section("heat", "Over two keys", element("div", { class: "controls" }, pickers[1], axis_controls), heat.box));
    root.append(
        section("lines", "Over what varied, with the spread over seeds", element("div", { class: "controls" }, pickers[0]), lines.box,
            element("p", { class: "note" }, `The line is the mean of ${count(seeds.length)} seeds, the band reaches from the least to the most.`), folded("As a table", tables)),
        section("runs", "Every run", table(`${count(rows.length)} runs`, [
            { head: "Run", get: (row) => row.run }, ...sweep.axes.map((axis) => ({ head: axis.path, get: (row) => text(row.values[axis.path]) })), { head: "Seed", get: (row) => row.seed },
            { head: "Assertions", get: (row) => (row.error !== null ? row.error : row.asserts.length === 0 ? "none" : element("span", { class: row.met ? "met judged" : "false judged" }, row.met ? "\u2713 hold" : `\u2717 FALSE: ${row.asserts.filter((each) => each.met !== true).map((each) => each.that).join("; ")}`)) },
            ...figures.slice(0, -1).map((each) => ({ head: each.name, get: (row) => each.get(row) ?? null, show: each.show })),
        ], rows, 100)));
    fill();
}
