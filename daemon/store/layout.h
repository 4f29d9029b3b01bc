// Every file name in a state directory, a root and a session directory, and the grammar of names that come
// from callers. Nothing else in the daemon spells a file name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/version_name.h"

namespace sessiond::layout {

// In a session directory.
inline constexpr std::string_view history = "history.jsonl";
inline constexpr std::string_view history_repair =
    "history.jsonl.repair";                                      // being written after a failed sync
inline constexpr std::string_view sync_failed = ".sync-failed";  // empty: the history's page cache lies
inline constexpr std::string_view lock = ".lock";
inline constexpr std::string_view quarantine = "quarantine";
std::string backup_of(std::string_view state_file);     // NAME.bak
std::string temporary_of(std::string_view state_file);  // NAME.tmp

// In a root: a session that is being created. Never shown; swept at start.
inline constexpr std::string_view new_prefix = ".new-";
// Also in a root: where archived and deleted sessions go. On the same file system, so that moving is one
// rename.
inline constexpr std::string_view archive_of_root = ".archive";
inline constexpr std::string_view trash_of_root = ".trash";

// In the state directory.
inline constexpr std::string_view roots_file = "roots.yaml";
inline constexpr std::string_view roots = "roots";

// A session id is a directory's name: 1 to 128 of A-Z a-z 0-9 . _ -, starting with a letter or digit.
Status check_session_id(std::string_view id);

// An artifact's name: one component of valid UTF-8 without control characters, at most 200 bytes, not hidden,
// and none of the names above or of a state file.
Status check_artifact_name(std::string_view name);
// The same for a name that is there: the kept version of a long name is longer.
bool is_artifact(std::string_view name);

using sessiond::version_name;
using sessiond::version_of;

}  // namespace sessiond::layout
