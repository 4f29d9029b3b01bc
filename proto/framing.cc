#include "proto/framing.h"

#include <charconv>
#include <cstring>

#include "common/limits.h"
#include "common/text.h"

namespace sessiond {
namespace {

using Event = FrameReader::Event;

Framing detect(char first) {
  if (first == 'C' || first == 'c') return Framing::headers;
  return first >= 'A' && first <= 'Z' ? Framing::http : Framing::lines;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

std::string_view without_cr(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Event FrameReader::malformed(std::string message, int http_status) {
  Event event{.kind = Event::Kind::refused, .http_status = http_status, .close = true};
  event.error = Error(ErrorCode::invalid_request, std::move(message))
                    .next("send one JSON text per line, or Content-Length headers, or an HTTP POST");
  return event;
}

Event FrameReader::too_large(std::size_t bytes) {
  Event event{.kind = Event::Kind::refused, .http_status = 413};
  event.error =
      Error(ErrorCode::frame_too_large, "the request is larger than " + std::to_string(frame_bytes_max_) +
                                            " bytes (at least " + std::to_string(bytes) + ")")
          .with("limit_bytes", frame_bytes_max_)
          .next("send less in one request, or raise limits.frame_bytes in the configuration");
  return event;
}

Event FrameReader::next(std::string_view& input) {
  if (framing_ == Framing::unknown) {
    if (input.empty()) return {};
    framing_ = detect(input.front());
  }
  return framing_ == Framing::lines ? next_line(input) : next_headed(input);
}

Event FrameReader::next_line(std::string_view& input) {
  while (!input.empty()) {
    const auto* newline =
        static_cast<const char*>(std::memchr(input.data() + scanned_, '\n', input.size() - scanned_));
    const bool whole = newline != nullptr;
    const std::size_t size = whole ? static_cast<std::size_t>(newline - input.data()) : input.size();
    if (skip_line_) {
      input.remove_prefix(whole ? size + 1 : size);
      scanned_ = 0;
      skip_line_ = !whole;
      skipped_ += size;
      if (skipped_ > skipped_bytes_max) return malformed("a line of more than 256 MiB", 413);
      continue;
    }
    if (size > frame_bytes_max_) {
      input.remove_prefix(whole ? size + 1 : size);
      scanned_ = 0;
      skip_line_ = !whole;
      skipped_ = size;
      return too_large(size);
    }
    if (!whole) {
      scanned_ = input.size();
      return {};
    }
    const std::string_view line = input.substr(0, size);
    input.remove_prefix(size + 1);
    scanned_ = 0;
    if (const std::string_view body = trim(line); !body.empty())
      return {.kind = Event::Kind::frame, .body = body};
  }
  return {};
}

bool FrameReader::skip(std::string_view& input) {
  const std::size_t now = std::min(skip_bytes_, input.size());
  input.remove_prefix(now);
  skip_bytes_ -= now;
  return skip_bytes_ == 0;
}

Event FrameReader::next_headed(std::string_view& input) {
  if (skip_bytes_ > 0 && !skip(input)) return {};
  if (in_body_) return take_body(input);
  // Blank lines between frames are harmless.
  while (!input.empty() && (input.front() == '\r' || input.front() == '\n')) input.remove_prefix(1);
  std::size_t from = scanned_ > 3 ? scanned_ - 3 : 0;
  if (from > input.size()) from = 0;
  std::size_t end = input.find("\r\n\r\n", from);
  std::size_t length = 4;
  if (const std::size_t bare = input.find("\n\n", from); bare < end) {
    end = bare;
    length = 2;
  }
  // Without an end, up to three bytes may be the beginning of one.
  if (end == std::string_view::npos ? input.size() > header_bytes_max + 3 : end > header_bytes_max)
    return malformed("headers of more than " + std::to_string(header_bytes_max) + " bytes", 431);
  if (end == std::string_view::npos) {
    scanned_ = input.size();
    return {};
  }
  const std::string_view head = input.substr(0, end);
  input.remove_prefix(end + length);
  scanned_ = 0;
  if (Event event = read_head(head); event.kind != Event::Kind::need_more) return event;
  return take_body(input);
}

Event FrameReader::read_head(std::string_view head) {
  content_length_.reset();
  expect_continue_ = has_origin_ = chunked_ = false;
  keep_alive_ = true;
  bool first = framing_ == Framing::http;
  while (!head.empty()) {
    const std::size_t newline = head.find('\n');
    const std::string_view line = without_cr(head.substr(0, newline));
    head.remove_prefix(newline == std::string_view::npos ? head.size() : newline + 1);
    Event event = first ? read_http_start(line) : read_header(line);
    first = false;
    if (event.kind != Event::Kind::need_more) return event;
  }
  return head_done();
}

Event FrameReader::read_http_start(std::string_view line) {
  const std::size_t version = line.rfind(' ');
  if (version == std::string_view::npos || !line.substr(version + 1).starts_with("HTTP/1."))
    return malformed("expected an HTTP/1.1 request line, got " + quoted(line), 505);
  if (line.ends_with("HTTP/1.0")) keep_alive_ = false;
  if (!line.starts_with("POST ")) return malformed("only POST is understood, got " + quoted(line), 405);
  return {};
}

Event FrameReader::read_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return malformed("expected a header, got " + quoted(line), 400);
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (equals_ignoring_case(name, "Content-Length")) {
    std::size_t length = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (status != std::errc() || end != value.data() + value.size() || content_length_)
      return malformed("Content-Length: expected one whole number, got " + quoted(value), 400);
    content_length_ = length;
  } else if (equals_ignoring_case(name, "Transfer-Encoding")) {
    chunked_ = true;
  } else if (framing_ != Framing::http) {
    return {};  // the others mean something under HTTP only
  } else if (equals_ignoring_case(name, "Expect")) {
    expect_continue_ = equals_ignoring_case(value, "100-continue");
  } else if (equals_ignoring_case(name, "Connection")) {
    if (equals_ignoring_case(value, "close")) keep_alive_ = false;
  } else if (equals_ignoring_case(name, "Origin")) {
    has_origin_ = true;
  }
  return {};
}

Event FrameReader::head_done() {
  if (has_origin_) {
    Event event = malformed("requests from web pages (with an Origin header) are refused", 403);
    event.error->code = ErrorCode::access_denied;
    return event;
  }
  if (chunked_) return malformed("Transfer-Encoding is not supported, send Content-Length", 411);
  if (!content_length_) return malformed("the Content-Length header is missing", 411);
  if (*content_length_ > frame_bytes_max_) {
    Event event = too_large(*content_length_);
    // Somebody who waits for "100 Continue" sends the body or not, as he likes: there is no telling where the
    // next request starts. Somebody who asked to close waits for the end of the connection.
    event.close = *content_length_ > skipped_bytes_max || expect_continue_ || !keep_alive_;
    skip_bytes_ = *content_length_;
    return event;
  }
  in_body_ = true;
  if (!expect_continue_) return {};
  expect_continue_ = false;
  return {.kind = Event::Kind::interim, .body = "HTTP/1.1 100 Continue\r\n\r\n"};
}

Event FrameReader::take_body(std::string_view& input) {
  if (input.size() < *content_length_) return {};
  const std::string_view body = input.substr(0, *content_length_);
  input.remove_prefix(*content_length_);
  in_body_ = false;
  return {.kind = Event::Kind::frame, .body = body};
}

void append_framed(std::string& out, Framing framing, std::string_view body, int http_status,
                   bool keep_alive) {
  if (framing == Framing::http) {
    if (body.empty()) http_status = 204;
    ((out += "HTTP/1.1 ") += std::to_string(http_status)) += ' ';
    (out += reason_phrase(http_status)) += "\r\n";
    if (http_status == 405) out += "Allow: POST\r\n";
    if (!keep_alive) out += "Connection: close\r\n";
    if (http_status != 204)
      ((out += "Content-Type: application/json\r\nContent-Length: ") += std::to_string(body.size())) +=
          "\r\n";
    (out += "\r\n") += body;
    return;
  }
  if (body.empty()) return;
  if (framing == Framing::headers)
    (((out += "Content-Length: ") += std::to_string(body.size())) += "\r\n\r\n") += body;
  else
    (out += body) += '\n';
}

}  // namespace sessiond
