#include "control/serve/server/rpc.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>

#include "control/config/text/json_text.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/spare_memory.hh"

namespace sluice {
namespace {

// The bound that a line exceeds, or empty. It is found before anything is built from the line, which recurses
// and compares members with each other.
std::string beyond_bounds(std::string_view line) {
    std::array<unsigned, max_nesting + 1> members{};  // by depth, of the object that is open there
    unsigned depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                in_string = false;
            continue;
        }
        if (c == '"') in_string = true;
        if (c == '{' || c == '[') {
            if (++depth > max_nesting) return fmt::format("nested deeper than {}", max_nesting);
            members[depth] = 0;
        }
        if ((c == '}' || c == ']') && depth > 0) --depth;
        if (c == ':' && ++members[depth] > max_members)
            return fmt::format("an object of more than {} members", max_members);
    }
    return {};
}

Json error_json(const Json& id, const RpcError& error) {
    Json body = {{"code", static_cast<int>(error.code)}, {"message", error.message}};
    if (!error.data.empty()) body["data"] = error.data;
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

const RpcMethod& method_of(std::string_view name) {
    const auto methods = rpc_methods();
    const auto found =
        std::find_if(methods.begin(), methods.end(), [&](const auto& m) { return m.name == name; });
    if (found != methods.end()) return *found;
    std::string known;
    for (const RpcMethod& method : methods) append_item(known, ", ", method.name);
    throw RpcError{RpcCode::no_method, "no method " + in_quotes(name), {{"allowed", known}}};
}

void check_shape(const Json& request) {
    const auto invalid = [](const char* why) { throw RpcError{RpcCode::invalid_request, why}; };
    if (!request.is_object()) invalid("a request is an object");
    for (const auto& [name, value] : request.items())
        if (name != "jsonrpc" && name != "id" && name != "method" && name != "params")
            throw RpcError{RpcCode::invalid_request, "a request has no member " + in_quotes(name)};
    if (!request.contains("jsonrpc") || request["jsonrpc"] != "2.0") invalid("\"jsonrpc\" must be \"2.0\"");
    if (!request.contains("method") || !request["method"].is_string()) invalid("\"method\" must be a string");
    if (request.contains("params") && !request["params"].is_object())
        invalid("\"params\" must be an object: parameters have names");
}

// Refuses parameters that the method's table does not have.
void check_names(const RpcMethod& method, const Json& given) {
    std::set<std::string_view> known;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < method.parameters.size(); ++at) {
        const char c = method.parameters[at];
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 0 && c == ',') begin = at + 2;
        if (depth == 0 && c == ':') {
            const std::string_view name = method.parameters.substr(begin, at - begin);
            known.insert(name.substr(0, name.find('?')));
        }
    }
    for (const auto& [name, value] : given.items())
        if (!known.contains(name)) throw wrong_parameter(name, "unknown parameter " + in_quotes(name));
}

bool valid_id(const Json& id) { return id.is_string() || id.is_number_integer() || id.is_null(); }

RpcError no_memory(Api& api, std::uint64_t generation) {
    const bool done = api.running().generation() != generation;
    return {RpcCode::too_much, done ? "it is done, but there is not enough memory for the answer"
                                    : "there is not enough memory for it"};
}

// Null: nothing is to be said.
Json answer_one(Api& api, RpcClient& client, const Json& request, std::size_t line_bytes) {
    Json id;
    bool wanted = true;
    const std::uint64_t generation = api.running().generation();
    try {
        if (request.is_object() && request.contains("id")) {
            if (!valid_id(request["id"]))
                throw RpcError{RpcCode::invalid_request, "\"id\" must be a string or an integer"};
            id = request["id"];
        }
        check_shape(request);
        wanted = request.contains("id");
        const RpcMethod& method = method_of(request["method"].get_ref<const std::string&>());
        if (!method.is_bulk() && line_bytes > max_plain_line_bytes)
            throw RpcError{RpcCode::too_much, fmt::format("a line of {} bytes: {} takes at most {}",
                                                          line_bytes, method.name, max_plain_line_bytes)};
        if (method.has_changes()) api.require_changes();
        static const Json none = Json::object();
        const Json& given = request.contains("params") ? request["params"] : none;
        check_names(method, given);
        RpcParameters parameters(given);
        const Transaction::Acting acting(api.changes(), client.author);
        Json result = method.call(api, client, parameters);
        if (api.running().generation() != generation)
            if (const std::string late = api.running().limit_change().publication().late(); !late.empty())
                throw RpcError{RpcCode::not_taken_up,
                               "published, but " + late,
                               {{"result", std::move(result)},
                                {"do", "nothing: it holds from the worker's next turn; see worker show"}}};
        if (!wanted) return nullptr;
        return {{"jsonrpc", "2.0"}, {"id", std::move(id)}, {"result", std::move(result)}};
    } catch (const RpcError& error) {
        return wanted ? error_json(id, error) : Json(nullptr);
    } catch (const std::bad_alloc&) {
        return wanted ? error_json(id, no_memory(api, generation)) : Json(nullptr);
    } catch (const std::exception& error) {
        return wanted ? error_json(id, {RpcCode::internal, std::string("internal error: ") + error.what()})
                      : Json(nullptr);
    }
}

// Takes the first element from the inside of an array that has been found to be JSON.
std::string_view take_element(std::string_view& rest) {
    int depth = 0;
    bool in_string = false;
    std::size_t i = 0;
    for (; i < rest.size() && (in_string || depth > 0 || rest[i] != ','); ++i) {
        const char c = rest[i];
        if (c == '"') in_string = !in_string;
        if (!in_string)
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        else if (c == '\\')
            ++i;
    }
    const std::string_view element = rest.substr(0, i);
    rest.remove_prefix(std::min(i + 1, rest.size()));
    return element;
}

std::size_t count_elements(std::string_view rest) {
    std::size_t count = 0;
    for (; !rest.empty(); ++count) take_element(rest);
    return count;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

}  // namespace

// Twice the measured values: 90 KB for each port, 5600 bytes for each route, 80 for each byte of a line of
// routes. The same for all lines of usual length, so that no other block is asked for.
std::size_t max_memory(const Config& config, std::size_t line_bytes) {
    constexpr std::size_t megabyte = std::size_t{1} << 20U;
    // `why` copies the recorders' events, and explains them.
    const std::size_t recorded = config.ports.size() * config.decisions.recorder * 512 + 4 * megabyte;
    return megabyte + recorded + config.ports.size() * megabyte / 4 +
           8192 * (config.routes->size() + config.neighbors->size()) +
           128 * std::max<std::size_t>(line_bytes, 16384);
}

void refuse_if(std::string error) {
    if (!error.empty()) throw RpcError{RpcCode::refused, std::move(error)};
}

RpcError wrong_parameter(std::string_view name, std::string message, const Json& more) {
    Json data = {{"path", name}};
    data.update(more);
    return {RpcCode::bad_parameters, std::move(message), std::move(data)};
}

RpcError RpcParameters::wrong(const char* name, std::string_view why, const Json& more) const {
    return wrong_parameter(path_ + name, fmt::format("parameter \"{}{}\" {}", path_, name, why), more);
}

const Json& RpcParameters::any(const char* name) {
    if (!object_.is_object()) {
        const std::string at = path_.substr(0, path_.rfind('.'));
        throw wrong_parameter(at, at + ": must be an object");
    }
    if (!has(name)) throw wrong(name, "is missing");
    return object_[name];
}

std::string RpcParameters::text(const char* name) {
    const Json& value = any(name);
    if (!value.is_string()) throw wrong(name, "must be a string");
    return value.get<std::string>();
}

bool RpcParameters::boolean(const char* name) {
    const Json& value = any(name);
    if (!value.is_boolean()) throw wrong(name, "must be true or false");
    return value.get<bool>();
}

std::uint64_t RpcParameters::integer(const char* name, std::uint64_t low, std::uint64_t high) {
    const Json& value = any(name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low || value.get<std::uint64_t>() > high)
        throw wrong(name, fmt::format("must be an integer from {} to {}", low, high),
                    {{"allowed", fmt::format("{} to {}", low, high)}});
    return value.get<std::uint64_t>();
}

void RpcParameters::only(std::initializer_list<std::string_view> names) const {
    for (const auto& [name, value] : object_.items())
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw wrong(name.c_str(), "is unknown");
}

std::string refuse_line(RpcCode code, std::string_view message) {
    return json_text(error_json(nullptr, {code, std::string(message)}));
}

std::string notification(std::string_view method, Json parameters) {
    return json_text(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}});
}

bool LineAnswer::step(Api& api, RpcClient& client) {
    if (!SpareMemory::hold(max_memory(api.running().config(), line_.size()))) return refuse_rest();
    if (!std::exchange(begun_, true)) begin();
    if (!text_.empty() && !is_batch_) return false;  // refused
    answer_next(api, client);
    if (!is_batch_) return false;
    if (!rest_.empty()) return true;
    if (!text_.empty()) text_ += ']';
    return false;
}

// Without building JSON, which takes memory even to be destroyed.
bool LineAnswer::refuse_rest() {
    constexpr std::string_view refusal =
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"there is not enough memory for it"}})";
    static_assert(static_cast<int>(RpcCode::too_much) == -32003);
    if (is_batch_) text_ += text_.empty() ? '[' : ',';
    text_ += refusal;
    if (is_batch_) text_ += ']';
    return false;
}

// Refuses a line that cannot be read; else finds a batch's requests.
void LineAnswer::begin() {
    const auto refuse = [this](RpcCode code, std::string_view why) { text_ = refuse_line(code, why); };
    if (line_.size() > max_line_bytes) return refuse(RpcCode::too_much, "the line is too long");
    if (const std::string why = beyond_bounds(line_); !why.empty()) return refuse(RpcCode::too_much, why);
    const std::string_view text = trimmed(line_);
    if (!text.starts_with('[')) return;
    if (!Json::accept(text)) return refuse(RpcCode::parse_error, "the line is not JSON");
    rest_ = trimmed(text.substr(1, text.size() - 2));
    const std::size_t count = count_elements(rest_);
    if (count == 0) return refuse(RpcCode::invalid_request, "an empty batch");
    if (count > max_batch)
        return refuse(RpcCode::too_much, fmt::format("a batch of {}: at most {}", count, max_batch));
    is_batch_ = true;
}

void LineAnswer::answer_next(Api& api, RpcClient& client) {
    const std::uint64_t generation = api.running().generation();
    try {
        const Json request = Json::parse(is_batch_ ? take_element(rest_) : line_, nullptr, false);
        if (request.is_discarded()) {
            text_ = refuse_line(RpcCode::parse_error, "the line is not JSON");
            return;
        }
        const Json answer = answer_one(api, client, request, line_.size());
        if (answer.is_null()) return;
        const std::string text = json_text(answer);
        if (is_batch_) text_ += text_.empty() ? '[' : ',';
        text_ += text;
    } catch (const std::bad_alloc&) {  // for the line, or for its answer
        if (is_batch_) throw;
        text_ = json_text(error_json(nullptr, no_memory(api, generation)));
    }
}

std::string answer_line(Api& api, RpcClient& client, std::string_view line) {
    LineAnswer answer(line);
    while (answer.step(api, client)) {
    }
    return answer.take();
}

}  // namespace sluice
