#include "tests/bench/load.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/test_client.h"

namespace sessiond::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Of all threads.
double cpu_us(pid_t pid) {
  double sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
    sum += std::strtod(test::read_file(task.path() / "schedstat").c_str(), nullptr) / 1000;
  return sum;
}

class Generator {
 public:
  explicit Generator(const Load& load)
      : depth_(load.depth),
        newlines_per_reply_(load.newlines_per_reply),
        epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    clients_.reserve(load.clients.size());
    for (const Script& script : load.clients) {
      Client& client = clients_.emplace_back(Client{test::TestClient(load.socket), &script});
      if (!client.link.connected()) throw std::runtime_error("cannot connect to " + load.socket);
      epoll_event event{.events = EPOLLIN, .data = {.ptr = &client}};
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, client.link.descriptor(), &event) != 0)
        throw std::runtime_error("epoll_ctl failed");
    }
  }
  ~Generator() { ::close(epoll_); }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  void start() {
    for (Client& client : clients_) send(client);
  }

  // Messages answered until then.
  std::size_t run_until(Clock::time_point end) {
    const std::size_t before = answered_;
    latencies_us_.clear();
    std::array<epoll_event, 64> events;
    while (Clock::now() < end) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
      for (int i = 0; i < count; ++i)
        receive(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
    return answered_ - before;
  }

  // Since run_until was last called.
  std::vector<double>& latencies_us() { return latencies_us_; }

 private:
  struct Client {
    test::TestClient link;
    const Script* script;
    std::size_t turn = 0;
    std::size_t awaited = 0;  // newlines
    Clock::time_point sent{};
  };

  void send(Client& client) {
    client.awaited = depth_ * newlines_per_reply_;
    burst_.clear();
    for (std::size_t i = 0; i < depth_; ++i)
      burst_ += (*client.script)[client.turn++ % client.script->size()];
    client.sent = Clock::now();
    if (!client.link.send(burst_)) throw std::runtime_error("the server does not take requests");
  }

  void receive(Client& client) {
    const ssize_t count = ::recv(client.link.descriptor(), buffer_.data(), buffer_.size(), 0);
    if (count <= 0) throw std::runtime_error("the server closed a connection");
    const auto lines = static_cast<std::size_t>(std::count(buffer_.begin(), buffer_.begin() + count, '\n'));
    check(std::string_view(buffer_.data(), static_cast<std::size_t>(count)));
    client.awaited -= std::min(lines, client.awaited);
    if (client.awaited > 0) return;
    answered_ += depth_;
    latencies_us_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - client.sent).count());
    send(client);
  }

  // A refused request must not pass for a quick one.
  static void check(std::string_view reply) {
    if (reply.starts_with('-') || reply.find(R"("error":{)") != std::string_view::npos)
      throw std::runtime_error("the server refuses: " + std::string(reply.substr(0, 300)));
  }

  std::size_t depth_;
  std::size_t newlines_per_reply_;
  int epoll_;
  std::string burst_;
  std::vector<Client> clients_;
  std::array<char, 64 * 1024> buffer_;
  std::size_t answered_ = 0;
  std::vector<double> latencies_us_;
};

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

std::vector<Script> same_for_all(std::size_t clients, const std::string& message) {
  return std::vector<Script>(clients, Script{message});
}

void set_quantiles(Measured& measured, std::vector<double>& latencies_us) {
  std::sort(latencies_us.begin(), latencies_us.end());
  measured.p50_us = quantile(latencies_us, 0.50);
  measured.p95_us = quantile(latencies_us, 0.95);
  measured.p99_us = quantile(latencies_us, 0.99);
}

Measured median_of(const std::vector<Measured>& rounds) {
  Measured out;
  for (const auto figure : {&Measured::per_second, &Measured::cpu_us_per_trip, &Measured::p50_us,
                            &Measured::p95_us, &Measured::p99_us}) {
    std::vector<double> values;
    for (const Measured& round : rounds) values.push_back(round.*figure);
    std::sort(values.begin(), values.end());
    if (!values.empty()) out.*figure = values[values.size() / 2];
  }
  return out;
}

Measured measure(const Load& load, std::chrono::milliseconds duration) {
  Generator generator(load);
  generator.start();
  // The first tenth warms up.
  generator.run_until(Clock::now() + duration / 10);
  const double cpu_before = cpu_us(load.server);
  const auto began = Clock::now();
  const auto answered = static_cast<double>(generator.run_until(began + duration));
  const std::chrono::duration<double> took = Clock::now() - began;
  Measured out{answered / took.count(), (cpu_us(load.server) - cpu_before) / std::max(answered, 1.0)};
  set_quantiles(out, generator.latencies_us());
  return out;
}

}  // namespace sessiond::bench
