#include "control/fabric/scenario/sweep_folder.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "control/config/schema/config.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/fabric/scenario/files.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* manifest_name = files_of_sweep[0];
constexpr const char* lines_name = files_of_sweep[1];
constexpr const char* table_name = files_of_sweep[2];

std::string row_name(std::size_t run) { return fmt::format("runs/{:06}.json", run); }

// The run of a file in runs/; nothing: it has no name of a row.
std::optional<std::size_t> run_of(const std::string& file) {
    std::size_t run = 0;
    const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), run);
    if (error != std::errc() || "runs/" + file != row_name(run)) return std::nullopt;
    return run;
}

// In order; those that have a row's name.
std::vector<std::size_t> row_files(const std::string& path) {
    std::vector<std::size_t> runs;
    std::error_code error;
    for (fs::directory_iterator entry(path + "/runs", error), end; !error && entry != end;
         entry.increment(error))
        if (const auto run = run_of(entry->path().filename().string())) runs.push_back(*run);
    std::ranges::sort(runs);
    return runs;
}

using RowRead = tl::expected<Json, std::string>;

RowRead no_row(std::string why) { return tl::unexpected(std::move(why)); }

// True when the row has every entry of the manifest's goal, or ended with an error; or there is no goal.
bool has_goal(const Json& row, const Json& manifest) {
    const auto goal = manifest.find("goal");
    if (goal == manifest.end() || !row["error"].is_null()) return true;
    const auto own = row.find("goal");
    return own != row.end() && (*own)["keep"].size() == (*goal)["keep"].size() &&
           (*own)["least"].size() == (*goal)["least"].size();
}

// The error: why it does not count.
RowRead that_counts(RowRead row, const SweepManifest& manifest) {
    if (!row) return row;
    if (const std::string name = figure_missing(*row); !name.empty())
        return no_row(in_quotes("figures." + name) + " is missing");
    if ((*row)["fingerprint"] != manifest.fingerprint) return no_row("its fingerprint is another one");
    if (!has_goal(*row, manifest.json)) return no_row("its goal is another one");
    if ((*row)["run"] >= manifest.runs) return no_row(fmt::format("its run is not below {}", manifest.runs));
    return row;
}

RowRead load_row(const std::string& path, std::size_t run, const SweepManifest& manifest) {
    const std::string file = path + "/" + row_name(run);
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error))) return no_row("it is not a regular file");
    RowRead row = that_counts(read_shaped_file(file, shape_of_row()), manifest);
    return row && (*row)["run"] != run ? no_row("it is of another run") : row;
}

std::string fingerprint(std::string_view text, const std::vector<std::string>& words) {
    std::uint64_t mark = 0;
    const auto add = [&](std::string_view bytes) {
        for (const char c : bytes) mark = scramble(mark ^ static_cast<unsigned char>(c));
        mark = scramble(mark + bytes.size());
    };
    add(SLUICE_VERSION);
    add(text);
    for (const std::string& word : words) add(word);
    return fmt::format("{:016x}", mark);
}

// A folder that is there already is good.
std::string make_folder(const std::string& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    return error ? path + ": " + error.message() : std::string();
}

std::string text_of(const Json& manifest) { return json_text(manifest, 2) + "\n"; }

const JsonShape& shape_of_manifest() {
    static const JsonShape shape{{"name", part::text},
                                 {"question", part::text},
                                 {"fingerprint", part::text},
                                 {"runs", part::count},
                                 {"axes.#.path", part::text},
                                 {"axes.#.values.#", part::scalar},
                                 {"axes.#.*", part::any},
                                 {"*", part::any},
                                 {"goal?.keep.#.that", part::text},
                                 {"goal?.keep.#.phase", part::text | part::null},
                                 {"goal?.least.#.that", part::text},
                                 {"goal?.least.#.phase", part::text | part::null},
                                 {"goal?.least.#.within", part::number},
                                 {"goal?.today.*.#", part::text},
                                 {"best?", part::any}};
    return shape;
}

}  // namespace

SweepManifest SweepManifest::of(const std::string& name, const FabricConfig& file, std::string_view file_text,
                                const std::vector<std::string>& words, std::size_t runs, const Json& goal) {
    Json axes = Json::array();
    for (const VaryConfig::Axis& axis : file.scenario.vary.axes) {
        Json values = Json::array();
        for (const std::string& value : axis.values) values.push_back(plain(value));
        axes.push_back({{"path", axis.path}, {"values", std::move(values)}});
    }
    SweepManifest made;
    made.fingerprint = sluice::fabric::fingerprint(file_text, words);
    made.runs = runs;
    made.json = {{"name", name},
                 {"question", file.scenario.question},
                 {"version", SLUICE_VERSION},
                 {"fingerprint", made.fingerprint},
                 {"runs", runs},
                 {"axes", std::move(axes)}};
    if (!goal.is_null()) made.json["goal"] = goal;
    made.text = text_of(made.json);
    return made;
}

tl::expected<SweepManifest, std::string> SweepManifest::parse(std::string text) {
    SweepManifest read;
    read.text = std::move(text);
    auto json = read_shaped(read.text, shape_of_manifest());
    const auto refuse = [](const std::string& why) {
        return tl::unexpected("is not a manifest of a sweep: " + why);
    };
    if (!json) return refuse(json.error());
    read.json = std::move(*json);
    if (read.json["runs"] == 0 || read.json["runs"] > max_points)
        return refuse(fmt::format("runs is not a number from 1 to {}", max_points));
    if (read.json.contains("best")) {
        Json plain = read.json;
        plain.erase("best");
        read.text = text_of(plain);
    }
    read.fingerprint = read.json["fingerprint"].get<std::string>();
    read.runs = read.json["runs"].get<std::size_t>();
    return read;
}

tl::expected<SweepFolder, std::string> SweepFolder::create(const std::string& path, SweepManifest manifest) {
    auto folder = OutputFolder::open(path);
    if (!folder) return tl::unexpected(folder.error());
    SweepFolder made(std::move(*folder), std::move(manifest));
    const std::vector<std::string>& own = made.manifest_.files;
    const auto before = read_config_file(made.folder_.file(own[0]));
    const auto known = before ? SweepManifest::parse(*before) : tl::unexpected(std::string());
    const bool goes_on = known && known->text == made.manifest_.text;
    const bool has_best = goes_on && *before != made.manifest_.text;
    const bool is_to_write = !goes_on || made.manifest_.json.contains("goal");
    std::string error = made.folder_.no_way_to(row_name(0));
    for (const std::string& name : own)
        if (error.empty() && (is_to_write || name != own[0])) error = made.folder_.refusal(name);
    for (const std::string& name : own)
        if (error.empty() && before && !goes_on) error = made.put_aside(name);
    if (error.empty()) error = make_folder(made.folder_.file("runs"));
    if (error.empty()) error = made.look_at_rows();
    if (error.empty() && (!goes_on || has_best)) error = made.folder_.write(own[0], made.manifest_.text);
    if (!error.empty()) return tl::unexpected(std::move(error));
    return made;
}

// Below a folder of its own; nothing is lost. One that is not there is good.
std::string SweepFolder::put_aside(const std::string& name) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(folder_.file(name), error))) return {};
    for (unsigned n = 1; earlier_.empty(); ++n) {
        const std::string folder = folder_.file(fmt::format("earlier-{}", n));
        const bool is_new = fs::create_directory(folder, error);
        if (!is_new && fs::exists(fs::symlink_status(folder)))
            continue;  // of somebody else, or of a sweep before
        if (is_new) fs::create_directory(folder + "/runs", error);
        if (error) return fmt::format("{}: {}", folder, error.message());
        earlier_ = folder;
    }
    if (std::rename(folder_.file(name).c_str(), (earlier_ + "/" + name).c_str()) == 0) return {};
    return fmt::format("{}: cannot be moved to {}: {}", folder_.file(name), earlier_, std::strerror(errno));
}

// Moves aside what has the name of a row and does not count.
std::string SweepFolder::look_at_rows() {
    has_.assign(manifest_.runs, false);
    for (const std::size_t run : row_files(path())) {
        const Json there = row(run);
        if (!there.is_null())
            has_[run] = there["error"].is_null();
        else if (std::string error = put_aside(row_name(run)); !error.empty())
            return error;
    }
    return {};
}

Json SweepFolder::row(std::size_t run) const { return load_row(path(), run, manifest_).value_or(nullptr); }

std::string SweepFolder::write_row(std::size_t run, const Json& row) const {
    return write_text(folder_.file(row_name(run)), json_text(row) + "\n");
}

std::string SweepFolder::write_best(Json best) {
    manifest_.json["best"] = std::move(best);
    return folder_.write(manifest_.files[0], text_of(manifest_.json));
}

std::string SweepFolder::write(const std::string& name, std::string_view text) {
    return folder_.write(name, text);
}

std::string SweepFolder::write_tables(const std::vector<Json>& rows) {
    std::string error = folder_.write(lines_name, jsonl_text(rows));
    return error.empty() ? folder_.write(table_name, csv_text(rows)) : error;
}

tl::expected<SweepRows, std::string> read_sweep(const std::string& path) {
    const auto refuse = [&](const std::string& file, std::string_view why) {
        return tl::unexpected(fmt::format("{}/{} {}", path, file, why));
    };
    auto text = read_config_file(path + "/" + manifest_name);
    if (!text) return refuse(manifest_name, "cannot be read: it is not a folder of a sweep");
    auto manifest = SweepManifest::parse(std::move(*text));
    if (!manifest) return refuse(manifest_name, manifest.error());
    SweepRows read{std::move(*manifest), {}};
    for (const std::size_t run : row_files(path)) {
        RowRead row = load_row(path, run, read.manifest);
        if (!row)
            return refuse(row_name(run),
                          fmt::format("is not a row of the sweep that sweep.json names: {}; do: run the "
                                      "sweep again, which moves it aside",
                                      row.error()));
        read.rows.push_back(std::move(*row));
    }
    if (!read.rows.empty()) return read;
    std::error_code none;
    if (!fs::exists(path + "/" + lines_name, none))
        return tl::unexpected(path + " has neither runs nor sweep.jsonl");
    const std::string wrong =
        read_shaped_lines(path + "/" + lines_name, shape_of_row(), [&](Json value) -> std::string {
            RowRead row = that_counts(std::move(value), read.manifest);
            if (!row) return row.error();
            if (!read.rows.empty() && (*row)["run"] <= read.rows.back()["run"]) return "it is out of order";
            read.rows.push_back(std::move(*row));
            return {};
        });
    if (!wrong.empty())
        return refuse(lines_name, "has what is not a row of the sweep that sweep.json names: " + wrong);
    return read;
}

}  // namespace sluice::fabric
