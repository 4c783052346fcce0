// sluice-fabric: runs a fabric of switches and hosts, or says what is wrong with it, or draws it.
#include <algorithm>

#include "control/config/schema/command_line.hh"
#include "control/config/schema/schema.hh"
#include "control/config/text/say.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/report/drawing.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/report/figures/expression.hh"
#include "control/report/figures/figures.hh"
#include "control/serve/server/program.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

int draw_topology(const Arguments& arguments) {
    const auto plan = read_fabric(arguments, arguments.files[0]);
    if (!plan) return exit_configuration;
    return say("{}", svg_of(plan->topology, {})), exit_done;
}

// Says why hosts of a run waited.
int why(const Arguments& arguments) {
    const auto read = read_shaped_file(arguments.files[0] + "/report.json", shape_for_why());
    if (!read) return failed(arguments.files[0] + "/report.json: " + read.error());
    const nlohmann::ordered_json& report = *read;
    const std::string host = arguments.files.size() > 1 ? arguments.files[1] : "";
    if (!host.empty() && !report["hosts"].contains(host))
        return failed("there is no host " + in_quotes(host), exit_configuration);
    const std::string answer = why_text(report["pause_trees"], host);
    say("{}", answer.empty() ? (host.empty() ? "nobody" : host) + " waited for no pause\n" : answer);
    return exit_done;
}

// The scenarios of the source tree in the working directory, else the installed ones.
std::string shipped_scenarios() {
    constexpr const char* of_sources = "conf/scenarios";
    std::error_code none;
    return std::filesystem::is_directory(of_sources, none) ? of_sources : SLUICE_CONF "/scenarios";
}

// The scenarios of a folder, each with its question.
int list_verb(const Arguments& arguments) {
    const std::string folder = arguments.files.empty() ? shipped_scenarios() : arguments.files[0];
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".toml") files.push_back(entry->path());
    if (error)
        return failed(fmt::format("{}: {}; do: name the folder of scenarios", folder, error.message()));
    std::ranges::sort(files);
    for (const auto& path : files) {
        const auto file = load_fabric(path.string());
        say("{:<40} {}\n", path.string(),
            !file                             ? "cannot be read: " + file.error().front().text()
            : file->scenario.question.empty() ? "(asks nothing)"
                                              : file->scenario.question);
    }
    return exit_done;
}

std::string keep_shard(Arguments& out, const std::string& text) {
    constexpr std::uint64_t max_shards = 1'000'000;
    const std::size_t slash = text.find('/');
    const auto shard = parse_integer(text.substr(0, slash));
    const auto shards = parse_integer(slash == text.npos ? "" : text.substr(slash + 1));
    if (!shard || !shards || *shard == 0 || *shard > *shards || *shards > max_shards)
        return "is not I/N, from 1/N to N/N";
    out.shard = static_cast<unsigned>(*shard);
    out.shards = static_cast<unsigned>(*shards);
    return {};
}

std::vector<Option> options_of(Arguments& out) {
    constexpr std::uint64_t max_jobs = 1024, max_threads = 64, max_advise_runs = 10'000;
    std::vector<Option> options{
        {"out", "DIR", "where files are written; default: out/fabric for a run, out/sweep for a sweep",
         keep(out.out)},
        {"all", "", "prints tables whole that are long", keep(out.all)},
        {"set", "PATH=VALUE", "gives a key of the file another value: default.pfc_quanta=1000",
         keep(out.sets)},
        {"variant", "NAME", "puts the values of this [[variant]] over the file, before those of --set",
         [&out](const std::string& text) {
             out = with_variant(std::move(out), text);
             return std::string();
         }},
        {"seed", "N", "the same as --set seed=N",
         [&out](const std::string& text) {
             const auto seed = parse_integer(text);
             if (seed) out.sets.push_back("seed=" + text);
             return seed ? std::string() : seed.error().wrong;
         }},
        {"duration", "TIME", "ends a run after this time of its clock", keep(parse_time, out.duration)},
        {"assert", "EXPRESSION", "exits with 4 if this is false of the report at the end",
         [&out](const std::string& text) {
             const auto expression = Expression::parse(text);
             if (expression) out.asserts.push_back(text);
             return expression ? std::string() : expression.error();
         }},
        {"junit", "FILE", "writes assertions as test cases for CI", keep(out.junit)},
        {"html", "FILE", "writes the run, the sweep or the advice as one page", keep(out.html)},
        {"force", "", "runs what is not lossless, or may deadlock, although check says so", keep(out.force)},
        {"threads", "N", "lets up to 64 threads share the switches of a run; what it comes to stays the same",
         keep_number(1, max_threads, out.threads)},
        {"jobs", "N", "lets a sweep or advise run so many of its points at once",
         keep_number(1, max_jobs, out.jobs)},
        {"runs", "N", "lets advise take so many runs in all, instead of as many as the file says",
         keep_number(1, max_advise_runs, out.runs)},
        {"shard", "I/N", "runs every Nth point of a sweep, from the Ith on; merge puts shards together",
         [&out](const std::string& text) { return keep_shard(out, text); }},
        {"page", "[ADDRESS:]PORT",
         "serves a live page of the run for a browser, by switch, on 127.0.0.1 unless an address is given; "
         "its own address is on stderr",
         keep(out.page)},
        {"socket", "DIR", "makes a control socket for every switch, DIR/NAME.sock, for sluicectl",
         keep(out.sockets)},
        {"interactive",
         "",
         "lets the clock stand still until a client of one of the sockets lets it run",
         keep(out.interactive),
         {},
         "socket"},
        {"json", "", "prints all differences as JSON", keep(out.json)},
        {"exit-code", "", "exits with 1 if they differ; sweeps: if a figure differs by more than its spread",
         keep(out.exit_code)},
    };
    for (Option& each : question_options(out.question)) options.push_back(std::move(each));
    return options;
}

Program fabric_program(Arguments& out) {
    const auto verb = [&out](std::string_view name, int (*work)(const Arguments&), std::string_view synopsis,
                             std::string_view help) {
        return ProgramVerb{name, synopsis, help, [&out, name, work](const Words& files) {
                               out.verb = name;
                               out.files = files;
                               return work(out);
                           }};
    };
    Program program{
        .name = "sluice-fabric",
        .section = '1',
        .title = "simulate fabrics of lossless switches and RoCE hosts",
        .about =
            "sluice-fabric runs many switches of sluiced(8), and the hosts at their ports, in one "
            "process under one virtual clock, and says what became of every frame and why hosts waited.",
        .verbs =
            {
                verb("run", run_verb,
                     "FABRIC.toml... [--out DIR] [--variant NAME] [--set PATH=VALUE]... [--seed N]\n"
                     "[--duration TIME] [--assert EXPRESSION]... [--junit FILE] [--html FILE] [--force] "
                     "[--threads N]\n"
                     "[--page [ADDRESS:]PORT] [--socket DIR [--interactive]]",
                     "simulates it and says what became of every frame; DIR/report.json has it whole, "
                     "DIR/fabric.svg shows where it was paused, the page of --html also who held whom and "
                     "when"),
                verb("check", check_verb,
                     "FABRIC.toml [--all] [--variant NAME] [--set PATH=VALUE]... [--seed N]\n"
                     "[--assert EXPRESSION]... [--force]",
                     "says what is wrong with it, its addresses and routes, and what memory it takes"),
                verb("draw", draw_topology, "FABRIC.toml [--set PATH=VALUE]... [--seed N] [--force]",
                     "prints the topology as SVG"),
                verb("why", why, "DIR [HOST]",
                     "says of a run why hosts waited: which pause held which, and where it began"),
                verb("sweep", sweep_verb,
                     "SCENARIO.toml [--out DIR] [--jobs N] [--shard I/N] [--variant NAME] [--set "
                     "PATH=VALUE]...\n"
                     "[--seed N] [--assert EXPRESSION]... [--duration TIME] [--html FILE] [--force]",
                     "runs every point of [vary], or searches the answer of [find]; goes on where it was; "
                     "DIR/sweep.csv has a row a run"),
                verb("advise", advise_verb,
                     "[FABRIC.toml] [--out DIR] [--jobs N] [--runs N] [--set PATH=VALUE]... [--seed N]\n"
                     "[--duration TIME] [--ports N] [--speed RATE] [--buffer SIZE] [--cable LENGTH]\n"
                     "[--incast N] [--message SIZE] [--mtu N] [--profile NAME] [--cell SIZE]\n"
                     "[--classes NAMES] [--like CONFIG.toml] [--html FILE]",
                     "searches the keys of [advise] for better values by [goal], and says what they gain on "
                     "seeds that it did not search with; without a file it makes one of the switch that the "
                     "options describe, DIR/fabric.toml; goes on where it was; DIR/advice.json has the "
                     "evidence, the page of --html shows it, DIR/recommended.toml and DIR/switch.toml are "
                     "the values; 4: no set of values "
                     "keeps the goal"),
                verb("merge", merge_verb, "DIR... --out DIR", "makes one sweep of its shards"),
                verb("report", report_verb, "DIR [--html FILE]",
                     "makes the page of a run or a sweep again from its folder, DIR/page.html: one file with "
                     "the verdict, charts and tables"),
                verb("compare", compare_verb, "A B [--all] [--json] [--exit-code]",
                     "says what differs between two runs, of sluice-fabric (a folder or its report.json) or "
                     "of sluiced (a report): configuration, assertions, flows, figures, the largest "
                     "difference first; or between two folders of sweeps, with the spread over their runs"),
                verb("list", list_verb, "[DIR]",
                     "names scenarios with their questions; default: conf/scenarios, else those that are "
                     "installed"),
            },
        .options = options_of(out),
        .exit_status =
            "0 done, 2 usage or a file that is refused, 4 an assertion is false, 130 or 143 "
            "interrupted, 1 anything else",
        .sections =
            [](ManPage& page) {
                page.heading("KEYS").paragraph(
                    "Of a fabric, beside those of sluice.toml(5) under [default], [host.default] and the "
                    "like:");
                add_keys(page, fabric_sections());
                page.subheading("[vary]").paragraph(vary_help());
            },
        .see_also = "sluiced(8), sluice.toml(5), sluicectl(1)"};
    const auto prints = [&](std::string_view name, std::string_view help, std::function<std::string()> text) {
        program.verbs.push_back({name, "", help, [text = std::move(text)](const Words&) {
                                     return say("{}", text()), exit_done;
                                 }});
    };
    prints("reference", "prints every key of a fabric, and its default", fabric_reference);
    prints("figures", "prints the path, kind and unit of every figure of a report", fabric_figures_reference);
    return program;
}

int run_main(int argc, char** argv) {
    Arguments arguments;
    Program program = fabric_program(arguments);
    program.verbs.push_back({"man", "", "prints the man page in troff",
                             [&program](const Words&) { return say("{}", man_page(program)), exit_done; }});
    return run(program, argc, argv);
}

}  // namespace
}  // namespace sluice::fabric

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-fabric", fabric::exit_failed, [&] { return fabric::run_main(argc, argv); });
}
