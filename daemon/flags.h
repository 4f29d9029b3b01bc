// The daemon's command line.
#pragma once

#include <optional>
#include <variant>

#include "daemon/config.h"

namespace sessiond {

struct Flags {
  ConfigFlags config;
  bool check_config = false;
};

// The flags, or the exit status when the command line is answered already (--help, --version) or wrong.
std::variant<Flags, int> parse_flags(int argc, char** argv);

}  // namespace sessiond
