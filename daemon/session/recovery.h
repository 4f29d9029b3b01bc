// Loading a session: from its history, its state files, their backups, in that order of trust, and what to
// say about it. Runs on the session's strand, under the directory's lock. Everything it writes is new files
// or appended lines, and doing it again after a crash gives the same.
//
//   history whole, state file as recorded        nothing to report
//   state file missing, cut or older             rewritten from the history
//   state file edited by somebody, still valid   accepted as a new revision, external.edit
//   state file unreadable                        level 1: kept in quarantine/, rewritten from the history
//   no history, state file readable              adopted as it is; nothing is written before the first change
//   no history, state file unreadable            level 1 from .bak
//   nothing of that, but files of the kind       level 2: reconstructed from them (artifact_recovery.h)
//   nothing readable, or the history is damaged  level 3: reported, read-only until session.recover
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/session/snapshot.h"
#include "daemon/store/session_store.h"

namespace sessiond {

struct RecoveryReport {
  int level = 0;       // 1 backup or history, 2 artifacts, 3 manual
  std::string source;  // what the state came from
  std::int64_t revision = 0;
  std::string lost;  // what may be missing; "nothing" when nothing is
  std::string message;
  json::object to_json() const;
};

struct LoadedSession {
  SessionState state;
  std::vector<HistoryLine> recent;  // the newest lines, for idempotency keys
  std::optional<RecoveryReport> report;
};

// An error of code damaged: level 3, with the files that are there. `directory` is where the session is, for
// documents that say so.
Result<LoadedSession> load_session(SessionStore& store, const Kind& kind, TimePoint now,
                                   const std::string& directory = "");

// Looks whether somebody changed a state file since it was last seen; an edit that is valid becomes a line
// `external.edit`, one that is not goes to quarantine. `state` is always what the history says, also when it
// fails.
Status accept_edits(SessionStore& store, const Kind& kind, SessionState& state, TimePoint now);

// The document in the state files, or in their backups.
Result<Document> read_state_document(SessionStore& store, const Kind& kind, bool backups,
                                     std::vector<Discrepancy>& warnings);

// Goes on with `document` as a new revision after a recovery that somebody asked for, or that the daemon did
// by itself.
Status append_recovery(SessionStore& store, const Kind& kind, SessionState& state, Document document,
                       const RecoveryReport& report, TimePoint now,
                       std::string_view command = "session.recover");

// The first line of a session that was found without a history: its document as it is, revision 1.
Status append_adoption(SessionStore& store, const Kind& kind, SessionState& state, TimePoint now);

// What the history keeps of a session beside its document, made from the document.
json::object describe_meta(const Kind& kind, const Document& document, const json::object& before,
                           std::string_view last_activity, TimePoint now);
// The same: `meta` as it was, brought up to date.
json::object describe_meta(const Kind& kind, const Summary& summary, json::object meta,
                           std::string_view last_activity);

}  // namespace sessiond
