#include "daemon/rpc/dispatcher.h"

#include <doctest/doctest.h>

#include "common/limits.h"
#include "support/test_dispatcher.h"

using namespace sessiond;

TEST_CASE("dispatcher: an error tells programs and people what happened, where and when") {
  TestDispatcher daemon;
  daemon.clock.set_now(parse_rfc3339("2026-03-04T05:06:07.089Z")->time);
  CHECK(to_json_text(daemon.error("daemon.stats", R"({"format":"xml"})")) ==
        R"({"code":-32602,"message":"params.format: expected one of json, prometheus, got \"xml\"",)"
        R"("data":{"error":"invalid_params","field":"params.format","operation":"read",)"
        R"("timestamp":"2026-03-04T05:06:07.089Z",)"
        R"("details":"params.format: expected one of json, prometheus, got \"xml\""}})");
}

TEST_CASE("dispatcher: errors before a method is known have no operation") {
  struct Row {
    std::string_view frame, error;
  };
  const Row rows[] = {
      {"{", "parse_error"},
      {"1", "invalid_request"},
      {"[]", "invalid_request"},
      {R"({"jsonrpc":"2.0","id":1,"method":"x.y"})", "method_not_found"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.frame);
    TestDispatcher daemon;
    const json::value reply = *parse_json(daemon.ask(row.frame));
    const json::object& data = reply.at("error").at("data").as_object();
    CHECK(data.at("error").as_string() == row.error);
    CHECK(data.at("timestamp") == "2026-01-17T14:30:00.000Z");
    CHECK(data.at("details") == reply.at("error").at("message"));
    CHECK_FALSE(data.contains("operation"));
  }
}

TEST_CASE("dispatcher: an unknown method is answered with the nearest one") {
  TestDispatcher daemon;
  const json::object error = daemon.error("daemon.pnig");
  CHECK(error.at("code") == -32601);
  CHECK(error.at("message") == "there is no method \"daemon.pnig\" (did you mean 'daemon.ping'?)");
  CHECK(error.at("data").at("next") == "rpc.discover lists the methods");
  CHECK(daemon.error("zzzzzzzzzzzz").at("message") == "there is no method \"zzzzzzzzzzzz\"");
}

TEST_CASE("dispatcher: parameters are by name") {
  struct Row {
    std::string_view params, message;
  };
  const Row rows[] = {
      {"{}", ""},
      {"[]", ""},
      {"[1]", "params: expected an object, parameters are by name"},
      {R"({"x":1})", "params.x: not a known name; none are taken here"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.params);
    TestDispatcher daemon;
    const json::object reply = daemon.call("daemon.ping", row.params);
    const json::value* error = reply.if_contains("error");
    CHECK((error == nullptr ? "" : std::string(error->at("message").as_string())) == row.message);
  }
}

TEST_CASE("dispatcher: a reply is appended, and a notification leaves nothing") {
  TestDispatcher daemon;
  std::string out = "before";
  CHECK(daemon.dispatcher.handle(R"({"jsonrpc":"2.0","method":"daemon.ping"})", daemon.caller, out) ==
        Done::now);
  CHECK(daemon.dispatcher.handle(R"({"jsonrpc":"2.0","method":"no.such"})", daemon.caller, out) == Done::now);
  CHECK(out == "before");
  CHECK(daemon.dispatcher.handle(R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping"})", daemon.caller, out) ==
        Done::now);
  CHECK(out.starts_with(R"(before{"jsonrpc":"2.0","id":1,"result":{"pong":true,)"));
}

TEST_CASE("dispatcher: a batch is answered in order, at its largest too") {
  std::string frame;
  for (std::size_t i = 0; i < batch_requests_max; ++i) {
    frame += i == 0 ? "[" : ",";
    frame += R"({"jsonrpc":"2.0","method":"daemon.ping")";
    if (i % 2 == 0) frame += ",\"id\":" + std::to_string(i);
    frame += '}';
  }
  TestDispatcher daemon;
  const json::value replies = *parse_json(daemon.ask(frame + "]"));
  REQUIRE(replies.as_array().size() == batch_requests_max / 2);
  for (std::size_t i = 0; i < batch_requests_max / 2; ++i) REQUIRE(replies.at(i).at("id") == 2 * i);

  const json::value refused = *parse_json(daemon.ask(frame + ",1]"));
  CHECK(refused.at("id").is_null());
  CHECK(refused.at("error").at("data").at("error") == "limit_exceeded");
}

TEST_CASE("dispatcher: batches do not nest, and one bad member harms no other") {
  TestDispatcher daemon;
  const json::value replies = *parse_json(daemon.ask(
      R"([[{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}],{"jsonrpc":"2.0","id":2,"method":"daemon.ping"}])"));
  REQUIRE(replies.as_array().size() == 2);
  CHECK(replies.at(0).at("error").at("code") == -32600);
  CHECK(replies.at(1).at("result").at("pong") == true);
}

TEST_CASE("dispatcher: everything is counted") {
  TestDispatcher daemon;
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping"})";
  const std::string notice = R"({"jsonrpc":"2.0","method":"daemon.ping"})";
  const std::string unknown = R"({"jsonrpc":"2.0","method":"no.such"})";
  daemon.ask(ping);
  daemon.ask(notice);
  daemon.ask(unknown);
  daemon.ask("[" + ping + "," + ping + "," + notice + ",5]");
  daemon.ask("[]");
  daemon.ask("{");
  const Stats& stats = daemon.stats;
  CHECK(stats.requests == 3);
  CHECK(stats.notifications == 3);
  CHECK(stats.batches == 2);
  CHECK(stats.by_method.at(0) == 5);
  const auto errors = [&](ErrorCode code) { return stats.errors(code); };
  CHECK(errors(ErrorCode::method_not_found) == 1);
  CHECK(errors(ErrorCode::invalid_request) == 2);
  CHECK(errors(ErrorCode::parse_error) == 1);
}

TEST_CASE("dispatcher: a frame that could not be read is refused with a null id") {
  TestDispatcher daemon;
  std::string out;
  daemon.dispatcher.refuse(Error(ErrorCode::frame_too_large, "too large").with("limit_bytes", 5), out);
  CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"too large","data":)"
               R"({"error":"frame_too_large","limit_bytes":5,"timestamp":"2026-01-17T14:30:00.000Z",)"
               R"("details":"too large"}}})");
  CHECK(daemon.stats.errors(ErrorCode::frame_too_large) == 1);
}

TEST_CASE("dispatcher: a large request that leaves the stack buffer is answered like any other") {
  TestDispatcher daemon;
  const json::object error = daemon.error("client.hello", R"({"name":")" + std::string(500'000, 'x') + "\"}");
  CHECK(error.at("message").as_string().ends_with("(500000 characters)"));
  CHECK(error.at("message").as_string().size() < 200);
}
