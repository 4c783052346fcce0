#include "control/serve/server/rpc.hh"

#include <fmt/format.h>

#include "tests/control/api_bench.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::rpc_test {

TEST_GROUP(Rpc){std::string answer(std::string_view line, bool interactive = true){
    Api api(*ApiBench::get().running, {"rpc_test.toml", {}, interactive});
RpcClient client;
return answer_line(api, client, line);
}  // namespace sluice::rpc_test
Json parsed(std::string_view line, bool interactive = true) {
    const std::string text = answer(line, interactive);
    CHECK_FALSE_TEXT(text.find('\n') != std::string::npos, text.c_str());
    return Json::parse(text, nullptr, false);
}
// The id and the code of the refusal.
void refused(std::string_view line, const Json& id, RpcCode code) {
    const Json said = parsed(line);
    CHECK_TRUE_TEXT(said.contains("error"), said.dump().c_str());
    STRCMP_EQUAL(id.dump().c_str(), said["id"].dump().c_str());
    LONGS_EQUAL_TEXT(static_cast<int>(code), said["error"]["code"].get<int>(), said.dump().c_str());
    CHECK_TRUE(!said["error"]["message"].get<std::string>().empty());
}
static std::string request(std::string_view rest) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":7{}}})", rest);
}
}
;

TEST(Rpc, RefusesWhatIsNoJson) {
    for (const char* line : {"", "{", "hello", "{]", "\"", "{\"a\":}", "[1,", "\xff\xfe", "{} {}", "nul"})
        refused(line, nullptr, RpcCode::parse_error);
}

TEST(Rpc, RefusesWhatIsNoRequest) {
    for (const char* line : {"5", "null", "true", "\"text\"", "{}", "[]", R"({"id":1.5})", R"({"id":[1]})",
                             R"({"id":{}})", R"({"id":true})"})
        refused(line, nullptr, RpcCode::invalid_request);
    for (const char* rest : {"", R"(,"method":"hello","params":[])", R"(,"method":"hello","params":null)",
                             R"(,"method":5)", R"(,"method":"hello","extra":1)"})
        refused(request(rest), 7, RpcCode::invalid_request);
    refused(R"({"jsonrpc":"1.0","id":7,"method":"hello"})", 7, RpcCode::invalid_request);
    refused(R"({"id":7,"method":"hello"})", 7, RpcCode::invalid_request);
}

TEST(Rpc, RefusesMethodsAndParametersThatAreNotThere) {
    refused(request(R"(,"method":"")"), 7, RpcCode::no_method);
    refused(request(R"(,"method":"Hello")"), 7, RpcCode::no_method);
    refused(request(R"(,"method":"hello\u0000")"), 7, RpcCode::no_method);
    refused(request(R"(,"method":"hello","params":{"x":1})"), 7, RpcCode::bad_parameters);
    refused(request(R"(,"method":"queue.hold")"), 7, RpcCode::bad_parameters);
    for (const char* queue : {"8", "-1", "1.0", "\"3\"", "null", "true", "[]", "18446744073709551616"})
        refused(request(fmt::format(R"(,"method":"queue.hold","params":{{"port":"p0","queue":{}}})", queue)),
                7, RpcCode::bad_parameters);
}

TEST(Rpc, BoundsNestingButNotInStrings) {
    const auto nested = [](unsigned depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK_TRUE(parsed(nested(max_nesting)).is_array());  // a batch of what is not a request
    refused(nested(max_nesting + 1), nullptr, RpcCode::too_much);
    refused(nested(100'000), nullptr, RpcCode::too_much);
    refused(std::string(100'000, '['), nullptr, RpcCode::too_much);
    refused(request(R"(,"method":")" + std::string(100, '[') + R"(\"[[\\")"), 7, RpcCode::no_method);
}

TEST(Rpc, BoundsMembersOfAnObject) {
    // The parser compares each with those before it: a line of a mebibyte took it more than a minute.
    const auto with_members = [](unsigned count) {
        std::string params;
        for (unsigned n = 0; n < count; ++n)
            params += fmt::format(R"({}"k{}":[{{"a":0}}])", n == 0 ? "" : ",", n);
        return request(R"(,"method":"hello","params":{)" + params + "}");
    };
    refused(with_members(max_members), 7, RpcCode::bad_parameters);
    refused(with_members(max_members + 1), nullptr, RpcCode::too_much);
    refused(with_members(60'000), nullptr, RpcCode::too_much);
}

TEST(Rpc, BoundsLengths) {
    const auto padded = [](std::string_view method, std::size_t size) {
        const std::string start =
            fmt::format(R"({{"jsonrpc":"2.0","id":7,"method":"{}","params":{{"toml":")", method);
        return start + std::string(size - start.size() - 3, ' ') + "\"}}";
    };
    refused(padded("hello", max_plain_line_bytes), 7, RpcCode::bad_parameters);
    refused(padded("hello", max_plain_line_bytes + 1), 7, RpcCode::too_much);
    refused(padded("config.check", max_line_bytes + 1), nullptr, RpcCode::too_much);
    CHECK_TRUE(parsed(padded("config.check", max_plain_line_bytes + 1)).contains("result"));  // bulk
}

TEST(Rpc, AnswersABatchInOrderWithoutNotifications) {
    const Json said = parsed(
        R"([{"jsonrpc":"2.0","id":"a","method":"clock.show"},{"jsonrpc":"2.0","method":"clock.show"},5,{"jsonrpc":"2.0","id":2,"method":"no"}])");
    LONGS_EQUAL(3, said.size());
    STRCMP_EQUAL("\"a\"", said[0]["id"].dump().c_str());
    CHECK_TRUE(said[0].contains("result"));
    LONGS_EQUAL(static_cast<int>(RpcCode::invalid_request), said[1]["error"]["code"].get<int>());
    LONGS_EQUAL(static_cast<int>(RpcCode::no_method), said[2]["error"]["code"].get<int>());
    std::string batch = "[1";
    for (std::size_t n = 1; n < max_batch; ++n) batch += ",1";
    LONGS_EQUAL(max_batch, parsed(batch + "]").size());
    refused(batch + ",1]", nullptr, RpcCode::too_much);
}

TEST(Rpc, AnswersABatchARequestAStep) {
    Api api(*ApiBench::get().running, {"rpc_test.toml", {}, true});
    RpcClient client;
    const std::string_view line =
        R"( [ {"jsonrpc":"2.0","id":"],[\\\",","method":"hello"} , {"id":["x",{}]},{"jsonrpc":"2.0","method":"clock.show"} ,7 ] )";
    LineAnswer answer(line);
    std::size_t bytes = 0;
    for (unsigned n = 0; n < 3; ++n) {
        CHECK_TRUE(answer.step(api, client));
        CHECK_TRUE(answer.bytes() > bytes || n == 2);  // to a notification nothing is said
        bytes = answer.bytes();
    }
    CHECK_FALSE(answer.step(api, client));
    const Json said = Json::parse(answer.take());
    LONGS_EQUAL(3, said.size());
    STRCMP_EQUAL(R"(],[\",)", said[0]["id"].get<std::string>().c_str());
    CHECK_TRUE(said[0].contains("result"));
    LONGS_EQUAL(static_cast<int>(RpcCode::invalid_request), said[2]["error"]["code"].get<int>());
}

TEST(Rpc, ABatchThatIsNoJsonHasNotBegun) {
    const Json before = parsed(request(R"(,"method":"events.list")"))["result"]["next"];
    const std::string down =
        R"({"jsonrpc":"2.0","id":1,"method":"port.set","params":{"port":"p0","up":false}})";
    for (const char* end : {",", ",]", ",{]", "]]", ",nul]", " 1]", ""})
        refused("[" + down + end, nullptr, RpcCode::parse_error);
    CHECK_TRUE(before == parsed(request(R"(,"method":"events.list")"))["result"]["next"]);
}

TEST(Rpc, SaysNothingToNotifications) {
    STRCMP_EQUAL("", answer(R"({"jsonrpc":"2.0","method":"clock.show"})").c_str());
    STRCMP_EQUAL("", answer(R"({"jsonrpc":"2.0","method":"no.such"})").c_str());
    STRCMP_EQUAL("", answer(R"({"jsonrpc":"2.0","method":"hello","params":{"x":1}})").c_str());
    STRCMP_EQUAL("", answer(R"([{"jsonrpc":"2.0","method":"clock.show"}])").c_str());
}

TEST(Rpc, AVirtualClockThatRunsByItselfIsOnlyLookedAt) {
    for (const RpcMethod& method : rpc_methods()) {
        if (!method.has_changes()) continue;
        const Json said = parsed(request(fmt::format(R"(,"method":"{}")", method.name)), false);
        LONGS_EQUAL_TEXT(static_cast<int>(RpcCode::not_now), said["error"]["code"].get<int>(),
                         std::string(method.name).c_str());
    }
    CHECK_TRUE(parsed(request(R"(,"method":"stats.show")"), false).contains("result"));
}

TEST(Rpc, MethodsAreSortedAndSayWhatTheyDo) {
    std::string_view before;
    for (const RpcMethod& method : rpc_methods()) {
        CHECK_TRUE(before < method.name);
        CHECK_TRUE(method.sentence.ends_with('.'));
        CHECK_TRUE(method.call != nullptr);
        before = method.name;
    }
}

TEST(Rpc, TextThatIsNoUtf8NeverBreaksAnAnswer) {
    const Json said = parsed(request(R"(,"method":"stats.show","params":{"path":"\ud83d\ude00 \u0000"})"));
    LONGS_EQUAL(static_cast<int>(RpcCode::bad_parameters), said["error"]["code"].get<int>());
    CHECK_FALSE(Json::parse(refuse_line(RpcCode::refused, "\xff\xfe\n"), nullptr, false).is_discarded());
}

}  // namespace sluice::rpc_test
