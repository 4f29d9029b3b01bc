#include "daemon/session/artifact_files.h"

#include <algorithm>

#include "common/time.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::string_view staged_prefix = ".stage-";
// Largest artifact that a kind reads.
constexpr std::size_t artifact_bytes_max = 64UL * 1024 * 1024;

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// The highest kept version of `name`, on disk (whatever it is that has the name) or to come.
int highest_version(const std::vector<DirEntry>& there, const std::vector<FileOp>& pending,
                    const std::string& name) {
  int highest = 0;
  for (const DirEntry& entry : there)
    highest = std::max(highest, layout::version_of(name, entry.name).value_or(0));
  for (const FileOp& op : pending) highest = std::max(highest, layout::version_of(name, op.to).value_or(0));
  return highest;
}

// The name of a staged file is never used again by a later commit: doing an old one again after a crash must
// not find the content of one that did not happen.
Status stage_content(SessionStore& store, FileOp& op, std::size_t number) {
  const std::string commit = std::to_string(store.length()) + "." + std::to_string(number);
  op.staged = std::string(staged_prefix) + state_hash(commit + '\0' + op.name + '\0' + op.bytes);
  Env& env = store.env();
  SESSIOND_ASSIGN(const Open file, own(env, env.open_or_create(store.dir(), op.staged)));
  SESSIOND_TRY(write_all(env, file.get(), 0, op.bytes));
  SESSIOND_TRY(env.truncate(file.get(), static_cast<std::int64_t>(op.bytes.size())));
  SESSIOND_TRY(env.sync(file.get()));
  SESSIOND_ASSIGN(const FileInfo info, env.info(file.get()));
  op.inode = info.inode;
  return {};
}

// The file that `name` will be when it is the turn of the next operation; 0 when there will be none.
std::uint64_t inode_of(SessionStore& store, const std::vector<FileOp>& pending, const std::string& name) {
  std::uint64_t inode = 0;
  if (const Result<FileInfo> info = store.env().stat(store.dir(), name)) inode = info->inode;
  for (const FileOp& op : pending)
    if (op.name == name) inode = op.action == FileOp::Action::write ? op.inode : 0;
  return inode;
}

// True when the operation needs nothing any more: its source is gone.
bool done_already(const Status& status) {
  return !status.ok() && status.error().code == ErrorCode::not_found;
}

// Somebody may have taken the name since it was chosen: the next free one will do.
Status archive_as(SessionStore& store, const std::string& name, const std::string& to) {
  Status status = store.env().rename_new(store.dir(), name, store.dir(), to);
  if (status || status.error().code != ErrorCode::already_exists) return status;
  SESSIOND_ASSIGN(const std::vector<DirEntry> there, store.env().list(store.dir()));
  const std::string next = layout::version_name(name, highest_version(there, {}, name) + 1);
  return store.env().rename_new(store.dir(), name, store.dir(), next);
}

// An archived name may have a new file by now, which must stay: only the recorded file is moved.
bool still_there(SessionStore& store, const json::object& recorded, const std::string& name) {
  const json::value* inode = recorded.if_contains("inode");
  const Result<FileInfo> info = store.env().stat(store.dir(), name);
  return info && inode != nullptr && inode->is_number() && inode->to_number<std::uint64_t>() == info->inode;
}

Status redo(SessionStore& store, const json::object& recorded) {
  const std::string action = text_of(recorded, "action");
  const std::string name = text_of(recorded, "name");
  Status status;
  if (action == "write")
    status = store.env().rename_over(store.dir(), text_of(recorded, "staged"), name);
  else if (action == "archive" && still_there(store, recorded, name))
    status = archive_as(store, name, text_of(recorded, "to"));
  return done_already(status) ? Status() : std::move(status);
}

// Whether a directory or a file is at `path`, which starts at the root.
bool exists(Env& env, const std::string& path) {
  if (own(env, env.open_root(path)).ok()) return true;
  const std::size_t slash = path.rfind('/');
  const Result<Open> parent = own(env, env.open_root(slash == 0 ? "/" : path.substr(0, slash)));
  return parent && env.stat(parent->get(), path.substr(slash + 1)).ok();
}

}  // namespace

Result<std::vector<Artifact>> list_artifacts(Env& env, Handle dir) {
  SESSIOND_ASSIGN(const std::vector<DirEntry> entries, env.list(dir));
  std::vector<Artifact> out;
  for (const DirEntry& entry : entries) {
    if (entry.type != FileInfo::Type::file || !layout::is_artifact(entry.name)) continue;
    const Result<FileInfo> info = env.stat(dir, entry.name);
    if (!info) continue;
    const TimePoint modified(std::chrono::duration_cast<Millis>(std::chrono::nanoseconds(info->mtime_ns)));
    out.push_back({entry.name, info->size, format_rfc3339(modified)});
  }
  std::sort(out.begin(), out.end(), [](const Artifact& a, const Artifact& b) { return a.name < b.name; });
  return out;
}

Artifacts view_artifacts(Env& env, Handle dir, std::string directory) {
  Artifacts out;
  out.directory = std::move(directory);
  if (const Result<std::vector<Artifact>> there = list_artifacts(env, dir))
    for (const Artifact& artifact : *there) {
      const auto modified = parse_rfc3339(artifact.modified_at);
      out.files[artifact.name] = {artifact.bytes, modified ? modified->time : TimePoint{}};
    }
  out.exists = [&env](const std::string& path) { return exists(env, path); };
  out.read = [&env, dir](const std::string& name) { return read_all(env, dir, name, artifact_bytes_max); };
  return out;
}

Status stage_artifacts(SessionStore& store, std::vector<FileOp>& files, const std::vector<FileOp>& pending) {
  SESSIOND_ASSIGN(const std::vector<DirEntry> there, store.env().list(store.dir()));
  for (FileOp& op : files)
    if (op.action == FileOp::Action::archive) op.inode = inode_of(store, pending, op.name);
  std::erase_if(files,
                [](const FileOp& op) { return op.action == FileOp::Action::archive && op.inode == 0; });
  bool staged = false;
  std::size_t number = pending.size();
  for (FileOp& op : files) {
    if (op.action == FileOp::Action::archive) {
      if (op.to.empty()) op.to = layout::version_name(op.name, highest_version(there, pending, op.name) + 1);
      continue;
    }
    SESSIOND_TRY(stage_content(store, op, number++));
    staged = true;
  }
  // The names of the staged files must survive together with the line that speaks of them.
  return staged ? store.env().sync_dir(store.dir()) : Status();
}

json::array describe_artifacts(const std::vector<FileOp>& files) {
  json::array out;
  for (const FileOp& op : files) {
    json::object recorded;
    if (op.action == FileOp::Action::write)
      recorded = {{"action", "write"},
                  {"name", op.name},
                  {"staged", op.staged},
                  {"bytes", op.bytes.size()},
                  {"hash", state_hash(op.bytes)}};
    else
      recorded = {{"action", "archive"}, {"name", op.name}, {"to", op.to}, {"inode", op.inode}};
    out.emplace_back(std::move(recorded));
  }
  return out;
}

Status redo_artifacts(SessionStore& store, const json::array& artifacts) {
  for (const json::value& recorded : artifacts)
    if (recorded.is_object()) SESSIOND_TRY(redo(store, recorded.get_object()));
  return artifacts.empty() ? Status() : store.env().sync_dir(store.dir());
}

void sweep_staged(SessionStore& store) {
  const Result<std::vector<DirEntry>> there = store.env().list(store.dir());
  if (!there) return;
  for (const DirEntry& entry : *there)
    if (entry.type == FileInfo::Type::file && entry.name.starts_with(staged_prefix))
      (void)store.env().unlink(store.dir(), entry.name).ok();  // the next load tries again
}

}  // namespace sessiond
