#include "daemon/session/manual_recovery.h"

#include "common/text.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/artifact_recovery.h"
#include "daemon/session/state_text.h"

namespace sessiond {
namespace {

// What the session goes on with.
struct Start {
  Document document;
  std::int64_t keep_bytes = 0;  // of the history
  SessionState state;           // seq, revision and base to continue from
  std::string lost;
};

Result<Start> from_history(SessionStore& store, const HistoryTail& tail) {
  if (tail.damage.empty())
    return Error(ErrorCode::refused, "the history of session " + quoted(store.id()) + " is not damaged");
  if (!tail.document)
    return Error(ErrorCode::damaged, "no part of the history can be used: " + tail.damage)
        .next("recover from backup or fresh");
  Start start;
  start.document = *tail.document;
  start.keep_bytes = tail.good_length;
  start.state.seq = tail.last->seq;
  start.state.base = tail.last->base;
  start.state.revision = tail.last->revision;
  start.state.meta = tail.last->meta;
  start.lost = "changes after revision " + std::to_string(tail.last->revision);
  return start;
}

// A new history that continues the count of revisions.
Start anew(Document document, const HistoryTail& tail, std::string lost) {
  Start start;
  start.document = std::move(document);
  start.state.revision = tail.last ? tail.last->revision : 0;
  if (tail.last) start.state.meta = tail.last->meta;
  start.lost = std::move(lost);
  return start;
}

Result<Document> fresh_document(SessionStore& store, const Kind& kind, const RecoveryChoice& choice,
                                TimePoint now) {
  const std::optional<json::object>& directions = choice.directions;
  if (!directions)
    return Error(ErrorCode::invalid_params,
                 "params.directions: required with from=fresh: the document to start from")
        .with("field", "params.directions");
  if (kind.start_from != nullptr)
    return kind.start_from(*directions, view_artifacts(store.env(), store.dir(), choice.directory),
                           store.id(), now);
  std::map<std::string, json::value> files;
  for (const StateFile& file : kind.files) {
    const json::value* part = file.member.empty() ? nullptr : directions->if_contains(file.member);
    files[std::string(file.name)] = part == nullptr ? json::value(*directions) : *part;
  }
  std::vector<Discrepancy> warnings;
  return kind.import(files, warnings);
}

Status check_document(const Kind& kind, const Document& document) {
  for (const Discrepancy& problem : kind.check(document))
    if (problem.severity == Discrepancy::Severity::error)
      return Error(ErrorCode::refused, problem.path + ": " + problem.message).with("rule", problem.rule);
  return {};
}

Result<Start> choose(SessionStore& store, const Kind& kind, const RecoveryChoice& choice,
                     const HistoryTail& tail, TimePoint now) {
  if (choice.from == "history") return from_history(store, tail);
  if (choice.from == "backup" || choice.from == "state") {
    const bool backup = choice.from == "backup";
    std::vector<Discrepancy> warnings;
    SESSIOND_ASSIGN(Document document, read_state_document(store, kind, backup, warnings));
    return anew(std::move(document), tail, backup ? "the last state update" : "earlier revisions");
  }
  if (choice.from == "fresh") {
    SESSIOND_ASSIGN(Document document, fresh_document(store, kind, choice, now));
    return anew(std::move(document), tail, "what the given document does not hold");
  }
  SESSIOND_ASSIGN(LoadedSession told, load_from_artifacts(store, kind, now, choice.directory));
  return anew(std::move(told.state.document), tail, std::string(reconstruction_lost));
}

// The specifications' words where they have some.
std::string message_of(const RecoveryReport& report) {
  if (report.level == 2) return std::string(reconstructed_message);
  return "Session state recovered from " + report.source + "; may be lost: " + report.lost + ".";
}

}  // namespace

Result<RecoveryReport> recover_session(SessionStore& store, const Kind& kind, const RecoveryChoice& choice,
                                       TimePoint now) {
  std::optional<SessionStore::Locked> locked;
  if (!choice.lock_held) {
    SESSIOND_ASSIGN(SessionStore::Locked taken, store.lock());
    locked.emplace(std::move(taken));
  }
  SESSIOND_ASSIGN(const HistoryTail tail, store.load());
  SESSIOND_ASSIGN(Start start, choose(store, kind, choice, tail, now));
  SESSIOND_TRY(check_document(kind, start.document));
  for (const std::string& name : state_names(kind)) (void)store.quarantine(name).ok();  // there may be none
  if (!store.has_history())
    SESSIOND_TRY(store.start_history());
  else
    SESSIOND_TRY(store.restart_history(start.keep_bytes));
  RecoveryReport report;
  report.level = choice.from == "fresh" ? 3 : choice.from == "artifacts" ? 2 : 1;
  report.source = choice.from;
  report.revision = start.state.revision + 1;
  report.lost = start.lost;
  report.message = message_of(report);
  SESSIOND_TRY(append_recovery(store, kind, start.state, std::move(start.document), report, now));
  return report;
}

}  // namespace sessiond
