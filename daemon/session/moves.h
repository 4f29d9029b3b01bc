// Moves of a whole session (archive, restore, delete) in its history. The line is written before the
// directory moves: a repeated call with the same idempotency key finds it, wherever the directory is by then.
// A crash in between leaves a line and no move; the repeated call moves then.
#pragma once

#include <optional>
#include <string>

#include "daemon/session/snapshot.h"
#include "daemon/store/session_store.h"

namespace sessiond {

struct Move {
  std::string command;  // the method
  std::string id;
  std::optional<std::string> key, agent, model;
};

// What the history says of an earlier move with the same command and key, within the last 256 lines.
enum class EarlierMove {
  none,
  last,      // no move after it: it happened if the directory is where it leads
  followed,  // it happened, and others after it
};
Result<EarlierMove> find_earlier_move(const SessionState& state, const Move& move);

// The line, synced. `store` is locked and as `state` says.
Status record_move(SessionStore& store, const SessionState& state, const Move& move, TimePoint now);

// True when the last line of the session in `dir` is this very move, of a session that `owner_uid` created.
bool ends_with_move(Env& env, Handle dir, const Move& move, std::optional<std::int64_t> owner_uid);

}  // namespace sessiond
