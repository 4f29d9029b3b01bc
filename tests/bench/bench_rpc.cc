// Round trips per second of daemon.ping beside a bare Asio echo of 200 bytes, in one run: rounds alternate
// between the two, medians and their ratio are printed. It asserts no time: figures depend on the machine and
// its load.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/bench/echo_server.h"
#include "tests/bench/load.h"
#include "tests/support/test_daemon.h"

namespace sessiond::bench {
namespace {

struct Settings {
  double seconds = 20;
  int rounds = 5;
  bool json = false;
};

struct Row {
  std::size_t clients;
  std::size_t depth;
  std::vector<Measured> echo;
  std::vector<Measured> ping;
};

int usage() {
  std::fprintf(stderr, "usage: bench_rpc [--seconds N] [--rounds N] [--json]\n");
  return 2;
}

bool parse(Settings& settings, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      settings.json = true;
    } else if (i + 1 < argc && word == "--seconds") {
      settings.seconds = std::strtod(argv[++i], nullptr);
    } else if (i + 1 < argc && word == "--rounds") {
      settings.rounds = static_cast<int>(std::strtol(argv[++i], nullptr, 10));
    } else {
      return false;
    }
  }
  return settings.seconds > 0 && settings.rounds > 0;
}

void print_table(const std::vector<Row>& rows) {
  std::printf("%8s %6s %12s %14s %6s %16s %16s\n", "clients", "depth", "echo/s", "daemon.ping/s", "ratio",
              "echo CPU us/trip", "ping CPU us/trip");
  for (const Row& row : rows) {
    const Measured echo = median_of(row.echo);
    const Measured ping = median_of(row.ping);
    std::printf("%8zu %6zu %12.0f %14.0f %6.2f %16.2f %16.2f\n", row.clients, row.depth, echo.per_second,
                ping.per_second, ping.per_second / echo.per_second, echo.cpu_us_per_trip,
                ping.cpu_us_per_trip);
  }
}

void print_json(const std::vector<Row>& rows) {
  std::printf("[");
  for (const Row& row : rows) {
    const Measured echo = median_of(row.echo);
    const Measured ping = median_of(row.ping);
    std::printf(
        "%s{\"clients\":%zu,\"depth\":%zu,\"echo_per_second\":%.0f,\"ping_per_second\":%.0f,\"ratio\":%.3f,"
        "\"echo_cpu_us\":%.3f,\"ping_cpu_us\":%.3f}",
        &row == rows.data() ? "" : ",", row.clients, row.depth, echo.per_second, ping.per_second,
        ping.per_second / echo.per_second, echo.cpu_us_per_trip, ping.cpu_us_per_trip);
  }
  std::printf("]\n");
}

int run(int argc, char** argv) {
  Settings settings;
  if (!parse(settings, argc, argv)) return usage();
  const test::TempDir directory;
  const std::string echo_socket = directory.file("echo.sock");
  const EchoServer echo(echo_socket);
  const test::TestDaemon daemon({.config = "log_level: warn\n"});
  const std::string echo_message = std::string(199, 'x') + "\n";
  const std::string ping_message = test::request(1, "daemon.ping");

  std::vector<Row> rows{{1, 1, {}, {}}, {64, 1, {}, {}}, {1, 16, {}, {}}, {64, 16, {}, {}}};
  // Each measurement also warms up for a tenth of its time.
  const std::chrono::milliseconds slice(static_cast<long>(
      settings.seconds * 1000 / 1.1 / 2 / settings.rounds / static_cast<double>(rows.size())));
  for (int round = 0; round < settings.rounds; ++round) {
    for (Row& row : rows) {
      row.echo.push_back(
          measure({echo_socket, echo.pid(), same_for_all(row.clients, echo_message), row.depth}, slice));
      row.ping.push_back(measure(
          {daemon.socket(), daemon.pid(), same_for_all(row.clients, ping_message), row.depth}, slice));
    }
  }
  if (settings.json)
    print_json(rows);
  else
    print_table(rows);
  return 0;
}

}  // namespace
}  // namespace sessiond::bench

int main(int argc, char** argv) { return sessiond::bench::run(argc, argv); }
