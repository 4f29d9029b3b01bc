// Durable changes per second and their latencies, beside what the same disk does for others in the same run.
// Rounds go through all of them in turn; medians are printed. It asserts no time.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/bench/load.h"
#include "tests/bench/peers.h"
#include "tests/bench/targets.h"
#include "tests/support/test_daemon.h"

namespace sessiond::bench {
namespace {

constexpr std::size_t document_bytes = 4096;
constexpr std::size_t sessions_max = 64;

struct Settings {
  double seconds = 40;
  int rounds = 3;
  bool json = false;
  long sync_delay_us = 0;
  std::string directory;
};

struct Row {
  std::string name;
  std::size_t clients;
  std::size_t sessions;  // or files, or keys
  std::function<Measured(std::chrono::milliseconds)> measure;
  std::vector<Measured> rounds;
};

int usage() {
  std::fprintf(
      stderr,
      "usage: bench_commit [--seconds N] [--rounds N] [--dir DIRECTORY] [--sync-delay-us N] [--json]\n"
      "  --dir            on the disk to measure; a new one beside the program without it\n"
      "  --sync-delay-us  makes every sync of every program slower by this, as on a slower disk\n");
  return 2;
}

bool parse(Settings& settings, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      settings.json = true;
      continue;
    }
    if (i + 1 >= argc) return false;
    const char* value = argv[++i];
    if (word == "--seconds")
      settings.seconds = std::strtod(value, nullptr);
    else if (word == "--rounds")
      settings.rounds = static_cast<int>(std::strtol(value, nullptr, 10));
    else if (word == "--dir")
      settings.directory = value;
    else if (word == "--sync-delay-us")
      settings.sync_delay_us = std::strtol(value, nullptr, 10);
    else
      return false;
  }
  return settings.seconds > 0 && settings.rounds > 0;
}

std::string program_directory() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

// With a delay, the syncs of this program must be slow, too: it starts itself again with the library.
std::map<std::string, std::string> slow_environment(const Settings& settings, char** argv) {
  if (settings.sync_delay_us <= 0) return {};
  const std::string library = program_directory() + "/libslow_sync.so";
  const std::string delay = std::to_string(settings.sync_delay_us);
  if (std::getenv("SLOW_SYNC_US") == nullptr) {
    setenv("SLOW_SYNC_US", delay.c_str(), 1);
    setenv("LD_PRELOAD", library.c_str(), 1);
    execv("/proc/self/exe", argv);
    throw std::runtime_error("cannot start itself again");
  }
  return {{"LD_PRELOAD", library}, {"SLOW_SYNC_US", delay}};
}

// Removed at the end, with what the servers left in it.
class Workplace {
 public:
  explicit Workplace(const std::string& parent) : path_(parent + "/bench-commit-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string metadata_of(std::size_t bytes) {
  std::string out = "{";
  for (int i = 0; out.size() < bytes; ++i)
    out += (i == 0 ? "" : ",") + ("\"note_" + std::to_string(i) + "\":\"") +
           std::string("what was found out on the way, and why it matters later on") + "\"";
  return out + "}";
}

std::string session_name(std::size_t index) { return "bench-" + std::to_string(index); }

void create_sessions(test::TestDaemon& daemon) {
  test::TestClient client = daemon.connect();
  // The rest of the document takes about 700 bytes.
  const std::string metadata = metadata_of(document_bytes - 700);
  for (std::size_t i = 0; i < sessions_max; ++i) {
    const auto reply = client.call(
        "workflow.create", R"({"session_id":")" + session_name(i) +
                               R"(","workflow_type":"bench","target_file":"specs/bench","total_phases":6,)" +
                               R"("metadata":)" + metadata + "}");
    if (!reply.is_object() || !reply.get_object().contains("result"))
      throw std::runtime_error("cannot create a session: " + boost::json::serialize(reply));
  }
}

// About 150 bytes that differ from one change to the next; few members, so that the document stays as large
// as it was.
Script updates(std::size_t session, std::size_t client) {
  Script script;
  for (std::size_t turn = 0; turn < 16; ++turn) {
    const std::string value =
        std::to_string(turn) + std::string(100, static_cast<char>('a' + (client + turn) % 26));
    script.push_back(test::request(1, "session.update",
                                   R"({"session_id":")" + session_name(session) +
                                       R"(","changes":{"metadata":{"now_)" + std::to_string(client % 4) +
                                       R"(":")" + value + "\"}}}"));
  }
  return script;
}

class Bench {
 public:
  Bench(const Settings& settings, const std::map<std::string, std::string>& environment)
      : settings_(settings),
        place_(settings.directory),
        daemon_({.config = "log_level: warn\n",
                 .environment = environment,
                 .open_files_max = {},
                 .state_dir = place_.file("state")}) {
    create_sessions(daemon_);
    redis_ = RedisServer::start(place_.file("redis"), sockets_.file("redis.sock"), environment);
    if (redis_ == nullptr)
      std::fprintf(stderr, "NO REDIS: redis-server is not installed, its rows and ratios are left out\n");
    const std::string document(document_bytes, 'd');
    add_threads("raw append 200 B + fdatasync", raw_append(place_.file("raw")), {1, 64});
    add_threads("specs' protocol, 4 KB", specs_protocol(place_.file("specs"), document), {1, 64});
    if (const MakeWork sqlite = sqlite_update(place_.file("sqlite"), document))
      add_threads("SQLite WAL FULL, 4 KB row", sqlite, {1, 64});
    else
      std::fprintf(stderr, "NO SQLITE: built without libsqlite3, its rows and ratios are left out\n");
    if (redis_ != nullptr) add_redis(document);
    add_daemon();
  }

  void run() {
    const std::chrono::milliseconds slice(static_cast<long>(
        settings_.seconds * 1000 / 1.1 / settings_.rounds / static_cast<double>(rows_.size())));
    for (int round = 0; round < settings_.rounds; ++round)
      for (Row& row : rows_) row.rounds.push_back(row.measure(slice));
  }

  void print() const {
    std::printf("%-30s %7s %8s %10s %9s %9s %9s %9s\n", "", "clients", "sessions", "per second", "p50 us",
                "p95 us", "p99 us", "CPU us");
    for (const Row& row : rows_) {
      const Measured m = median_of(row.rounds);
      std::printf("%-30s %7zu %8zu %10.0f %9.0f %9.0f %9.0f %9.1f\n", row.name.c_str(), row.clients,
                  row.sessions, m.per_second, m.p50_us, m.p95_us, m.p99_us, m.cpu_us_per_trip);
    }
    print_targets(targets());
  }

  void print_json() const {
    std::printf("{\"rows\":[");
    for (const Row& row : rows_) {
      const Measured m = median_of(row.rounds);
      std::printf(
          "%s{\"name\":\"%s\",\"clients\":%zu,\"sessions\":%zu,\"per_second\":%.0f,\"p50_us\":%.0f,"
          "\"p95_us\":%.0f,\"p99_us\":%.0f}",
          &row == rows_.data() ? "" : ",", row.name.c_str(), row.clients, row.sessions, m.per_second,
          m.p50_us, m.p95_us, m.p99_us);
    }
    std::printf("],");
    print_targets_json(targets());
    std::printf("}\n");
  }

 private:
  void add_threads(const std::string& name, const MakeWork& work, std::initializer_list<std::size_t> counts) {
    for (const std::size_t count : counts)
      rows_.push_back({name,
                       count,
                       count,
                       [=](std::chrono::milliseconds slice) { return measure_threads(count, work, slice); },
                       {}});
  }

  void add_load(const std::string& name, std::size_t sessions, Load load) {
    const std::size_t clients = load.clients.size();
    rows_.push_back(
        {name,
         clients,
         sessions,
         [load = std::move(load)](std::chrono::milliseconds slice) { return bench::measure(load, slice); },
         {}});
  }

  void add_redis(const std::string& document) {
    for (const std::size_t clients : {1, 8, 64}) {
      Load set{.socket = sockets_.file("redis.sock"), .server = redis_->pid(), .clients = {}};
      set.newlines_per_reply = RedisServer::newlines_of_set;
      Load get = set;
      get.newlines_per_reply = RedisServer::newlines_of_get;
      for (std::size_t i = 0; i < clients; ++i) {
        set.clients.push_back({RedisServer::set(session_name(i), document)});
        get.clients.push_back({RedisServer::get(session_name(i))});
      }
      add_load("Redis SET 4 KB", clients, set);
      if (clients != 8) add_load("Redis GET 4 KB", clients, get);
    }
  }

  void add_daemon() {
    for (const std::size_t clients : {1, 8, 64}) {
      Load one{.socket = daemon_.socket(), .server = daemon_.pid(), .clients = {}};
      Load many = one;
      Load get = one;
      for (std::size_t i = 0; i < clients; ++i) {
        one.clients.push_back(updates(0, i));
        many.clients.push_back(updates(i, i));
        get.clients.push_back(
            {test::request(1, "session.get", R"({"session_id":")" + session_name(i) + "\"}")});
      }
      add_load("session.update", 1, one);
      if (clients > 1) add_load("session.update", clients, many);
      if (clients != 8) add_load("session.get", clients, get);
    }
  }

  Measured figures(std::string_view name, std::size_t clients, std::size_t sessions) const {
    for (const Row& row : rows_)
      if (row.name.starts_with(name) && row.clients == clients && row.sessions == sessions)
        return median_of(row.rounds);
    return {};
  }

  std::vector<Target> targets() const {
    std::vector<Target> out;
    const auto add = [&](const std::string& what, double value, double peer, bool at_most, double limit,
                         const std::string& unit) {
      if (peer > 0) out.push_back({what, value / peer, at_most, limit, unit});
    };
    const Measured raw = figures("raw", 1, 1);
    const Measured update = figures("session.update", 1, 1);
    const Measured many = figures("session.update", 64, 64);
    const Measured shared = figures("session.update", 64, 1);
    const Measured set = figures("Redis SET", 1, 1);
    const Measured set_64 = figures("Redis SET", 64, 64);
    add("update p50, 1 client", update.p50_us, raw.p50_us, true, 1.4, "x raw append");
    add("update p50, 1 client", update.p50_us, set.p50_us, true, 1, "x Redis SET");
    const bool slow = settings_.sync_delay_us >= 1'000;
    add("updates/s, 64 clients, 64 sessions", many.per_second, set_64.per_second, false, slow ? 0.8 : 0.5,
        "x Redis SET");
    add("updates/s, 64 clients, 64 sessions", many.per_second, figures("specs", 64, 64).per_second, false, 5,
        "x specs' protocol");
    add("updates/s, 64 clients, 64 sessions", many.per_second, figures("SQLite", 64, 64).per_second, false,
        10, "x SQLite");
    add("updates/s, 64 clients, 1 session", shared.per_second, set_64.per_second, false, 1, "x Redis SET");
    add("get p50, 1 client", figures("session.get", 1, 1).p50_us, figures("Redis GET", 1, 1).p50_us, true,
        1.2, "x Redis GET");
    add("gets/s, 64 clients", figures("session.get", 64, 64).per_second,
        figures("Redis GET", 64, 64).per_second, false, 0.5, "x Redis GET");
    return out;
  }

  Settings settings_;
  Workplace place_;
  test::TempDir sockets_;
  test::TestDaemon daemon_;
  std::unique_ptr<RedisServer> redis_;
  std::vector<Row> rows_;
};

int run(int argc, char** argv) {
  Settings settings;
  if (!parse(settings, argc, argv)) return usage();
  const std::map<std::string, std::string> environment = slow_environment(settings, argv);
  if (settings.directory.empty()) settings.directory = program_directory();
  Bench bench(settings, environment);
  bench.run();
  if (settings.json)
    bench.print_json();
  else
    bench.print();
  return 0;
}

}  // namespace
}  // namespace sessiond::bench

int main(int argc, char** argv) { return sessiond::bench::run(argc, argv); }
