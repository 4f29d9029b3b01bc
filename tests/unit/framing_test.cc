#include "proto/framing.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "common/limits.h"

using namespace sessiond;

namespace {

using Kind = FrameReader::Event::Kind;
constexpr std::size_t frame_max = 64;

// Feeds a reader as a connection does: what was left over, then the bytes that arrived.
class Feed {
 public:
  explicit Feed(std::size_t frame_bytes_max = frame_max) : reader_(frame_bytes_max) {}

  void arrive(std::string_view bytes) {
    if (closed_) return;
    // A buffer of exactly this size, so that the sanitizer sees a read past its end.
    const std::string all = pending_ + std::string(bytes);
    const std::vector<char> buffer(all.begin(), all.end());
    std::string_view input(buffer.data(), buffer.size());
    for (;;) {
      const FrameReader::Event event = reader_.next(input);
      if (event.kind == Kind::need_more) break;
      note(event);
      if (!closed_) continue;
      pending_.clear();
      return;
    }
    pending_ = std::string(input);
    largest_pending_ = std::max(largest_pending_, pending_.size());
  }

  // One line per event: `{"a":1}`, `continue`, `frame_too_large 413`; with ` close` when the connection ends.
  const std::string& events() const { return events_; }
  const std::string& last_message() const { return message_; }
  const FrameReader& reader() const { return reader_; }
  const std::string& pending() const { return pending_; }
  std::size_t largest_pending() const { return largest_pending_; }
  bool closed() const { return closed_; }

 private:
  void note(const FrameReader::Event& event) {
    if (event.kind == Kind::frame) {
      events_ += event.body;
      closed_ = !reader_.keep_alive();
    } else if (event.kind == Kind::interim) {
      events_ += event.body == "HTTP/1.1 100 Continue\r\n\r\n" ? "continue" : "wrong interim";
    } else {
      events_ += std::string(error_info(event.error->code).name) + " " + std::to_string(event.http_status);
      message_ = event.error->message;
      closed_ = event.close;
    }
    events_ += closed_ ? " close\n" : "\n";
  }

  FrameReader reader_;
  std::string pending_;
  std::string events_;
  std::string message_;
  std::size_t largest_pending_ = 0;
  bool closed_ = false;
};

std::string events_of(std::string_view stream) {
  Feed feed;
  feed.arrive(stream);
  return feed.events();
}

std::string post(std::string_view headers, std::string_view body) {
  return "POST / HTTP/1.1\r\n" + std::string(headers) + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

struct Stream {
  std::string bytes, events;
};

const std::string big(frame_max + 1, 'x');
const std::string exact(frame_max, 'x');

// Streams of all framings that end at a frame's end or with the connection.
std::vector<Stream> streams() {
  return {
      // Lines.
      {"{\"a\":1}\n", "{\"a\":1}\n"},
      {"1\n2\r\n  3 \t\n", "1\n2\n3\n"},
      {"\n\r\n \n1\n\n2\n", "1\n2\n"},
      {"[1,\n2]\n", "[1,\n2]\n"},
      {"post lower case\n", "post lower case\n"},
      {exact + "\n1\n", exact + "\n1\n"},
      {big + "\n1\n", "frame_too_large 413\n1\n"},
      {"1\n" + big + big + big + "\n" + big + "\n2\n", "1\nframe_too_large 413\nframe_too_large 413\n2\n"},
      {std::string("a\0b\n", 4), std::string("a\0b\n", 4)},
      // Content-Length headers.
      {"Content-Length: 2\r\n\r\n{}", "{}\n"},
      {"content-length:2\n\n{}Content-Length: 3\n\n[1]", "{}\n[1]\n"},
      {"Content-Type: x; charset=utf-8\r\nCONTENT-LENGTH:  2 \r\n\r\n{}\r\n\r\nContent-Length: 1\r\n\r\n5",
       "{}\n5\n"},
      {"Content-Length: 0\r\n\r\nContent-Length: 4\r\n\r\n\r\n\r\n", "\n\r\n\r\n\n"},
      {"Content-Length: 64\r\n\r\n" + exact + "Content-Length: 1\r\n\r\n1", exact + "\n1\n"},
      {"Content-Length: 65\r\n\r\n" + big + "Content-Length: 1\r\n\r\n1", "frame_too_large 413\n1\n"},
      {"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\nOrigin: x\r\n\r\n{}"
       "Content-Length: 1\r\n\r\n1",
       "{}\n1\n"},
      // HTTP.
      {post("", "{}"), "{}\n"},
      {post("", "{}") + post("", "[]"), "{}\n[]\n"},
      {post("Host: localhost\r\nContent-Type: application/json\r\n", "{}"), "{}\n"},
      {"POST /any/path?x=1 HTTP/1.1\nContent-Length: 2\n\n{}", "{}\n"},
      {post("Expect: 100-continue\r\n", "{}") + post("", "1"), "continue\n{}\n1\n"},
      {post("Connection: close\r\n", "{}"), "{} close\n"},
      {post("Connection: Keep-Alive\r\n", "{}") + post("", "1"), "{}\n1\n"},
      {"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", "{} close\n"},
      {post("", big) + post("", "1"), "frame_too_large 413\n1\n"},
      {post("Expect: 100-continue\r\n", big), "frame_too_large 413 close\n"},
      {post("Connection: close\r\n", big), "frame_too_large 413 close\n"},
  };
}

}  // namespace

TEST_CASE("framing: every framing gives its frames") {
  for (const Stream& stream : streams()) {
    CAPTURE(stream.bytes);
    CHECK(events_of(stream.bytes) == stream.events);
  }
}

TEST_CASE("framing: the same frames however the bytes arrive") {
  for (const Stream& stream : streams()) {
    CAPTURE(stream.bytes);
    const std::string_view bytes = stream.bytes;
    for (std::size_t i = 0; i <= bytes.size(); ++i) {
      for (std::size_t j = i; j <= bytes.size(); j += bytes.size() < 60 ? 1 : 17) {
        CAPTURE(i);
        CAPTURE(j);
        Feed feed;
        feed.arrive(bytes.substr(0, i));
        feed.arrive(bytes.substr(i, j - i));
        feed.arrive(bytes.substr(j));
        REQUIRE(feed.events() == stream.events);
      }
    }
    Feed bytewise;
    for (char byte : bytes) bytewise.arrive({&byte, 1});
    CHECK(bytewise.events() == stream.events);
    CHECK(bytewise.pending() == "");
  }
}

TEST_CASE("framing: the first byte decides for good") {
  struct Row {
    std::string_view bytes;
    Framing framing;
  };
  const Row rows[] = {{"", Framing::unknown},  {"{", Framing::lines},   {" ", Framing::lines},
                      {"\n", Framing::lines},  {"p", Framing::lines},   {"\xff", Framing::lines},
                      {"C", Framing::headers}, {"c", Framing::headers}, {"P", Framing::http},
                      {"G", Framing::http},    {"Z", Framing::http},    {"1\nPOST", Framing::lines}};
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    Feed feed;
    feed.arrive(row.bytes);
    CHECK(feed.reader().framing() == row.framing);
  }
}

TEST_CASE("framing: a malformed head ends the connection with a reason") {
  struct Row {
    std::string bytes, events, message;
  };
  const Row rows[] = {
      {"GET / HTTP/1.1\r\n\r\n", "invalid_request 405 close\n",
       "only POST is understood, got \"GET / HTTP/1.1\""},
      {"GET /\r\n\r\n", "invalid_request 505 close\n", "expected an HTTP/1.1 request line, got \"GET /\""},
      {"POST / HTTP/2.0\r\n\r\n", "invalid_request 505 close\n",
       "expected an HTTP/1.1 request line, got \"POST / HTTP/2.0\""},
      {"HELO\x1b\r\n\r\n", "invalid_request 505 close\n",
       "expected an HTTP/1.1 request line, got \"HELO\\x1b\""},
      {"POST / HTTP/1.1\r\nHost: x\r\n\r\n{}", "invalid_request 411 close\n",
       "the Content-Length header is missing"},
      {"Content-Type: x\r\n\r\n{}", "invalid_request 411 close\n", "the Content-Length header is missing"},
      {"Content-Length: two\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"two\""},
      {"Content-Length: -2\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"-2\""},
      {"Content-Length: +2\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"+2\""},
      {"Content-Length: 0x2\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"0x2\""},
      {"Content-Length: 2, 2\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"2, 2\""},
      {"Content-Length:\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"\""},
      {"Content-Length: 99999999999999999999\r\n\r\n", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"99999999999999999999\""},
      {"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "invalid_request 400 close\n",
       "Content-Length: expected one whole number, got \"2\""},
      {"Content-Length: 2\r\nno colon\r\n\r\n{}", "invalid_request 400 close\n",
       "expected a header, got \"no colon\""},
      {"Content-Length: 2\r\n: x\r\n\r\n{}", "invalid_request 400 close\n", "expected a header, got \": x\""},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
       "invalid_request 411 close\n", "Transfer-Encoding is not supported, send Content-Length"},
      {post("Transfer-Encoding: chunked\r\n", "{}"), "invalid_request 411 close\n",
       "Transfer-Encoding is not supported, send Content-Length"},
      {post("Origin: http://evil.example\r\n", "{}"), "access_denied 403 close\n",
       "requests from web pages (with an Origin header) are refused"},
      {post("origin: null\r\n", "{}"), "access_denied 403 close\n",
       "requests from web pages (with an Origin header) are refused"},
      {"POST / HTTP/1.1\r\n" + std::string(header_bytes_max, 'x'), "invalid_request 431 close\n",
       "headers of more than 8192 bytes"},
      {"C" + std::string(2 * header_bytes_max, 'x') + "\r\n\r\n", "invalid_request 431 close\n",
       "headers of more than 8192 bytes"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes.substr(0, 80));
    Feed feed;
    feed.arrive(row.bytes);
    CHECK(feed.events() == row.events);
    CHECK(feed.last_message() == row.message);
    Feed bytewise;
    for (char byte : row.bytes) bytewise.arrive({&byte, 1});
    CHECK(bytewise.events() == row.events);
  }
}

TEST_CASE("framing: headers at their limit are taken however they arrive") {
  std::string head = "POST / HTTP/1.1\r\nContent-Length: 2\r\nX: ";
  head += std::string(header_bytes_max - head.size(), 'x');
  const std::string stream = head + "\r\n\r\n{}";
  CHECK(events_of(stream) == "{}\n");
  for (std::size_t split = head.size() - 2; split <= stream.size(); ++split) {
    CAPTURE(split - head.size());
    Feed feed;
    feed.arrive(stream.substr(0, split));
    feed.arrive(stream.substr(split));
    CHECK(feed.events() == "{}\n");
  }
  CHECK(events_of(head + "x\r\n\r\n{}") == "invalid_request 431 close\n");
}

TEST_CASE("framing: the refusal of a large frame names the limit and what to do") {
  FrameReader reader(10);
  std::string_view input = "Content-Length: 11\r\n\r\n";
  const FrameReader::Event event = reader.next(input);
  REQUIRE(event.error);
  CHECK(event.error->message == "the request is larger than 10 bytes (at least 11)");
  CHECK(event.error->data.at("limit_bytes").to_number<int>() == 10);
  CHECK(event.error->data.at("next") ==
        "send less in one request, or raise limits.frame_bytes in the configuration");
}

TEST_CASE("framing: what is larger than 256 MiB is not even skipped") {
  CHECK(events_of("Content-Length: 268435456\r\n\r\n") == "frame_too_large 413\n");
  CHECK(events_of("Content-Length: 268435457\r\n\r\n") == "frame_too_large 413 close\n");
  CHECK(events_of("Content-Length: 18446744073709551615\r\n\r\n") == "frame_too_large 413 close\n");

  FrameReader reader(frame_max);
  const std::string megabyte(1 << 20, 'x');
  std::size_t refused = 0;
  bool close = false;
  for (int i = 0; i < 300 && !close; ++i) {
    std::string_view input = megabyte;
    while (!input.empty() && !close) {
      const FrameReader::Event event = reader.next(input);
      refused += event.kind == Kind::refused ? 1 : 0;
      close = event.close;
    }
  }
  CHECK(close);
  CHECK(refused == 2);  // once when it begins, once at the end
}

TEST_CASE("framing: a frame that has begun is known to be unfinished") {
  struct Row {
    std::string bytes;
    bool inside;
  };
  const Row rows[] = {{"1\n", false},
                      {"1\n2", true},
                      {big, true},
                      {big + "\n", false},
                      {"Content-Length: 2\r\n\r\n", true},
                      {"Content-Length: 2\r\n\r\n{", true},
                      {"Content-Length: 2\r\n\r\n{}", false},
                      {"Content-Length: 65\r\n\r\n" + exact, true},
                      {"Content-Length: 65\r\n\r\n" + big, false},
                      {"POST", true}};
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    Feed feed;
    feed.arrive(row.bytes);
    CHECK(feed.reader().inside_frame(feed.pending()) == row.inside);
  }
}

TEST_CASE("framing: random bytes never crash a reader, and it keeps little") {
  static const std::string pieces[] = {"{\"a\":1}\n",
                                       "Content-Length: 7\r\n\r\n{\"a\":1}",
                                       post("", "{\"a\":1}"),
                                       "Content-Length: ",
                                       "content-length:",
                                       "POST / HTTP/1.1\r\n",
                                       "GET / HTTP/1.0\r\n",
                                       "\r\n",
                                       "\n",
                                       "\r\n\r\n",
                                       "\n\n",
                                       "0",
                                       "7",
                                       "64",
                                       "65",
                                       "9999",
                                       ":",
                                       " ",
                                       "{\"a\":1}",
                                       "Expect: 100-continue\r\n",
                                       "Connection: close\r\n",
                                       "Host: x\r\n",
                                       big,
                                       exact,
                                       std::string(9'000, 'h')};
  std::mt19937_64 random(6);
  std::size_t frames = 0, refusals = 0;
  for (int round = 0; round < 4'000; ++round) {
    Feed feed;
    feed.arrive(pieces[random() % std::size(pieces)]);
    for (auto steps = random() % 30; steps > 0 && !feed.closed(); --steps) {
      std::string bytes = pieces[random() % std::size(pieces)];
      if (random() % 4 == 0) bytes += static_cast<char>(random());
      feed.arrive(bytes);
    }
    if (feed.events().find("{\"a\":1}\n") != std::string::npos) ++frames;
    if (feed.events().find(" close\n") != std::string::npos) ++refusals;
    REQUIRE(feed.largest_pending() <= header_bytes_max + 4);
  }
  // The pieces do reach the inside of the reader.
  CHECK(frames > 400);
  CHECK(refusals > 400);
}

TEST_CASE("framing: random splits of random lines give the same frames") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string stream = "{";
    for (auto length = random() % 400; length > 0; --length)
      stream += random() % 20 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
    stream += '\n';
    const std::string whole = events_of(stream);
    Feed feed;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t count = 1 + random() % 50;
      feed.arrive(std::string_view(stream).substr(at, count));
      at += count;
    }
    REQUIRE(feed.events() == whole);
  }
}

TEST_CASE("framing: replies are framed as the requests were") {
  struct Row {
    Framing framing;
    std::string_view body;
    int status;
    bool keep_alive;
    std::string_view framed;
  };
  const Row rows[] = {
      {Framing::lines, "{}", 200, true, "{}\n"},
      {Framing::unknown, "{}", 200, true, "{}\n"},
      {Framing::lines, "", 200, true, ""},
      {Framing::headers, "{}", 413, true, "Content-Length: 2\r\n\r\n{}"},
      {Framing::headers, "", 200, true, ""},
      {Framing::http, "{}", 200, true,
       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"},
      {Framing::http, "{}", 200, false,
       "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
       "2\r\n\r\n{}"},
      {Framing::http, "", 200, true, "HTTP/1.1 204 No Content\r\n\r\n"},
      {Framing::http, "", 200, false, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
      {Framing::http, "{}", 405, false,
       "HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nConnection: close\r\nContent-Type: "
       "application/json\r\nContent-Length: 2\r\n\r\n{}"},
  };
  for (const Row& row : rows) {
    std::string out = "before|";
    append_framed(out, row.framing, row.body, row.status, row.keep_alive);
    CHECK(out == "before|" + std::string(row.framed));
  }
}

TEST_CASE("framing: every HTTP status that is used has its phrase") {
  struct Row {
    int status;
    std::string_view phrase;
  };
  const Row rows[] = {{400, "Bad Request"},
                      {403, "Forbidden"},
                      {405, "Method Not Allowed"},
                      {408, "Request Timeout"},
                      {411, "Length Required"},
                      {413, "Content Too Large"},
                      {431, "Request Header Fields Too Large"},
                      {505, "HTTP Version Not Supported"}};
  for (const Row& row : rows) {
    std::string out;
    append_framed(out, Framing::http, "{}", row.status);
    CHECK(out.starts_with("HTTP/1.1 " + std::to_string(row.status) + " " + std::string(row.phrase) + "\r\n"));
  }
}
