// A table whose cells change in place, so that what has the focus keeps it; and what stands in its cells.
"use strict";

// columns: {head, get(row), show?(value), number?, bad?(row)}; `get` may give a Node. Rows have a `key`, one of each. A heading sorts. `empty`:
// what stands there instead while there are no rows.
function live_table(caption, columns, empty) {
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
    const title = element("caption", {}, caption);
    const none = element("p", { class: "note" }, empty);
    const lines = new Map();  // key -> {row, cells}
    let rows_now = [];
    function update(rows) {
        rows_now = rows;
        const value = (row) => { const got = columns[sorted_by].get(row); return got instanceof Node ? got.textContent : got ?? ""; };
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
                const shown = got instanceof Node ? got : figure(got, shown_by(column, row));
                const cell = line.cells[n];
                if (!(shown instanceof Node)) { if (cell.textContent !== shown) cell.textContent = shown; } else if (!cell.contains(document.activeElement)) cell.replaceChildren(shown);
                if (column.bad) cell.classList.toggle("false", Boolean(column.bad(row)));
            });
            if (body.children[place] !== line.row) body.insertBefore(line.row, body.children[place] ?? null);
        });
        none.hidden = wanted.length > 0;
        scroll.hidden = wanted.length === 0;
    }
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, title, element("thead", {}, element("tr", {}, heads)), body));
    return { update, title, nodes: [scroll, none] };
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const per_second = (value) => `${count(Math.round(value))}/s`;
const sum = (of) => (typeof of === "number" ? of : Object.values(of ?? {}).reduce((all, each) => all + sum(each), 0));
// Of a member that a name of the data chooses.
const own = (of, name) => (of && Object.hasOwn(of, name) ? of[name] : undefined);

const bar = (used, limit, bad) => element("span", { class: "bar", role: "img", "aria-label": percent(limit > 0 ? used / limit : 0) },
    element("span", { class: bad ? "bad" : null, style: `width:${limit > 0 ? Math.min(100, (100 * used) / limit) : 0}%` }));

// In the title of the tab: of which switch or fabric the figures are.
let shown_name = "";

// The verdict, its reasons, and figures that stand beside it.
function head_of_view() {
    const verdict = element("p", { class: "verdict", role: "status" }, "waiting for the switch");
    const reasons = element("ul", {});
    const facts = element("ul", { class: "facts" });
    const show = ({ lossless, headline, reasons: why, interrupted }, pairs) => {
        verdict.className = `verdict ${lossless === null ? "" : lossless ? "good" : "bad"}`;
        verdict.textContent = interrupted ? `${headline}; interrupted` : headline;
        reasons.replaceChildren(...why.map((reason) => element("li", { class: "false" }, typeof reason === "string" ? reason : JSON.stringify(reason))));
        facts.replaceChildren(...pairs.map(([name, value]) => element("li", {}, element("b", {}, name), value)));
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
        { head: "At", number: true, get: (row) => row.event.at_ns, show: (at) => formats.ns(at, 6) },
        { head: "Kind", get: (row) => row.event.kind },
        { head: "What", get: (row) => row.event.text },
    ], "Nothing has happened to it.");
}
// The last `most`, the latest first.
const event_rows = (events, most) => events.slice(-most).reverse().map((event, n) => ({ key: `${event.at_ns} ${event.kind} ${event.text} ${n}`, event }));
