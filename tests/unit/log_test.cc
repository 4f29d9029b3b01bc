#include "common/log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "common/log_limit.h"
#include "support/environment.h"
#include "support/outcome.h"

using namespace sessiond;

namespace {

// What `body` writes to stderr.
std::string stderr_of(const std::function<void()>& body) {
  const TempDir dir;
  const std::string file = dir.write("stderr", "");
  const int saved = dup(STDERR_FILENO);
  const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  dup2(descriptor, STDERR_FILENO);
  body();
  dup2(saved, STDERR_FILENO);
  close(descriptor);
  close(saved);
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("log: every level has its name") {
  for (const char* name : {"trace", "debug", "info", "warn", "error"})
    CHECK(log::level_name(*log::parse_level(name)) == name);
  CHECK(refusal(log::parse_level("wran")) ==
        "expected one of trace, debug, info, warn, error, got \"wran\" (did you mean 'warn'?)");
  CHECK(refusal(log::parse_level("")) == "expected one of trace, debug, info, warn, error, got \"\"");
}

TEST_CASE("log: nobody can forge a line or send a terminal sequence") {
  struct stat stream {};
  REQUIRE(fstat(STDERR_FILENO, &stream) == 0);
  const std::string named = std::to_string(stream.st_dev) + ":" + std::to_string(stream.st_ino);
  const ScopedVariable journal("JOURNAL_STREAM", named.c_str());
  log::set_up(log::Level::info);
  struct Row {
    std::string_view message, line;
  };
  const Row rows[] = {
      {"plain", "<6>plain\n"},
      {"a\n<3>forged", "<6>a\\n<3>forged\n"},
      {"\x1b[2J", "<6>\\x1b[2J\n"},
      {"\r\xff\xc2\x9b", "<6>\\x0d\\xff\\xc2\\x9b\n"},
      {"say \"hi\" in C:\\dir", "<6>say \"hi\" in C:\\dir\n"},
      {"{} {0} %s %v é 😀", "<6>{} {0} %s %v é 😀\n"},
      {"ends with \\", "<6>ends with \\\n"},
      {"", "<6>\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    CHECK(stderr_of([&] { log::info(row.message); }) == row.line);
  }
  const std::string line = stderr_of([] { log::info(std::string(100'000, 'x')); });
  CHECK(line == "<6>" + std::string(4'000, 'x') + "...\n");
}

TEST_CASE("log: priorities for the journal, and levels below the chosen one are not written") {
  struct stat stream {};
  REQUIRE(fstat(STDERR_FILENO, &stream) == 0);
  const std::string named = std::to_string(stream.st_dev) + ":" + std::to_string(stream.st_ino);
  const ScopedVariable journal("JOURNAL_STREAM", named.c_str());
  const auto all = [] {
    log::write(log::Level::trace, "t");
    log::debug("d");
    log::info("i");
    log::warn("w");
    log::error("e");
  };
  log::set_up(log::Level::trace);
  CHECK(stderr_of(all) == "<7>t\n<7>d\n<6>i\n<4>w\n<3>e\n");
  log::set_level(log::Level::warn);
  CHECK(stderr_of(all) == "<4>w\n<3>e\n");
  CHECK_FALSE(log::enabled(log::Level::info));
  CHECK(log::enabled(log::Level::error));
  log::set_level(log::Level::info);
  CHECK(stderr_of(all) == "<6>i\n<4>w\n<3>e\n");
}

TEST_CASE("log: lines that strangers cause are bounded, and what was left out is counted") {
  const auto start = LogLimit::Clock::now();
  const std::string text = stderr_of([&] {
    LogLimit limit(log::Level::warn, 2, std::chrono::seconds(10));
    for (int i = 0; i < 5; ++i) limit.write("refused " + std::to_string(i), start + std::chrono::seconds(i));
    limit.write("refused later", start + std::chrono::seconds(10));
    limit.write("refused much later", start + std::chrono::seconds(60));
  });
  CHECK(text.find("refused 1") != std::string::npos);
  CHECK(text.find("refused 2") == std::string::npos);
  CHECK(text.find("left out: 3 more like the last") != std::string::npos);
  CHECK(text.find("left out: 3") < text.find("refused later"));
  CHECK(text.find("left out: 0") == std::string::npos);
  CHECK(text.find("refused much later") != std::string::npos);
}
