// What the daemon is compared with: the disk itself, the protocol that the specifications describe, SQLite
// and Redis. All store on the same disk, each in a directory of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/bench/load.h"
#include "tests/support/process.h"

namespace sessiond::bench {

// One durable change. Made and called on a thread of its own.
using Work = std::function<void()>;
using MakeWork = std::function<Work(std::size_t thread)>;

// Calls the work of each thread over and over for about `duration`.
Measured measure_threads(std::size_t threads, const MakeWork& make_work, std::chrono::milliseconds duration);

// Appends 200 bytes to a file and syncs it.
MakeWork raw_append(const std::string& directory);
// Writes the document to a temporary file, syncs, copies the file before to .bak, syncs, renames, syncs the
// directory.
MakeWork specs_protocol(const std::string& directory, const std::string& document);
// Updates a row in a database that all threads share; WAL, synchronous=FULL. Null without SQLite.
MakeWork sqlite_update(const std::string& directory, const std::string& document);

class RedisServer {
 public:
  // Null when it is not installed. Answers when this returns.
  static std::unique_ptr<RedisServer> start(const std::string& directory, const std::string& socket,
                                            const std::map<std::string, std::string>& environment);
  pid_t pid() const { return process_->pid(); }

  static std::string set(const std::string& key, const std::string& value);
  static std::string get(const std::string& key);
  static constexpr std::size_t newlines_of_set = 1;
  static constexpr std::size_t newlines_of_get = 2;

 private:
  std::unique_ptr<test::Process> process_;
};

}  // namespace sessiond::bench
