#include "tests/support/test_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace sessiond::test {
namespace {

int left_ms(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

std::size_t number_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  std::size_t number = 0;
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at + name.size(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string request(std::int64_t id, std::string_view method, std::string_view params) {
  std::string out =
      R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + '"';
  if (!params.empty()) (out += R"(,"params":)") += params;
  return out += "}\n";
}

TestClient::TestClient(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto deadline = Clock::now() + patience;
  while (made >= 0 && ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if ((errno != EAGAIN && errno != EINTR) || Clock::now() >= deadline) {
      ::close(made);
      return;
    }
    poll(nullptr, 0, 1);
  }
  socket_ = made;
}

TestClient::TestClient(TestClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      received_(std::move(other.received_)),
      scanned_(other.scanned_),
      next_id_(other.next_id_) {}

TestClient::~TestClient() {
  if (socket_ >= 0) ::close(socket_);
}

std::size_t TestClient::send_some(std::string_view bytes) {
  const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool TestClient::send(std::string_view bytes, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || Clock::now() >= deadline) return false;
    pollfd room{.fd = socket_, .events = POLLOUT, .revents = 0};
    poll(&room, 1, left_ms(deadline));
  }
  return true;
}

void TestClient::half_close() { ::shutdown(socket_, SHUT_WR); }

TestClient::More TestClient::receive(Clock::time_point deadline) {
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
      return More::data;
    }
    // A peer that closes without having read everything resets the connection: also an end.
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return More::end;
    if (Clock::now() >= deadline) return More::late;
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    poll(&ready, 1, left_ms(deadline));
  }
}

std::optional<std::string> TestClient::read_line(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const std::size_t newline = received_.find('\n', scanned_); newline != std::string::npos) {
      std::string line = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      scanned_ = 0;
      return line;
    }
    scanned_ = received_.size();
    if (receive(deadline) != More::data) return std::nullopt;
  }
}

std::optional<TestClient::Frame> TestClient::read_frame(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  scanned_ = 0;
  for (;;) {
    if (const std::size_t end = received_.find("\r\n\r\n"); end != std::string::npos) {
      Frame frame{.head = received_.substr(0, end)};
      const std::size_t length = number_after(frame.head, "Content-Length: ");
      if (received_.size() >= end + 4 + length) {
        frame.http_status = static_cast<int>(number_after(frame.head, "HTTP/1.1 "));
        frame.body = received_.substr(end + 4, length);
        received_.erase(0, end + 4 + length);
        return frame;
      }
    }
    if (receive(deadline) != More::data) return std::nullopt;
  }
}

bool TestClient::ends(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  More more = More::data;
  while (more == More::data) more = receive(deadline);
  return more == More::end;
}

json::value TestClient::call(std::string_view method, std::string_view params) {
  if (!send(request(next_id_++, method, params))) return nullptr;
  const std::optional<std::string> line = read_line();
  return line ? json::parse(*line) : json::value();
}

bool TestClient::ping() {
  const std::int64_t id = next_id_;
  const json::value reply = call("daemon.ping");
  if (!reply.is_object() || reply.at("id") != id) return false;
  const json::value* result = reply.get_object().if_contains("result");
  return result != nullptr && result->at("pong") == true;
}

}  // namespace sessiond::test
