#include "common/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "common/text.h"

namespace sessiond::log {
namespace {

constexpr std::array<std::string_view, 5> names{"trace", "debug", "info", "warn", "error"};
constexpr std::size_t message_code_points_max = 4'000;

spdlog::level::level_enum to_spdlog(Level level) {
  constexpr std::array levels{spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                              spdlog::level::warn, spdlog::level::err};
  return levels[static_cast<std::size_t>(level)];
}

// "<6>" and so on: what systemd takes as the priority of a line on stderr.
class JournalPriority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const char digit = message.level >= spdlog::level::err    ? '3'
                       : message.level >= spdlog::level::warn ? '4'
                       : message.level >= spdlog::level::info ? '6'
                                                              : '7';
    out.push_back('<');
    out.push_back(digit);
    out.push_back('>');
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalPriority>();
  }
};

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_logger_mt("sessiond");
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    return made;
  }();
  return *instance;
}

// systemd names the device and inode of the stream that it gave us. A program started from somebody's session
// inherits the variable, but its stderr is a terminal or a file.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || fstat(STDERR_FILENO, &info) != 0) return false;
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == stream;
}

// printable() without the escapes of quotes and backslashes, which are harmless in a line of text.
std::string harmless(std::string_view message) {
  std::string out = printable(message, message_code_points_max);
  std::size_t to = 0;
  for (std::size_t from = 0; from < out.size(); ++from) {
    if (out[from] == '\\' && from + 1 < out.size() && (out[from + 1] == '"' || out[from + 1] == '\\')) ++from;
    out[to++] = out[from];
  }
  out.resize(to);
  return out;
}

}  // namespace

Result<Level> parse_level(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Level>(i);
  return Error(ErrorCode::invalid_params,
               "expected one of " + join(names, ", ") + ", got " + quoted(name) + did_you_mean(name, names));
}

std::string_view level_name(Level level) { return names[static_cast<std::size_t>(level)]; }

void set_up(Level level) {
  spdlog::logger& log = logger();
  if (stderr_is_journal()) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<JournalPriority>('Q').set_pattern("%Q%v");
    log.set_formatter(std::move(formatter));
  } else if (isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {
    log.sinks() = {std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};
    log.set_pattern("%H:%M:%S %^%-5l%$ %v");
  }
  log.flush_on(spdlog::level::trace);
  set_level(level);
}

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }

void write(Level level, std::string_view message) {
  if (!enabled(level)) return;
  // As an argument, so that braces in the message are not taken for a format.
  logger().log(to_spdlog(level), "{}", harmless(message));
}

}  // namespace sessiond::log
