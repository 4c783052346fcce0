// Charts of the library in the page's colors, drawn anew when the colors, the width or the medium change.
"use strict";

const light = {
    ink: "#1c2430", soft: "#566070", line: "#d5dae1", paper: "#ffffff", raised: "#f5f6f8", band: "rgba(80,100,130,0.10)",
    heat: ["#f3f6fa", "#9cc3e6", "#3d7fc0", "#12376b"], idle: "#8ba3bd", paused: "#d62728", node: "#2f4b6e", host: "#8a6d1f",
    series: ["#0b63b0", "#c8440f", "#157a4a", "#8a3fa0", "#a06a00", "#0f8a8a", "#b02a5b", "#5a5f66"],
};
const dark = {
    ink: "#e6eaf0", soft: "#a3adba", line: "#38414d", paper: "#14181e", raised: "#1d232b", band: "rgba(160,180,210,0.10)",
    heat: ["#1d2733", "#24517e", "#4f93cf", "#c4e2fb"], idle: "#5f7690", paused: "#ff6b61", node: "#4b78ad", host: "#d6b65c",
    series: ["#6db3f2", "#ff9d6b", "#5fcf95", "#cf9be6", "#e8bd55", "#5fd3d3", "#f288b0", "#b5bcc6"],
};
const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const theme = () => (dark_wanted.matches && !printing ? dark : light);
const color_of = (n) => theme().series[n % theme().series.length];
// Lines beyond the colors are told apart by their dashes.
const dashes = ["solid", "dashed", "dotted"];
const dash_of = (n) => dashes[Math.floor(n / light.series.length) % dashes.length];

const drawn = [];  // each draws itself

const paper_width = 680;

// `option(theme, width, height)`: of the library, and `taller`: the height that it needs beyond `height`. `keys`: the action of each key.
function chart(label, height, option, keys = {}) {
    const box = element("div", { class: "chart", style: `height:${height}px`, tabindex: "0", role: "img", "aria-label": label });
    let made = null;
    const self = {
        box,
        draw() {
            if (!box.isConnected || box.clientWidth === 0) return;
            const width = printing ? paper_width : box.clientWidth;
            const zoom = made?.getOption().dataZoom?.[0];
            made?.dispose();
            const { taller = 0, ...wanted } = option(theme(), width, height);
            box.style.height = `${height + taller}px`;
            made = charts.init(box, null, { renderer: "svg", width, height: height + taller, locale: "EN" });
            made.setOption({ animation: false, backgroundColor: "transparent", textStyle: { fontFamily: "inherit", color: theme().ink }, ...wanted });
            if (zoom) made.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start: zoom.start, end: zoom.end });
        },
        zoom: () => made?.getOption().dataZoom?.[0] ?? { start: 0, end: 100 },
        act: (action) => made?.dispatchAction(action),
    };
    box.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        keys[event.key](self);
        event.preventDefault();
    });
    drawn.push(self);
    return self;
}

function draw_all() {
    for (const each of drawn) each.draw();
    for (const each of document.querySelectorAll(".scroll")) each.toggleAttribute("data-wider", each.scrollWidth > each.clientWidth);
    for (const each of document.querySelectorAll(".swatch[data-color]")) each.style.background = color_of(Number(each.dataset.color));
    for (const each of document.querySelectorAll(".mark[data-color]")) each.style.color = color_of(Number(each.dataset.color));
    for (const each of document.querySelectorAll(".swatch[data-share]")) each.style.background = paused_color(Number(each.dataset.share));
}
function print_mode(on) {
    if (printing === on) return;
    printing = on;
    draw_all();
}
dark_wanted.addEventListener("change", draw_all);
addEventListener("resize", draw_all);
addEventListener("beforeprint", () => print_mode(true));
addEventListener("afterprint", () => print_mode(false));

// From idle to always paused; the root shows short pauses, too.
function paused_color(share) {
    const { idle, paused } = theme();
    const channel = (color, n) => parseInt(color.slice(1 + 2 * n, 3 + 2 * n), 16);
    const part = Math.sqrt(Math.min(1, share));
    return `#${[0, 1, 2].map((n) => Math.round(channel(idle, n) + (channel(paused, n) - channel(idle, n)) * part).toString(16).padStart(2, "0")).join("")}`;
}

// Part of the time axis, by keys and buttons.
function move_zoom(self, move, widen) {
    const { start, end } = self.zoom();
    const width = Math.min(100, Math.max(0.5, (end - start) * widen));
    const middle = (start + end) / 2 + move * width;
    const from = Math.min(100 - width, Math.max(0, middle - width / 2));
    self.act({ type: "dataZoom", dataZoomIndex: 0, start: from, end: from + width });
}
const zoom_keys = {
    ArrowLeft: (self) => move_zoom(self, -0.25, 1),
    ArrowRight: (self) => move_zoom(self, 0.25, 1),
    "+": (self) => move_zoom(self, 0, 0.5),
    "-": (self) => move_zoom(self, 0, 2),
    Home: (self) => self.act({ type: "dataZoom", dataZoomIndex: 0, start: 0, end: 100 }),
};
function zoom_buttons(self) {
    const button = (text, key) => element("button", { type: "button", onclick: () => zoom_keys[key](self) }, text);
    return element("div", { class: "controls screen" }, button("Zoom in", "+"), button("Zoom out", "-"), button("Earlier", "ArrowLeft"),
        button("Later", "ArrowRight"), button("Whole run", "Home"),
        element("span", { class: "note" }, "Also: + \u2212 \u2190 \u2192 Home on the chart, drag to move, Ctrl and wheel to zoom, the bar below."));
}

// The names of lines above the plot, and the height of their further rows.
function legend_of(names, width, colors) {
    const [square, letter, row] = [42, 7.5, 24];
    let [rows, end] = [1, 0];
    for (const name of names) {
        const wide = square + letter * name.length;
        if (end > 0 && end + wide > width) { rows += 1; end = 0; }
        end += wide;
    }
    return { taller: (rows - 1) * row, legend: { top: 0, left: 0, textStyle: { color: colors.ink }, data: names, inactiveColor: colors.line } };
}

// A tooltip: rows of a color, a name and a figure.
function tip(title, rows) {
    return element("div", { class: "tip" }, element("b", {}, title), element("table", {}, rows.map(([color, name, text]) =>
        element("tr", {}, element("td", {}, color ? element("span", { class: "swatch", style: `background:${color}` }) : null, name), element("td", { class: "number" }, text)))));
}
const tooltip_style = (colors) => ({
    confine: true, backgroundColor: colors.raised, borderColor: colors.line, textStyle: { color: colors.ink, fontSize: 12 },
});
const axis_style = (colors) => ({
    axisLine: { lineStyle: { color: colors.soft } }, axisLabel: { color: colors.soft }, nameTextStyle: { color: colors.soft },
    splitLine: { lineStyle: { color: colors.line } },
});

// Boxes to choose lines by; `chosen` is a set of indices. `labels`: their names, at their places.
function chooser(title, names, chosen, first_color, changed) {
    if (names.length === 0) return null;
    const boxes = names.map((name, n) => element("input", { type: "checkbox", checked: chosen.has(n), onchange: (event) => {
        if (event.target.checked) chosen.add(n); else chosen.delete(n);
        changed();
    } }));
    const all = (on) => () => {
        boxes.forEach((box, n) => { box.checked = on; if (on) chosen.add(n); else chosen.delete(n); });
        changed();
    };
    return element("fieldset", {}, element("legend", {}, title),
        names.map((name, n) => element("label", {}, boxes[n], element("span", { class: "swatch", "data-color": first_color + n }), name)),
        names.length > 2 ? [element("button", { type: "button", onclick: all(true) }, "All"), " ", element("button", { type: "button", onclick: all(false) }, "None")] : null);
}
