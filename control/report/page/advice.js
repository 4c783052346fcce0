// Advice: the values, what they gain, the front, how the figures follow each key, and the evidence. Its data: control/fabric/advise/answer_page.hh.
"use strict";

// Numbers along an axis, from the least to the most of them with a margin: positions, and the library's options for it. `log`: they are positive.
// `format(value)`: of a tick; `most`: ticks; or else `only` these.
function scale_of(values, log, format, most, only) {
    const at = log ? Math.log10 : (value) => value;
    const back = log ? (place) => 10 ** place : (place) => place;
    const [least, last] = [Math.min(...values), Math.max(...values)];
    const margin = 0.08 * (at(last) - at(least)) || (log ? 0.1 : Math.abs(last) * 0.1 || 1);
    const [min, max] = [at(least) - margin, at(last) + margin];
    // The finest of steps that are short decimals, of which there are not too many.
    const linear = (step) => Array.from({ length: Math.max(0, Math.floor(max / step) - Math.ceil(min / step) + 1) }, (_, n) => (Math.ceil(min / step) + n) * step);
    const decades = (digits, each) => Array.from({ length: Math.floor(max) - Math.floor(min) + 1 }, (_, n) => Math.floor(min) + n)
        .filter((decade) => decade % each === 0).flatMap((decade) => digits.map((digit) => decade + Math.log10(digit))).filter((place) => place >= min && place <= max);
    const tens = 10 ** Math.floor(Math.log10((max - min) / most));
    const choices = log ? [...[[1, 2, 5], [1, 3], [1]].map((digits) => decades(digits, 1)), decades([1], 2), decades([1], 4)] : [1, 2, 5, 10, 20].map((step) => linear(step * tens));
    const fitting = choices.find((ticks) => ticks.length <= most && ticks.length > 1);
    const ticks = (only ?? fitting ?? [at(least), at(last)]).map((place) => +place.toFixed(12));
    return { at, min, max, options: (colors) => ({
        type: "value", min, max, ...axis_style(colors), axisTick: { show: true, customValues: ticks },
        axisLabel: { color: colors.soft, customValues: ticks, hideOverlap: true, formatter: (place) => short(format(+back(place).toPrecision(6))) },
    }) };
}
// Numbers of very different size are told apart by their ratios.
const wants_log = (values) => Math.min(...values) > 0 && Math.max(...values) >= 5 * Math.min(...values);
// Sentences of the terminal with the signs that it has not.
const typeset = (text) => text.replaceAll(" -> ", " \u2192 ").replaceAll(" +-", " \u00b1");

// Where the label of each point goes, so that it is over no other one and no point: "right", "left", "top" or "bottom", or null: there is no room.
// points: {x, y, text, must}, in pixels, the most important first; one that must have a label has it at the top then.
function label_places(points, width, height) {
    const [letter, line, gap] = [6.6, 14, 8];
    const taken = points.map(({ x, y }) => [x - 5, y - 5, x + 5, y + 5]);
    return points.map(({ x, y, text, must }, own) => {
        const wide = letter * text.length;
        const boxes = {
            right: [x + gap, y - line / 2, x + gap + wide, y + line / 2], left: [x - gap - wide, y - line / 2, x - gap, y + line / 2],
            top: [x - wide / 2, y - gap - line, x + wide / 2, y - gap], bottom: [x - wide / 2, y + gap, x + wide / 2, y + gap + line],
        };
        const is_free = (box) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
            && taken.every((other, n) => n === own || box[2] < other[0] || box[0] > other[2] || box[3] < other[1] || box[1] > other[3]);
        const place = Object.keys(boxes).find((each) => is_free(boxes[each])) ?? (must ? "top" : null);
        if (place) taken.push(boxes[place]);
        return place;
    });
}

function advice_page(root, { headline, units, rows, near, advice }) {
    const { answer, values, held, goal } = advice;
    const paths = values.map(({ path }) => path);
    const short_paths = paths.map(short_path);
    const name_of = (path) => (new Set(short_paths).size < paths.length ? path : short_path(path));
    const goal_names = goal.map(({ that, phase }) => (phase === null ? that : `${that} in ${phase}`));
    const shown = (entry) => (value, digits) => formats[units[entry]](value, digits);
    const changes = answer === "change";
    // The set that was measured: what the search found.
    const found_name = changes ? "advised" : advice.found === null ? "today's" : "best of the search";
    const more_runs = `--runs ${Math.max(100, Math.ceil((2 * advice.runs) / 50) * 50)}`;
    const no_run = `No run was left for it; do: advise with ${more_runs}.`;
    const none_keeps = answer === "none keeps" ? "No set keeps the goal, so none was measured further." : null;
    const note = (...text) => element("p", { class: "note" }, text);
    // A share with its sign; null: of nothing.
    const signed = (share) => `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${(Math.abs(share) * 100).toFixed(1)} %`;
    const share_of = (change, base) => (typeof change !== "number" || typeof base !== "number" || (base === 0 && change !== 0) ? null : base === 0 ? 0 : change / Math.abs(base));
    const judged = (verdict) => (verdict === "better" ? element("span", { class: "met" }, verdict) : verdict === "worse" ? element("span", { class: "false" }, verdict) : verdict);

    // The head.
    const commands = advice.trials.map(({ switches, command }) => [
        advice.trials.length > 1 ? note("On ", switches.join(", "), ":") : null, element("pre", { class: "command", tabindex: "0" }, command)]);
    root.append(
        element("p", { class: `verdict ${changes ? "good" : none_keeps ? "bad" : "open"}`, id: "verdict" }, typeset(headline)),
        element("ul", {}, [...(advice.today_fails === null ? [] : [`Today's values fail: ${advice.today_fails}`]), ...held.fails.map(({ name, wrong }) => `${name} fails on held seeds: ${wrong}`)]
            .map((text) => element("li", { class: "false" }, text)), near.map((text) => element("li", {}, typeset(text)))),
        element("ul", { class: "facts" }, facts_of([["Goal, the first decides", element("span", {}, goal_names.map((name, n) => [n > 0 ? element("br") : null, `${n + 1}. ${name}`]))],
            ["Runs", figure(advice.runs, count)], ["Frames sent by hosts", figure(advice.packets, count)], ["Seeds of each set", figure(held.seeds, count)]])),
        section("values", "Values", table(changes ? "Today's and the advised" : none_keeps ? "None keeps the goal, so none is advised" : "Nothing is to be changed", [
            { head: "Key", get: (each) => each.path, code: true }, { head: "Today", get: (each) => each.today },
            { head: "Advised", get: (each) => (each.advised === each.today ? (changes ? "as today" : none_keeps ? "none" : "leave it") : element("b", {}, each.advised)) },
            ...(advice.found === null || changes ? [] : [{ head: "Best of the search", get: (each) => advice.found[each.path] }]),
            ...(advice.nearest === null ? [] : [{ head: `Nearest, run ${advice.nearest.run}`, get: (each) => advice.nearest.values[each.path] }]),
            ...(values.every(({ edge }) => edge === null) ? [] : [{ head: "Range", get: (each) => (each.edge === null ? "" : `at the edge of ${each.edge}`) }]),
        ], values),
            advice.trials.length > 0 ? [note("Try it on a running switch for 10 s; it is taken back if it hurts:"), commands]
                : changes ? note("No key of a running switch changes; recommended.toml is the whole file with the values.") : null));

    // What it gains.
    const gain_note = `Means of ${plural(held.seeds, "seed")} from ${held.first_seed} on, which the search did not see; changes are paired by seed, the spread is that of 95 %.`;
    root.append(section("gain", "What it gains", advice.gain.length === 0
        ? note(none_keeps ?? (advice.found === null && !changes ? "The search came back to today's values, and there is no other start set to compare them with." : no_run))
        : [note(gain_note), table(`Against today's and each start set; ${found_name}: ${changes ? "the values above" : advice.found === null ? "as they are" : "what the search found"}`, [
            { head: "Against", get: (each) => (each.against === "today" ? element("b", {}, "today") : each.against) },
            { head: "Figure", get: (each) => goal_names[each.goal] },
            { head: "Its value", get: (each) => figure(each.today, shown(each.goal)) },
            { head: found_name[0].toUpperCase() + found_name.slice(1), get: (each) => figure(each.advised, shown(each.goal)) },
            { head: "Change", get: (each) => (each.change === null ? null : element("data", { value: String(each.change) }, signed(each.change))) },
            { head: "Spread \u00b1", get: (each) => { const share = share_of(each.spread, each.today); return share === null ? figure(each.spread, shown(each.goal)) : element("data", { value: String(each.spread) }, percent(share)); } },
            { head: "Verdict", get: (each) => judged(each.verdict) }, { head: "Source of the set", get: (each) => each.source },
        ], advice.gain)]));

    root.append(
        section("front", "The front", front_section()),
        section("sensitivity", "How the figures follow each key", sensitivity_section()),
        section("certificate", "Certificate", certificate_section()),
        section("headroom", "Headroom", headroom_section()),
        section("breaks", "What breaks first", breaks_section()),
        section("not-tried", "What was not tried", advice.not_tried.length === 0 ? note("Everything that was planned was tried.")
            : element("ul", {}, advice.not_tried.map((each) => element("li", {}, each))),
            note(`It took ${plural(advice.runs, "run")} and ${count(advice.packets)} frames sent by hosts.`)));

    function front_section() {
        const of = (each) => (name) => values.every((value) => each.values[value.path] === value[name]);
        const named = (each) => [...(changes && of(each)("advised") ? ["advised"] : []), ...(of(each)("today") ? ["today"] : []),
            ...(each.name === null || each.name === "today" || (each.name === "found" && changes) ? [] : [each.name === "found" ? "best of the search" : each.name])];
        const points = [...advice.front.map((each) => ({ ...each, is_front: true })), ...advice.beaten.map((each) => ({ ...each, is_front: false }))]
            .map((each, n) => ({ ...each, key: String(n), names: named(each) }));
        // A search that soon leaves today's set gives it all of its seeds no more; then its place is that of the held ones.
        const held_today = goal.map((_, entry) => advice.gain.find((each) => each.against === "today" && each.goal === entry)?.today ?? null);
        const is_from_held = !points.some(({ names }) => names.includes("today")) && points.length > 0 && held_today[0] !== null;
        if (is_from_held)
            points.push({ key: "today", run: null, values: Object.fromEntries(values.map(({ path, today }) => [path, today])), least: held_today, spread: goal.map(() => null), names: ["today"], is_front: false });
        if (points.length === 0) return note(none_keeps ?? `No set has run with all seeds. ${no_run}`);
        const best = changes ? "advised" : "best of the search";
        const kinds = [best, "today", "start set", "other sets of the front"];
        const kind_of = ({ names }) => (names.includes(best) ? 0 : names.includes("today") ? 1 : names.length > 0 ? 2 : 3);
        const symbols = ["diamond", "rect", "triangle", "circle"];
        const marks = ["\u25c6", "\u25a0", "\u25b2", "\u25cf"];
        const color_at = [2, 1, 3, 0];  // by kind
        const text_of = ({ names, run }) => (names.length > 0 ? names.join(", ") : `run ${run}`);
        const drawn_points = points.filter(({ least }) => typeof least[0] === "number" && typeof least[1] === "number");
        const option = (colors, width, height) => {
            const spread_at = ({ least, spread }, axis) => [-1, 1].map((sign) => least[axis] + sign * (spread[axis] ?? 0));
            const scales = [0, 1].map((axis) => {
                const all = drawn_points.map(({ least }) => least[axis]);
                const ends = drawn_points.flatMap((point) => spread_at(point, axis));
                const log = wants_log(all) && Math.min(...ends) > 0;
                return scale_of(ends, log, shown(axis), axis === 0 ? Math.max(3, Math.floor(width / 110)) : 6);
            });
            const [sx, sy] = scales;
            const [left, right, top, bottom] = [78, 20, 26, 52];
            const pixels = ({ least }) => ({ x: ((sx.at(least[0]) - sx.min) / (sx.max - sx.min)) * (width - left - right), y: ((sy.max - sy.at(least[1])) / (sy.max - sy.min)) * (height - top - bottom) });
            const ordered = [...drawn_points].sort((a, b) => kind_of(a) - kind_of(b));
            const places = label_places(ordered.map((point) => ({ ...pixels(point), text: text_of(point), must: kind_of(point) < 2 })), width - left - right, height - top - bottom);
            const bars = drawn_points.flatMap((point) => [0, 1].flatMap((axis) => [...spread_at(point, axis).map((end) => [0, 1].map((n) => scales[n].at(n === axis ? end : point.least[n]))), [null, null]]));
            const goal_within = (entry) => { const most = Math.floor((width - left - right) / 7) - 14; return goal_names[entry].length > most ? `${goal_names[entry].slice(0, most - 1)}\u2026` : goal_names[entry]; };
            return {
                grid: { left, right, top, bottom },
                title: { text: `Up: ${goal_within(1)}`, left: 6, top: 2, textStyle: { color: colors.soft, fontSize: 12, fontWeight: 400 } },
                xAxis: { ...sx.options(colors), name: `To the right: ${goal_within(0)}`, nameLocation: "middle", nameGap: 30 },
                yAxis: sy.options(colors),
                tooltip: { ...tooltip_style(colors), trigger: "item", formatter: ({ data: { point } = {} }) => (point ? tip(point.run === null ? "today, held seeds" : `${text_of(point)}: run ${point.run}`, [
                    ...goal_names.map((name, n) => [null, name, with_spread(point, n)]), ...paths.map((path) => [null, path, point.values[path]])]) : "") },
                series: [
                    { type: "line", data: bars, symbol: "none", silent: true, lineStyle: { color: colors.soft, width: 1.2, opacity: 0.7 } },
                    ...kinds.map((name, kind) => ({
                        type: "line", name, symbol: symbols[kind], symbolSize: kind < 2 ? 15 : 10, itemStyle: { color: color_of(color_at[kind]) }, lineStyle: { opacity: 0 }, emphasis: { scale: false },
                        data: ordered.flatMap((point, n) => (kind_of(point) !== kind ? [] : [{ value: [sx.at(point.least[0]), sy.at(point.least[1])], point, symbolKeepAspect: true,
                            label: { show: places[n] !== null, position: places[n] ?? "right", formatter: () => text_of(point), color: colors.ink, fontSize: 11.5, fontWeight: kind < 2 ? 700 : 400 } }])),
                    })).filter(({ data }) => data.length > 0),
                ],
            };
        };
        function with_spread({ least, spread }, n) {
            if (least[n] === null) return "\u2013";
            return spread[n] === null ? shown(n)(least[n]) : `${shown(n)(least[n])} \u00b1 ${shown(n)(spread[n])}`;
        }
        const rows_table = table("Means of the search's seeds, with the spread of 95 %", [
            { head: "Set", get: (point) => (kind_of(point) < 2 ? element("b", {}, text_of(point)) : text_of(point)) },
            ...goal_names.map((name, n) => ({ head: name, get: (point) => element("data", { value: String(point.least[n]) }, with_spread(point, n)) })),
            ...paths.map((path) => ({ head: name_of(path), get: (point) => point.values[path] })),
            { head: "Front", get: (point) => (point.run === null ? "held seeds" : point.is_front ? "yes" : "beaten") }, { head: "Run", get: (point) => point.run ?? "" },
        ], points, 15);
        const why = goal.length < 2 ? note("There is one goal, so there is no trade to draw: these sets are within the spread of the best, or named.")
            : drawn_points.length < 2 ? note("There is one set with all seeds, so there is nothing to draw.") : null;
        if (why) return [why, rows_table];
        const axes = goal.length > 2 ? ` The axes are the first two of ${goal.length} goals: a set may be on the front for one that is not drawn; the table has them all.` : "";
        return [
            note(`Sets that no other beats in every goal. Less is better in both: the best is at the lower left. Bars reach over the spread of 95 % of the search's ${plural(held.seeds, "seed")}.${axes}`,
                advice.beaten.length > 0 ? " Named sets that are beaten stand beside the front." : "",
                is_from_held ? " Today's set is at its means of held seeds, as the search soon left it." : points.some(({ names }) => names.includes("today")) ? "" : " Today's set is not drawn: it did not keep the goal, or had no run left.",
                " A point whose name has no room is in the table.",
                drawn_points.length < points.length ? ` ${plural(points.length - drawn_points.length, "set")} without a figure of both axes ${points.length - drawn_points.length === 1 ? "is" : "are"} in the table alone.` : ""),
            element("p", { class: "note" }, kinds.flatMap((name, kind) => (drawn_points.some((point) => kind_of(point) === kind)
                ? [element("span", { class: "mark", "data-color": color_at[kind] }, marks[kind]), ` ${name}\u2002`] : []))),
            chart("The front: the first goal to the right, the second up; a table is below it", 380, option).box, rows_table];
    }

    function sensitivity_section() {
        if (advice.sensitivity.length === 0) return note(none_keeps ?? no_run);
        const legend = [note(`Up: the change of each goal from that of the ${changes ? "advised" : "found"} set, of which one key moves alone (a max goes with its min). Wide bars reach over the spread of 95 %, paired by seed. \u2717: the goal fails there.`),
            element("ul", { class: "answer" }, goal_names.map((name, n) => element("li", {}, element("span", { class: "swatch", "data-color": n }), name)))];
        const small = advice.sensitivity.map((key, n) => {
            const { unit, at, today, tried, says } = rows[n];
            const title = element("h3", {}, name_of(key.path));
            const told = note(typeset(says));
            if (key.tried.length === 0) return element("div", {}, title, note(key.ends.every(Boolean) ? "The range has no other value." : no_run));
            const today_text = values.find(({ path }) => path === key.path).today;
            // Words stand in their order.
            const words = [...key.tried.filter(({ side }) => side === "below").map(({ value }) => value).reverse(), key.at, ...key.tried.filter(({ side }) => side === "above").map(({ value }) => value)];
            const is_number = typeof at === "number";
            const place = (number, text) => (is_number ? number : words.indexOf(text));
            const points = [{ x: place(at, key.at), value: key.at, wrong: null, shares: goal.map(() => [0, 0]) }, ...key.tried.map((each, m) => ({
                x: place(tried[m], each.value), value: each.value, wrong: each.wrong,
                shares: each.change.map(({ before, after, spread }) => [share_of(after - before, before), share_of(spread, before) ?? 0]),
            }))].sort((a, b) => a.x - b.x);
            const undrawn = goal_names.filter((_, m) => points.some(({ shares }) => shares[m]?.[0] === null));
            const option = (colors, width) => {
                const today_x = place(today, today_text);
                const xs = [...points.map(({ x }) => x), ...(today_x < 0 && !is_number ? [] : [today_x])];
                const x = scale_of(xs, is_number && (unit === "count" ? wants_log(xs) : Math.min(...xs) > 0), is_number ? formats[unit] : (nth) => words[nth], Math.max(3, Math.floor(width / 80)), is_number ? undefined : [...words.keys()]);
                const ys = points.flatMap(({ shares }) => shares.filter((_, m) => !undrawn.includes(goal_names[m])).flatMap(([share, spread]) => [share - spread, share + spread]));
                // Less than one per cent is not drawn as much.
                const y = scale_of([...ys, -0.01, 0.01].map((share) => share * 100), false, (value) => `${value} %`, 5);
                // Upright lines, whose names go to the middle; the second below the first, where they would be over each other.
                const [left, right] = [62, 16];
                const share = (place) => (place - x.min) / (x.max - x.min);
                const line = (number, color, type, text, lower) => {
                    const from = x.at(number);
                    return { type: "line", symbol: "circle", symbolSize: 0.1, silent: true, lineStyle: { color, width: 1.4, type }, data: [[from, y.min],
                        { value: [from, y.max], label: { show: true, position: share(from) < 0.5 ? "right" : "left", offset: [0, lower ? 14 : 0], formatter: text, color: colors.ink, fontSize: 11 } }] };
                };
                const own_x = place(at, key.at);
                const is_today = key.at === today_text;
                const has_today = !is_today && (is_number || today_x >= 0);
                const is_near = has_today && Math.abs(share(x.at(today_x)) - share(x.at(own_x))) * (width - left - right) < 110;
                const lines = [line(own_x, colors.soft, "solid", is_today ? (changes ? "today = advised" : "today") : changes ? "advised" : "found", false),
                    ...(has_today ? [line(today_x, colors.soft, "dashed", "today", is_near)] : [])];
                return {
                    grid: { left, right, top: 14, bottom: 28 },
                    xAxis: { ...x.options(colors), splitLine: { show: false } }, yAxis: y.options(colors),
                    tooltip: { ...tooltip_style(colors), trigger: "item", formatter: ({ data: { point } = {} }) => (point ? tip(`${name_of(key.path)} = ${point.value}`, point.wrong !== null ? [[null, "the goal fails", point.wrong]]
                        : goal_names.map((name, m) => [color_of(m), name, point.shares[m][0] === null ? "\u2013" : `${signed(point.shares[m][0])} \u00b1 ${percent(point.shares[m][1])}`])) : "") },
                    series: [
                        ...lines,
                        ...goal.flatMap((_, m) => {
                            const own = undrawn.includes(goal_names[m]) ? [] : points.filter(({ wrong }) => wrong === null);
                            return [
                                { type: "line", silent: true, symbol: "none", lineStyle: { color: color_of(m), width: 10, opacity: 0.25, cap: "butt" },
                                    data: own.flatMap((point) => [...[-1, 1].map((sign) => [x.at(point.x), 100 * (point.shares[m][0] + sign * point.shares[m][1])]), [null, null]]) },
                                { type: "line", name: goal_names[m], symbol: "circle", symbolSize: 7, itemStyle: { color: color_of(m) }, lineStyle: { color: color_of(m), width: 1.8, type: dash_of(m) }, emphasis: { scale: false },
                                    data: own.map((point) => ({ value: [x.at(point.x), 100 * point.shares[m][0]], point })) },
                            ];
                        }),
                        { type: "line", symbol: "circle", symbolSize: 1, lineStyle: { opacity: 0 }, itemStyle: { color: colors.paused },
                            data: points.filter(({ wrong }) => wrong !== null).map((point) => ({ value: [x.at(point.x), y.min], point, label: { show: true, position: "top", distance: 0, formatter: "\u2717", color: colors.paused, fontSize: 16 } })) },
                    ],
                };
            };
            return element("div", {}, title, chart(`How the goals follow ${key.path}; a table is below`, 210, option).box, told,
                undrawn.length > 0 ? note(`Not drawn, as it is 0 at ${key.at}: ${undrawn.join("; ")}.`) : null);
        });
        const all = advice.sensitivity.flatMap((key) => key.tried.flatMap((each) => (each.wrong !== null ? [{ of: key, each, wrong: each.wrong }] : each.change.map((change, n) => ({ of: key, each, change, n })))));
        return [legend, element("div", { class: "multiples" }, small), folded("As a table", table("One key at a time beside the set in the middle", [
            { head: "Key", get: ({ of }) => name_of(of.path) }, { head: "Value", get: ({ each }) => each.value },
            { head: "Figure", get: ({ n, wrong }) => (wrong === undefined ? goal_names[n] : element("span", { class: "false" }, `the goal fails: ${wrong}`)) },
            { head: "At the middle", get: ({ change, n }) => (change ? figure(change.before, shown(n)) : "") }, { head: "Here", get: ({ change, n }) => (change ? figure(change.after, shown(n)) : "") },
            { head: "Spread \u00b1", get: ({ change, n }) => (change ? figure(change.spread, shown(n)) : "") }, { head: "Run", get: ({ each }) => each.run },
        ], all, 60))];
    }

    function certificate_section() {
        if (advice.certificate.length === 0) return note(none_keeps ?? no_run);
        const lines = advice.certificate.flatMap((row, n) => ["below", "above"].map((side, m) => {
            const key = advice.sensitivity[n];
            const tried = key.tried.filter((each) => each.side === side).length;
            const none = tried > 0 ? `none within the range; ${plural(tried, "value")} tried` : key.ends[m] ? "the range ends here" : `not tried: no run was left, ${more_runs}`;
            return { path: row.path, at: key.at, side, found: row[side], none };
        }));
        return table("The nearest value, one key at a time, at which the goal fails or the first figure leaves the spread", [
            { head: "Key", get: (row) => name_of(row.path) }, { head: changes ? "Advised" : "Found", get: (row) => row.at }, { head: "Side", get: (row) => row.side },
            { head: "Nearest value", get: (row) => (row.found === null ? row.none : element("b", {}, row.found.value)) },
            { head: "What happens there", get: ({ found }) => (found === null ? "" : found.wrong !== undefined ? element("span", { class: "false" }, `fails: ${found.wrong}`)
                : [goal_names[found.goal], " ", shown(found.goal)(found.before), " \u2192 ", shown(found.goal)(found.after)].join("")) },
            { head: "Worst seed", get: ({ found }) => (found === null ? "" : found.seed) }, { head: "Run", get: ({ found }) => (found === null ? "" : found.run) },
        ], lines);
    }

    function headroom_section() {
        if (advice.headroom.length === 0) return note("No port has a lossless class, so there is no headroom.");
        return [note("No count of seeds proves headroom, and a search always finds less than the worst case; so it is computed, as sluiced headroom does it."), table("Of each lossless class", [
            { head: "Port", get: (row) => row.port }, { head: "Today", get: (row) => row.today, show: formats.bytes, bad: (row) => row.today < row.computed },
            { head: "Computed", get: (row) => row.computed, show: formats.bytes }, { head: "Do", get: (row) => row.edit ?? "nothing: it is as computed" },
        ], advice.headroom)];
    }

    function breaks_section() {
        if (advice.breaks.length === 0) return note(none_keeps ?? no_run);
        return [note(`One run each, with the ${changes ? "advised" : "found"} values and the seed of its first run; the figure is that of the first goal, ${goal_names[0]}.`), table("What holds of the goal when something else changes", [
            { head: "Change", get: (row) => row.what },
            { head: "Goal", get: (row) => (row.error !== null ? "not known" : element("span", { class: row.holds ? "met" : "false" }, row.holds ? "\u2713 holds" : "\u2717 FAILS")) },
            { head: "What fails", get: (row) => (row.error !== null ? row.error : row.fails.join("; ")) },
            { head: "Before", get: (row) => figure(row.before, shown(row.goal)) }, { head: "With it", get: (row) => figure(row.after, shown(row.goal)) },
            { head: "Change of the figure", get: (row) => { const share = row.after === null ? null : share_of(row.after - row.before, row.before); return share === null ? "\u2013" : element("data", { value: String(share) }, signed(share)); } },
        ], [...advice.breaks].sort((a, b) => Number(a.holds) - Number(b.holds)))];
    }
}
