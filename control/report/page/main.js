// The page of a switch, or of a fabric by switch: live, of what a server tells once a second, or of runs, a sweep or advice that stand in the page. The
// fragment of its address names the switch and the section: #switch=leaf1&section=queues.
"use strict";

{
    const embedded = document.getElementById("data");
    const data = embedded && JSON.parse(embedded.textContent);
    const after = data !== null;
    const page = document.getElementById("page");
    const token = new URLSearchParams(location.search).get("token");
    const address = (path, words) => {
        const query = new URLSearchParams(token ? { ...words, token } : words).toString();
        return query ? `${path}?${query}` : path;
    };
    const of_switch = (name, words = {}) => (name ? { ...words, switch: name } : words);
    // An answer that is not an error, else its sentence.
    const got = async (path, words) => {
        const answer = await fetch(address(path, words)).catch(() => { throw new Error("The switch does not answer; what is here is the last that it said."); });
        if (!answer.ok) throw new Error((await answer.text()).trim());
        return answer.json();
    };
    const is_ready = () => { document.documentElement.dataset.ready = "true"; };

    const heading = element("h1", {}, "Sluice");
    const question = element("p", { class: "question", hidden: true }, "");
    const link = element("p", { class: "note", role: "status" }, "");    // of the server
    const place = element("p", { class: "note", role: "status" }, "");   // of the address
    const origin = element("p", { class: "note", hidden: true }, "");
    const shown_view = element("div");
    const fragment = (name, section) => `#${new URLSearchParams({ ...(name ? { switch: name } : {}), ...(section ? { section } : {}) })}`;
    let title = "";
    let names = [];     // of a fabric's switches; empty: there is one switch
    let chosen = null;  // a name; "": the fabric, or the one switch
    let run = null;     // after the end
    let a_switch = null;
    let fabric = null;
    let source = null;
    let held = false;
    let is_new = false;  // of what was chosen nothing has been shown

    const why_at = async (at) => {
        const { result, error } = await got("why", of_switch(chosen, at ? { at } : {}));
        return error ? [error.message] : result.entries.map(({ sentence, details = [], do: remedy }) => [sentence, ...details, ...(remedy ? [`to avoid it: ${remedy}`] : [])]);
    };
    const view = () => (names.length > 0 && chosen === "" ? fabric : a_switch);
    const pick = element("select", { onchange: () => { location.hash = fragment(names[pick.selectedIndex - 1]); } });
    const chooser = element("label", { hidden: true }, "Show ", pick);

    function show() {
        if (!view().has_data()) return;
        view().show();
        draw_all();
        if (is_new) follow_section();  // the first figures have moved it
        is_new = false;
        is_ready();
    }
    function take(told) {
        view().take(told.fabric ?? told);
        if (told.ended) {
            source.close();
            link.textContent = "The run has ended; these are its last figures.";
        }
        if (!held) show();
    }
    function listen() {
        source?.close();
        source = new EventSource(address("live", of_switch(chosen)));
        source.onmessage = (message) => take(JSON.parse(message.data));
        source.onopen = () => { link.textContent = ""; };
        source.onerror = () => { got("switches", {}).catch(refused); };
    }
    function refused(error) {
        link.textContent = error.message;
        if (!view().has_data()) view().wait(error.message);
    }
    function choose(name) {
        chosen = name;
        is_new = true;
        shown_name = name ? `${name} of ${title}` : title;
        if (after && (name || names.length === 0)) a_switch = switch_view(null, name ? run.fabric.switches[name] : run.report);
        shown_view.replaceChildren(view().root);
        pick.selectedIndex = names.indexOf(name) + 1;
        view().wait(names.length > 0 ? `waiting for ${name || "the fabric"}` : "waiting for the switch");
        if (names.length > 0)
            for (const each of view().root.querySelectorAll("nav a")) each.href = fragment(name, each.dataset.section ??= each.hash.slice(1));
        if (after) show();
        else listen();
    }
    function follow_fragment() {
        const words = new URLSearchParams(location.hash.slice(1));
        const wanted = words.get("switch") ?? "";
        const known = wanted === "" || names.includes(wanted);
        if (names.length > 0 && chosen !== (known ? wanted : "")) choose(known ? wanted : "");
        place.textContent = known || names.length === 0 ? "" : `There is no switch ${wanted}; this is the fabric.`;
        follow_section();
    }
    function follow_section() {
        const name = new URLSearchParams(location.hash.slice(1)).get("section");
        const section = name && document.getElementById(name);
        if (section?.tagName !== "SECTION") return;
        section.scrollIntoView();
        const title = section.querySelector("h2");
        title.tabIndex = -1;
        title.focus();
    }
    // `from`: the file and the machine.
    function begin(switches, named, from) {
        names = switches;
        chosen = null;
        drawn.length = 0;
        a_switch = after ? null : switch_view(why_at);
        fabric = after && names.length === 0 ? null : fabric_view((name) => fragment(name), run);
        title = from ? `${named} on ${from.host}` : named;
        heading.textContent = named;
        origin.hidden = from === undefined;
        origin.textContent = from ? `${from.file} on ${from.host}` : "";
        pick.replaceChildren(element("option", {}, "the fabric"), ...names.map((name) => element("option", {}, name)));
        chooser.hidden = names.length === 0;
        if (names.length === 0) choose("");
        follow_fragment();
    }
    function show_question(text = "") {
        question.textContent = text;
        question.hidden = text === "";
    }
    function begin_run(n) {
        run = data.runs[n];
        show_question(run.fabric?.question);
        if (run.fabric || run.report) return begin(Object.keys(run.fabric?.switches ?? {}), run.name);
        heading.textContent = run.name;
        chooser.hidden = true;
        shown_view.replaceChildren(element("p", { class: "verdict bad", id: "verdict" }, verdict_of(run)[1]));
        is_ready();
    }
    function runs_table() {
        return [element("h1", {}, `${data.runs.length} scenarios`), ...table("Each with its verdict; the chosen one is below", [
            { head: "Scenario", get: (each) => element("button", { type: "button", onclick: () => { begin_run(data.runs.indexOf(each)); heading.scrollIntoView(); } }, each.name) },
            { head: "Question", get: (each) => each.fabric?.question ?? "" },
            { head: "Verdict", get: (each) => { const [state, text] = verdict_of(each); return element("span", { class: state === "bad" ? "false" : state === "good" ? "met" : "" }, text); } },
        ], data.runs)];
    }

    const pause = element("button", { type: "button", "aria-pressed": "false", onclick: () => {
        held = !held;
        pause.setAttribute("aria-pressed", String(held));
        pause.textContent = held ? "Resume" : "Freeze";
        if (!held) show();
    } }, "Freeze");
    const of_many = data?.sweep ?? data?.advised;  // of many runs
    if (of_many) {
        heading.textContent = of_many.name;
        show_question(of_many.question);
        page.replaceChildren(heading, question);
        if (data.sweep) sweep_page(page, data.sweep, data.rows);
        else advice_page(page, of_many);
        page.querySelector(".facts").after(contents(page));
        draw_all();
        is_ready();
    } else {
        page.replaceChildren(...(after && data.runs.length > 1 ? runs_table() : []), heading, question, origin,
            element("div", { class: "controls" }, chooser, after ? null : pause, link, place), shown_view);
        addEventListener("hashchange", follow_fragment);
        if (after) begin_run(0);
        else got("switches", {}).then(({ switches, title: named, ...from }) => begin(switches, named, from), (error) => { begin([], "Sluice"); refused(error); });
    }
}
