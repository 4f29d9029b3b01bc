// session.recover: what to do with a session that cannot be recovered by itself. The caller chooses the
// source; the damaged history and state files are kept in quarantine/, and the session goes on with a new
// revision.
#pragma once

#include <optional>
#include <string>

#include "daemon/session/recovery.h"

namespace sessiond {

struct RecoveryChoice {
  std::string from;  // history, state, backup, artifacts or fresh
  std::optional<json::object> directions;
  bool lock_held = false;  // the caller holds the directory's lock already
  std::string directory;   // where the session is, for documents that say so
};

// Runs on the session's strand while it is not loaded. Refused for a session that loads as it is, unless the
// caller asks for the backup or a fresh document.
Result<RecoveryReport> recover_session(SessionStore& store, const Kind& kind, const RecoveryChoice& choice,
                                       TimePoint now);

}  // namespace sessiond
