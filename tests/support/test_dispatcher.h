// The daemon without its sockets: a dispatcher over a registry in a temporary directory, with a manual clock,
// and one caller. Replies that come later are waited for.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/json.h"
#include "daemon/rpc/dispatcher.h"
#include "support/environment.h"
#include "support/manual_clock.h"

namespace sessiond {

struct TestDispatcher {
  TempDir directory;
  std::unique_ptr<Env> env = make_system_env();
  ManualClock clock;
  Config config;
  Stats stats;
  WorkerPool pool{8};
  Registry registry{*env, clock, pool};
  Services services{.clock = clock,
                    .config = config,
                    .stats = stats,
                    .registry = registry,
                    .pool = pool,
                    .own_uid = 1000,
                    .started_at = clock.boottime()};
  Dispatcher dispatcher{services};
  Caller caller{.uid = 1000, .gid = 100, .pid = 4242};

  TestDispatcher() { start(directory.path()); }
  // On a state directory that another one had before.
  explicit TestDispatcher(const std::string& state_dir) { start(state_dir); }
  // On another Env, with so many workers.
  TestDispatcher(std::unique_ptr<Env> other, const std::string& state_dir, std::size_t workers)
      : env(std::move(other)), pool(workers) {
    start(state_dir);
  }
  ~TestDispatcher() { pool.wait_idle(); }

  void start(const std::string& state_dir) {
    if (Status started = registry.start(state_dir, {}); !started)
      throw std::runtime_error(started.error().message);
  }

  // The reply to one frame, or "".
  std::string ask(std::string_view frame) {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<std::string> later;
    caller.later = [&](std::string text) {
      const std::lock_guard lock(mutex);
      later = std::move(text);
      arrived.notify_one();
    };
    std::string out;
    if (dispatcher.handle(frame, caller, out) == Done::now) return out;
    std::unique_lock lock(mutex);
    if (!arrived.wait_for(lock, std::chrono::seconds(60), [&] { return later.has_value(); }))
      throw std::runtime_error("no reply within a minute");
    return *later;
  }

  // The whole reply to one call.
  json::object call(std::string_view method, std::string_view params = "{}") {
    const std::string frame = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
                              R"(","params":)" + std::string(params) + "}";
    return parse_json(ask(frame))->as_object();
  }
  json::object result(std::string_view method, std::string_view params = "{}") {
    return call(method, params).at("result").as_object();
  }
  json::object error(std::string_view method, std::string_view params = "{}") {
    return call(method, params).at("error").as_object();
  }
};

}  // namespace sessiond
