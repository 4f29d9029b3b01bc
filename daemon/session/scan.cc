#include "daemon/session/scan.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <system_error>
#include <thread>

#include "common/caught.h"
#include "common/log.h"
#include "daemon/session/artifact_files.h"
#include "daemon/session/state_text.h"
#include "daemon/store/history_file.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::size_t threads_max = 32;
constexpr std::size_t directories_per_thread = 64;
constexpr std::size_t legacy_state_bytes_max = 4UL * 1024 * 1024;

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

TimePoint time_of(std::string_view text) {
  const auto parsed = parse_rfc3339(text);
  return parsed ? parsed->time : TimePoint{};
}

SessionBrief brief_of_summary(const Summary& summary) {
  SessionBrief brief;
  brief.status = summary.status;
  brief.title = summary.title;
  brief.position = summary.position;
  brief.project = summary.project.value_or("");
  brief.progress = summary.progress.value_or(-1);
  brief.created_at = time_of(summary.created_at);
  brief.updated_at = brief.last_activity = time_of(summary.updated_at);
  return brief;
}

SessionBrief brief_of_problem(std::string problem) {
  SessionBrief brief;
  brief.status = "damaged";
  brief.problem = std::move(problem);
  return brief;
}

Result<std::optional<HistoryLine>> last_line(Env& env, Handle dir) {
  Result<Open> file = own(env, env.open_read(dir, std::string(layout::history)));
  if (!file && file.error().code == ErrorCode::not_found) return std::optional<HistoryLine>();
  if (!file) return std::move(file).error();
  return HistoryFile(env, std::move(*file)).last_line();
}

// A session whose state file and history are gone leaves these; it is damaged, not absent.
bool has_traces(Env& env, Handle dir, const StateFile& file) {
  return env.stat(dir, std::string(layout::lock)).ok() || env.stat(dir, std::string(layout::history)).ok() ||
         env.stat(dir, layout::backup_of(file.name)).ok();
}

// A session without a history of ours: what its state files, or their backups, say.
std::optional<SessionBrief> brief_of_files(Env& env, Handle dir, const Kind& kind, TimePoint now,
                                           bool backups) {
  std::map<std::string, json::value> files;
  for (const StateFile& file : kind.files) {
    const std::string name = backups ? layout::backup_of(file.name) : std::string(file.name);
    const Result<std::string> bytes = read_all(env, dir, name, legacy_state_bytes_max);
    if (!bytes && bytes.error().code == ErrorCode::not_found && (backups || !has_traces(env, dir, file)))
      return std::nullopt;
    if (!bytes) return brief_of_problem(bytes.error().message);
    Result<json::value> parsed = parse_state(file, *bytes);
    if (!parsed) return brief_of_problem(std::string(file.name) + ": " + parsed.error().message);
    files[std::string(file.name)] = std::move(*parsed);
  }
  std::vector<Discrepancy> warnings;
  const Result<Document> document = kind.import(files, warnings);
  if (!document) return brief_of_problem(document.error().message);
  return brief_of_summary(kind.summary(*document, now));
}

// The same when the state file is missing or cannot be read, for a kind that can do without: its backup, else
// its artifacts. `broken` is what is known so far; none when the state file is not there at all, and then the
// directory must look like a session by its name or by a backup.
std::optional<SessionBrief> brief_of_remains(Env& env, Handle dir, const std::string& id, const Kind& kind,
                                             TimePoint now, std::optional<SessionBrief> broken) {
  if (kind.reconstruct == nullptr) return broken;
  std::optional<SessionBrief> brief = brief_of_files(env, dir, kind, now, true);
  if (!broken && !brief && !id.starts_with(kind.directory_prefix)) return std::nullopt;
  std::string_view source = "its backup";
  if (!brief || !brief->problem.empty()) {
    source = "its artifact files";
    const Result<Document> told = kind.reconstruct(view_artifacts(env, dir, ""), id, now);
    if (!told) return broken ? broken : brief;
    brief = brief_of_summary(kind.summary(*told, now));
  }
  const std::string missing = std::string(kind.files.front().name) + " is missing";
  brief->problem = (broken ? broken->problem : missing) + "; told from " + std::string(source);
  return brief;
}

}  // namespace

std::string creation_mark(std::int64_t uid, std::string_view key) {
  return state_hash(std::to_string(uid) + ":" + std::string(key)).substr(0, 16);
}

std::uint64_t mark_value(std::string_view mark) {
  std::uint64_t value = 0;
  std::from_chars(mark.data(), mark.data() + mark.size(), value, 16);
  return value;
}

SessionBrief brief_of_meta(const json::object& meta, std::int64_t revision) {
  SessionBrief brief;
  brief.status = text_of(meta, "status");
  brief.title = text_of(meta, "title");
  brief.position = text_of(meta, "position");
  brief.project = text_of(meta, "project");
  if (const json::value* progress = meta.if_contains("progress");
      progress != nullptr && progress->is_number())
    brief.progress = progress->to_number<double>();
  if (const json::value* owner = meta.if_contains("owner_uid"); owner != nullptr && owner->is_int64())
    brief.owner_uid = owner->get_int64();
  brief.created_at = time_of(text_of(meta, "created_at"));
  brief.updated_at = time_of(text_of(meta, "updated_at"));
  brief.last_activity = time_of(text_of(meta, "last_activity"));
  brief.creation_mark = mark_value(text_of(meta, "created_with"));
  brief.revision = revision;
  return brief;
}

std::optional<FoundSession> examine_directory(Env& env, Handle parent, const std::string& id,
                                              const Kind& kind, TimePoint now) {
  if (!layout::check_session_id(id)) return std::nullopt;
  const Result<Open> dir = own(env, env.open_dir(parent, id));
  if (!dir) return std::nullopt;
  const Result<FileInfo> info = env.info(dir->get());
  if (!info || (info->uid != geteuid() && info->uid != 0)) return std::nullopt;
  const Result<std::optional<HistoryLine>> last = last_line(env, dir->get());
  if (!last) return FoundSession{id, brief_of_problem(last.error().message)};
  if (*last) return FoundSession{id, brief_of_meta((*last)->meta, (*last)->revision)};
  std::optional<SessionBrief> brief = brief_of_files(env, dir->get(), kind, now, false);
  if (!brief || !brief->problem.empty())
    brief = brief_of_remains(env, dir->get(), id, kind, now, std::move(brief));
  return brief ? std::optional(FoundSession{id, std::move(*brief)}) : std::nullopt;
}

Result<std::vector<FoundSession>> scan_directory(Env& env, Handle dir, const Kind& kind, TimePoint now) {
  SESSIOND_ASSIGN(const std::vector<DirEntry> entries, env.list(dir));
  std::vector<std::string> names;
  for (const DirEntry& entry : entries)
    if (entry.type == FileInfo::Type::directory && !entry.name.starts_with('.')) names.push_back(entry.name);
  std::vector<std::optional<FoundSession>> found(names.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < names.size(); i = next++) {
      try {
        found[i] = examine_directory(env, dir, names[i], kind, now);
      } catch (...) {
        log::error("cannot look at session " + names[i] + ": " + caught_error().message);
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min(threads_max, names.size() / directories_per_thread);
  try {
    for (std::size_t i = 0; i < wanted; ++i) threads.emplace_back(work);
  } catch (const std::system_error& error) {
    log::warn(std::string("fewer threads look at sessions: ") + error.what());
  }
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<FoundSession> out;
  for (std::optional<FoundSession>& one : found)
    if (one) out.push_back(std::move(*one));
  return out;
}

void sweep_leftovers(Env& env, Handle root) {
  const Result<std::vector<DirEntry>> entries = env.list(root);
  if (!entries) return;
  for (const DirEntry& entry : *entries) {
    if (!entry.name.starts_with(layout::new_prefix)) continue;
    if (Status removed = remove_tree(env, root, entry.name); !removed)
      log::warn("cannot sweep " + entry.name + ": " + removed.error().message);
  }
}

}  // namespace sessiond
