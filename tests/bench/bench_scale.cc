// What many sessions cost: starting, listing, reading cold ones, memory; and one session with a long history;
// and many idle connections. In memory (/dev/shm), so that the disk is not what is measured. It asserts no
// time.
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <stdexcept>

#include "tests/bench/load.h"
#include "tests/bench/sessions_on_disk.h"
#include "tests/bench/targets.h"
#include "tests/support/test_daemon.h"

namespace sessiond::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<std::size_t> counts{1'000, 10'000};
  std::int64_t revisions = 100'000;
  std::size_t connections = 10'000;
  double idle_seconds = 10;
  bool json = false;
};

int usage() {
  std::fprintf(stderr,
               "usage: bench_scale [--full] [--quick] [--json]\n"
               "  --full   100,000 sessions, too\n"
               "  --quick  little of everything, only to see that it works\n");
  return 2;
}

bool parse(Settings& settings, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--full")
      settings.counts.push_back(100'000);
    else if (word == "--quick")
      settings = {.counts = {100}, .revisions = 600, .connections = 100, .idle_seconds = 0.1};
    else if (word == "--json")
      settings.json = true;
    else
      return false;
  }
  return true;
}

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

class StateDirectory {
 public:
  StateDirectory() : path_("/dev/shm/bench-scale-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
    std::filesystem::create_directories(root());
    for (const std::string& each : {path_ + "/roots", root()})
      std::filesystem::permissions(each, std::filesystem::perms::owner_all);
  }
  ~StateDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string root() const { return path_ + "/roots/workflow"; }

 private:
  std::string path_;
};

test::DaemonOptions options_of(const StateDirectory& state) {
  return {.config = "log_level: warn\nlimits: {connections: 20000, connections_per_uid: 20000}\n",
          .environment = {},
          .open_files_max = 30'000,
          .state_dir = state.path()};
}

boost::json::object call(test::TestClient& client, std::string_view method, const std::string& params) {
  const boost::json::value reply = client.call(method, params);
  const boost::json::object* object = reply.if_object();
  if (object == nullptr || !object->contains("result"))
    throw std::runtime_error(std::string(method) + ": " + boost::json::serialize(reply));
  return object->at("result").as_object();
}

// The p50 in ms of so many calls, each with the parameters that `params_of` gives.
double median_ms(test::TestClient& client, std::string_view method, std::size_t times,
                 const std::function<std::string(std::size_t)>& params_of) {
  std::vector<double> took;
  for (std::size_t i = 0; i < times; ++i) {
    const std::string params = params_of(i);
    const auto began = Clock::now();
    call(client, method, params);
    took.push_back(ms_since(began));
  }
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

std::string quoted_id(std::size_t index) {
  return R"({"session_id":"scale-)" + std::to_string(index) + "\"}";
}

// How often any of its threads went to sleep on its own, which is how often it had been woken.
std::size_t wake_ups(pid_t pid) {
  std::size_t sum = 0;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::istringstream lines(test::read_file(task.path() / "status"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("voluntary_ctxt_switches:")) sum += std::strtoul(line.c_str() + 24, nullptr, 10);
  }
  return sum;
}

double idle_wake_ups(pid_t pid, double seconds) {
  const std::size_t before = wake_ups(pid);
  poll(nullptr, 0, static_cast<int>(seconds * 1000));  // the time that is measured
  return static_cast<double>(wake_ups(pid) - before);
}

struct Row {
  std::size_t sessions = 0;
  double make_ms = 0, ready_ms = 0, list_ms = 0, list_status_ms = 0, list_text_ms = 0, list_last_ms = 0;
  double get_cold_ms = 0, bytes_each = 0, wake_ups = 0;
};

double resident_bytes(pid_t pid) { return static_cast<double>(test::status_value(pid, "VmRSS")); }

double memory_without_sessions() {
  const StateDirectory state;
  const test::TestDaemon daemon(options_of(state));
  return resident_bytes(daemon.pid());
}

Row measure_sessions(std::size_t count, double empty_bytes, double idle_seconds) {
  Row row{.sessions = count};
  const StateDirectory state;
  auto began = Clock::now();
  make_sessions(state.root(), count);
  row.make_ms = ms_since(began);
  began = Clock::now();
  const test::TestDaemon daemon(options_of(state));
  row.ready_ms = ms_since(began);
  row.bytes_each = (resident_bytes(daemon.pid()) - empty_bytes) / static_cast<double>(count);
  test::TestClient client = daemon.connect();
  const auto total = call(client, "session.list", R"({"limit":1})").at("total").to_number<std::size_t>();
  if (total != count) throw std::runtime_error("session.list counts " + std::to_string(total));
  const auto list = [&](const std::string& params) {
    return median_ms(client, "session.list", 11, [&](std::size_t) { return params; });
  };
  row.list_ms = list("{}");
  row.list_status_ms = list(R"({"status":"paused"})");
  row.list_text_ms = list(R"({"text":"FEATURE-7"})");
  row.list_last_ms = list(R"({"sort":"id","limit":50})");
  row.get_cold_ms = median_ms(client, "session.get", std::min<std::size_t>(count, 200), [&](std::size_t i) {
    return quoted_id(i * count / std::min<std::size_t>(count, 200));
  });
  row.wake_ups = idle_wake_ups(daemon.pid(), idle_seconds);
  return row;
}

struct LongHistory {
  double load_ms = 0, newest_ms = 0, random_ms = 0;
};

LongHistory measure_long_history(std::int64_t revisions) {
  LongHistory out;
  const StateDirectory state;
  make_long_session(state.root(), "long", revisions);
  const test::TestDaemon daemon(options_of(state));
  test::TestClient client = daemon.connect();
  const std::string newest = R"({"session_id":"long"})";
  out.load_ms = median_ms(client, "session.get", 1, [&](std::size_t) { return newest; });
  out.newest_ms = median_ms(client, "session.get", 101, [&](std::size_t) { return newest; });
  std::minstd_rand random(1);
  std::uniform_int_distribution<std::int64_t> any(1, revisions - 1);
  out.random_ms = median_ms(client, "session.get", 51, [&](std::size_t) {
    return R"({"session_id":"long","at_revision":)" + std::to_string(any(random)) + "}";
  });
  return out;
}

double measure_connections(std::size_t count) {
  const StateDirectory state;
  const test::TestDaemon daemon(options_of(state));
  const double before = resident_bytes(daemon.pid());
  std::vector<test::TestClient> clients;
  clients.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(daemon.socket());
    if (!clients.back().connected() || !clients.back().ping())
      throw std::runtime_error("connection " + std::to_string(i) + " is not answered");
  }
  return (resident_bytes(daemon.pid()) - before) / static_cast<double>(count);
}

std::vector<Target> targets(const std::vector<Row>& rows, const LongHistory& history,
                            double connection_bytes) {
  const Row& most = rows.back();
  const std::string at = " with " + std::to_string(most.sessions) + " sessions";
  return {{"ready after start" + at, most.ready_ms, true, 4'000, "ms"},
          {"a list page" + at, most.list_ms, true, 10, "ms"},
          {"a filtered list page" + at, std::max(most.list_status_ms, most.list_text_ms), true, 10, "ms"},
          {"memory of an idle session" + at, most.bytes_each, true, 512, "bytes"},
          {"idle wake-ups" + at, most.wake_ups, true, 0, ""},
          {"load of a session with a long history", history.load_ms, true, 20, "ms"},
          {"get at any revision of it", history.random_ms, true, 20, "ms"},
          {"an idle connection", connection_bytes, true, 10 * 1024, "bytes"}};
}

void print_table(const std::vector<Row>& rows, const LongHistory& history, double connection_bytes) {
  std::printf("%9s %9s %9s %9s %11s %9s %9s %9s %10s %9s\n", "sessions", "made ms", "ready ms", "list ms",
              "status ms", "text ms", "by id ms", "cold ms", "bytes each", "wake-ups");
  for (const Row& row : rows)
    std::printf("%9zu %9.0f %9.1f %9.2f %11.2f %9.2f %9.2f %9.2f %10.0f %9.0f\n", row.sessions, row.make_ms,
                row.ready_ms, row.list_ms, row.list_status_ms, row.list_text_ms, row.list_last_ms,
                row.get_cold_ms, row.bytes_each, row.wake_ups);
  std::printf("long history: load %.2f ms, newest %.2f ms, random revision %.2f ms\n", history.load_ms,
              history.newest_ms, history.random_ms);
  std::printf("idle connection: %.0f bytes\n", connection_bytes);
}

void print_json(const std::vector<Row>& rows) {
  std::printf("{\"rows\":[");
  for (const Row& row : rows)
    std::printf(
        "%s{\"sessions\":%zu,\"ready_ms\":%.1f,\"list_ms\":%.2f,\"list_status_ms\":%.2f,"
        "\"list_text_ms\":%.2f,\"get_cold_ms\":%.2f,\"bytes_each\":%.0f,\"wake_ups\":%.0f}",
        &row == rows.data() ? "" : ",", row.sessions, row.ready_ms, row.list_ms, row.list_status_ms,
        row.list_text_ms, row.get_cold_ms, row.bytes_each, row.wake_ups);
  std::printf("],");
}

int run(int argc, char** argv) {
  Settings settings;
  if (!parse(settings, argc, argv)) return usage();
  const rlimit files{settings.connections + 1'000, settings.connections + 1'000};
  if (settings.connections > 500 && setrlimit(RLIMIT_NOFILE, &files) != 0)
    throw std::runtime_error("cannot raise the limit of open files");
  const double empty_bytes = memory_without_sessions();
  std::vector<Row> rows;
  for (const std::size_t count : settings.counts)
    rows.push_back(measure_sessions(count, empty_bytes, settings.idle_seconds));
  const LongHistory history = measure_long_history(settings.revisions);
  const double connection_bytes = measure_connections(settings.connections);
  if (settings.json) {
    print_json(rows);
    print_targets_json(targets(rows, history, connection_bytes));
    std::printf("}\n");
    return 0;
  }
  print_table(rows, history, connection_bytes);
  print_targets(targets(rows, history, connection_bytes));
  return 0;
}

}  // namespace
}  // namespace sessiond::bench

int main(int argc, char** argv) { return sessiond::bench::run(argc, argv); }
