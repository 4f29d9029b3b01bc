#include "daemon/session/moves.h"

#include <algorithm>

#include "daemon/session/scan.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::int64_t lines_searched = 256;

bool is_move(const HistoryLine& line) {
  return line.success && (line.command == "session.archive" || line.command == "session.restore" ||
                          line.command == "session.delete");
}

bool same_move(const HistoryLine& line, const Move& move) {
  return move.key && line.command == move.command && line.idempotency_key == move.key;
}

}  // namespace

Result<EarlierMove> find_earlier_move(const SessionState& state, const Move& move) {
  EarlierMove found = EarlierMove::none;
  if (!move.key || state.history == nullptr) return found;
  const std::int64_t from = std::max<std::int64_t>(1, state.seq - lines_searched + 1);
  SESSIOND_TRY(state.history->each_line(from, state.history_length, [&](const std::string& text) {
    const ReadLine read = read_history_line(text);
    if (read.state != LineState::ours || !is_move(read.line)) return true;
    if (same_move(read.line, move))
      found = EarlierMove::last;
    else if (found == EarlierMove::last)
      found = EarlierMove::followed;
    return true;
  }));
  return found;
}

Status record_move(SessionStore& store, const SessionState& state, const Move& move, TimePoint now) {
  HistoryLine line;
  line.timestamp = format_rfc3339_millis(std::max(now, state.last_stamp));
  line.command = move.command;
  line.arguments = json::object{{"session_id", move.id}};
  line.agent = move.agent;
  line.model = move.model;
  line.seq = state.seq + 1;
  line.revision = state.revision;
  line.base = state.base;
  line.batch_at = store.synced_length();
  line.meta = state.meta;
  line.idempotency_key = move.key;
  return store.append(build_history_line(line), true);
}

bool ends_with_move(Env& env, Handle dir, const Move& move, std::optional<std::int64_t> owner_uid) {
  Result<Open> file = own(env, env.open_read(dir, std::string(layout::history)));
  if (!file) return false;
  const Result<std::optional<HistoryLine>> last = HistoryFile(env, std::move(*file)).last_line();
  if (!last || !*last || !same_move(**last, move)) return false;
  return !owner_uid || brief_of_meta((*last)->meta, 0).owner_uid == *owner_uid;
}

}  // namespace sessiond
