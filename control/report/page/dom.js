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
    // A histogram knows quantiles to a sixteenth: two digits, and never above its longest.
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

// Columns of what `get` has of a row: the quantiles p50 and p99 of a histogram, and its max.
const quantile_columns = (head, get) => [["p50", `${head} p50`], ["p99", "p99"]]
    .map(([name, head]) => ({ head, get: (row) => get(row)[name], show: formats.quantile_ns, longest: (row) => get(row).max }))
    .concat({ head: "max", get: (row) => get(row).max, show: formats.ns });

// How a cell shows its value; `longest(row)`: of the histogram whose quantile it is.
const shown_by = (column, row) => (column.longest ? (value) => column.show(value, column.longest(row)) : column.show ?? count);

// A table whose cells change in place, so that what has the focus keeps it. columns: {head, get(row), show?(value), longest?(row), bad?(row), code?};
// `get` may return a Node; numbers are set right. Rows have a `key`, else they are their own. A heading sorts. `empty`: the text while there are
// no rows. `most`: rows that are shown at first.
function live_table(caption, columns, empty, most = Infinity) {
    let sorted_by = null;
    let down = true;
    let rows_now = [];
    const numeric = columns.map(() => false);
    const heads = columns.map((column, n) => element("th", { scope: "col" }, element("button", { type: "button", onclick: () => {
        down = sorted_by === n ? !down : numeric[n];
        sorted_by = n;
        heads.forEach((head, at) => (at === n ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
        update(rows_now);
    } }, column.head)));
    const body = element("tbody");
    const title = element("caption", {}, caption);
    const none = element("p", { class: "note" }, empty);
    const more = element("button", { type: "button", class: "screen", onclick: () => { most = Infinity; update(rows_now); } });
    const lines = new Map();  // key -> {row, cells}
    const in_order = (rows) => {
        if (sorted_by === null) return rows;
        const value = (row) => { const got = columns[sorted_by].get(row); return got instanceof Node ? got.textContent : got ?? ""; };
        const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
        return [...rows].sort((a, b) => (down ? order(value(b), value(a)) : order(value(a), value(b))));
    };
    function update(rows) {
        rows_now = rows;
        const wanted = in_order(rows).slice(0, most);
        const keys = new Set(wanted.map((row) => row.key ?? row));
        for (const [key, line] of lines) if (!keys.has(key)) { line.row.remove(); lines.delete(key); }
        wanted.forEach((row, place) => {
            const key = row.key ?? row;
            if (!lines.has(key)) {
                const cells = columns.map((column) => element("td", { class: column.code ? "code" : null }));
                lines.set(key, { row: element("tr", { "data-key": row.key }, cells), cells });
            }
            const line = lines.get(key);
            columns.forEach((column, n) => {
                const got = column.get(row);
                if (typeof got === "number") numeric[n] = true;
                const shown = got instanceof Node ? got : figure(got, shown_by(column, row));
                const cell = line.cells[n];
                if (!(shown instanceof Node)) { if (cell.textContent !== shown) cell.textContent = shown; } else if (!cell.contains(document.activeElement)) cell.replaceChildren(shown);
                if (column.bad) cell.classList.toggle("false", Boolean(column.bad(row)));
            });
            if (body.children[place] !== line.row) body.insertBefore(line.row, body.children[place] ?? null);
        });
        for (const cells of [heads, ...[...lines.values()].map((line) => line.cells)]) cells.forEach((cell, n) => cell.classList.toggle("number", numeric[n]));
        none.hidden = wanted.length > 0;
        scroll.hidden = wanted.length === 0;
        more.hidden = rows.length <= most;
        more.textContent = `Show all ${count(rows.length)} rows`;
    }
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, title, element("thead", {}, element("tr", {}, heads)), body));
    return { update, title, nodes: [scroll, more, none] };
}
// A table that does not change.
function table(caption, columns, rows, most = 200) {
    const { update, nodes } = live_table(caption, columns, "", most);
    update(rows);
    return nodes;
}

// The end of a key's path, where there is little room.
const short_path = (path) => path.split(".").slice(-2).join(".");
const percent = (share) => `${(share * 100).toFixed(1)} %`;
const per_second = (value) => `${count(Math.round(value))}/s`;
const sum = (of) => (typeof of === "number" ? of : Object.values(of ?? {}).reduce((all, each) => all + sum(each), 0));
// A member that a name of the data chooses.
const own = (of, name) => (of && Object.hasOwn(of, name) ? of[name] : undefined);

const bar = (used, limit, bad) => element("span", { class: "bar", role: "img", "aria-label": percent(limit > 0 ? used / limit : 0) },
    element("span", { class: bad ? "bad" : null, style: `width:${limit > 0 ? Math.min(100, (100 * used) / limit) : 0}%` }));

// The switch or fabric in the title of the tab.
let shown_name = "";

const facts_of = (pairs) => pairs.map(([name, value]) => element("li", {}, element("b", {}, name), value));

// The verdict, its reasons, and figures that stand beside it.
function head_of_view() {
    const verdict = element("p", { class: "verdict", id: "verdict", role: "status" }, "waiting for the switch");
    const reasons = element("ul", {});
    const facts = element("ul", { class: "facts" });
    const show = ({ lossless, headline, reasons: why, interrupted }, pairs, [state, text] = []) => {
        verdict.className = `verdict ${state ?? (lossless === null ? "" : lossless ? "good" : "bad")}`;
        verdict.textContent = text ?? (interrupted ? `${headline}; interrupted` : headline);
        reasons.replaceChildren(...why.map((reason) => element("li", { class: "false" }, typeof reason === "string" ? reason : JSON.stringify(reason))));
        facts.replaceChildren(...facts_of(pairs));
        document.title = [...(lossless === null ? [] : [lossless ? "lossless" : "NOT lossless"]), shown_name, "Sluice"].join(" \u2013 ");
    };
    const wait = (text) => {
        verdict.className = "verdict";
        verdict.textContent = text;
        reasons.replaceChildren();
        facts.replaceChildren();
    };
    return { show, wait, facts, nodes: [verdict, reasons, facts] };
}

function events_table() {
    return live_table("The last events", [
        { head: "At", get: (row) => row.event.at_ns, show: (at) => formats.ns(at, 6) },
        { head: "Kind", get: (row) => row.event.kind },
        { head: "What", get: (row) => row.event.text },
    ], "Nothing has happened to it.");
}
// The last `most`, the latest first.
const event_rows = (events, most) => events.slice(-most).reverse().map((event, n) => ({ key: `${event.at_ns} ${event.kind} ${event.text} ${n}`, event }));

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

// Links to the sections that follow, once they are there.
function contents(root) {
    const entries = [...root.querySelectorAll("section")].map((each) =>
        element("li", {}, element("a", { href: `#${each.id}` }, each.querySelector("h2").textContent)));
    return element("nav", { "aria-label": "Contents" }, element("ul", {}, entries));
}
