// What the terminal shows of advice.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/fabric/advise/answer.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/goal/ranking.hh"
#include "control/report/figures/figure_unit.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

std::string said(const Json& json) { return json.get<std::string>(); }

class AdviceWords {
  public:
    explicit AdviceWords(const Json& advice) : advice_(advice) {}

    std::string all() const {
        std::string text = headline() + "\n";
        if (!advice_["today_fails"].is_null())
            text += fmt::format("    today's values fail: {}\n", said(advice_["today_fails"]));
        return text + values() + gains() + breaks() + sensitivity() + headroom() + rest();
    }

    std::string headline() const {
        const std::string answer = said(advice_["answer"]);
        if (answer == "none keeps") {
            const Json& near = advice_["nearest"];
            if (near.is_null()) return "none keeps the goal: no set could be judged";
            return fmt::format("none keeps the goal; the nearest is run {} ({}), where this fails:\n    {}",
                               near["run"].get<std::size_t>(), values_text(near["values"]),
                               said(near["wrong"]));
        }
        if (answer == "change")
            return fmt::format("change {} of {}: {}", changed(), print_count(advice_["values"].size(), "key"),
                               first_gain());
        const Json& found = advice_["found"];
        if (answer == "leave it")
            return found.is_null()
                       ? std::string("leave it: no set that was tried is better than today's")
                       : fmt::format("leave it: the best set of the search ({}) is no better on {}",
                                     values_text(found), seeds());
        return found.is_null()
                   ? std::string("no difference within the spread: no value that was tried changes a figure")
                   : fmt::format(
                         "no difference within the spread, so leave it: the best set of the search ({}) is "
                         "like today's on {}",
                         values_text(found), seeds());
    }
    std::string sensitivity(const Json& row) const {
        std::string line =
            row["same_from"] == row["same_to"]
                ? fmt::format("{} matters", said(row["at"]))
                : fmt::format("{} to {} changes nothing", said(row["same_from"]), said(row["same_to"]));
        if (row["below"].is_null() && row["above"].is_null() && row["same_from"] == row["same_to"])
            line = "no other value was tried with enough seeds";
        for (const char* side : {"below", "above"}) {
            const Json& at = row[side];
            if (at.is_null()) continue;
            line += at.contains("wrong")
                        ? fmt::format("; at {} the goal fails: {}", said(at["value"]), said(at["wrong"]))
                        : fmt::format("; at {} {} {} -> {}", said(at["value"]),
                                      goal(at["goal"].get<std::size_t>()),
                                      figure(at["before"], at["goal"].get<std::size_t>()),
                                      figure(at["after"], at["goal"].get<std::size_t>()));
        }
        return line;
    }

    std::string near(const Json& row) const {
        const FigureUnit of = unit_of_keep(said(row["that"]), said(row["where"]));
        return fmt::format("near its edge: {}: {} to {} on {}; of 100 others 95 lie from {} to {}",
                           entry_text(row), figure_text(row["least"], of), figure_text(row["most"], of),
                           seeds(), figure_text(row["low"], of), figure_text(row["high"], of));
    }

  private:
    FigureUnit unit(std::size_t goal) const {
        const Json& entry = advice_["goal"][goal];
        return unit_of_least(said(entry["that"]), said(entry["where"]));
    }
    std::string goal(std::size_t goal) const { return entry_text(advice_["goal"][goal]); }
    std::string figure(const Json& value, std::size_t goal) const { return figure_text(value, unit(goal)); }

    std::size_t changed() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            advice_["values"], [](const Json& each) { return each["today"] != each["advised"]; }));
    }
    std::string seeds() const {
        return fmt::format("{} that the search did not see",
                           print_count(advice_["held"]["seeds"].get<std::uint64_t>(), "seed"));
    }

    std::string first_gain() const {
        for (const Json& each : advice_["gain"])
            if (each["against"] == "today" && each["verdict"] == "better")
                return gain_text(each) + ", on " + seeds();
        return "today's values do not keep the goal";
    }

    std::string gain_text(const Json& gain) const {
        const auto entry = gain["goal"].get<std::size_t>();
        const auto per_cent = [](double share) { return fmt::format("{:+.1f} %", share * 100); };
        std::string text = fmt::format("{} {} -> {}", goal(entry), figure(gain["today"], entry),
                                       figure(gain["advised"], entry));
        if (gain["change"].is_null()) return text;
        text += fmt::format(" ({}", per_cent(gain["change"].get<double>()));
        const double base = std::abs(gain["today"].get<double>());
        if (base != 0) text += fmt::format(" +-{:.1f} %", gain["spread"].get<double>() / base * 100);
        return text + ")";
    }

    std::string values() const {
        if (advice_["answer"] != "change") return {};
        std::string text;
        for (const Json& each : advice_["values"]) {
            if (each["today"] == each["advised"]) continue;
            const std::string edge = each["edge"].is_null() ? "" : ", at the edge of " + said(each["edge"]);
            text += fmt::format("    {:<44} {} -> {}{}\n", said(each["path"]), said(each["today"]),
                                said(each["advised"]), edge);
        }
        return text;
    }

    // Against today's every figure; against other sets those that are worse.
    std::string gains() const {
        std::string text;
        std::size_t others = 0, worse = 0;
        const Json* last = nullptr;
        for (const Json& each : advice_["gain"]) {
            const bool is_today = each["against"] == "today", is_worse = may_be_worse(each);
            if (!is_today && (last == nullptr || *last != each["against"])) ++others;
            if (!is_today) last = &each["against"];
            if (!is_today && !is_worse) continue;
            if (!is_today) ++worse;
            text += fmt::format("    {} against {}: {}\n", said(each["verdict"]), said(each["against"]),
                                gain_text(each));
        }
        for (const Json& each : advice_["held"]["fails"])
            text += fmt::format("    {} fails on held seeds: {}\n", said(each["name"]), said(each["wrong"]));
        for (const Json& each : advice_["held"]["near"]) text += fmt::format("    {}\n", near(each));
        if (others != 0 && worse == 0)
            text += fmt::format("    nowhere worse than {}\n", print_count(others, "other start set"));
        return text;
    }

    static bool may_be_worse(const Json& gain) {
        return gain["verdict"] == "worse" ||
               (gain["verdict"] == "undecided" && gain["advised"] > gain["today"]);
    }

    std::string breaks() const {
        std::string text;
        for (const Json& each : advice_["breaks"]) {
            if (each["holds"] == true) continue;
            std::string fails;
            for (const Json& entry : each["fails"]) append_item(fails, "; ", said(entry));
            text += each["error"].is_null()
                        ? fmt::format("    breaks with {}: {}\n", said(each["what"]), fails)
                        : fmt::format("    not known with {}: {}\n", said(each["what"]), said(each["error"]));
        }
        if (text.empty() && !advice_["breaks"].empty())
            return fmt::format("    breaks with none of {}\n",
                               print_count(advice_["breaks"].size(), "trial"));
        return text;
    }

    std::string sensitivity() const {
        std::string text;
        for (const Json& each : advice_["sensitivity"])
            text += fmt::format("    {}: {}\n", said(each["path"]), sensitivity(each));
        return text;
    }

    std::string headroom() const {
        std::string text;
        for (const Json& each : advice_["headroom"])
            if (each["today"] != each["computed"])
                text += fmt::format("    headroom of {}: {} -> {}, computed, not searched; do: {}\n",
                                    said(each["port"]), figure_text(each["today"], FigureUnit::bytes),
                                    figure_text(each["computed"], FigureUnit::bytes), said(each["edit"]));
        return text;
    }

    std::string rest() const {
        std::string text;
        for (const Json& each : advice_["not_tried"]) text += fmt::format("    not tried: {}\n", said(each));
        return text + fmt::format("    it took {} and {} frames sent by hosts\n",
                                  print_count(advice_["runs"].get<std::size_t>(), "run"),
                                  counted(advice_["packets"]));
    }

    const Json& advice_;
};

}  // namespace

std::string advice_text(const Json& advice) { return AdviceWords(advice).all(); }

std::string advice_headline(const Json& advice) { return AdviceWords(advice).headline(); }

std::string near_text(const Json& advice, const Json& row) { return AdviceWords(advice).near(row); }

std::string sensitivity_text(const Json& advice, const Json& row) {
    return AdviceWords(advice).sensitivity(row);
}

}  // namespace sluice::fabric
