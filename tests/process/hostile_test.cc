// Hostile inputs. Each must end in an error reply or a closed connection within a limit, while another
// connection keeps getting right answers, and the daemon's memory stays bounded.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

struct Input {
  std::string name;
  std::string bytes;
  // How often `bytes` is sent, for inputs that are too large to keep.
  std::size_t repeat = 1;
  std::string last;  // sent after them
  bool half_close = false;
  std::size_t piece_bytes = 0;  // sent in pieces of this size, if set
};

constexpr std::string_view good = R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping"})";

std::string headed(std::string_view body, std::string_view length) {
  return "Content-Length: " + std::string(length) + "\r\n\r\n" + std::string(body);
}

std::string posted(std::string_view body, std::string_view headers = "") {
  return "POST / HTTP/1.1\r\nHost: x\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Every prefix of a good request, in each framing, and then the end of the stream.
void add_truncated(std::vector<Input>& out) {
  for (std::size_t size = 0; size < good.size(); size += 3)
    out.push_back({.name = "line cut at " + std::to_string(size),
                   .bytes = std::string(good.substr(0, size)),
                   .half_close = true});
  const std::string framed = headed(good, std::to_string(good.size()));
  for (std::size_t size = 1; size < framed.size(); size += 4)
    out.push_back({.name = "headers cut at " + std::to_string(size),
                   .bytes = framed.substr(0, size),
                   .half_close = true});
  const std::string http = posted(good);
  for (std::size_t size = 1; size < http.size(); size += 6)
    out.push_back(
        {.name = "HTTP cut at " + std::to_string(size), .bytes = http.substr(0, size), .half_close = true});
  // The same without an end: time must decide.
  out.push_back({.name = "half a line, then silence", .bytes = R"({"jsonrpc":)"});
  out.push_back({.name = "half the headers, then silence", .bytes = "Content-Le"});
  out.push_back({.name = "half a body, then silence", .bytes = headed("{", "100")});
  out.push_back({.name = "half a POST, then silence", .bytes = "POST / HT"});
  out.push_back({.name = "silence", .bytes = ""});
}

void add_lengths(std::vector<Input>& out) {
  for (const char* length : {"-1",
                             "-9223372036854775808",
                             "+5",
                             "0",
                             "1",
                             "46",
                             "48",
                             "999999999999",
                             "1048577",
                             "18446744073709551615",
                             "18446744073709551616",
                             "99999999999999999999999999",
                             "0x30",
                             "1e3",
                             "47 47",
                             "47,47",
                             "",
                             " ",
                             "abc",
                             "4 7",
                             "47.0",
                             "\xd9\xa7",
                             "NaN"}) {
    out.push_back(
        {.name = std::string("length ") + length, .bytes = headed(good, length), .half_close = true});
    out.push_back({.name = std::string("HTTP length ") + length,
                   .bytes = "POST / HTTP/1.1\r\nContent-Length: " + std::string(length) + "\r\n\r\n" +
                            std::string(good),
                   .half_close = true});
  }
  out.push_back({.name = "two lengths",
                 .bytes = "Content-Length: 47\r\nContent-Length: 5\r\n\r\n" + std::string(good)});
  out.push_back({.name = "no length", .bytes = "Content-Type: x\r\n\r\n" + std::string(good)});
  out.push_back({.name = "no colon", .bytes = "Content-Length 47\r\n\r\n" + std::string(good)});
  out.push_back({.name = "no name", .bytes = "Content-Length: 47\r\n: x\r\n\r\n" + std::string(good)});
  out.push_back({.name = "endless header", .bytes = "Content-Length: " + std::string(100'000, '1')});
  out.push_back({.name = "many headers", .bytes = "Content-Length: 5\r\n" + repeated("A: b\r\n", 50'000)});
}

void add_sizes(std::vector<Input>& out) {
  const std::string mebibyte(1024 * 1024, 'x');
  const std::size_t hundred = scaled(100, 20);
  out.push_back({.name = "100 MB line", .bytes = mebibyte, .repeat = hundred, .last = "\n"});
  out.push_back(
      {.name = "100 MB line of a JSON string", .bytes = mebibyte, .repeat = hundred, .last = "\"\n"});
  out.push_back({.name = "300 MB line", .bytes = mebibyte, .repeat = scaled(300, 270)});
  out.push_back(
      {.name = "100 MB without a newline", .bytes = mebibyte, .repeat = hundred, .half_close = true});
  out.push_back(
      {.name = "100 MB body", .bytes = "Content-Length: 104857600\r\n\r\n" + mebibyte, .half_close = true});
  out.push_back({.name = "100 MB POST",
                 .bytes = "POST / HTTP/1.1\r\nContent-Length: 104857600\r\n\r\n" + mebibyte,
                 .half_close = true});
  out.push_back({.name = "line just over the limit", .bytes = std::string(1024 * 1024 + 1, ' ') + "\n"});
  out.push_back({.name = "a million NULs", .bytes = std::string(1'000'000, '\0') + "\n"});
  out.push_back({.name = "one NUL", .bytes = std::string(1, '\0') + "\n"});
  out.push_back({.name = "NUL inside", .bytes = std::string("{\"jsonrpc\":\"2.0\",\0\"id\":1}\n", 26)});
  out.push_back({.name = "NUL in a header", .bytes = std::string("Content-Length: 4\0007\r\n\r\n", 23)});
  out.push_back(
      {.name = "TLS hello", .bytes = std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)});
  out.push_back({.name = "SSH banner", .bytes = "SSH-2.0-OpenSSH_9.2\r\n"});
}

void add_depth(std::vector<Input>& out) {
  for (const std::size_t depth : {65, 1'000, 100'000, 500'000}) {
    const std::string levels = std::to_string(depth) + " levels";
    out.push_back({.name = "arrays, " + levels, .bytes = std::string(depth, '[') + "\n"});
    out.push_back({.name = "closed arrays, " + levels,
                   .bytes = std::string(depth, '[') + std::string(depth, ']') + "\n"});
    out.push_back({.name = "objects, " + levels, .bytes = repeated("{\"a\":", depth / 4 + 65) + "\n"});
    out.push_back({.name = "params, " + levels,
                   .bytes = R"({"jsonrpc":"2.0","id":1,"method":"client.hello","params":{"name":)" +
                            std::string(depth, '[') + std::string(depth, ']') + "}}\n"});
  }
}

void add_bad_texts(std::vector<Input>& out) {
  for (const char* text :
       {"\xff\xfe",
        "{\"a\":\"\xc0\xaf\"}",
        "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":\"\xf4\x90\x80\x80\"}",
        "{\"\xff\":1}",
        "{\"a\":\"\x80\"}",
        "{\"a\":\"\xe2\x82\"}",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u12\"",
        "\"\\x41\"",
        "NaN",
        "Infinity",
        "-Infinity",
        "{\"id\":NaN}",
        "1e309",
        "-1e309",
        "{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"x\"}",
        "99999999999999999999999",
        "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"daemon.ping\"}",
        "01",
        "+1",
        "1.",
        ".5",
        "0x10",
        "1e",
        "-",
        "tru",
        "nul",
        "True",
        "None",
        "'a'",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "[1,]",
        "[1 2]",
        "{,}",
        "[,]",
        "}",
        "]",
        "[}",
        "{]",
        "{\"a\":1}}",
        "{}{}",
        "[] []",
        "\"unterminated",
        "\"tab\tin\"",
        "// comment",
        "/* c */ {}",
        "{\"a\":1 /* c */}",
        "\xef\xbb\xbf{}",
        "a=1",
        "<xml/>",
        "---\na: 1",
        "{\"id\":1,\"id\":2}",
        "{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\",\"params\":{\"a\":1,\"\\u0061\":2}}"})
    out.push_back(
        {.name = std::string("text ") + text, .bytes = std::string(text) + "\n", .half_close = true});
}

// Valid JSON with the wrong type in every place.
void add_wrong_types(std::vector<Input>& out) {
  const std::vector<std::string> values{"null", "true", "1",   "-1.5", "\"x\"",
                                        "\"\"", "[]",   "[1]", "{}",   "{\"a\":1}"};
  for (const std::string& value : values) {
    const auto add = [&](const std::string& where, const std::string& text) {
      out.push_back({.name = where + " " + value, .bytes = text + "\n"});
    };
    if (value != "[]") add("message", value);
    add("batch of", "[" + value + "]");
    add("jsonrpc", R"({"jsonrpc":)" + value + R"(,"id":1,"method":"daemon.ping"})");
    if (value[0] != '"') add("method", R"({"jsonrpc":"2.0","id":1,"method":)" + value + "}");
    if (value[0] == '[' || value[0] == '{' || value == "true")
      add("id", R"({"jsonrpc":"2.0","id":)" + value + R"(,"method":"daemon.ping"})");
    if (value != "[]" && value != "{}")
      add("params", R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":)" + value + "}");
    if (value != "null" && value != "\"x\"")
      add("name", R"({"jsonrpc":"2.0","id":1,"method":"client.hello","params":{"name":)" + value + "}}");
    if (value != "null")
      add("format", R"({"jsonrpc":"2.0","id":1,"method":"daemon.stats","params":{"format":)" + value + "}}");
  }
  out.push_back({.name = "empty batch", .bytes = "[]\n"});
  out.push_back({.name = "batch over the limit", .bytes = "[" + repeated("1,", 1'000) + "1]\n"});
  out.push_back({.name = "batch of batches", .bytes = "[[[" + std::string(good) + "]]]\n"});
  out.push_back({.name = "huge id",
                 .bytes = R"({"jsonrpc":"2.0","id":")" + std::string(500'000, 'i') +
                          R"(","method":"daemon.ping"})"
                          "\n"});
  out.push_back({.name = "id over the limit",
                 .bytes = R"({"jsonrpc":"2.0","id":")" + std::string(1'025, 'i') +
                          R"(","method":"daemon.ping"})"
                          "\n"});
  out.push_back({.name = "huge method",
                 .bytes = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(900'000, 'm') + "\"}\n"});
  out.push_back({.name = "huge parameter name",
                 .bytes = R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{")" +
                          std::string(900'000, 'p') + "\":1}}\n"});
  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{)";
  for (int i = 0; i < 50'000; ++i) many += "\"p" + std::to_string(i) + "\":1,";
  out.push_back({.name = "50,000 parameters", .bytes = many + "\"q\":1}}\n"});
}

void add_http(std::vector<Input>& out) {
  for (const char* start :
       {"GET / HTTP/1.1", "PUT / HTTP/1.1", "OPTIONS * HTTP/1.1", "POST / HTTP/2.0", "POST / HTTP/0.9",
        "POST /", "POST", "PRI * HTTP/2.0", "HELO x", "A", "POST  HTTP/1.1 HTTP/1.1x"})
    out.push_back({.name = start, .bytes = std::string(start) + "\r\n\r\n", .half_close = true});
  for (const char* header : {"Origin: http://evil.example\r\n", "oRiGiN: null\r\n",
                             "Transfer-Encoding: chunked\r\n", "transfer-encoding: gzip, chunked\r\n",
                             "Content-Length: 1\r\n", "no colon here\r\n", ": x\r\n", "\x01\x02\r\n"})
    out.push_back({.name = std::string("HTTP with ") + header, .bytes = posted(good, header)});
  out.push_back({.name = "chunked body",
                 .bytes = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2f\r\n" + std::string(good) +
                          "\r\n0\r\n\r\n"});
  out.push_back({.name = "Expect with a huge body",
                 .bytes = "POST / HTTP/1.1\r\nContent-Length: 999999999\r\nExpect: 100-continue\r\n\r\n"});
  out.push_back({.name = "endless request line", .bytes = "POST /" + std::string(100'000, 'a')});
  out.push_back({.name = "line feeds only", .bytes = "POST / HTTP/1.1\nOrigin: x\n\n"});
  // One framing after another on one connection.
  out.push_back({.name = "lines, then headers", .bytes = std::string(good) + "\n" + headed(good, "47")});
  out.push_back({.name = "headers, then a line",
                 .bytes = headed(good, "47") + std::string(good) + "\n",
                 .half_close = true});
  out.push_back(
      {.name = "HTTP, then a line", .bytes = posted(good) + std::string(good) + "\n", .half_close = true});
  out.push_back({.name = "lines, then HTTP", .bytes = std::string(good) + "\n" + posted(good)});
}

void add_slow(std::vector<Input>& out) {
  // A good request at this pace takes longer than the handshake allows.
  out.push_back(
      {.name = "line, byte by byte", .bytes = R"({"jsonrpc":")" + std::string(2'000, '2'), .piece_bytes = 1});
  out.push_back({.name = "headers, byte by byte",
                 .bytes = "Content-Length: " + std::string(2'000, ' '),
                 .piece_bytes = 1});
  out.push_back(
      {.name = "body, byte by byte", .bytes = headed(std::string(2'000, ' '), "5000"), .piece_bytes = 1});
  out.push_back(
      {.name = "HTTP, byte by byte", .bytes = "POST /" + std::string(2'000, 'a'), .piece_bytes = 1});
}

std::vector<Input> all_inputs() {
  std::vector<Input> out;
  add_truncated(out);
  add_lengths(out);
  add_sizes(out);
  add_depth(out);
  add_bad_texts(out);
  add_wrong_types(out);
  add_http(out);
  add_slow(out);
  return out;
}

// Sends it and waits for the end that it must come to: "error", "closed", or what went wrong.
std::string outcome(const std::string& socket, const Input& input) {
  TestClient client(socket);
  if (!client.connected()) return "not connected";
  bool open = true;
  if (input.piece_bytes > 0) {
    for (std::size_t at = 0; open && at < input.bytes.size(); at += input.piece_bytes)
      open = client.send(std::string_view(input.bytes).substr(at, input.piece_bytes)) &&
             !client.ends(std::chrono::milliseconds(1));
  } else {
    for (std::size_t i = 0; open && i < input.repeat; ++i) open = client.send(input.bytes);
  }
  if (open) open = client.send(input.last);
  if (open && input.half_close) client.half_close();
  // An error reply, on a line or in a frame, or the end of the stream.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    const bool ended = client.ends(std::chrono::milliseconds(5));
    if (client.received().find(R"("error":{"code":)") != std::string::npos) return "error";
    if (ended) return "closed";
  }
  return "nothing happened, received: " + client.received().substr(0, 200);
}

}  // namespace

TEST_CASE("hostile inputs get an error or a closed connection, and nobody else notices") {
  const std::vector<Input> inputs = all_inputs();
  TestDaemon daemon({.config = "limits: {handshake: 500ms, stall: 500ms}\n"});
  std::atomic<bool> done = false;
  std::size_t answered = 0;
  bool all_right = true;
  std::thread bystander([&] {
    TestClient client = daemon.connect();
    while (all_right && !done) {
      all_right = client.ping();
      ++answered;
    }
  });
  const std::size_t before = status_value(daemon.pid(), "VmRSS");
  std::map<std::string, std::size_t> outcomes;
  for (const Input& input : inputs) {
    const std::string result = outcome(daemon.socket(), input);
    CHECK_MESSAGE((result == "error" || result == "closed"), input.name.substr(0, 100) << ": " << result);
    ++outcomes[result];
  }
  done = true;
  bystander.join();
  CHECK(all_right);
  CHECK(answered > inputs.size());
  const std::size_t peak = status_value(daemon.pid(), "VmHWM");
  std::printf(
      "hostile inputs: %zu tried, %zu error replies, %zu closed; %zu right answers to somebody else "
      "meanwhile; "
      "resident memory %zu KiB before, at most %zu KiB\n",
      inputs.size(), outcomes["error"], outcomes["closed"], answered, before / 1024, peak / 1024);
  CHECK(inputs.size() >= 200);
  if (!instrumented) CHECK(peak < before + 32UL * 1024 * 1024);
}

TEST_CASE("many hostile peers at once: slow writers and peers that never read") {
  TestDaemon daemon({.config = "limits: {handshake: 500ms, stall: 500ms, outbox_bytes: 65536, "
                               "connections: 4000, connections_per_uid: 4000}\n"});
  TestClient bystander = daemon.connect();
  REQUIRE(bystander.ping());
  const std::size_t before = status_value(daemon.pid(), "VmRSS");
  const std::size_t count = scaled(500, 50);
  std::vector<TestClient> slow;
  std::vector<TestClient> deaf;
  const std::string discover = repeated(request(1, "rpc.discover"), 200);
  for (std::size_t i = 0; i < count; ++i) {
    slow.push_back(daemon.connect());
    deaf.push_back(daemon.connect());
    CHECK(slow.back().send("{"));
    deaf.back().send_some(discover);
    REQUIRE(bystander.ping());
  }
  // The deaf ones still have read nothing when they are dropped.
  const auto dropped = [&] {
    return bystander.call("daemon.stats")
        .at("result")
        .at("connections")
        .at("dropped")
        .to_number<std::size_t>();
  };
  CHECK(eventually([&] { return dropped() == 2 * count; }));
  for (TestClient& client : slow) CHECK(client.ends());
  for (TestClient& client : deaf) CHECK(client.ends());
  const std::size_t peak = status_value(daemon.pid(), "VmHWM");
  std::printf("%zu slow and %zu deaf peers at once: resident memory %zu KiB before, at most %zu KiB\n", count,
              count, before / 1024, peak / 1024);
  // Each deaf peer costs its outbox and one reply, which may double while it grows.
  if (!instrumented) CHECK(peak < before + count * 4 * 65'536);
}

}  // namespace sessiond::test
