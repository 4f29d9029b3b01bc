#include "daemon/session/recovery.h"

#include "common/json_patch.h"
#include "common/log.h"
#include "common/text.h"
#include "daemon/session/artifact_recovery.h"
#include "daemon/session/state_text.h"
#include "daemon/session/torn_state.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

bool has_errors(const std::vector<Discrepancy>& problems) {
  for (const Discrepancy& problem : problems)
    if (problem.severity == Discrepancy::Severity::error) return true;
  return false;
}

void add_warnings(std::vector<std::string>& out, const std::vector<Discrepancy>& problems) {
  for (const Discrepancy& problem : problems)
    out.push_back(problem.path.empty() ? problem.message : problem.path + ": " + problem.message);
}

TimePoint stamp_of(std::string_view text) {
  const auto parsed = parse_rfc3339(text);
  return parsed ? parsed->time : TimePoint{};
}

SessionState state_of(const HistoryTail& tail, const SessionStore& store) {
  SessionState state;
  state.document = *tail.document;
  state.revision = tail.last->revision;
  state.seq = tail.last->seq;
  state.base = tail.last->base;
  state.meta = tail.last->meta;
  state.last_stamp = stamp_of(tail.last->timestamp);
  state.last_activity = std::string(text_of(tail.last->meta, "last_activity"));
  state.history_length = store.length();
  return state;
}

// Whether these bytes are what some recent line recorded for the file, or the start of what they should be.
bool known_bytes(const std::vector<HistoryLine>& recent, const std::string& name, std::string_view bytes,
                 std::string_view wanted) {
  if (bytes.empty() || wanted.starts_with(bytes)) return true;
  const std::string hash = state_hash(bytes);
  for (const HistoryLine& line : recent)
    if (const auto found = line.files.find(name); found != line.files.end() && found->second == hash)
      return true;
  return false;
}

// True when the file holds what the newest line that speaks of it recorded. The lines of one write share one
// state file, and the last of them speaks of it; if that one was lost, the file is behind.
bool as_recorded(const std::vector<HistoryLine>& recent, const std::string& name, std::string_view bytes) {
  for (auto line = recent.rbegin(); line != recent.rend(); ++line) {
    if (const auto found = line->files.find(name); found != line->files.end())
      return found->second == state_hash(bytes);
    if (!line->changes.empty()) return false;
  }
  return false;
}

RecoveryReport report_level_1(std::string source, std::int64_t revision, std::string lost,
                              std::string message) {
  return {.level = 1,
          .source = std::move(source),
          .revision = revision,
          .lost = std::move(lost),
          .message = std::move(message)};
}

// One line that says what was recovered or accepted, and makes `state` what `next` is. Nothing is changed
// when it fails.
Status append_line(SessionStore& store, const Kind& kind, SessionState& state, SessionState next,
                   std::string_view command, json::value arguments, TimePoint now) {
  HistoryLine line;
  next.last_stamp = std::max(now, next.last_stamp);
  line.timestamp = format_rfc3339_millis(next.last_stamp);
  line.command = command;
  line.arguments = std::move(arguments);
  line.seq = ++next.seq;
  line.revision = next.revision;
  line.batch_at = store.synced_length();
  line.changes = json_diff(state.document, next.document);
  line.base = next.base;
  for (const StateBytes& file : render_state(kind, next.document))
    line.files[file.name] = state_hash(file.bytes);
  if (next.last_activity.empty()) next.last_activity = line.timestamp;
  next.meta = describe_meta(kind, next.document, next.meta, next.last_activity, next.last_stamp);
  line.meta = next.meta;
  if (line.base == 0 || line.seq - line.base >= snapshot_interval) {
    line.base = next.base = line.seq;
    line.document = next.document;
  }
  SESSIOND_TRY(store.append(build_history_line(line), true));
  next.history_length = store.length();
  state = std::move(next);
  return {};
}

// The history can rebuild the files: one that cannot be written now is written with the next change.
void write_all_state(SessionStore& store, const Kind& kind, const Document& document) {
  for (const StateBytes& file : render_state(kind, document))
    if (Status written = store.write_state(file); !written)
      log::error("session " + store.id() + ": a state file is behind: " + written.error().message);
}

// An edit that can be understood and breaks no rule.
std::optional<Document> valid_edit(SessionStore& store, const Kind& kind,
                                   std::vector<std::string>& warnings) {
  std::vector<Discrepancy> off;
  Result<Document> edited = read_state_document(store, kind, false, off);
  if (!edited) return std::nullopt;
  const std::vector<Discrepancy> problems = kind.check(*edited);
  if (has_errors(problems)) return std::nullopt;
  add_warnings(warnings, off);
  return std::move(*edited);
}

void add_rendering(std::vector<std::string>& out, const Kind& kind, const Document& document,
                   const std::string& name) {
  for (StateBytes& file : render_state(kind, document))
    if (file.name == name) out.push_back(std::move(file.bytes));
}

// The file's bytes at the revisions of which the disk may hold blocks: those since the last whole document,
// and some before.
std::vector<std::string> recent_renderings(SessionStore& store, const Kind& kind,
                                           const std::vector<HistoryLine>& recent, const std::string& name) {
  constexpr std::int64_t earlier_revisions = 16;
  std::vector<std::string> out;
  json::value document = json::object();
  for (const HistoryLine& line : recent) {
    if (line.document)
      document = *line.document;
    else if (!apply_json_patch(document, line.changes))
      break;
    add_rendering(out, kind, document.as_object(), name);
  }
  const std::int64_t oldest = recent.empty() ? 1 : recent.front().revision;
  for (std::int64_t revision = oldest - 1; revision > 0 && revision >= oldest - earlier_revisions; --revision)
    if (const auto at = store.history()->at_revision(revision, store.length()))
      add_rendering(out, kind, at->document, name);
  return out;
}

// The same for all lines. State files are not synced, so a power cut may bring back one from before the last
// whole document; it must not pass for an edit that takes back what came after.
bool known_long_ago(const SessionStore& store, const std::string& name, std::string_view bytes) {
  const Result<bool> known = store.history()->recorded(name, state_hash(bytes), store.length());
  return known && *known;
}

enum class StateFate { as_recorded, behind, edited, unreadable };

// A power cut may lie before a load, not between two looks of a running daemon.
enum class When { loading, running };

StateFate examine_state(SessionStore& store, const Kind& kind, const std::vector<HistoryLine>& recent,
                        const Document& document, When when) {
  StateFate fate = StateFate::as_recorded;
  for (const StateBytes& wanted : render_state(kind, document)) {
    const Result<std::string> bytes = store.read_state(wanted.name);
    if (bytes && as_recorded(recent, wanted.name, *bytes)) continue;
    if (!bytes || known_bytes(recent, wanted.name, *bytes, wanted.bytes) ||
        known_long_ago(store, wanted.name, *bytes)) {
      fate = std::max(fate, StateFate::behind);
      continue;
    }
    std::vector<std::string> ignored;
    const bool torn =
        when == When::loading && torn_between(*bytes, recent_renderings(store, kind, recent, wanted.name));
    fate =
        std::max(fate, !torn && valid_edit(store, kind, ignored) ? StateFate::edited : StateFate::unreadable);
  }
  return fate;
}

Status take_edit(SessionStore& store, const Kind& kind, SessionState& state, TimePoint now) {
  SessionState next = state;
  std::optional<Document> edited = valid_edit(store, kind, next.warnings);
  if (!edited) return {};
  next.document = std::move(*edited);
  ++next.revision;
  SESSIOND_TRY(append_line(store, kind, state, std::move(next), "external.edit", json::object{}, now));
  write_all_state(store, kind, state.document);
  return {};
}

Status restore_state(SessionStore& store, const Kind& kind, SessionState& state,
                     std::optional<RecoveryReport>& report, TimePoint now) {
  std::string kept;
  for (const std::string& name : state_names(kind)) {
    const Result<std::string> saved = store.quarantine(name);
    if (!saved && saved.error().code == ErrorCode::not_found) continue;
    if (!saved) return saved.error();  // what is not kept is not replaced
    kept += (kept.empty() ? "" : ", ") + *saved;
  }
  report = report_level_1(
      "history", state.revision, "nothing",
      "Session state recovered from its history; the unreadable file is kept in " + kept + ".");
  // The line first: a crash in between leaves the unreadable file, and all is done again.
  SESSIOND_TRY(append_line(store, kind, state, state, "session.recovered", report->to_json(), now));
  write_all_state(store, kind, state.document);
  return {};
}

// Brings the state files and the session into step, whichever of them is right.
Status reconcile(SessionStore& store, const Kind& kind, const std::vector<HistoryLine>& recent,
                 SessionState& state, std::optional<RecoveryReport>& report, TimePoint now, When when) {
  switch (examine_state(store, kind, recent, state.document, when)) {
    case StateFate::as_recorded:
      for (const std::string& name : state_names(kind)) store.accept_state(name);
      return {};
    case StateFate::behind:
      write_all_state(store, kind, state.document);
      return {};
    case StateFate::edited:
      return take_edit(store, kind, state, now);
    case StateFate::unreadable:
      return restore_state(store, kind, state, report, now);
  }
  return {};
}

Result<LoadedSession> load_from_history(SessionStore& store, const Kind& kind, HistoryTail tail,
                                        TimePoint now) {
  LoadedSession loaded;
  loaded.state = state_of(tail, store);
  SessionState& next = loaded.state;
  // The history is enough to read the session; changes wait until the files can be put right.
  if (!store.read_only().empty())
    next.warnings.push_back("no change can be made now: " + store.read_only());
  else if (Status done = reconcile(store, kind, tail.recent, next, loaded.report, now, When::loading); !done)
    next.warnings.push_back("the state file is not as recorded and cannot be put right: " +
                            done.error().message);
  add_warnings(next.warnings, kind.check(next.document));
  loaded.recent = std::move(tail.recent);
  return loaded;
}

json::array list_files(SessionStore& store) {
  json::array names;
  if (Result<std::vector<DirEntry>> entries = store.env().list(store.dir()))
    for (const DirEntry& entry : *entries)
      if (entry.type == FileInfo::Type::file && !entry.name.starts_with('.')) names.emplace_back(entry.name);
  return names;
}

Error level_3(SessionStore& store, std::string_view why) {
  return Error(ErrorCode::damaged, "Session state could not be automatically recovered. " + std::string(why))
      .with("session_id", store.id())
      .with("level", 3)
      .with("files", list_files(store))
      .next("look at the files, then call session.recover and say from what to go on");
}

// The state files alone: a session that another tool made, or one whose history is gone.
Result<LoadedSession> load_from_files(SessionStore& store, const Kind& kind, TimePoint now,
                                      const std::string& directory) {
  LoadedSession loaded;
  SessionState& next = loaded.state;
  std::vector<Discrepancy> warnings;
  Result<Document> document = read_state_document(store, kind, false, warnings);
  if (!document) {
    const std::string why = document.error().message;
    warnings.clear();
    document = read_state_document(store, kind, true, warnings);
    if (!document) {
      Result<LoadedSession> told = load_from_artifacts(store, kind, now, directory);
      return told ? std::move(told) : level_3(store, why);
    }
    loaded.report = report_level_1("backup", 0, "the last state update",
                                   "Session state recovered from backup. Last state update may be lost.");
    next.warnings.push_back(loaded.report->message);
  }
  next.document = std::move(*document);
  if (store.can_retry()) next.warnings.push_back("no change can be made now: " + store.read_only());
  add_warnings(next.warnings, warnings);
  add_warnings(next.warnings, kind.check(next.document));
  for (const std::string& name : state_names(kind)) store.accept_state(name);
  return loaded;
}

}  // namespace

Result<Document> read_state_document(SessionStore& store, const Kind& kind, bool backups,
                                     std::vector<Discrepancy>& warnings) {
  std::map<std::string, json::value> files;
  for (const StateFile& file : kind.files) {
    const std::string name = backups ? layout::backup_of(file.name) : std::string(file.name);
    SESSIOND_ASSIGN(const std::string bytes, store.read_state(name));
    SESSIOND_ASSIGN(files[std::string(file.name)], parse_state(file, bytes));
  }
  return kind.import(files, warnings);
}

Status append_recovery(SessionStore& store, const Kind& kind, SessionState& state, Document document,
                       const RecoveryReport& report, TimePoint now, std::string_view command) {
  SessionState next = state;
  next.document = std::move(document);
  ++next.revision;
  next.base = 0;  // the line carries the whole document: what came before may not lead to it
  SESSIOND_TRY(append_line(store, kind, state, std::move(next), command, report.to_json(), now));
  write_all_state(store, kind, state.document);
  return {};
}

json::object RecoveryReport::to_json() const {
  return {{"level", level}, {"source", source}, {"revision", revision}, {"lost", lost}, {"message", message}};
}

json::object describe_meta(const Kind& kind, const Document& document, const json::object& before,
                           std::string_view last_activity, TimePoint now) {
  return describe_meta(kind, kind.summary(document, now), before, last_activity);
}

json::object describe_meta(const Kind& kind, const Summary& summary, json::object meta,
                           std::string_view last_activity) {
  meta["kind"] = kind.name;
  meta["status"] = summary.status;
  meta["title"] = summary.title;
  meta["position"] = summary.position;
  meta["progress"] = summary.progress ? json::value(*summary.progress) : json::value();
  meta["project"] = summary.project ? json::value(*summary.project) : json::value();
  meta["created_at"] = summary.created_at;
  meta["updated_at"] = summary.updated_at;
  meta["last_activity"] = last_activity;
  return meta;
}

Result<LoadedSession> load_session(SessionStore& store, const Kind& kind, TimePoint now,
                                   const std::string& directory) {
  SESSIOND_ASSIGN(HistoryTail tail, store.load());
  if (!tail.damage.empty()) {
    if (!tail.document) {
      Result<LoadedSession> loaded = load_from_files(store, kind, now, directory);
      if (!loaded) return loaded;
      loaded->state.read_only = "the history is damaged: " + tail.damage;
      loaded->state.warnings.push_back(loaded->state.read_only);
      return loaded;
    }
    LoadedSession loaded;
    loaded.state = state_of(tail, store);
    loaded.state.read_only = "the history is damaged: " + tail.damage;
    loaded.state.warnings.push_back(loaded.state.read_only + "; served up to revision " +
                                    std::to_string(tail.last->revision) +
                                    ", session.recover makes it writable");
    return loaded;
  }
  if (tail.last) return load_from_history(store, kind, std::move(tail), now);
  Result<LoadedSession> loaded = load_from_files(store, kind, now, directory);
  if (loaded) keep_recovered(store, kind, *loaded, now);
  return loaded;
}

Status append_adoption(SessionStore& store, const Kind& kind, SessionState& state, TimePoint now) {
  SessionState next = state;
  ++next.revision;
  return append_line(store, kind, state, std::move(next), "session.adopt", json::object{}, now);
}

Status accept_edits(SessionStore& store, const Kind& kind, SessionState& state, TimePoint now) {
  bool unchanged = true;
  for (const std::string& name : state_names(kind)) unchanged = unchanged && store.state_unchanged(name);
  if (unchanged) return {};
  SESSIOND_ASSIGN(const HistoryTail tail, store.history()->read_tail());
  std::optional<RecoveryReport> report;
  SESSIOND_TRY(reconcile(store, kind, tail.recent, state, report, now, When::running));
  if (report) log::warn("session " + store.id() + ": " + report->message);
  return {};
}

}  // namespace sessiond
