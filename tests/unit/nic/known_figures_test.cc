// When a figure is known, as its row says, against reports of a switch on two cards.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "CppUTest/TestHarness.h"
#include "control/report/figures/figures.hh"
#include "dataplane/path/stage_meter.hh"
#include "tests/unit/nic/one_worker.hh"

namespace sluice::known_figures_test {
namespace {

using Json = nlohmann::ordered_json;

// True when every part that may have the figure of `path` has it.
bool has_everywhere(const Json& part, std::string_view path) {
    const std::string name(path.substr(0, path.find('.')));
    if (name.empty()) return true;
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.front() != '{' && name.front() != '[')
        return part.contains(name) && has_everywhere(part[name], path);
    return std::all_of(part.begin(), part.end(),
                       [&](const Json& each) { return has_everywhere(each, path); });
}

// Rows that a report has in some part, those whose last part is a label apart: their parts come and go.
std::set<const Figure*> rows_of(const Json& report) {
    std::set<const Figure*> rows;
    for_each_leaf(report, [&](const FigureLeaf& leaf) {
        if (leaf.figure != nullptr && !leaf.figure->path.ends_with('}')) rows.insert(leaf.figure);
    });
    return rows;
}

}  // namespace

TEST_GROUP_BASE(KnownFigures, OneWorker){};

TEST(KnownFigures, areAlwaysThereWhereTheirRowsSaySo) {
    starts();
    const Json before = make_report(*running);
    for (const Figure& figure : figures())
        if (figure.known == FigureKnown::always)
            CHECK_TRUE_TEXT(has_everywhere(before, figure.path), std::string(figure.path).c_str());
}

TEST(KnownFigures, comeWithTheRunWhereTheirRowsSaySo) {
    starts();
    const auto before = rows_of(make_report(*running));
    running->device().meter(0).start();
    for (const std::uint8_t ttl : {64, 1}) arrive(p0, 3, ttl);
    p1.link.link_status = 0;
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    unsigned came = 0;
    for (const Figure* figure : rows_of(make_report(*running))) {
        if (before.contains(figure)) continue;
        ++came;
        CHECK_TRUE_TEXT(figure->known == FigureKnown::later, std::string(figure->path).c_str());
    }
    CHECK(came > 5);
}

}  // namespace sluice::known_figures_test
