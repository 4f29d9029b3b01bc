#include "tests/bench/peers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#ifdef BENCH_SQLITE
#include <sqlite3.h>
#endif

#include "tests/support/test_client.h"

namespace sessiond::bench {
namespace {

using Clock = std::chrono::steady_clock;

void must(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + " failed");
}

// A descriptor that closes itself and can be held by a copyable function.
std::shared_ptr<const int> open_file(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  must(file >= 0, "open");
  return {new int(file), [](const int* held) {
            ::close(*held);
            delete held;
          }};
}

void write_synced(const std::string& path, const std::string& bytes) {
  const auto file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  must(::write(*file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
  must(::fsync(*file) == 0, "fsync");
}

}  // namespace

Measured measure_threads(std::size_t threads, const MakeWork& make_work, std::chrono::milliseconds duration) {
  std::vector<double> latencies_us;
  std::mutex mutex;
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  const auto run = [&](std::size_t thread) {
    const Work work = make_work(thread);
    std::vector<double> own;
    start.arrive_and_wait();
    const auto end = Clock::now() + duration;
    for (auto began = Clock::now(); began < end;) {
      work();
      const auto now = Clock::now();
      own.push_back(std::chrono::duration<double, std::micro>(now - began).count());
      began = now;
    }
    const std::lock_guard lock(mutex);
    latencies_us.insert(latencies_us.end(), own.begin(), own.end());
  };
  const auto began = Clock::now();
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) running.emplace_back(run, i);
  for (std::thread& thread : running) thread.join();
  const std::chrono::duration<double> took = Clock::now() - began;
  Measured out{static_cast<double>(latencies_us.size()) / took.count()};
  set_quantiles(out, latencies_us);
  return out;
}

MakeWork raw_append(const std::string& directory) {
  std::filesystem::create_directories(directory);
  return [directory](std::size_t thread) -> Work {
    auto file = open_file(directory + "/" + std::to_string(thread), O_WRONLY | O_CREAT | O_APPEND);
    return [file = std::move(file), bytes = std::string(200, 'x')] {
      must(::write(*file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
      must(::fdatasync(*file) == 0, "fdatasync");
    };
  };
}

MakeWork specs_protocol(const std::string& directory, const std::string& document) {
  std::filesystem::create_directories(directory);
  return [directory, document](std::size_t thread) -> Work {
    const std::string own = directory + "/" + std::to_string(thread);
    std::filesystem::create_directories(own);
    write_synced(own + "/state.json", document);
    return [own, document, handle = open_file(own, O_RDONLY | O_DIRECTORY)] {
      write_synced(own + "/state.json.tmp", document);
      write_synced(own + "/state.json.bak", test::read_file(own + "/state.json"));
      must(::rename((own + "/state.json.tmp").c_str(), (own + "/state.json").c_str()) == 0, "rename");
      must(::fsync(*handle) == 0, "fsync");
    };
  };
}

#ifdef BENCH_SQLITE

namespace {

using Database = std::shared_ptr<sqlite3>;

void execute(sqlite3* database, const char* statement) {
  if (sqlite3_exec(database, statement, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(database));
}

Database open_database(const std::string& path) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open(path.c_str(), &opened);
  Database database(opened, sqlite3_close);
  must(status == SQLITE_OK, "sqlite3_open");
  sqlite3_busy_timeout(opened, 60'000);
  execute(opened, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
  return database;
}

}  // namespace

MakeWork sqlite_update(const std::string& directory, const std::string& document) {
  std::filesystem::create_directories(directory);
  const std::string path = directory + "/bench.db";
  execute(open_database(path).get(), "CREATE TABLE IF NOT EXISTS session(id INTEGER PRIMARY KEY, document)");
  return [path, document](std::size_t thread) -> Work {
    const Database database = open_database(path);
    sqlite3_stmt* prepared = nullptr;
    must(sqlite3_prepare_v2(database.get(), "REPLACE INTO session VALUES(?, ?)", -1, &prepared, nullptr) ==
             SQLITE_OK,
         "sqlite3_prepare");
    // Declared after the database, so it is finalized before that is closed.
    const std::shared_ptr<sqlite3_stmt> statement(prepared, sqlite3_finalize);
    sqlite3_bind_int64(prepared, 1, static_cast<sqlite3_int64>(thread));
    sqlite3_bind_text(prepared, 2, document.data(), static_cast<int>(document.size()), SQLITE_TRANSIENT);
    return [database, statement] {
      must(sqlite3_step(statement.get()) == SQLITE_DONE, "sqlite3_step");
      sqlite3_reset(statement.get());
    };
  };
}

#else

MakeWork sqlite_update(const std::string&, const std::string&) { return nullptr; }

#endif

std::unique_ptr<RedisServer> RedisServer::start(const std::string& directory, const std::string& socket,
                                                const std::map<std::string, std::string>& environment) {
  std::filesystem::create_directories(directory);
  // No rewriting of its log and no snapshots: they would only cost it time here.
  test::write_file(directory + "/redis.conf",
                   "port 0\nunixsocket " + socket + "\ndir " + directory +
                       "\nappendonly yes\nappendfsync always\nsave \"\"\nauto-aof-rewrite-percentage 0\n"
                       "daemonize no\nlogfile \"\"\n");
  auto server = std::make_unique<RedisServer>();
  server->process_ = std::make_unique<test::Process>(
      test::ProcessOptions{.command = {"redis-server", directory + "/redis.conf"},
                           .environment = environment,
                           .input = {},
                           .open_files_max = {}});
  bool answers = false;
  test::eventually([&] {
    test::TestClient client(socket);
    answers = client.connected() && client.send("PING\r\n") && client.read_line().has_value();
    return answers || !server->process_->running();
  });
  if (answers) return server;
  if (server->process_->wait() == 127) return nullptr;
  throw std::runtime_error("redis-server did not start: " + server->process_->out());
}

std::string RedisServer::set(const std::string& key, const std::string& value) {
  return "*3\r\n$3\r\nSET\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n$" +
         std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

std::string RedisServer::get(const std::string& key) {
  return "*2\r\n$3\r\nGET\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
}

}  // namespace sessiond::bench
