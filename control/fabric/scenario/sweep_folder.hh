// The folder of a sweep, or of a search for advice: its manifest, and the rows that count.
//
// DIR/sweep.json, the manifest, has the question, the goal and the number of runs, and after the last run the
// best point; DIR/runs/NNNNNN.json has the
// row of a run as soon as it is over, so that a sweep that was stopped goes on where it was. A row counts
// where it has the manifest's fingerprint and the run of its name. DIR/sweep.jsonl and DIR/sweep.csv have all
// rows in the order of points. Errors are sentences.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/scenario/points.hh"
#include "control/report/figures/shaped_json.hh"
#include "dataplane/base/output_folder.hh"

namespace sluice::fabric {

// Names of what a sweep writes into its folder, the manifest first.
inline constexpr std::array files_of_sweep{"sweep.json", "sweep.jsonl", "sweep.csv"};

struct SweepManifest {
    // Names of the files of its folder, beside rows; the first is the manifest's.
    std::vector<std::string> files{files_of_sweep.begin(), files_of_sweep.end()};
    std::string text;             // of the manifest without `best`; the same in every shard
    nlohmann::ordered_json json;  // with `best`, if it is there
    std::string fingerprint;
    std::size_t runs = 0;

    // `words`: of the command line, as far as rows depend on them. The version of this program is in it.
    // `goal`: Goal::json with `today` (ranking.hh); null: there is none.
    static SweepManifest of(const std::string& name, const FabricConfig& file, std::string_view file_text,
                            const std::vector<std::string>& words, std::size_t runs,
                            const nlohmann::ordered_json& goal = nullptr);
    static tl::expected<SweepManifest, std::string> parse(std::string text);
};

// The folder as a sweep or a merge writes it; no other process writes there meanwhile.
class SweepFolder {
  public:
    // Files of an earlier sweep that would be taken for those of this one go to DIR/earlier-N.
    static tl::expected<SweepFolder, std::string> create(const std::string& path, SweepManifest manifest);

    const std::string& path() const { return folder_.path(); }
    const SweepManifest& manifest() const { return manifest_; }
    const std::string& earlier() const { return earlier_; }  // where those went; empty: there were none
    bool has(std::size_t run) const { return has_[run]; }    // a row without an error was there before
    // Null: there is none that counts.
    nlohmann::ordered_json row(std::size_t run) const;
    std::string write_row(std::size_t run, const nlohmann::ordered_json& row) const;  // in any process
    // Puts the best point (Ranking::json) into the manifest.
    std::string write_best(nlohmann::ordered_json best);
    std::string write_tables(const std::vector<nlohmann::ordered_json>& rows);
    // Writes a file that the manifest names.
    std::string write(const std::string& name, std::string_view text);

  private:
    SweepFolder(OutputFolder folder, SweepManifest manifest)
        : folder_(std::move(folder)), manifest_(std::move(manifest)) {}
    std::string put_aside(const std::string& name);
    std::string look_at_rows();

    OutputFolder folder_;
    SweepManifest manifest_;
    std::string earlier_;
    std::vector<bool> has_;
};

// The folder as it is read: its rows, by run. An error names a row that does not count.
struct SweepRows {
    SweepManifest manifest;
    std::vector<nlohmann::ordered_json> rows;
};
tl::expected<SweepRows, std::string> read_sweep(const std::string& path);

// What a row says of its run before the result.
struct RowHead {
    std::size_t run = 0;
    std::uint64_t seed = 1;
    nlohmann::ordered_json values;  // by path
    std::string trial;              // the name of a run that the values do not tell; empty: they do
    bool counts_packets = false;

    // The row is of this run, as far as its head says.
    bool is_of(const nlohmann::ordered_json& row) const;
};

// The result of a run in one line: run, version, fingerprint, seed, values, met, figures, asserts, error,
// with a goal goal{keep[], least[]} (goal.hh), and if the head says so trial, and packets, the frames that
// hosts sent.
nlohmann::ordered_json make_row(const RowHead& head, const std::string& fingerprint,
                                const tl::expected<nlohmann::ordered_json, std::string>& report);

// The least that a row from a file has.
const JsonShape& shape_of_row();
// A figure that every run has, unless it ended with an error, and that this row has not; empty: none.
std::string figure_missing(const nlohmann::ordered_json& row);

std::string jsonl_text(const std::vector<nlohmann::ordered_json>& rows);
// A column for each value, figure and assertion; a heading line.
std::string csv_text(const std::vector<nlohmann::ordered_json>& rows);

}  // namespace sluice::fabric
