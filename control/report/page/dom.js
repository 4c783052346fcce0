// Elements, tables and figures as the page shows them. Texts of the data become text nodes, never HTML.
"use strict";

function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
        else if (value === true) made.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return made;
}

// Digits and a unit, whole numbers below 1000 as they are.
function scaled(value, units, most = 3) {
    let n = 0;
    let shown = Math.abs(value);
    while (shown >= 999.5 && n + 1 < units.length) {
        shown /= 1000;
        n += 1;
    }
    const digits = n === 0 && Number.isInteger(shown) ? 0 : Math.max(0, most - 1 - Math.floor(Math.log10(Math.max(shown, 1))));
    return `${value < 0 ? "-" : ""}${shown.toFixed(digits)} ${units[n]}`.trim();
}
function two_digits(value, longest = Infinity) {
    const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
    const nearest = Math.round(value / step) * step;
    return nearest > longest ? Math.floor(value / step) * step : nearest;
}
// Without digits that say nothing: "1 MB", not "1.00 MB".
const short = (text) => text.replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");
const count = (value) => (Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ",") : String(+value.toPrecision(5)));
const plural = (value, name) => `${count(value)} ${name}${value === 1 ? "" : "s"}`;
const formats = {
    bps: (value, digits) => scaled(value, ["b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"], digits),
    bytes: (value, digits) => short(scaled(value, ["B", "KB", "MB", "GB", "TB"], digits)),
    ns: (value, digits) => scaled(value, ["ns", "\u00b5s", "ms", "s"], digits),
    // Of quantiles, which a histogram knows to a sixteenth: two digits, and never above its longest.
    quantile_ns: (value, longest) => scaled(two_digits(value, longest), ["ns", "\u00b5s", "ms", "s"], 2),
    quantile_permille: (value, longest) => { const shown = two_digits(value, longest) / 1000; return `${shown.toFixed(shown < 10 ? 1 : 0)}\u00d7`; },
    ppm: (value) => `${(value / 1e4).toFixed(1)} %`,
    permille: (value) => `${(value / 1000).toFixed(2)}\u00d7`,
    count,
};
// By the unit that a figure's name ends in.
function format_of(name) {
    const quantile = /_p\d+_(ns|permille)\b|_(ns|permille)\.p\d/.exec(name);
    if (quantile) return (value) => formats[`quantile_${quantile[1] ?? quantile[2]}`](value);
    const unit = /_(bps|bytes|ns|ppm|permille)\b(?!.*_(?:bps|bytes|ns|ppm|permille)\b)/.exec(name);
    return formats[unit ? unit[1] : "count"];
}

// A figure of the report, whole, with the text that people read.
function figure(value, show) {
    if (value === null || value === undefined) return "\u2013";
    if (typeof value === "boolean") return element("data", { value: String(value), class: value ? "met" : "false" }, value ? "yes" : "no");
    if (typeof value === "number") return element("data", { value: String(value), title: count(value) }, show(value));
    return typeof value === "string" ? value : JSON.stringify(value);
}

// How a cell shows its value; `longest(row)`: of the histogram whose quantile it is.
const shown_by = (column, row) => (column.longest ? (value) => column.show(value, column.longest(row)) : column.show ?? count);

// columns: {head, get(row), show?(value), longest?(row), code?}. What `get` gives as a number stands right. A heading sorts.
function table(caption, columns, rows, most = 200) {
    const body = element("tbody");
    let sorted = rows;
    let shown = most;
    const more = element("button", { type: "button", class: "screen", onclick: () => { shown = Infinity; fill(); } });
    const numeric = columns.map((column) => rows.some((row) => typeof column.get(row) === "number"));
    const cell = (column, row, n) => {
        const value = column.get(row);
        const attributes = { class: numeric[n] ? "number" : column.code ? "code" : null };
        return element("td", attributes, value instanceof Node ? value : figure(value, shown_by(column, row)));
    };
    const fill = () => {
        body.replaceChildren(...sorted.slice(0, shown).map((row) => element("tr", {}, columns.map((column, n) => cell(column, row, n)))));
        more.textContent = `Show all ${count(rows.length)} rows`;
        more.hidden = rows.length <= shown;
    };
    const heads = columns.map((column, n) => {
        const sort = () => {
            const down = heads[n].getAttribute("aria-sort") === (numeric[n] ? "descending" : "ascending") ? !numeric[n] : numeric[n];
            for (const head of heads) head.removeAttribute("aria-sort");
            heads[n].setAttribute("aria-sort", down ? "descending" : "ascending");
            const key = (row) => { const value = column.get(row); return value instanceof Node ? value.textContent : value ?? ""; };
            const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
            sorted = [...rows].sort((a, b) => (down ? order(key(b), key(a)) : order(key(a), key(b))));
            fill();
        };
        return element("th", { scope: "col", class: numeric[n] ? "number" : null }, element("button", { type: "button", onclick: sort }, column.head));
    });
    fill();
    return [element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)), body)), more];
}

function section(id, title, ...children) {
    return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title), children);
}
function folded(title, ...children) {
    return element("details", {}, element("summary", {}, title), children);
}
// A labeled choice; `chosen` gets the index.
function choice(label, options, chosen, first = 0) {
    const select = element("select", { onchange: () => chosen(select.selectedIndex) },
        options.map((option, n) => element("option", { selected: n === first }, option)));
    return element("label", {}, `${label} `, select);
}

// Of a fabric's report: where most time of pauses began, collectives, and how evenly ECMP loaded the cables.
function first_cause([first]) {
    if (!first) return null;
    return element("p", { class: "cause" }, "Pauses began here: ", element("b", {}, first.text), `: ${formats.ns(first.paused_ns)} in ${plural(first.pauses, "pause")}`);
}
const collective_columns = [
    { head: "Collective", get: (row) => row.name },
    { head: "Ranks", number: true, get: (row) => row.ranks },
    { head: "Steps", number: true, get: (row) => row.steps },
    { head: "Step p50", number: true, get: (row) => row.step_ns.p50, show: formats.quantile_ns, longest: (row) => row.step_ns.max },
    { head: "p99", number: true, get: (row) => row.step_ns.p99, show: formats.quantile_ns, longest: (row) => row.step_ns.max },
    { head: "max", number: true, get: (row) => row.step_ns.max, show: formats.ns },
    { head: "Bus bandwidth", number: true, get: (row) => row.bus_bandwidth_bps, show: formats.bps },
    { head: "State", get: (row) => row.state },
    { head: "Last in most steps", get: ({ straggler: { host, steps, by_ns } }) => (host === null ? "" : `${host} in ${plural(steps, "step")}, by ${formats.ns(by_ns)}`) },
    { head: "Slowest path", get: ({ slowest_path: { from, to, over_median_permille } }) => (from === null ? "" : `${from} to ${to}, ${formats.permille(over_median_permille)} of the median`) },
];
const balance_columns = [
    { head: "Switch", get: (row) => row.switch },
    { head: "Cables", get: (row) => row.links.join(", ") },
    { head: "Mean load", number: true, get: (row) => row.mean_load_ppm, show: formats.ppm },
    { head: "Busiest over mean", number: true, get: (row) => row.max_over_mean_permille, show: formats.permille },
    { head: "Jain's index", number: true, get: (row) => row.jain_permille, show: (value) => (value / 1000).toFixed(3) },
];

// Links to the sections that follow, once they are there.
function contents(root) {
    const entries = [...root.querySelectorAll("section")].map((each) =>
        element("li", {}, element("a", { href: `#${each.id}` }, each.querySelector("h2").textContent)));
    return element("nav", { "aria-label": "Contents" }, element("ul", {}, entries));
}
