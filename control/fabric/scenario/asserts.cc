#include "control/fabric/scenario/asserts.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/json_text.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

ConfigError error_of(const std::string& file, const AssertConfig& said, const std::string& wrong) {
    const bool in_file = said.place.line != 0;
    return {in_file ? file : "--assert",
            said.place,
            in_file ? said.key : "",
            fmt::format("{}: {}", in_quotes(said.that), wrong),
            {},
            {}};
}

// The figure in the unit of its name.
std::string figure_text(const Json& value, const std::string& where, const std::string& that) {
    const std::string name = where.substr(where.rfind('.') + 1);
    const bool has_unit = that.find(" ratio to ") == that.npos && !that.starts_with("count ") &&
                          !that.starts_with("jain ") && !that.starts_with("imbalance ");
    if (!value.is_number() || !has_unit)
        return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : json_text(value);
    const auto number = value.get<double>();
    if (name.ends_with("_bps")) return fmt::format("{:.3f} Gb/s", number / 1e9);
    if (name.ends_with("_ns") || where.find("_ns.") != std::string::npos)
        return fmt::format("{:.3f} us", number / 1e3);
    if (name.ends_with("bytes")) return fmt::format("{:.1f} KB", number / 1e3);
    if (name.ends_with("_ppm")) return fmt::format("{:.2f} %", number / 1e4);
    if (value.is_number_float()) return fmt::format("{:.4g}", number);
    return json_text(value);
}

}  // namespace

tl::expected<Asserts, std::vector<ConfigError>> Asserts::of(const ScenarioConfig& scenario,
                                                            const std::string& file,
                                                            const std::vector<std::string>& command_line) {
    Asserts asserts;
    asserts.file_ = file;
    for (const PhaseConfig& phase : scenario.phases) asserts.phases_.push_back(phase.name);
    std::vector<AssertConfig> all = scenario.asserts;
    for (const std::string& that : command_line) all.push_back({that, {}, {}, {}});
    std::vector<ConfigError> errors;
    for (AssertConfig& said : all) {
        auto expression = Expression::parse(said.that);
        if (!expression) {
            errors.push_back(error_of(file, said, expression.error()));
            continue;
        }
        if (const auto& phase = expression->baseline(); phase) {
            const auto known = asserts.phases_.empty()
                                   ? tl::expected<std::string, std::string>(
                                         tl::unexpected(std::string("there is no [[phase]]")))
                                   : find_word(*phase, asserts.phases_, "phase");
            if (!known || *known != *phase) {
                errors.push_back(error_of(
                    file, said,
                    known ? fmt::format("there is no phase {}, perhaps {}", *phase, *known) : known.error()));
                continue;
            }
        }
        asserts.list_.push_back({std::move(*expression), std::move(said)});
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return asserts;
}

std::vector<ConfigError> Asserts::check(const Json& report, const Json& phase) const {
    std::vector<ConfigError> errors;
    for (const One& one : list_) {
        std::string wrong = one.expression.check(one.said.phase.empty() ? report : phase);
        if (wrong.empty() && one.expression.baseline()) wrong = one.expression.check(phase);
        if (!wrong.empty()) errors.push_back(error_of(file_, one.said, wrong));
    }
    return errors;
}

Json Asserts::judge(const Json& report) const {
    const auto phase_of = [&](const std::string& name) -> const Json* {
        if (name.empty()) return &report;
        return report.contains("phases") && report["phases"].contains(name) ? &report["phases"][name]
                                                                            : nullptr;
    };
    const bool interrupted = report["verdict"]["interrupted"].get<bool>();
    Json list = Json::array();
    for (const One& one : list_) {
        Json judged = {{"that", one.said.that}, {"phase", nullptr}, {"value", nullptr}, {"met", nullptr}};
        if (!one.said.phase.empty()) judged["phase"] = one.said.phase;
        Judgment judgment;
        if (interrupted) {
            judgment.wrong = "the run was interrupted";
        } else if (const Json* within = phase_of(one.said.phase); within == nullptr) {
            judgment.wrong = fmt::format("the run ended before phase {}", one.said.phase);
            judged["met"] = false;
        } else {
            judgment = one.expression.judge(*within, phase_of(one.expression.baseline().value_or("")));
            judged["value"] = judgment.value;
            judged["met"] = judgment.met;
        }
        judged["where"] = judgment.where;
        judged["why"] = one.said.why;
        judged["wrong"] = judgment.wrong;
        list.push_back(std::move(judged));
    }
    return list;
}

bool all_met(const Json& asserts) {
    return std::all_of(asserts.begin(), asserts.end(), [](const Json& each) { return each["met"] == true; });
}

std::string asserts_text(const Json& asserts) {
    std::string text;
    std::size_t met = 0;
    for (const Json& each : asserts) {
        const bool holds = each["met"] == true;
        met += holds ? 1 : 0;
        const auto that = each["that"].get<std::string>();
        const auto where = each["where"].get<std::string>();
        text += fmt::format("{:<7} {}", holds ? "holds" : each["met"].is_null() ? "unknown" : "FALSE", that);
        if (!each["phase"].is_null()) text += fmt::format(" (phase {})", each["phase"].get<std::string>());
        if (!where.empty()) text += fmt::format(": it is {}", figure_text(each["value"], where, that));
        if (!where.empty() && that.find(where) == std::string::npos) text += ", at " + where;
        if (const auto wrong = each["wrong"].get<std::string>(); !wrong.empty()) text += ": " + wrong;
        text += "\n";
        if (const auto why = each["why"].get<std::string>(); !holds && !why.empty())
            text += "        " + why + "\n";
    }
    if (text.empty()) return {};
    return fmt::format("\nassertions: {} of {} hold\n{}", met, asserts.size(), text);
}

}  // namespace sluice::fabric
