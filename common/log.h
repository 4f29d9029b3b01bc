// Logging. One process-wide log on stderr: coloured lines for a person on a terminal, "<priority>" prefixes
// for the journal, plain lines otherwise. spdlog stays behind log.cc because it is slow to compile.
//
// Text from clients may stand in a message: control characters and invalid UTF-8 are escaped before a line is
// written, so nobody can forge a line or move a reader's cursor. Safe on any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond::log {

enum class Level { trace, debug, info, warn, error };

// The level of this name, or an error that lists the names.
Result<Level> parse_level(std::string_view name);
std::string_view level_name(Level level);

// Before the first line; without it, lines are plain and the level is info.
void set_up(Level level);
void set_level(Level level);
bool enabled(Level level);

void write(Level level, std::string_view message);
inline void debug(std::string_view message) { write(Level::debug, message); }
inline void info(std::string_view message) { write(Level::info, message); }
inline void warn(std::string_view message) { write(Level::warn, message); }
inline void error(std::string_view message) { write(Level::error, message); }

}  // namespace sessiond::log
