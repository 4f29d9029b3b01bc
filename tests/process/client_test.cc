// The real client against the real daemon: what it prints, for people and for programs, and its exit status.
#include <doctest/doctest.h>

#include <csignal>

#include "tests/support/test_daemon.h"

namespace sessiond::test {
namespace {

using Words = std::vector<std::string>;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs the client on this daemon.
Finished client(const TestDaemon& daemon, const Words& words, const std::string& input = "") {
  Words command{client_program(), "--socket", daemon.socket()};
  command.insert(command.end(), words.begin(), words.end());
  return run({.command = command, .environment = {}, .input = input});
}

// With --json, which must print one line of JSON and nothing else.
json::value client_json(const TestDaemon& daemon, Words words, int status = 0) {
  words.insert(words.begin(), "--json");
  const Finished finished = client(daemon, words);
  CAPTURE(finished.out);
  CHECK(finished.status == status);
  CHECK(finished.err.empty());
  CHECK(finished.out.find('\n') == finished.out.size() - 1);
  return json::parse(finished.out);
}

}  // namespace

TEST_CASE("ping") {
  const TestDaemon daemon;
  const Finished ping = client(daemon, {"ping"});
  CHECK(ping.status == 0);
  CHECK(ping.err.empty());
  CHECK(ping.out.starts_with("pong from sessiond " SESSIOND_VERSION " in "));
  CHECK(ping.out.ends_with(" ms\n"));
  const json::value reply = client_json(daemon, {"ping"});
  CHECK(reply.at("pong") == true);
  CHECK(reply.at("version") == SESSIOND_VERSION);
}

TEST_CASE("info and stats") {
  const TestDaemon daemon({.config = "limits: {connections: 77}\n"});
  const Finished info = client(daemon, {"info"});
  CHECK(info.status == 0);
  CHECK(holds(info.out, daemon.socket()));
  CHECK(holds(info.out, daemon.files().state_dir()));
  CHECK(holds(info.out, "limits\n"));
  const json::value facts = client_json(daemon, {"info"});
  CHECK(facts.at("pid") == daemon.pid());
  CHECK(facts.at("limits").at("connections") == 77);
  CHECK(facts.at("config_files").at(0).as_string() == daemon.files().config_file().c_str());

  const Finished stats = client(daemon, {"stats"});
  CHECK(stats.status == 0);
  CHECK(holds(stats.out, "requests_by_method\n"));
  CHECK(client_json(daemon, {"stats"}).at("requests_by_method").at("daemon.info") == 2);
  const Finished metrics = client(daemon, {"stats", "--prometheus"});
  CHECK(metrics.status == 0);
  CHECK(metrics.out.starts_with("# HELP sessiond_"));
  CHECK(holds(metrics.out, "sessiond_requests_total{method=\"daemon.info\"} 2\n"));
  CHECK(holds(client_json(daemon, {"stats", "--prometheus"}).at("text").as_string().c_str(), "# TYPE"));
}

TEST_CASE("discover lists, explains and suggests") {
  const TestDaemon daemon;
  const Finished list = client(daemon, {"discover"});
  CHECK(list.status == 0);
  for (const char* method :
       {"daemon.ping ", "daemon.info ", "daemon.stats ", "client.hello ", "rpc.discover "})
    CHECK(holds(list.out, method));
  CHECK(client_json(daemon, {"discover"}).at("openrpc") == "1.2.6");
  const Finished one = client(daemon, {"discover", "daemon.stats"});
  CHECK(one.status == 0);
  CHECK(holds(one.out, "one of json, prometheus"));
  CHECK(client_json(daemon, {"discover", "daemon.stats"}).at("name") == "daemon.stats");
  const Finished tables = client(daemon, {"discover", "--tables"});
  CHECK(tables.status == 0);
  CHECK(holds(tables.out, "| `daemon.ping` |"));
  const Finished wrong = client(daemon, {"discover", "daemon.stat"});
  CHECK(wrong.status == 2);
  CHECK(holds(wrong.err, "did you mean 'daemon.stats'?"));
}

TEST_CASE("call takes name=value, name:=JSON, files and one JSON object") {
  const TestDaemon daemon;
  const std::string file = daemon.files().root() + "/name.txt";
  write_file(file, "from a file");
  const auto name_of = [&](const Words& words, const std::string& input = "") {
    Words all{"--json", "call", "client.hello"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished finished = client(daemon, all, input);
    CAPTURE(finished.out);
    CAPTURE(finished.err);
    REQUIRE(finished.status == 0);
    const json::value reply = json::parse(finished.out);
    return std::string(reply.at("name").as_string());
  };
  CHECK(name_of({"name=tool"}) == "tool");
  CHECK(name_of({"name=42"}) == "42");  // the parameter is a string
  CHECK(name_of({"name=a=b"}) == "a=b");
  CHECK(name_of({"name:=\"quoted\""}) == "quoted");
  CHECK(name_of({"name=@" + file}) == "from a file");
  CHECK(name_of({"name=@-"}, "from stdin") == "from stdin");
  CHECK(name_of({"name=@@at"}) == "@at");
  CHECK(name_of({R"({"name":"object"})"}) == "object");
  CHECK(name_of({"name=tool", "agent=me"}) == "tool");
  const Finished pretty = client(daemon, {"call", "client.hello", "name=tool"});
  CHECK(pretty.status == 0);
  CHECK(holds(pretty.out, "  \"name\": \"tool\",\n"));
  CHECK(client_json(daemon, {"call", "daemon.ping"}).at("pong") == true);
}

TEST_CASE("call explains what is wrong with its arguments") {
  const TestDaemon daemon;
  struct Case {
    Words words;
    int status;
    const char* said;
  };
  for (const Case& wrong :
       {Case{{"daemon.pong"}, 2, "did you mean 'daemon.ping'?"},
        Case{{"daemon.pong", "a=b"}, 2, "did you mean 'daemon.ping'?"},
        Case{{"client.hello", "nam=x"}, 2, "did you mean 'name'?"},
        Case{{"client.hello", "name=x", "name=y"}, 2, "is given twice"},
        Case{{"client.hello", "x"}, 2, "expected name=value"},
        Case{{"client.hello", "name:={"}, 2, "name: not valid JSON"},
        Case{{"client.hello", "name=@/no/such/file"}, 2, "cannot read \"/no/such/file\""},
        Case{{"client.hello", "{\"name\":"}, 2, "not valid JSON"},
        Case{{"client.hello", "name:=5"}, 2, "params.name: expected a string, got 5"},
        Case{{"client.hello", "name="}, 2, "params.name: expected a string of 1 to 128 characters"},
        Case{{"daemon.stats", "format=jsn"}, 2, "did you mean 'json'?"},
        Case{{"daemon.ping", "a=b"}, 2, "it takes none"}}) {
    Words words{"call"};
    words.insert(words.end(), wrong.words.begin(), wrong.words.end());
    CAPTURE(words.back());
    const Finished refused = client(daemon, words);
    CAPTURE(refused.err);
    CHECK(refused.status == wrong.status);
    CHECK(refused.out.empty());
    CHECK(refused.err.starts_with("error: "));
    CHECK(holds(refused.err, wrong.said));
    const json::value reply = client_json(daemon, words, wrong.status);
    CHECK(holds(std::string(reply.at("error").at("message").as_string()), wrong.said));
    CHECK(reply.at("error").at("data").at("error").is_string());
  }
}

TEST_CASE("help per method") {
  const TestDaemon daemon;
  for (const char* flag : {"--help", "-h"}) {
    const Finished help = client(daemon, {"call", "client.hello", flag});
    CHECK(help.status == 0);
    CHECK(help.out.starts_with("client.hello: "));
    CHECK(holds(help.out, "name of the calling program"));
  }
}

TEST_CASE("mistakes on the command line") {
  const Finished none = run({.command = {client_program()}});
  CHECK(none.status == 2);
  const Finished slip = run({.command = {client_program(), "pign"}});
  CHECK(slip.status == 2);
  CHECK(holds(slip.err, "\"pign\" is not a command (did you mean 'ping'?)"));
  CHECK(run({.command = {client_program(), "call"}}).status == 2);
  CHECK(run({.command = {client_program(), "ping", "--no-such-flag"}}).status == 2);
  CHECK(run({.command = {client_program(), "--timeout", "soon", "ping"}}).status == 2);
  const Finished version = run({.command = {client_program(), "--version"}});
  CHECK(version.status == 0);
  CHECK(version.out == "sessiond-client " SESSIOND_VERSION "\n");
  CHECK(run({.command = {client_program(), "--help"}}).status == 0);
}

TEST_CASE("without a daemon it says where it looked and how to start one") {
  const TempDir empty;
  const std::string socket = empty.file("none.sock");
  for (const Words& words : {Words{"ping"}, Words{"info"}, Words{"stats"}, Words{"call", "daemon.ping"}}) {
    Words command{client_program(), "--socket", socket};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run({.command = command});
    CHECK(finished.status == 9);
    CHECK(finished.out.empty());
    CHECK(holds(finished.err, "no daemon answers on " + socket));
    CHECK(holds(finished.err, "next:  start one with 'sessiond'"));
  }
  const Finished machine = run({.command = {client_program(), "--socket", socket, "--json", "ping"}});
  CHECK(machine.status == 9);
  CHECK(json::parse(machine.out).at("error").at("data").at("error") == "no_daemon");
  // The list that it was built with serves for help.
  const Finished help = run({.command = {client_program(), "--socket", socket, "discover", "daemon.ping"}});
  CHECK(help.status == 0);
  CHECK(help.out.starts_with("daemon.ping: "));
}

TEST_CASE("it finds the socket by flag, by $SESSIOND_SOCKET, then in the user's directory") {
  const TestDaemon daemon;
  CHECK(run({.command = {client_program(), "ping"}, .environment = {{"SESSIOND_SOCKET", daemon.socket()}}})
            .status == 0);
  CHECK(run({.command = {client_program(), "ping", "--socket", daemon.socket()},
             .environment = {{"SESSIOND_SOCKET", "/nowhere"}}})
            .status == 0);
  const Finished named =
      run({.command = {client_program(), "ping"}, .environment = {{"SESSIOND_SOCKET", "/nowhere"}}});
  CHECK(named.status == 9);
  CHECK(holds(named.err, "/nowhere"));
  CHECK(run({.command = {client_program(), "ping"},
             .environment = {{"XDG_RUNTIME_DIR", daemon.files().root() + "/run"}}})
            .status == 0);
}

TEST_CASE("a daemon that does not answer in time") {
  // A stopped process keeps its socket: the connection succeeds and nothing follows.
  TestDaemon daemon;
  daemon.process().signal(SIGSTOP);
  const Finished late =
      run({.command = {client_program(), "--socket", daemon.socket(), "--timeout", "0.2", "ping"}});
  daemon.process().signal(SIGCONT);
  CHECK(late.status == 9);
  CHECK(holds(late.err, "did not answer within"));
}

TEST_CASE("an error of the daemon decides the exit status") {
  const TestDaemon daemon({.config = "limits: {connections: 1}\n"});
  TestClient only = daemon.connect();
  REQUIRE(only.ping());
  const Finished refused = client(daemon, {"ping"});
  CHECK(refused.status == 10);
  CHECK(holds(refused.err, "which is the limit"));
  CHECK(holds(refused.err, "next:  close one"));
}

}  // namespace sessiond::test
