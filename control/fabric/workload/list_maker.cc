#include "control/fabric/workload/list_maker.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/schema.hh"
#include "control/config/text/controls.hh"
#include "control/config/text/wrapped.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_name_bytes = 64;  // as a flow of the file
constexpr std::size_t max_pool_bytes = ListedFlow::none;
constexpr std::size_t max_joins = 4'000'000;

std::string_view name_at(const std::string& pool, std::size_t offset) { return pool.c_str() + offset; }

}  // namespace

ListMaker::ListMaker(const std::string& file, std::span<const std::string> hosts,
                     const FlowListSettings& settings)
    : file_(file), hosts_(hosts), settings_(settings) {
    std::unordered_map<std::string_view, std::uint32_t> own;
    for (std::uint32_t n = 0; n < hosts.size(); ++n) own.emplace(hosts[n], n);
    for (const auto& [theirs, ours] : settings.hosts)
        if (const auto found = own.find(ours); found != own.end()) by_name_.emplace(theirs, found->second);
    by_name_.merge(own);
}

void ListMaker::refuse(SourcePlace place, std::string wrong, std::string remedy) {
    if (!is_full()) errors_.push_back({file_, place, {}, std::move(wrong), {}, std::move(remedy)});
}

void ListMaker::refuse(const Cell& cell, std::string_view what, const ValueError& error) {
    refuse(cell.place, fmt::format("{} {} {}", what, in_quotes(cell.text), error.wrong),
           error.remedy.empty() ? "correct it" : error.remedy);
}

ListedFlow ListMaker::begin(std::uint32_t line) const {
    ListedFlow flow;
    flow.line = line;
    flow.qps = settings_.qps;
    flow.tc = settings_.traffic_class.value_or(ListedFlow::by_default);
    return flow;
}

bool ListMaker::read_host(const Cell& cell, std::string_view end, std::uint32_t& host) {
    if (const auto found = by_name_.find(cell.text); found != by_name_.end()) {
        host = found->second;
        return true;
    }
    const auto number = parse_integer(cell.text);
    if (number && *number < hosts_.size()) {
        host = static_cast<std::uint32_t>(*number);
        return true;
    }
    const std::string near = nearest_name(cell.text, {hosts_.begin(), hosts_.end()});
    refuse(cell.place,
           cell.text.empty() ? fmt::format("the {} is empty", end)
           : number          ? fmt::format("there is no host {}: the fabric has {}, which count from 0",
                                           in_quotes(cell.text), hosts_.size())
                             : fmt::format("there is no host {}", in_quotes(cell.text)),
           number || near.empty()
               ? "say in the workload's hosts which host it is, or make the fabric larger"
               : fmt::format("write {}, or say in the workload's hosts which it is", near));
    return false;
}

bool ListMaker::read_ends(const Cell& from, const Cell& to, ListedFlow& flow) {
    const bool has_from = read_host(from, "source", flow.from),
               has_to = read_host(to, "destination", flow.to);
    if (!has_from || !has_to) return false;
    if (flow.from != flow.to) return true;
    refuse(to.place, fmt::format("{} sends to itself", hosts_[flow.from]),
           "write another destination, or leave the flow out");
    return false;
}

bool ListMaker::read_bytes(const Cell& cell, std::uint64_t unit, ListedFlow& flow) {
    const auto bytes = parse_flow_bytes(cell.text, unit, settings_.scale_bytes);
    if (bytes)
        flow.bytes = *bytes;
    else
        refuse(cell, "size", bytes.error());
    return bytes.has_value();
}

bool ListMaker::read_start(const Cell& cell, std::uint64_t unit, ListedFlow& flow) {
    const auto start = parse_flow_time(cell.text, unit, settings_.scale_time);
    if (start)
        flow.start = *start;
    else
        refuse(cell, "start", start.error());
    return start.has_value();
}

bool ListMaker::read_class(const Cell& cell, ListedFlow& flow) {
    const auto tc = parse_whole(cell.text, 0, classes - 1);
    if (tc)
        flow.tc = static_cast<std::uint8_t>(*tc);
    else
        refuse(cell, "class", tc.error());
    return tc.has_value();
}

bool ListMaker::read_qps(const Cell& cell, ListedFlow& flow) {
    const auto qps = parse_whole(cell.text, 1, max_pair_qps);
    if (qps)
        flow.qps = static_cast<std::uint16_t>(*qps);
    else
        refuse(cell, "qps", qps.error());
    return qps.has_value();
}

bool ListMaker::keep_name(const Cell& cell, std::string& pool, std::size_t& offset) {
    if (cell.text.size() > max_name_bytes || has_controls(cell.text)) {
        refuse(cell, "name",
               {fmt::format("is longer than {} bytes, or has control characters", max_name_bytes), {}});
        return false;
    }
    if (pool.size() + cell.text.size() + 1 > max_pool_bytes) {
        refuse(cell.place, "the names of the flows take more than 4 GB", "shorten them, or leave them out");
        return false;
    }
    offset = pool.size();
    pool.append(cell.text).push_back('\0');
    return true;
}

bool ListMaker::read_name(const Cell& cell, ListedFlow& flow) {
    std::size_t offset = 0;
    if (!keep_name(cell, list_.names, offset)) return false;
    flow.name = static_cast<std::uint32_t>(offset);
    return true;
}

bool ListMaker::read_after(const Cell& cell) {
    Wait wait{static_cast<std::uint32_t>(list_.flows.size()), 0, cell.place};
    if (!keep_name(cell, waits_for_, wait.name)) return false;
    waits_.push_back(wait);
    return true;
}

void ListMaker::add(ListedFlow flow, bool waits) {
    if (list_.flows.size() == ListedFlow::none - 1)
        return refuse({flow.line, 1}, "the file lists too many flows", "divide it");
    if (!waits) {
        const std::int64_t start = flow.start.ps + settings_.start.ps;
        if (start > max_flow_start.ps)
            return refuse({flow.line, 1},
                          fmt::format("the flow starts later than {}", print_time(max_flow_start)),
                          "write an earlier start for the workload");
        flow.start.ps = start;
    }
    flow.number = static_cast<std::uint32_t>(list_.flows.size() + 1);
    flow.qps = static_cast<std::uint16_t>(std::min<std::uint64_t>(flow.qps, flow.bytes));
    list_.flows.push_back(flow);
}

// Names of flows that others wait for become indices.
void ListMaker::join_waits() {
    constexpr std::uint32_t several = ListedFlow::none;
    if (waits_.empty()) return;
    std::unordered_map<std::string_view, std::uint32_t> by_name;
    for (std::uint32_t n = 0; n < list_.flows.size(); ++n)
        if (const std::string_view name = list_.name_of(list_.flows[n]); !name.empty())
            if (const auto [at, is_new] = by_name.emplace(name, n); !is_new) at->second = several;
    for (const Wait& wait : waits_) {
        const std::string_view name = name_at(waits_for_, wait.name);
        const auto found = by_name.find(name);
        if (found == by_name.end())
            refuse(wait.place, fmt::format("no flow is called {}", in_quotes(name)),
                   "write the name of a flow of this file");
        else if (found->second == several)
            refuse(wait.place, fmt::format("several flows are called {}", in_quotes(name)),
                   "write other names, each once");
        else
            list_.flows[wait.flow].after = found->second;
    }
}

void ListMaker::wait_for(std::uint32_t flow, std::uint32_t before, SourcePlace place) {
    std::uint32_t& after = list_.flows[flow].after;
    if (after == ListedFlow::none)
        after = before;
    else if (list_.joins.size() < max_joins)
        list_.joins.emplace_back(flow, before);
    else
        refuse(place, fmt::format("flows wait for more than {} others in all", max_joins),
               "write barriers of fewer flows");
}

// The n-th flow that this one waits for, or none.
std::uint32_t ListMaker::before_of(std::uint32_t flow, std::size_t n) const {
    if (n == 0) return list_.flows[flow].after;
    const auto& joins = list_.joins;
    const auto at = std::ranges::lower_bound(joins, std::pair(flow, 0U)) - joins.begin();
    const std::size_t join = static_cast<std::size_t>(at) + n - 1;
    return join < joins.size() && joins[join].first == flow ? joins[join].second : ListedFlow::none;
}

std::string ListMaker::title_of(const ListedFlow& flow) const {
    const std::string_view name = list_.name_of(flow);
    return name.empty() ? fmt::format("that of line {}", flow.line) : in_quotes(name);
}

// Walks from each flow to those that it waits for; a walk that comes back to a flow on its way is a circle.
void ListMaker::refuse_circles() {
    enum class State : std::uint8_t { fresh, on_way, done };
    const auto& flows = list_.flows;
    std::vector<State> states(flows.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> way;  // flows, and how many of their edges are walked
    for (std::uint32_t first = 0; first < flows.size() && !is_full(); ++first) {
        if (flows[first].after == ListedFlow::none || states[first] != State::fresh) continue;
        way = {{first, 0}};
        states[first] = State::on_way;
        while (!way.empty()) {
            const std::uint32_t next = before_of(way.back().first, way.back().second++);
            if (next == ListedFlow::none) {
                states[way.back().first] = State::done;
                way.pop_back();
            } else if (states[next] == State::fresh) {
                states[next] = State::on_way;
                way.emplace_back(next, 0);
            } else if (states[next] == State::on_way) {
                const auto from = std::ranges::find(way, next, &decltype(way)::value_type::first);
                std::vector<std::string> names;
                for (auto at = from; at != way.end(); ++at) names.push_back(title_of(flows[at->first]));
                names.push_back(names.front());
                refuse({flows[next].line, 1},
                       "flows wait for each other in a circle: " + join_briefly(names, " after "),
                       "leave one of these dependencies out");
                for (const auto& [flow, edges] : way) states[flow] = State::done;
                way.clear();
            }
        }
    }
}

LineWords words_of(std::string_view line, std::uint32_t number) {
    LineWords found;
    line = line.substr(0, line.find('#'));
    for (std::size_t at = 0; found.count < found.words.size();) {
        at = line.find_first_not_of(" \t", at);
        if (at == line.npos) break;
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        found.words[found.count++] = {line.substr(at, end - at), {number, static_cast<unsigned>(at + 1)}};
        at = end;
    }
    return found;
}

FlowListResult ListMaker::finish(const TextLines& lines) {
    if (!lines.wrong().wrong.empty()) refuse({lines.number(), 1}, lines.wrong().wrong, lines.wrong().remedy);
    if (errors_.empty() && list_.flows.empty()) refuse({}, "the file lists no flow", "name another file");
    if (errors_.empty()) join_waits();
    std::ranges::sort(list_.joins);
    if (errors_.empty()) refuse_circles();
    if (is_full())
        errors_.push_back({file_, {}, {}, "reading stopped at the tenth error", {}, "correct these first"});
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    if (sort_flows(list_) && list_.timed == list_.flows.size())
        note("the file's flows are not in order of their starts: sorted");
    return std::move(list_);
}

}  // namespace sluice::fabric
