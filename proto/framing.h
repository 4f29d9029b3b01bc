// Framing: where one JSON text ends and the next begins in a stream of bytes. No I/O.
//
// The first byte of a connection decides how it is framed, for good:
//   C            Content-Length headers, as language servers use
//   other A-Z    HTTP/1.1, POST only, so that curl works; one request at a time, keep-alive
//   anything     one JSON text per line
// An oversized frame is thrown away as it arrives, so the connection can go on; memory stays bounded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

enum class Framing { unknown, lines, headers, http };

class FrameReader {
 public:
  explicit FrameReader(std::size_t frame_bytes_max) : frame_bytes_max_(frame_bytes_max) {}

  struct Event {
    enum class Kind {
      need_more,  // `input` holds no whole frame; keep what is left of it and call again with more behind it
      frame,      // `body` is one JSON text, a view into the input
      interim,    // send `body` as it is (HTTP 100 Continue), then go on
      refused,    // answer with `error` (`http_status` under HTTP), then go on, or close if `close`
    };
    Kind kind = Kind::need_more;
    std::string_view body;
    std::optional<Error> error;
    int http_status = 200;
    bool close = false;
  };

  // Takes one frame off the front of `input`. Call until need_more. Precondition: after need_more, the next
  // input starts with the bytes that were left.
  Event next(std::string_view& input);

  Framing framing() const { return framing_; }
  // Of the HTTP request returned last: false when the caller wants the connection closed after the reply.
  bool keep_alive() const { return keep_alive_; }
  // True while a frame has begun and is not complete, given what is left of the input.
  bool inside_frame(std::string_view rest) const {
    return skip_bytes_ > 0 || skip_line_ || in_body_ || !rest.empty();
  }

 private:
  Event next_line(std::string_view& input);
  Event next_headed(std::string_view& input);
  Event read_head(std::string_view head);
  Event read_http_start(std::string_view line);
  Event read_header(std::string_view line);
  Event head_done();
  Event take_body(std::string_view& input);
  bool skip(std::string_view& input);
  Event too_large(std::size_t bytes);
  Event malformed(std::string message, int http_status);

  std::size_t frame_bytes_max_;
  Framing framing_ = Framing::unknown;
  std::size_t scanned_ = 0;     // bytes of the unfinished frame known to hold no end
  std::size_t skip_bytes_ = 0;  // of an oversized body, still to come
  std::size_t skipped_ = 0;     // of the oversized line so far
  bool skip_line_ = false;      // inside an oversized line
  bool in_body_ = false;        // headers are read, the body is not complete
  std::optional<std::size_t> content_length_;
  bool expect_continue_ = false;
  bool keep_alive_ = true;
  bool has_origin_ = false;
  bool chunked_ = false;
};

// Appends `body` framed as a reply. An empty body under HTTP is "204 No Content"; otherwise it appends
// nothing.
void append_framed(std::string& out, Framing framing, std::string_view body, int http_status = 200,
                   bool keep_alive = true);

}  // namespace sessiond
