#include "proto/message.h"

#include <doctest/doctest.h>

#include "common/limits.h"
#include "support/outcome.h"
#include "support/test_dispatcher.h"

using namespace sessiond;

namespace {

std::string summary(const json::object& reply) {
  CHECK(reply.at("jsonrpc") == "2.0");
  CHECK(reply.contains("result") != reply.contains("error"));
  const json::value* error = reply.if_contains("error");
  return to_json_text(reply.at("id")) + (error == nullptr ? " ok" : " " + to_json_text(error->at("code")));
}

// A reply as `1 ok` or `null -32600`, a batch as `[1 ok, null -32600]`, no reply as "".
std::string answer(std::string_view frame) {
  TestDispatcher daemon;
  const std::string text = daemon.ask(frame);
  if (text.empty()) return "";
  const json::value reply = *parse_json(text);
  if (reply.is_object()) return summary(reply.get_object());
  std::string out;
  for (const json::value& one : reply.as_array())
    out += (out.empty() ? "[" : ", ") + summary(one.as_object());
  return out + "]";
}

std::string message_of(std::string_view frame) {
  TestDispatcher daemon;
  return std::string(parse_json(daemon.ask(frame))->at("error").at("message").as_string());
}

}  // namespace

// The examples of section 7 of the JSON-RPC 2.0 specification. Where they call a method that works, ours is
// daemon.ping; everything else is as it stands there.
TEST_CASE("message: the examples of the specification") {
  struct Row {
    std::string_view about, frame, reply;
  };
  const Row rows[] = {
      {"positional parameters, which no method of ours takes",
       R"({"jsonrpc": "2.0", "method": "daemon.ping", "params": [42, 23], "id": 1})", "1 -32602"},
      {"named parameters",
       R"({"jsonrpc": "2.0", "method": "client.hello", "params": {"agent": "a"}, "id": 3})", "3 ok"},
      {"named parameters in another order",
       R"({"jsonrpc": "2.0", "method": "client.hello", "params": {"name": "n", "agent": "a"}, "id": 4})",
       "4 ok"},
      {"a notification", R"({"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]})", ""},
      {"a notification without parameters", R"({"jsonrpc": "2.0", "method": "daemon.ping"})", ""},
      {"a method that does not exist", R"({"jsonrpc": "2.0", "method": "foobar", "id": "1"})",
       R"("1" -32601)"},
      {"invalid JSON", R"({"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz])", "null -32700"},
      {"an invalid request", R"({"jsonrpc": "2.0", "method": 1, "params": "bar"})", "null -32600"},
      {"a batch of invalid JSON",
       R"([{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"])",
       "null -32700"},
      {"an empty batch", "[]", "null -32600"},
      {"an invalid batch that is not empty", "[1]", "[null -32600]"},
      {"an invalid batch", "[1,2,3]", "[null -32600, null -32600, null -32600]"},
      {"a batch",
       R"([{"jsonrpc": "2.0", "method": "daemon.ping", "id": "1"},
           {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
           {"jsonrpc": "2.0", "method": "daemon.ping", "params": {}, "id": "2"},
           {"foo": "boo"},
           {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
           {"jsonrpc": "2.0", "method": "daemon.info", "id": "9"}])",
       R"(["1" ok, "2" ok, null -32600, "5" -32601, "9" ok])"},
      {"a batch of notifications",
       R"([{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
           {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}])",
       ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.about);
    CHECK(answer(row.frame) == row.reply);
  }
}

TEST_CASE("message: ids of every kind come back as they were") {
  const std::string longest = '"' + std::string(id_bytes_max, 'x') + '"';
  for (const std::string& id :
       {std::string("1"), std::string("0"), std::string("-7"), std::string("9223372036854775807"),
        std::string("18446744073709551615"), std::string("1.5"), std::string("1.0"), std::string("1e+22"),
        std::string("null"), std::string(R"("")"), std::string(R"("a\n\"é😀")"), longest}) {
    CHECK(answer(R"({"jsonrpc":"2.0","method":"daemon.ping","id":)" + id + "}") == id + " ok");
    CHECK(answer(R"({"jsonrpc":"2.0","method":"no.such","id":)" + id + "}") == id + " -32601");
    CHECK(answer(R"({"jsonrpc":"2.0","method":7,"id":)" + id + "}") == id + " -32600");
  }
}

TEST_CASE("message: what is no id is refused with a null id") {
  for (const char* id : {"true", "[]", "[1]", "{}", "{\"a\":1}"}) {
    const std::string frame = R"({"jsonrpc":"2.0","method":"daemon.ping","id":)" + std::string(id) + "}";
    CHECK(answer(frame) == "null -32600");
    CHECK(message_of(frame) == "id: expected a string, a number or null, got " + std::string(id));
  }
  const std::string frame =
      R"({"jsonrpc":"2.0","method":"daemon.ping","id":")" + std::string(id_bytes_max + 1, 'x') + "\"}";
  CHECK(answer(frame) == "null -32600");
  CHECK(message_of(frame) == "id: longer than 1024 bytes");
}

TEST_CASE("message: every refusal of a request says what is wrong with it") {
  struct Row {
    std::string_view frame, message;
  };
  const Row rows[] = {
      {"5", "expected a request object, got 5"},
      {"\"x\"", "expected a request object, got \"x\""},
      {"null", "expected a request object, got null"},
      {"{}", "jsonrpc: expected \"2.0\""},
      {R"({"jsonrpc":"1.0","method":"daemon.ping","id":1})", "jsonrpc: expected \"2.0\""},
      {R"({"jsonrpc":2.0,"method":"daemon.ping","id":1})", "jsonrpc: expected \"2.0\""},
      {R"({"jsonrpc":"2.0","id":1})", "method: expected a string, it is missing"},
      {R"({"jsonrpc":"2.0","method":null,"id":1})", "method: expected a string, got null"},
      {R"({"jsonrpc":"2.0","method":["a"],"id":1})", "method: expected a string, got [\"a\"]"},
      {R"({"jsonrpc":"2.0","method":"daemon.ping","params":"x","id":1})",
       "params: expected an object, got \"x\""},
      {R"({"jsonrpc":"2.0","method":"daemon.ping","params":null,"id":1})",
       "params: expected an object, got null"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.frame);
    CHECK(message_of(row.frame) == row.message);
  }
}

TEST_CASE("message: a call is read as it stands") {
  const json::value message =
      *parse_json(R"({"jsonrpc":"2.0","id":"x","method":"m","params":[1],"extra":0})");
  const auto parsed = read_call(message);
  REQUIRE(std::holds_alternative<Call>(parsed));
  const Call& call = std::get<Call>(parsed);
  CHECK(*call.id == "x");
  CHECK(call.method == "m");
  CHECK(*call.params == json::array{1});
  CHECK_FALSE(call.notification());
  const json::value notification = *parse_json(R"({"jsonrpc":"2.0","method":"m"})");
  CHECK(std::get<Call>(read_call(notification)).notification());
  CHECK(std::get<Call>(read_call(notification)).params == nullptr);
}

TEST_CASE("message: a batch has one to a thousand requests") {
  CHECK(refusal(check_batch(json::array{})) == "the batch is empty");
  CHECK(check_batch(json::array(batch_requests_max)));
  const Status status = check_batch(json::array(batch_requests_max + 1));
  CHECK(refusal(status) == "the batch has 1001 requests, the limit is 1000");
  CHECK(status.error().code == ErrorCode::limit_exceeded);
  CHECK(status.error().data.at("next") == "send several smaller batches");
}

TEST_CASE("message: how replies, notifications and requests are spelled") {
  const json::value id = 7;
  std::string out;
  begin_result(out, &id);
  out += "true";
  end_reply(out);
  CHECK(out == R"({"jsonrpc":"2.0","id":7,"result":true})");

  out.clear();
  write_error(out, nullptr, Error(ErrorCode::claimed, "by \"x\"").with("holder", "x").next("wait"));
  CHECK(out == R"({"jsonrpc":"2.0","id":null,"error":{"code":-32014,"message":"by \"x\"","data":)"
               R"({"error":"claimed","holder":"x","next":"wait"}}})");

  out.clear();
  write_notification(out, "event", R"({"a":1})");
  CHECK(out == R"({"jsonrpc":"2.0","method":"event","params":{"a":1}})");

  out.clear();
  write_request(out, 3, "daemon.ping", "");
  CHECK(out == R"({"jsonrpc":"2.0","id":3,"method":"daemon.ping"})");
  out.clear();
  write_request(out, 4, "m", R"({"a":1})");
  CHECK(out == R"({"jsonrpc":"2.0","id":4,"method":"m","params":{"a":1}})");
}
