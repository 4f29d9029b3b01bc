// The daemon without its sockets: a dispatcher over services with a manual clock, and one caller.
#pragma once

#include <string>
#include <string_view>

#include "common/json.h"
#include "daemon/rpc/dispatcher.h"
#include "support/manual_clock.h"

namespace sessiond {

struct TestDispatcher {
  ManualClock clock;
  Config config;
  Stats stats;
  Services services{.clock = clock, .config = config, .stats = stats, .started_at = clock.boottime()};
  Dispatcher dispatcher{services};
  Caller caller{.uid = 1000, .gid = 100, .pid = 4242};

  // The reply to one frame, or "".
  std::string ask(std::string_view frame) {
    std::string out;
    dispatcher.handle(frame, caller, out);
    return out;
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
