#include "daemon/flags.h"

#include <CLI/CLI.hpp>

namespace sessiond {

std::variant<Flags, int> parse_flags(int argc, char** argv) {
  Flags flags;
  CLI::App app{"sessiond: owns the state of long-running agent work and serves it over a Unix socket"};
  app.set_version_flag("--version", "sessiond " SESSIOND_VERSION);
  app.add_option("--config", flags.config.config_file, "Read this file instead of the default ones");
  app.add_option("--state-dir", flags.config.state_dir, "Directory that the daemon owns");
  app.add_option("--socket", flags.config.socket, "Path of the socket to listen on");
  app.add_option("--log-level", flags.config.log_level, "trace, debug, info, warn or error");
  app.add_flag("--check-config", flags.check_config, "Read the configuration, say what is wrong, and exit");
  app.footer("Without a configuration the defaults serve: see README.md.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return 2;
  }
  return flags;
}

}  // namespace sessiond
