#include "daemon/session/batch.h"

#include <algorithm>
#include <chrono>

#include "common/caught.h"
#include "common/json_patch.h"
#include "common/text.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/recovery.h"
#include "daemon/session/state_text.h"

namespace sessiond {
namespace {

// A failure line keeps this much of its arguments: enough to see what was tried.
constexpr std::size_t failure_arguments_bytes_max = 4 * 1024;

Error has_ended(const SessionPlace& place, const std::string& status) {
  return Error(ErrorCode::refused,
               "session " + quoted(place.id) + " is " + status + " and takes no further changes")
      .with("status", status)
      .next("session.fork makes a new one from it, session.revert brings back an earlier revision");
}

bool listed(const std::vector<Discrepancy>& problems, const Discrepancy& wanted) {
  return std::any_of(problems.begin(), problems.end(), [&](const Discrepancy& problem) {
    return problem.rule == wanted.rule && problem.path == wanted.path;
  });
}

std::optional<std::string> task_of(const json::value& arguments) {
  const json::value* task = arguments.is_object() ? arguments.get_object().if_contains("task_id") : nullptr;
  if (task == nullptr || !task->is_string()) return std::nullopt;
  return std::string(task->get_string());
}

// Sets what every line has.
HistoryLine start_line(const Command& command, const SessionState& state, std::int64_t synced_length) {
  HistoryLine line;
  line.timestamp = format_rfc3339_millis(state.last_stamp);
  line.command = command.name;
  line.arguments = command.arguments;
  line.agent = command.options.agent;
  line.model = command.options.model;
  line.task_id = task_of(command.arguments);
  line.seq = state.seq;
  line.revision = state.revision;
  line.base = state.base;
  line.batch_at = synced_length;
  return line;
}

}  // namespace

Error revision_conflict(std::int64_t revision, std::int64_t wanted) {
  return Error(ErrorCode::revision_conflict, "the session is at revision " + std::to_string(revision) +
                                                 ", not at " + std::to_string(wanted))
      .with("revision", revision)
      .next("read the session again and decide anew");
}

Envelope make_envelope(const SessionPlace& place, const SessionState& state, TimePoint now) {
  const Summary summary = place.kind->summary(state.document, now);
  Envelope envelope;
  envelope.session_id = place.id;
  envelope.root = place.root;
  envelope.kind = place.kind->name;
  envelope.status = place.archived ? "archived" : summary.status;
  envelope.revision = state.revision;
  envelope.created_at = summary.created_at;
  envelope.updated_at = summary.updated_at;
  envelope.last_activity = state.last_activity.empty() ? summary.updated_at : state.last_activity;
  envelope.directory = place.directory;
  envelope.warnings = state.warnings;
  return envelope;
}

void Batch::add(Command& command) {
  const auto& key = command.options.idempotency_key;
  if (key) {
    if (const auto known = replies_.find(*key); known != replies_.end()) {
      answers_.push_back({&command, known->second, false});
      return;
    }
    for (const Answer& earlier : answers_) {
      if (!earlier.changes || earlier.command->options.idempotency_key != key) continue;
      answers_.push_back({&command, earlier.reply, true});
      return;
    }
  }
  Result<std::string> reply = apply_guarded(command);
  if (reply)
    changed_ = true;
  else
    add_failure(command, reply.error());
  const bool changes = reply.ok();
  answers_.push_back({&command, std::move(reply), changes});
}

Result<Document> Batch::next_document(const Command& command, const Moment& moment, Outcome& outcome,
                                      json::array& changes) const {
  SESSIOND_ASSIGN(outcome, command.apply(state_.document, moment));
  SESSIOND_TRY(check_change(outcome.document));
  changes = json_diff(state_.document, outcome.document);
  // The next document is what the history gives, not what the kind returned: both must be the same, and the
  // order of members is the history's.
  json::value rebuilt = state_.document;
  SESSIOND_TRY(apply_json_patch(rebuilt, changes));
  if (rebuilt.as_object() != outcome.document)
    return Error(ErrorCode::internal, "the change of " + command.name + " cannot be recorded");
  return std::move(rebuilt.get_object());
}

// A fault in a kind ends the command, not the batch.
Result<std::string> Batch::apply_guarded(const Command& command) {
  try {
    return apply(command);
  } catch (...) {
    return caught_error();
  }
}

Result<std::string> Batch::apply(const Command& command) {
  const auto started = std::chrono::steady_clock::now();
  if (command.options.if_revision && *command.options.if_revision != state_.revision)
    return revision_conflict(state_.revision, *command.options.if_revision);
  if (!command.allowed_when_ended && place_.kind->ended(state_.document))
    return has_ended(place_, place_.kind->summary(state_.document, now_).status);
  SessionState next = state_;
  next.last_stamp = std::max(now_, state_.last_stamp);
  const Moment moment{next.last_stamp, command.options.agent.value_or(""),
                      command.options.model.value_or("")};
  Outcome outcome;
  json::array changes;
  SESSIOND_ASSIGN(next.document, next_document(command, moment, outcome, changes));
  if (!outcome.files.empty()) SESSIOND_TRY(stage_(outcome.files, files_));
  ++next.seq;
  ++next.revision;
  next.last_activity = format_rfc3339_millis(next.last_stamp);
  json::object meta = state_.meta;
  for (const auto& [name, value] : command.meta) meta[name] = value;
  next.meta = describe_meta(*place_.kind, next.document, meta, next.last_activity, next.last_stamp);

  std::string reply;
  outcome.write_reply(make_envelope(place_, next, next.last_stamp), reply);
  HistoryLine line = start_line(command, next, synced_length_);
  line.changes = std::move(changes);
  line.artifacts = describe_artifacts(outcome.files);
  line.meta = next.meta;
  for (const StateBytes& file : render_state(*place_.kind, next.document)) {
    if (file.bytes.size() > SessionStore::state_bytes_max)
      return Error(ErrorCode::limit_exceeded, file.name + " would be larger than " +
                                                  std::to_string(SessionStore::state_bytes_max) + " bytes")
          .next("keep large texts in artifacts");
    line.files[file.name] = state_hash(file.bytes);
  }
  line.idempotency_key = command.options.idempotency_key;
  if (line.idempotency_key) line.reply = reply;
  if (next.base == 0 || next.seq - next.base >= snapshot_interval) {
    line.base = next.base = next.seq;
    line.document = next.document;
  }
  line.duration_ms = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started).count();
  const std::string text = build_history_line(line);
  // What cannot be read again is never written.
  if (read_history_line(std::string_view(text).substr(0, text.size() - 1)).state != LineState::ours)
    return Error(ErrorCode::internal, "the line of " + command.name + " cannot be read back");
  files_.reserve(files_.size() + outcome.files.size());
  lines_ += text;  // the last step that can fail: all or nothing
  std::move(outcome.files.begin(), outcome.files.end(), std::back_inserter(files_));
  state_ = std::move(next);
  return reply;
}

// A document that was off before (a legacy or imported one) may stay as it is, but nothing may break a rule
// anew.
Status Batch::check_change(const Document& after) const {
  const std::vector<Discrepancy> problems = place_.kind->check(after);
  std::optional<std::vector<Discrepancy>> before;
  for (const Discrepancy& problem : problems) {
    if (problem.severity != Discrepancy::Severity::error) continue;
    if (!before) before = place_.kind->check(state_.document);
    if (listed(*before, problem)) continue;
    return Error(ErrorCode::refused, problem.path + ": " + problem.message)
        .with("rule", problem.rule)
        .with("path", problem.path);
  }
  return {};
}

void Batch::add_failure(const Command& command, const Error& error) {
  state_.last_stamp = std::max(now_, state_.last_stamp);
  ++state_.seq;
  HistoryLine line = start_line(command, state_, synced_length_);
  line.success = false;
  line.error = error.message;
  line.meta = state_.meta;
  if (to_json_text(line.arguments).size() > failure_arguments_bytes_max)
    line.arguments = "(too long to keep)";
  if (state_.base == 0) line.base = state_.base = state_.seq, line.document = state_.document;
  lines_ += build_history_line(line);
}

}  // namespace sessiond
