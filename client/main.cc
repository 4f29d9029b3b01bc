// sessiond-client: the command line.
#include <CLI/CLI.hpp>
#include <array>

#include "client/commands.h"
#include "common/text.h"

namespace sessiond {
namespace {

struct CommandLine {
  Options options;
  bool prometheus = false;
  bool tables = false;
  bool call_help = false;
  std::string method;
  std::vector<std::string> words;
};

void declare(CLI::App& app, CommandLine& line, int& status) {
  app.set_version_flag("--version", "sessiond-client " SESSIOND_VERSION);
  app.add_option("--socket", line.options.socket,
                 "Socket of the daemon (default: $SESSIOND_SOCKET, the user's, the system's)");
  app.add_flag("--json", line.options.json, "Print JSON for programs");
  app.add_option_function<double>(
         "--timeout",
         [&line](double seconds) {
           line.options.timeout = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
         },
         "Seconds to wait for an answer (60)")
      ->check(CLI::Range(0.001, 86'400.0));
  app.require_subcommand(1);
  app.fallthrough();

  app.add_subcommand("ping", "Ask the daemon whether it is alive")->callback([&] {
    status = ping(line.options);
  });
  app.add_subcommand("info", "Show what the daemon is, where it keeps things and its limits")->callback([&] {
    status = info(line.options);
  });
  CLI::App* stats_command = app.add_subcommand("stats", "Show what the daemon did since it started");
  stats_command->add_flag("--prometheus", line.prometheus, "In Prometheus' text format");
  stats_command->callback([&] { status = stats(line.options, line.prometheus); });

  CLI::App* discover_command = app.add_subcommand("discover", "List the methods, or explain one");
  discover_command->add_option("METHOD", line.method, "Explain this method");
  discover_command->add_flag("--tables", line.tables, "Print the reference tables of PROTOCOL.md");
  discover_command->callback([&] { status = discover(line.options, line.method, line.tables); });

  CLI::App* call_command = app.add_subcommand("call", "Call any method");
  call_command->set_help_flag();
  call_command->add_flag("-h,--help", line.call_help, "Explain the method");
  call_command->add_option("METHOD", line.method, "Method to call")->required();
  call_command->add_option("ARGUMENTS", line.words, "name=value, name:=JSON, name=@FILE, or one JSON object");
  call_command->callback([&] { status = call(line.options, line.method, line.words, line.call_help); });
}

// CLI11 has no "did you mean" of its own.
void suggest(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string_view> names;
  std::vector<std::string> owned;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    owned.push_back(command->get_name());
  names.assign(owned.begin(), owned.end());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    const std::string hint = word.starts_with('-') ? "" : did_you_mean(word, names);
    if (hint.empty()) continue;
    std::fprintf(stderr, "%s is not a command%s\n", quoted(word).c_str(), hint.c_str());
    return;
  }
}

int run(int argc, char** argv) {
  CommandLine line;
  int status = 0;
  CLI::App app{"sessiond-client: talks to the sessiond daemon"};
  declare(app, line, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    suggest(app, argc, argv);
    app.exit(error);
    return 2;
  }
  return status;
}

}  // namespace
}  // namespace sessiond

int main(int argc, char** argv) { return sessiond::run(argc, argv); }
