// A raw client: it sends any bytes over a Unix socket and reads what comes back, always with a limit. It
// knows no more of the protocol than where a line or a frame ends.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/scale.h"

namespace sessiond::test {

namespace json = boost::json;

// A request on one line, with its newline.
std::string request(std::int64_t id, std::string_view method, std::string_view params = {});

class TestClient {
 public:
  // Connects, trying again for a while when the backlog is full. connected() tells whether it worked.
  explicit TestClient(const std::string& path);
  ~TestClient();
  TestClient(TestClient&& other) noexcept;
  TestClient& operator=(TestClient&&) = delete;

  bool connected() const { return socket_ >= 0; }
  int descriptor() const { return socket_; }

  // False if the peer closed, or takes no more bytes within the limit.
  bool send(std::string_view bytes, std::chrono::milliseconds limit = patience);
  // As much as the socket takes now.
  std::size_t send_some(std::string_view bytes);
  void half_close();

  // Nothing on the end of the stream or the limit.
  std::optional<std::string> read_line(std::chrono::milliseconds limit = patience);
  // The body of a reply with Content-Length headers; HTTP's status line, too, if it has one.
  struct Frame {
    int http_status = 0;
    std::string head;
    std::string body;
  };
  std::optional<Frame> read_frame(std::chrono::milliseconds limit = patience);
  // True if the peer closes within the limit; what it sends before is left for received().
  bool ends(std::chrono::milliseconds limit = patience);
  const std::string& received() const { return received_; }

  // One request and its reply, which is null if none came.
  json::value call(std::string_view method, std::string_view params = {});
  // True if daemon.ping is answered as it should be.
  bool ping();

 private:
  using Clock = std::chrono::steady_clock;
  enum class More { data, end, late };
  More receive(Clock::time_point deadline);

  int socket_ = -1;
  std::string received_;
  std::size_t scanned_ = 0;
  std::int64_t next_id_ = 1;
};

}  // namespace sessiond::test
