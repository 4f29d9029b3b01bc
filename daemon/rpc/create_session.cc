#include "daemon/rpc/create_session.h"

namespace sessiond {

std::string id_from_key(const Context& context, const std::string& key) {
  return state_hash(std::to_string(context.caller.uid) + ":" + key);
}

std::optional<SessionState> state_when_created(const Snapshot& now, const HistoryLine& repeated) {
  if (now.history == nullptr) return std::nullopt;
  const Result<std::vector<std::string>> texts = now.history->lines_from(1, 1, now.history_length);
  if (!texts || texts->empty()) return std::nullopt;
  ReadLine first = read_history_line(texts->front());
  if (first.state != LineState::ours || first.line.command != repeated.command ||
      first.line.idempotency_key != repeated.idempotency_key || !first.line.document)
    return std::nullopt;
  SessionState state;
  state.document = std::move(*first.line.document);
  state.revision = first.line.revision;
  state.last_activity = first.line.timestamp;
  if (const auto time = parse_rfc3339(first.line.timestamp)) state.last_stamp = time->time;
  return state;
}

}  // namespace sessiond
