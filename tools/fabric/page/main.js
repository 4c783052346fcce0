// The page of the data that stands in it: one run, several, or a sweep.
"use strict";

{
    const data = JSON.parse(document.getElementById("data").textContent);
    const page = document.getElementById("page");
    const heading = (title, question) => [element("h1", {}, title), question ? element("p", { class: "question" }, question) : null].filter(Boolean);
    const show = (root, run) => {
        drawn.length = 0;
        root.replaceChildren(...heading(run.name || run.fabric || "run", run.question));
        run_page(root, run);
        (root.querySelector(".facts") ?? root.querySelector("#verdict")).after(contents(root));
        draw_all();
    };
    if (data.sweep) {
        page.replaceChildren(...heading(data.sweep.name, data.sweep.question));
        sweep_page(page, data.sweep, data.rows);
        page.querySelector(".facts").after(contents(page));
        draw_all();
    } else if (data.runs.length === 1) {
        show(page, data.runs[0]);
    } else {
        const root = element("div");
        const open = (n) => () => { show(root, data.runs[n]); root.querySelector("h1").scrollIntoView(); };
        page.replaceChildren(...heading(`${data.runs.length} scenarios`), ...table("Each with its verdict; the chosen one is below", [
            { head: "Scenario", get: (run) => element("button", { type: "button", onclick: open(data.runs.indexOf(run)) }, run.name || run.fabric || "run") },
            { head: "Question", get: (run) => run.question ?? "" },
            { head: "Verdict", get: (run) => { const [state, text] = verdict_of(run); return element("span", { class: state === "bad" ? "false" : state === "good" ? "met" : "" }, text); } },
        ], data.runs).filter(Boolean), root);
        show(root, data.runs[0]);
    }
    document.documentElement.dataset.ready = "true";
}
