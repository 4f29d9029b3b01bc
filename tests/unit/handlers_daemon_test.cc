#include <doctest/doctest.h>
#include <unistd.h>

#include "proto/discover.h"
#include "support/test_dispatcher.h"

using namespace sessiond;
using namespace std::chrono_literals;

TEST_CASE("daemon.ping: answers with the version") {
  TestDispatcher daemon;
  CHECK(daemon.result("daemon.ping") == json::object{{"pong", true}, {"version", SESSIOND_VERSION}});
}

TEST_CASE("daemon.info: tells where things are and which limits hold") {
  TestDispatcher daemon;
  daemon.config.socket = "/run/x.sock";
  daemon.config.state_dir = "/var/lib/x";
  daemon.config.files = {"/etc/a.yaml", "/home/b.yaml"};
  daemon.config.log_level = log::Level::warn;
  daemon.config.limits = {.frame_bytes = 2'000,
                          .connections = 11,
                          .connections_per_uid = 7,
                          .outbox_bytes = 3'000,
                          .handshake = 1500ms,
                          .stall = 2500ms};
  daemon.clock.advance(90'999ms);
  const json::object expected{{"version", SESSIOND_VERSION},
                              {"pid", getpid()},
                              {"uptime_seconds", 90},
                              {"socket", "/run/x.sock"},
                              {"state_directory", "/var/lib/x"},
                              {"kinds", json::array{"workflow", "essay"}},
                              {"roots", json::array{"essay", "workflow"}},
                              {"config_files", {"/etc/a.yaml", "/home/b.yaml"}},
                              {"log_level", "warn"},
                              {"limits",
                               {{"frame_bytes", 2'000},
                                {"connections", 11},
                                {"connections_per_uid", 7},
                                {"outbox_bytes", 3'000},
                                {"handshake_ms", 1'500},
                                {"stall_ms", 2'500},
                                {"json_depth", 64},
                                {"batch_requests", 1'000},
                                {"id_bytes", 1'024},
                                {"header_bytes", 8'192},
                                {"requests_in_flight", 1'024}}}};
  CHECK(daemon.result("daemon.info") == expected);
}

TEST_CASE("daemon.info: the uptime does not jump with the wall clock") {
  TestDispatcher daemon;
  daemon.clock.advance(10s);
  daemon.clock.set_now(TimePoint(0ms));
  CHECK(daemon.result("daemon.info").at("uptime_seconds") == 10);
}

TEST_CASE("daemon.stats: counts what was done so far") {
  TestDispatcher daemon;
  daemon.stats.connections_open = 1;
  daemon.stats.connections_accepted = 4;
  daemon.stats.connections_refused = 2;
  daemon.stats.connections_dropped = 3;
  daemon.clock.advance(5s);
  daemon.call("daemon.ping");
  daemon.call("daemon.ping");
  daemon.call("no.such");
  daemon.ask(R"([{"jsonrpc":"2.0","method":"daemon.ping"}])");
  json::object result = daemon.result("daemon.stats");
  CHECK(result.at("memory_bytes").as_int64() > 1'000'000);
  result.erase("memory_bytes");
  const json::object expected{
      {"uptime_seconds", 5},
      {"requests", 4},
      {"notifications", 1},
      {"batches", 1},
      {"requests_by_method", {{"daemon.ping", 3}, {"daemon.stats", 1}}},
      {"errors", {{"method_not_found", 1}}},
      {"connections", {{"open", 1}, {"accepted", 4}, {"refused", 2}, {"dropped", 3}}},
      {"sessions", json::object()},
      {"commits",
       {{"commits", 0}, {"syncs", 0}, {"history_bytes", 0}, {"p50_us", 0}, {"p95_us", 0}, {"p99_us", 0}}}};
  CHECK(result == expected);
  CHECK_FALSE(daemon.result("daemon.stats", R"({"format":"json"})").contains("text"));
}

TEST_CASE("daemon.stats: the Prometheus text has a type and a help for every metric") {
  TestDispatcher daemon;
  daemon.stats.connections_open = 1;
  daemon.stats.connections_accepted = 4;
  daemon.call("no.such");
  daemon.clock.advance(5s);
  const json::object result = daemon.result("daemon.stats", R"({"format":"prometheus"})");
  std::string text(result.at("text").as_string());
  const std::string memory = std::to_string(result.at("memory_bytes").as_int64());
  CHECK(text ==
        "# HELP sessiond_uptime_seconds Seconds since the daemon started.\n"
        "# TYPE sessiond_uptime_seconds gauge\n"
        "sessiond_uptime_seconds 5\n"
        "# HELP sessiond_notifications_total Requests without an id.\n"
        "# TYPE sessiond_notifications_total counter\n"
        "sessiond_notifications_total 0\n"
        "# HELP sessiond_batches_total Batches received.\n"
        "# TYPE sessiond_batches_total counter\n"
        "sessiond_batches_total 0\n"
        "# HELP sessiond_requests_total Calls by method.\n"
        "# TYPE sessiond_requests_total counter\n"
        "sessiond_requests_total{method=\"daemon.stats\"} 1\n"
        "# HELP sessiond_errors_total Error replies by name.\n"
        "# TYPE sessiond_errors_total counter\n"
        "sessiond_errors_total{error=\"method_not_found\"} 1\n"
        "# HELP sessiond_connections_open Open connections.\n"
        "# TYPE sessiond_connections_open gauge\n"
        "sessiond_connections_open 1\n"
        "# HELP sessiond_connections_accepted_total Accepted connections.\n"
        "# TYPE sessiond_connections_accepted_total counter\n"
        "sessiond_connections_accepted_total 4\n"
        "# HELP sessiond_connections_refused_total Refused connections.\n"
        "# TYPE sessiond_connections_refused_total counter\n"
        "sessiond_connections_refused_total 0\n"
        "# HELP sessiond_connections_dropped_total Connections closed for breaking a limit.\n"
        "# TYPE sessiond_connections_dropped_total counter\n"
        "sessiond_connections_dropped_total 0\n"
        "# HELP sessiond_sessions Known sessions by kind and status.\n"
        "# TYPE sessiond_sessions gauge\n"
        "# HELP sessiond_commits_total Commands that became durable.\n"
        "# TYPE sessiond_commits_total counter\n"
        "sessiond_commits_total 0\n"
        "# HELP sessiond_syncs_total Syncs of histories.\n"
        "# TYPE sessiond_syncs_total counter\n"
        "sessiond_syncs_total 0\n"
        "# HELP sessiond_history_bytes_total Bytes appended to histories.\n"
        "# TYPE sessiond_history_bytes_total counter\n"
        "sessiond_history_bytes_total 0\n"
        "# HELP sessiond_commit_microseconds Time from the start of a commit to its being durable.\n"
        "# TYPE sessiond_commit_microseconds summary\n"
        "sessiond_commit_microseconds{quantile=\"0.5\"} 0\n"
        "sessiond_commit_microseconds{quantile=\"0.95\"} 0\n"
        "sessiond_commit_microseconds{quantile=\"0.99\"} 0\n"
        "# HELP sessiond_resident_memory_bytes Resident memory.\n"
        "# TYPE sessiond_resident_memory_bytes gauge\n"
        "sessiond_resident_memory_bytes " +
            memory + "\n");
}

TEST_CASE("client.hello: tells who calls, and remembers what he says of himself") {
  TestDispatcher daemon;
  CHECK(daemon.result("client.hello") ==
        json::object{{"uid", 1000}, {"gid", 100}, {"pid", 4242}, {"version", SESSIOND_VERSION}});
  CHECK(daemon.result("client.hello", R"({"agent":"a","model":"m"})") ==
        json::object{{"uid", 1000},
                     {"gid", 100},
                     {"pid", 4242},
                     {"agent", "a"},
                     {"model", "m"},
                     {"version", SESSIOND_VERSION}});
  // What is not said again stays.
  CHECK(daemon.result("client.hello", R"({"model":"n","name":"prog"})") ==
        json::object{{"uid", 1000},
                     {"gid", 100},
                     {"pid", 4242},
                     {"agent", "a"},
                     {"model", "n"},
                     {"name", "prog"},
                     {"version", SESSIOND_VERSION}});
  CHECK(daemon.caller.agent == "a");
  CHECK(daemon.caller.model == "n");
  CHECK(daemon.caller.name == "prog");
}

TEST_CASE("client.hello: names have 1 to 128 characters, and a refused call changes nothing") {
  TestDispatcher daemon;
  std::string longest(127, 'x');
  longest += "é";
  CHECK(daemon.result("client.hello", R"({"agent":")" + longest + "\"}").at("agent").as_string() == longest);
  CHECK(daemon.error("client.hello", R"({"agent":""})").at("message") ==
        R"(params.agent: expected a string of 1 to 128 characters, got "" (0 characters))");
  CHECK(daemon.error("client.hello", R"({"agent":"new","model":")" + std::string(129, 'x') + "\"}")
            .at("data")
            .at("field") == "params.model");
  CHECK(daemon.caller.agent == longest);
}

TEST_CASE("rpc.discover: answers the document") {
  TestDispatcher daemon;
  CHECK(daemon.result("rpc.discover") == discover_document());
}
