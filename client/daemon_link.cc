#include "client/daemon_link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "common/json.h"
#include "common/paths.h"
#include "common/text.h"
#include "proto/message.h"

namespace sessiond {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> candidates(const std::string& socket) {
  if (!socket.empty()) return {socket};
  if (const char* named = std::getenv("SESSIOND_SOCKET"); named != nullptr && *named != '\0') return {named};
  return {user_socket_path(), system_socket_path()};
}

Error no_daemon(const std::vector<std::string>& tried, std::string_view reason) {
  return Error(ErrorCode::no_daemon,
               "no daemon answers on " + join(tried, " or ") + " (" + std::string(reason) + ")")
      .next(
          "start one with 'sessiond', or with 'systemctl --user start sessiond.socket', or name its socket "
          "with --socket");
}

// A connected descriptor, or -errno. A full backlog answers EAGAIN at once: worth trying again until
// `deadline`.
int connect_to(const std::string& path, Clock::time_point deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  int wait_ms = 1;
  while (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int reason = errno;
    if ((reason != EAGAIN && reason != EINTR) || Clock::now() >= deadline) {
      ::close(descriptor);
      return -reason;
    }
    ::poll(nullptr, 0, wait_ms);
    wait_ms = std::min(wait_ms * 2, 50);
  }
  return descriptor;
}

// In a shared directory such as /tmp anybody could have put a socket where ours is expected.
bool trusted(int descriptor, const std::string& path) {
  if (!path.starts_with("/tmp/")) return true;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == getuid() || peer.uid == 0;
}

Error from_wire(const json::object& error) {
  const json::value* code = error.if_contains("code");
  const json::value* message = error.if_contains("message");
  const json::value* data = error.if_contains("data");
  const std::int64_t number = code != nullptr && code->is_int64() ? code->get_int64() : 0;
  return Error(
      error_info_by_number(number).code,
      message != nullptr && message->is_string() ? std::string(message->get_string()) : "unknown error",
      data != nullptr && data->is_object() ? data->get_object() : json::object());
}

Error lost(std::string_view why) {
  return Error(ErrorCode::no_daemon, "the daemon " + std::string(why))
      .next("see the daemon's log, then try again");
}

}  // namespace

Result<DaemonLink> DaemonLink::open(const std::string& socket, std::chrono::milliseconds timeout) {
  const std::vector<std::string> paths = candidates(socket);
  const bool chosen = paths.size() == 1;
  int reason = ENOENT;
  for (const std::string& path : paths) {
    const int descriptor = connect_to(path, Clock::now() + timeout);
    if (descriptor >= 0 && (chosen || trusted(descriptor, path))) return DaemonLink(descriptor, timeout);
    if (descriptor >= 0) ::close(descriptor);
    if (const int failed = descriptor >= 0 ? EPERM : -descriptor; failed != ENOENT) reason = failed;
  }
  return no_daemon(paths, std::strerror(reason));
}

DaemonLink::DaemonLink(DaemonLink&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      timeout_(other.timeout_),
      received_(std::move(other.received_)),
      next_id_(other.next_id_) {}

DaemonLink::~DaemonLink() {
  if (socket_ >= 0) ::close(socket_);
}

Status DaemonLink::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status();  // the daemon may have said why before it closed: read that
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> DaemonLink::receive_line() {
  const auto deadline = Clock::now() + timeout_;
  char buffer[64 * 1024];
  std::size_t scanned = 0;
  for (;;) {
    if (const std::size_t newline = received_.find('\n', scanned); newline != std::string::npos) {
      std::string line = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      return line;
    }
    scanned = received_.size();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return lost("did not answer within " + std::to_string(timeout_.count() / 1000) + " s");
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return lost("closed the connection without an answer");
    received_.append(buffer, static_cast<std::size_t>(count));
  }
}

Result<json::value> DaemonLink::call(std::string_view method, std::string_view params_text) {
  const std::int64_t id = next_id_++;
  std::string request;
  write_request(request, id, method, params_text);
  request += '\n';
  SESSIOND_TRY(send(request));
  for (;;) {
    SESSIOND_ASSIGN(const std::string line, receive_line());
    SESSIOND_ASSIGN(json::value reply, parse_json(line));
    json::object* object = reply.if_object();
    if (object == nullptr) return lost("answered something that is not JSON-RPC");
    const json::value* answered = object->if_contains("id");
    const bool ours = answered != nullptr && answered->is_int64() && answered->get_int64() == id;
    if (json::value* error = object->if_contains("error"); error != nullptr && error->is_object())
      if (ours || (answered != nullptr && answered->is_null())) return from_wire(error->get_object());
    if (json::value* result = object->if_contains("result"); ours && result != nullptr)
      return std::move(*result);
  }
}

}  // namespace sessiond
