// What is in a root, without loading documents: the end of each history says what its session is.
#pragma once

#include <string>
#include <vector>

#include "common/time.h"
#include "daemon/session/root.h"

namespace sessiond {

// What the registry keeps of each session.
struct SessionBrief {
  std::string status;
  std::string title;
  std::string position;
  std::string project;
  std::string problem;   // not empty: why it cannot be told what it is
  double progress = -1;  // below 0: the kind has none
  std::int64_t revision = 0;
  TimePoint created_at;
  TimePoint updated_at;
  TimePoint last_activity;
  std::int64_t owner_uid = -1;      // below 0: unknown, the daemon's own
  std::uint64_t creation_mark = 0;  // of the key it was created with; 0: none
};

struct FoundSession {
  std::string id;
  SessionBrief brief;
};

// Recognises the session that a create with this key made: hex digits, as `created_with` in the history's
// meta has them, and their value.
std::string creation_mark(std::int64_t uid, std::string_view key);
std::uint64_t mark_value(std::string_view mark);

SessionBrief brief_of_meta(const json::object& meta, std::int64_t revision);

// Looks at one directory; none when it is no session of the kind.
std::optional<FoundSession> examine_directory(Env& env, Handle parent, const std::string& id,
                                              const Kind& kind, TimePoint now);

// All sessions in `dir`, looked at by several threads at once because cold disks answer slowly.
Result<std::vector<FoundSession>> scan_directory(Env& env, Handle dir, const Kind& kind, TimePoint now);

// Removes what an interrupted create left behind.
void sweep_leftovers(Env& env, Handle root);

}  // namespace sessiond
