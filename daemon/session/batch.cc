#include "daemon/session/batch.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

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

// What cannot be read again is never written.
bool reads_back(std::string_view line) {
  unsigned char buffer[16 * 1024];
  json::monotonic_resource memory(buffer, sizeof buffer);
  line.remove_suffix(1);  // the newline
  return read_history_line(line, &memory).state == LineState::ours;
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
  return make_envelope(place, state, place.kind->summary(state.document, now));
}

Envelope make_envelope(const SessionPlace& place, const SessionState& state, const Summary& summary) {
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

// A fault in a kind ends the command, not the batch.
Result<std::string> Batch::apply_guarded(const Command& command) {
  Result<std::string> reply = Error(ErrorCode::internal, "");
  try {
    reply = apply(command);
  } catch (...) {
    reply = caught_error();
  }
  if (document_touched_) restore();
  return reply;
}

Result<std::string> Batch::apply(const Command& command) {
  const auto started = std::chrono::steady_clock::now();
  if (command.options.if_revision && *command.options.if_revision != state_.revision)
    return revision_conflict(state_.revision, *command.options.if_revision);
  if (!command.allowed_when_ended && place_.kind->ended(state_.document))
    return has_ended(place_, place_.kind->summary(state_.document, now_).status);
  const TimePoint now = std::max(now_, state_.last_stamp);
  SESSIOND_ASSIGN(Outcome outcome,
                  command.apply(state_.document, {now, command.options.agent.value_or(""),
                                                  command.options.model.value_or(""), artifacts_}));
  SESSIOND_TRY(check_change(outcome.document));
  if (!outcome.files.empty()) SESSIOND_TRY(stage_(outcome.files, files_));
  HistoryLine line = start_line(command, state_, synced_length_);
  line.changes = json_diff(state_.document, outcome.document);
  SESSIOND_TRY(record(command, line.changes, outcome.document));
  line.timestamp = format_rfc3339_millis(now);
  ++line.seq;
  ++line.revision;
  const Summary summary = place_.kind->summary(state_.document, now);
  line.meta = state_.meta;
  for (const auto& [name, value] : command.meta) line.meta[name] = value;
  line.meta = describe_meta(*place_.kind, summary, std::move(line.meta), line.timestamp);
  std::string reply = spell_reply(outcome, summary, line);
  line.artifacts = describe_artifacts(outcome.files);
  line.idempotency_key = command.options.idempotency_key;
  if (line.idempotency_key) line.reply = reply;
  if (line.base == 0 || line.seq - line.base >= snapshot_interval) {
    line.base = line.seq;
    line.document = state_.document;
  }
  line.duration_ms = std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - started).count();
  take(std::move(line), now, outcome.files);
  return reply;
}

// What the session will be with this line.
std::string Batch::spell_reply(const Outcome& outcome, const Summary& summary,
                               const HistoryLine& line) const {
  Envelope envelope = make_envelope(place_, state_, summary);
  envelope.revision = line.revision;
  envelope.last_activity = line.timestamp;
  std::string reply;
  outcome.write_reply(envelope, reply);
  return reply;
}

// All or nothing: what can fail comes first.
void Batch::take(HistoryLine line, TimePoint now, std::vector<FileOp>& files) {
  std::string last_activity = line.timestamp;
  json::object meta = line.meta;
  files_.reserve(files_.size() + files.size());
  lines_.push_back(std::move(line));
  std::move(files.begin(), files.end(), std::back_inserter(files_));
  state_.seq = lines_.back().seq;
  state_.revision = lines_.back().revision;
  state_.base = lines_.back().base;
  state_.last_stamp = now;
  state_.last_activity.swap(last_activity);
  state_.meta.swap(meta);
  document_touched_ = false;
}

// The next document is what the history gives, not what the kind returned: both must be the same, and the
// order of members is the history's.
Status Batch::record(const Command& command, const json::array& changes, const Document& wanted) {
  document_touched_ = true;
  SESSIOND_TRY(apply_json_patch(state_.document, changes));
  if (state_.document == wanted) return {};
  return Error(ErrorCode::internal, "the change of " + command.name + " cannot be recorded");
}

void Batch::restore() {
  state_.document = before_->document;
  for (const HistoryLine& line : lines_)
    if (Status applied = apply_json_patch(state_.document, line.changes); !applied)
      throw std::logic_error("a recorded change does not fit: " + applied.error().message);
  document_touched_ = false;
}

Status Batch::finish() {
  Status made = render();
  if (made) made = print_lines();
  if (made || answers_.size() > 1) return made;
  Answer& refused = answers_.front();
  lines_.clear();
  files_.clear();
  state_files_.clear();
  state_ = *before_;
  changed_ = refused.changes = false;
  add_failure(*refused.command, made.error());
  refused.reply = std::move(made).error();
  return print_lines();
}

// Only what the last change leaves is written out, so only its line says how the files look.
Status Batch::render() {
  if (!changed_) return {};
  const auto last =
      std::find_if(lines_.rbegin(), lines_.rend(), [](const HistoryLine& line) { return line.success; });
  state_files_ = render_state(*place_.kind, state_.document);
  for (const StateBytes& file : state_files_) {
    if (file.bytes.size() > SessionStore::state_bytes_max)
      return Error(ErrorCode::limit_exceeded, file.name + " would be larger than " +
                                                  std::to_string(SessionStore::state_bytes_max) + " bytes")
          .next("keep large texts in artifacts");
    last->files[file.name] = state_hash(file.bytes);
  }
  return {};
}

Status Batch::print_lines() {
  text_.clear();
  for (const HistoryLine& line : lines_) {
    const std::string text = build_history_line(line);
    if (!reads_back(text))
      return Error(ErrorCode::internal, "the line of " + line.command + " cannot be read back");
    text_ += text;
  }
  return {};
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
  lines_.push_back(std::move(line));
}

}  // namespace sessiond
