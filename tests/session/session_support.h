// What the tests of sessions share: a daemon in the process, and short ways to use it.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/scale.h"
#include "tests/support/test_dispatcher.h"

namespace sessiond {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_text(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline std::string text_of(const json::value& value) { return std::string(value.as_string()); }

struct Sessions : TestDispatcher {
  using TestDispatcher::TestDispatcher;
  Sessions() : state_dir(directory.path()) {}
  explicit Sessions(const std::string& path) : TestDispatcher(path), state_dir(path) {}
  // With one worker: a simulated disk is for one thread at a time.
  explicit Sessions(std::unique_ptr<Env> other) : TestDispatcher(std::move(other), "/", 1), state_dir("/") {}

  std::string state_dir;

  fs::path root() const { return fs::path(state_dir) / "roots/workflow"; }
  fs::path dir(const std::string& id) const { return root() / id; }

  json::object create(const std::string& id, int phases = 6, const std::string& more = "") {
    return call("workflow.create", R"({"session_id":")" + id +
                                       R"(","workflow_type":"spec","target_file":"specs/)" + id +
                                       R"(","total_phases":)" + std::to_string(phases) + more + "}");
  }
  static std::string of(const std::string& id, const std::string& more = "") {
    return R"({"session_id":")" + id + "\"" + (more.empty() ? "" : "," + more) + "}";
  }
  // The name of the error, or "ok".
  std::string outcome(std::string_view method, const std::string& params) {
    return name_of(call(method, params));
  }
  static std::string name_of(const json::object& reply) {
    const json::value* error = reply.if_contains("error");
    return error == nullptr ? "ok" : text_of(error->at("data").at("error"));
  }
  json::object complete(const std::string& id, int phase, const std::string& more = "") {
    return call("workflow.complete_phase",
                of(id, "\"phase\":" + std::to_string(phase) + (more.empty() ? "" : "," + more)));
  }
  std::int64_t revision(const std::string& id) {
    return result("session.get", of(id)).at("session").at("revision").as_int64();
  }
  json::value document(const std::string& id) { return result("session.get", of(id)).at("document"); }
  std::string status(const std::string& id) {
    return text_of(result("session.get", of(id)).at("session").at("status"));
  }
  json::array history(const std::string& id) {
    return result("session.history", of(id, R"("limit":1000)")).at("entries").as_array();
  }
  std::string last_command(const std::string& id) { return text_of(history(id).back().at("command")); }
  std::string artifact(const std::string& id, const std::string& name, const std::string& more = "") {
    return text_of(result("artifact.get", of(id, "\"name\":\"" + name + "\"" + more)).at("text"));
  }
  std::string update(const std::string& id, const std::string& metadata) {
    return outcome("session.update", of(id, "\"changes\":{\"metadata\":" + metadata + "}"));
  }
  json::object put(const std::string& id, const std::string& name, const std::string& text) {
    return call("artifact.put", of(id, "\"name\":\"" + name + "\",\"text\":\"" + text + "\""));
  }
};

}  // namespace sessiond
