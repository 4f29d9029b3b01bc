// The configuration: what the files and flags say, checked, with every default filled in. A plain value; made
// before anything else and read again on SIGHUP.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/limits.h"
#include "common/log.h"
#include "common/result.h"
#include "common/time.h"
#include "proto/describe.h"

namespace sessiond {

// Beside the daemon's own user and root, who may connect.
struct AccessRules {
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
  bool others_allowed() const { return !uids.empty() || !gids.empty(); }
};

// std::nullopt: off.
struct Timeouts {
  std::optional<Millis> inactivity = std::chrono::hours(24);
  std::optional<Millis> abandonment = std::chrono::days(7);
};

struct RootConfig {
  std::string name;
  std::string path;
  std::string kind;
  static constexpr auto fields() {
    using R = RootConfig;
    return std::array{field<&R::name>("name", "short name of the root", length(1, 128)),
                      field<&R::path>("path", "directory that holds sessions", length(1, 3'000)),
                      field<&R::kind>("kind", "which kind of session it holds", length(1, 64))};
  }
};

struct Config {
  std::string socket;
  std::string state_dir;
  log::Level log_level = log::Level::info;
  AccessRules access;
  Timeouts timeouts;
  std::map<std::string, Timeouts> kind_timeouts;  // kinds that differ
  std::vector<RootConfig> roots;
  Limits limits;
  std::vector<std::string> files;  // that were read
};

// What the command line may override; empty means not given.
struct ConfigFlags {
  std::string config_file;  // read instead of the default files, and must exist
  std::string state_dir;
  std::string socket;
  std::string log_level;
};

// Reads the files and applies the flags. An error names the file, the line, the key and, for an unknown key,
// the nearest known one.
Result<Config> load_config(const ConfigFlags& flags);

// Applies one file's text on top of `config`. `file` is only used in messages.
Status apply_config_text(Config& config, std::string_view text, const std::string& file);

}  // namespace sessiond
