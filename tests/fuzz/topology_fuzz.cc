// Any text as another simulator's topology: it is refused in one line, or drawn so that each line of the
// account says something, and the file that is written for it can be read, but for a size that a fabric may
// not have. The first byte says by which reader, or by the content.
#include <array>
#include <optional>
#include <string>

#include "control/fabric/plan/fabric_config.hh"
#include "tests/fuzz/require.hh"
#include "tools/import/topology.hh"

namespace {

constexpr std::size_t small = 60;  // nodes of a fabric that is judged whole: it costs by switch

bool is_small(const sluice::import::Drawing& drawing) {
    if (!drawing.kind) return drawing.nodes.size() <= small && drawing.links.size() <= small;
    std::uint64_t size = drawing.kind->links;
    for (const auto& count :
         {drawing.kind->hosts, drawing.kind->leaves, drawing.kind->spines, drawing.kind->pods,
          drawing.kind->racks, drawing.kind->aggs, drawing.kind->cores})
        size *= count.value_or(1);
    return size <= small;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using namespace sluice::import;
    if (size == 0) return 0;
    const std::array<std::optional<TopologyFormat>, 4> readers{TopologyFormat::htsim, TopologyFormat::hpcc,
                                                               TopologyFormat::csv, std::nullopt};
    const auto drawing = import_topology(std::string(reinterpret_cast<const char*>(data) + 1, size - 1),
                                         readers[data[0] % readers.size()]);
    if (!drawing) {
        require(is_one_line(drawing.error().text("fuzz")), "a refusal is one line",
                drawing.error().text("fuzz"));
        return 0;
    }
    for (const Line& line : drawing->account.lines())
        require(!line.what.empty(), "a line says something", line.path);
    if (!is_small(*drawing)) return 0;
    const std::string written = to_fabric_file(*drawing, "fuzz", "fuzz.toml");
    const auto loaded = fabric::parse_fabric(written, "fuzz.toml");
    const bool is_empty = drawing->links.empty() && !drawing->kind;  // all of it was wrong
    require(loaded.has_value() || is_empty, "it loads",
            loaded ? "" : loaded.error().front().text() + "\n" + written);
    const std::string refusal = fabric_refusal(written, "fuzz.toml");
    require(refusal.empty() || refusal.ends_with('\n'), "a refusal is lines", refusal);
    return 0;
}
