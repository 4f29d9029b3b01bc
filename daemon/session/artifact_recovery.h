// Level 2 of recovery: neither history nor state file nor backup can be read, but the artifact files are
// there. Part of loading a session (recovery.h): on its strand, under the directory's lock.
#pragma once

#include "daemon/session/recovery.h"

namespace sessiond {

inline constexpr std::string_view reconstructed_message =
    "Session state reconstructed from artifact files. Some metadata may be approximate.";
inline constexpr std::string_view reconstruction_lost = "what the artifact files do not tell";

// The document that the artifacts tell of, with its report; nothing is written. An error when the kind cannot
// tell, or they tell nothing.
Result<LoadedSession> load_from_artifacts(SessionStore& store, const Kind& kind, TimePoint now,
                                          const std::string& directory);

// Makes a document durable that came from the backup (level 1) or the artifacts (level 2), because there is
// no history that could: what is unreadable is copied to quarantine/, then comes a line session.recovered
// with the whole document, then the state files. A crash in between leaves all to be done again. What fails
// becomes a warning: the session can be read. Does nothing for a session that needed no recovery.
void keep_recovered(SessionStore& store, const Kind& kind, LoadedSession& loaded, TimePoint now);

}  // namespace sessiond
