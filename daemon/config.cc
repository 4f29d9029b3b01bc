#include "daemon/config.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/paths.h"
#include "common/text.h"
#include "common/yaml.h"
#include "proto/describe.h"

namespace sessiond {

// A duration in a file: "24h", or off.
struct DurationText {
  std::optional<Millis> value;
};

template <>
struct Codec<DurationText> {
  static Status decode(DurationText& out, const json::value& v, const Where& w, const Rules&) {
    if (v.is_bool() && !v.get_bool()) return {};  // YAML 1.1 readers taught people that off is false
    if (!v.is_string()) return expected(w, "a duration such as 90s, 15m, 24h, 7d, or off", v);
    if (v.get_string() == "off") return {};
    Result<Millis> parsed = parse_duration(v.get_string());
    if (!parsed)
      return Error(ErrorCode::invalid_params, w.text() + ": " + parsed.error().message)
          .with("field", w.text());
    if (parsed->count() == 0) return expected(w, "a duration above zero, or off", v);
    out.value = *parsed;
    return {};
  }
  static void write(const DurationText& v, std::string& out) {
    print_json_string(out, v.value ? format_duration(*v.value) : "off");
  }
  static json::object schema(const Rules&) { return {{"type", "string"}}; }
};

namespace {

// The shape of a file. Everything is optional.
struct TimeoutKeys {
  std::optional<DurationText> inactivity;
  std::optional<DurationText> abandonment;
  static constexpr auto fields() {
    using T = TimeoutKeys;
    return std::array{field<&T::inactivity>("inactivity", "pause after this long without activity"),
                      field<&T::abandonment>("abandonment", "mark as abandoned after this long")};
  }
};

struct AllTimeoutKeys {
  std::optional<DurationText> inactivity;
  std::optional<DurationText> abandonment;
  std::optional<std::map<std::string, TimeoutKeys>> kinds;
  static constexpr auto fields() {
    using T = AllTimeoutKeys;
    return std::array{field<&T::inactivity>("inactivity", "pause after this long without activity"),
                      field<&T::abandonment>("abandonment", "mark as abandoned after this long"),
                      field<&T::kinds>("kinds", "the same, per kind of session")};
  }
};

struct AccessKeys {
  std::optional<std::vector<json::value>> uids;
  std::optional<std::vector<json::value>> groups;
  static constexpr auto fields() {
    return std::array{field<&AccessKeys::uids>("uids", "user ids or names that may connect"),
                      field<&AccessKeys::groups>("groups", "group ids or names that may connect")};
  }
};

struct LimitKeys {
  std::optional<std::int64_t> frame_bytes, connections, connections_per_uid, outbox_bytes;
  std::optional<DurationText> handshake, stall;
  static constexpr auto fields() {
    using L = LimitKeys;
    return std::array{
        field<&L::frame_bytes>("frame_bytes", "bytes of one request", between(1'024, 256L * 1024 * 1024)),
        field<&L::connections>("connections", "open connections", between(1, 100'000)),
        field<&L::connections_per_uid>("connections_per_uid", "open connections of a user",
                                       between(1, 100'000)),
        field<&L::outbox_bytes>("outbox_bytes", "unread replies", between(1'024, 1024L * 1024 * 1024)),
        field<&L::handshake>("handshake", "time for a request to be complete"),
        field<&L::stall>("stall", "time for a peer to read something")};
  }
};

struct FileKeys {
  std::optional<std::string> socket, state_dir, log_level;
  std::optional<AccessKeys> access;
  std::optional<AllTimeoutKeys> timeouts;
  std::optional<std::vector<RootConfig>> roots;
  std::optional<LimitKeys> limits;
  static constexpr auto fields() {
    using F = FileKeys;
    return std::array{field<&F::socket>("socket", "path of the socket", length(1, 107)),
                      field<&F::state_dir>("state_dir", "directory that the daemon owns", length(1, 3'000)),
                      field<&F::log_level>("log_level", "how much is logged"),
                      field<&F::access>("access", "who may connect"),
                      field<&F::timeouts>("timeouts", "inactivity and abandonment"),
                      field<&F::roots>("roots", "directories that hold sessions"),
                      field<&F::limits>("limits", "limits of the daemon")};
  }
};

// The numeric id that `value` gives or names.
template <class Lookup>
Result<std::uint32_t> resolve_id(const json::value& value, const Where& where, Lookup lookup) {
  if (const std::int64_t* id = value.if_int64(); id != nullptr && *id >= 0 && *id < 0xFFFFFFFF)
    return static_cast<std::uint32_t>(*id);
  if (!value.is_string()) return expected(where, "an id or a name", value);
  const std::optional<std::uint32_t> id = lookup(std::string(value.get_string()).c_str());
  if (!id) return expected(where, "a name that this machine knows", value);
  return *id;
}

std::optional<std::uint32_t> user_named(const char* name) {
  const passwd* entry = getpwnam(name);
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->pw_uid);
}

std::optional<std::uint32_t> group_named(const char* name) {
  const group* entry = getgrnam(name);
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->gr_gid);
}

template <class Lookup>
Status resolve_all(std::vector<std::uint32_t>& out, const std::vector<json::value>& values,
                   std::string_view name, Lookup lookup) {
  out.clear();
  const Where root{};
  const Where access{&root, "access"};
  const Where list{&access, name};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Where at{&list, {}, i};
    SESSIOND_ASSIGN(const std::uint32_t id, resolve_id(values[i], at, lookup));
    out.push_back(id);
  }
  return {};
}

void apply(Timeouts& timeouts, const std::optional<DurationText>& inactivity,
           const std::optional<DurationText>& abandonment) {
  if (inactivity) timeouts.inactivity = inactivity->value;
  if (abandonment) timeouts.abandonment = abandonment->value;
}

Status apply_limits(Limits& limits, const LimitKeys& keys) {
  if (keys.frame_bytes) limits.frame_bytes = static_cast<std::size_t>(*keys.frame_bytes);
  if (keys.connections) limits.connections = static_cast<std::size_t>(*keys.connections);
  if (keys.connections_per_uid)
    limits.connections_per_uid = static_cast<std::size_t>(*keys.connections_per_uid);
  if (keys.outbox_bytes) limits.outbox_bytes = static_cast<std::size_t>(*keys.outbox_bytes);
  const auto bounded = [](const std::optional<DurationText>& key, Millis& out,
                          std::string_view name) -> Status {
    if (!key) return {};
    if (!key->value)
      return Error(ErrorCode::invalid_params, std::string(name) + ": cannot be off")
          .with("field", std::string(name));
    out = *key->value;
    return {};
  };
  SESSIOND_TRY(bounded(keys.handshake, limits.handshake, "limits.handshake"));
  return bounded(keys.stall, limits.stall, "limits.stall");
}

Status absolute(const std::string& path, std::string_view key) {
  if (path.starts_with('/')) return {};
  return Error(ErrorCode::invalid_params,
               std::string(key) + ": expected an absolute path, got " + quoted(path))
      .with("field", std::string(key));
}

Status apply_keys(Config& config, const FileKeys& keys) {
  if (keys.socket) {
    SESSIOND_TRY(absolute(*keys.socket, "socket"));
    config.socket = *keys.socket;
  }
  if (keys.state_dir) {
    SESSIOND_TRY(absolute(*keys.state_dir, "state_dir"));
    config.state_dir = *keys.state_dir;
  }
  if (keys.log_level) {
    Result<log::Level> level = log::parse_level(*keys.log_level);
    if (!level)
      return Error(ErrorCode::invalid_params, "log_level: " + level.error().message)
          .with("field", "log_level");
    config.log_level = *level;
  }
  if (keys.access && keys.access->uids)
    SESSIOND_TRY(resolve_all(config.access.uids, *keys.access->uids, "uids", user_named));
  if (keys.access && keys.access->groups)
    SESSIOND_TRY(resolve_all(config.access.gids, *keys.access->groups, "groups", group_named));
  if (keys.timeouts) {
    apply(config.timeouts, keys.timeouts->inactivity, keys.timeouts->abandonment);
    for (const auto& [kind, values] : keys.timeouts->kinds.value_or(std::map<std::string, TimeoutKeys>{}))
      apply(config.kind_timeouts.try_emplace(kind, config.timeouts).first->second, values.inactivity,
            values.abandonment);
  }
  if (keys.roots) config.roots = *keys.roots;
  if (keys.limits) return apply_limits(config.limits, *keys.limits);
  return {};
}

// A field such as "access.uids[2]" and a pointer such as "/access/uids/2", made alike; a name may hold the
// marks of either.
std::string without_marks(std::string_view place) {
  std::string out;
  for (char c : place) {
    if (c == ']') continue;
    out += c == '.' || c == '[' ? '/' : c;
  }
  return out;
}

std::optional<int> line_of(std::string_view field, const LineMap& lines) {
  const std::string place = without_marks("/" + std::string(field));
  for (const auto& [pointer, line] : lines)
    if (without_marks(pointer) == place) return line;
  return std::nullopt;
}

Error located(Error error, const std::string& file, const LineMap& lines) {
  std::string where = file;
  if (const json::value* field = error.data.if_contains("field"); field != nullptr && field->is_string()) {
    if (const auto line = line_of(field->get_string(), lines)) where += ":" + std::to_string(*line);
  } else if (const json::value* line = error.data.if_contains("line"); line != nullptr && line->is_int64()) {
    where += ":" + std::to_string(line->get_int64());
  }
  error.message = where + ": " + error.message;
  return error;
}

Result<std::string> read_config_file(const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0)
    return Error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::storage_error,
                 file + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::storage_error, file + ": not a regular file");
  if (static_cast<std::size_t>(info.st_size) > config_bytes_max)
    return Error(ErrorCode::limit_exceeded,
                 file + ": larger than " + std::to_string(config_bytes_max) + " bytes");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return Error(ErrorCode::storage_error, file + ": " + std::strerror(errno));
  return std::move(text).str();
}

Status apply_flags(Config& config, const ConfigFlags& flags) {
  if (!flags.state_dir.empty()) {
    SESSIOND_TRY(absolute(flags.state_dir, "--state-dir"));
    config.state_dir = flags.state_dir;
  }
  if (!flags.socket.empty()) {
    SESSIOND_TRY(absolute(flags.socket, "--socket"));
    config.socket = flags.socket;
  }
  if (!flags.log_level.empty()) {
    Result<log::Level> level = log::parse_level(flags.log_level);
    if (!level) return Error(ErrorCode::usage, "--log-level: " + level.error().message);
    config.log_level = *level;
  }
  return {};
}

}  // namespace

Status apply_config_text(Config& config, std::string_view text, const std::string& file) {
  LineMap lines;
  Result<json::value> parsed = parse_yaml(text, &lines);
  if (!parsed) return located(std::move(parsed).error(), file, lines);
  FileKeys keys;
  const Where root{};
  const Target target{fields_of<FileKeys>(), &keys};
  Status status = decode_fields({&target, 1}, *parsed, root);
  if (status) status = apply_keys(config, keys);
  if (!status) return located(std::move(status).error(), file, lines);
  config.files.push_back(file);
  return {};
}

Result<Config> load_config(const ConfigFlags& flags) {
  Config config;
  config.socket = default_socket_path();
  config.state_dir = default_state_dir();
  const bool named = !flags.config_file.empty();
  for (const std::string& file : named ? std::vector{flags.config_file} : config_paths()) {
    Result<std::string> text = read_config_file(file);
    if (!text && text.error().code == ErrorCode::not_found && !named) continue;
    if (!text) return std::move(text).error();
    SESSIOND_TRY(apply_config_text(config, *text, file));
  }
  SESSIOND_TRY(apply_flags(config, flags));
  if (config.socket.size() > 107)
    return Error(ErrorCode::invalid_params,
                 "socket: a socket's path has at most 107 bytes, got " + quoted(config.socket));
  return config;
}

}  // namespace sessiond
