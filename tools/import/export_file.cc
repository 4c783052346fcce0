#include "tools/import/export_file.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"

namespace sluice::import {
namespace {

// The keys that ports say themselves, and those that the export does not change by.
void tell_keys(const ExportFormat& format, const ExportTask& task, const Applied& applied, Exported& made) {
    constexpr std::string_view section = "default.";
    for (std::size_t n = 0; n < applied.keys.size(); ++n) {
        const AppliedKey& key = applied.keys[n];
        for (const std::string& port : key.ports)
            made.account.tell(Fate::assumed, key_of_port(port, key.path.substr(section.size())),
                              fmt::format("the port says it itself: {} there, too", key.value));
        const auto without = applied_without(task.today, applied.keys, n);
        if (!without) continue;
        if (*without == task.wanted) {
            made.account.tell(Fate::said, key.path, "as it is today");
            continue;
        }
        const Exported less = format.write({task.today, *without, task.document, task.patch, task.names});
        if (less.text == made.text && less.beside == made.beside)
            made.account.tell(
                Fate::unsaid, key.path,
                fmt::format("nothing that {} can say changes by it: the switch does as it does today",
                            format.name));
    }
}

}  // namespace

std::optional<Applied> apply_file(const FileArguments& arguments, const Config& today) {
    if (arguments.apply.empty()) return Applied{today, {}};
    const auto text = read_file(arguments.apply);
    if (!text) return std::nullopt;
    if (text->size() > max_file_bytes) {
        complain("{}: the file is larger than {} bytes\n", arguments.apply, max_file_bytes);
        return std::nullopt;
    }
    auto applied = apply_keys(today, *text, arguments.apply);
    if (!applied) {
        for (const std::string& line : applied.error()) complain("{}\n", line);
        return std::nullopt;
    }
    if (arguments.force) return std::move(*applied);
    const EffectiveQos before = effective_qos(today), after = effective_qos(applied->config);
    if (after.problems.empty() || !before.problems.empty()) return std::move(*applied);
    for (const QosProblem& problem : after.problems)
        complain("{}: {}: {}; do: {}\n", arguments.apply, problem.path(), problem.wrong, problem.fix);
    complain(
        "sluice-import: nothing is written, because of that; do: mend the keys, or write it all the same "
        "with --force\n");
    return std::nullopt;
}

std::string beside_name(const ExportFormat& format, const std::string& out) {
    if (out.empty() || format.beside_end.empty()) return {};
    const std::string_view end = format.beside_end.substr(format.beside_end.rfind('.'));
    return (out.ends_with(end) ? out.substr(0, out.size() - end.size()) : out) +
           std::string(format.beside_end);
}

int export_file(const FileArguments& arguments, const ExportFormat& format, bool patch, const Today& today,
                const Applied& applied, const std::string& said) {
    const Item* document = today.source && today.source == format.source ? today.document.get() : nullptr;
    const ExportTask task{today.config, applied.config, document, patch,
                          document == nullptr ? nullptr : &today.names};
    Exported made = format.write(task);
    tell_keys(format, task, applied, made);
    made.account.sort();
    const std::string name = arguments.out.empty() ? std::string(format.word) : arguments.out;
    if (const auto status = settle_account(arguments, today.account, made.account.all(name))) return *status;
    std::string text = said;
    if (!made.changes)
        text += fmt::format("nothing changes: {} says today's configuration as it is\n", format.name);
    text += made.account.summary(name, {Fate::unsaid, Fate::rounded, Fate::assumed, Fate::said});
    text += whole_summary(arguments, today.account);
    if (!made.beside.empty()) {
        if (arguments.beside.empty()) {
            complain(
                "sluice-import: a part of the patch is tables of their own; do: write both with -o FILE\n");
            return exit_refused;
        }
        if (!write_file(arguments.beside, made.beside)) return exit_failed;
        text += fmt::format("{}: {}\n", arguments.beside, format.beside_use);
    }
    if (!deliver(arguments, made.text, text)) return exit_failed;
    return exit_done;
}

}  // namespace sluice::import
