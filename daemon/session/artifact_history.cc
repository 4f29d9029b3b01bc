#include "daemon/session/artifact_history.h"

#include <algorithm>

#include "common/json_edit.h"
#include "daemon/store/session_store.h"

namespace sessiond {
namespace {

constexpr std::size_t lines_per_page = 256;

using Operations = std::map<std::string, json::object>;  // by the artifact's name

// Calls `use` with every recorded operation of the lines first..last.
template <class Use>
Status for_each_operation(const SessionState& now, std::int64_t first, std::int64_t last, Use use) {
  while (first <= last) {
    SESSIOND_ASSIGN(const std::vector<std::string> page,
                    now.history->lines_from(first, lines_per_page, now.history_length));
    const std::int64_t before = first;
    for (const std::string& text : page) {
      const ReadLine read = read_history_line(text);
      if (read.state != LineState::ours || read.line.seq > last) continue;
      first = std::max(first, read.line.seq + 1);
      for (const json::value& operation : read.line.artifacts)
        if (operation.is_object()) use(operation.get_object());
    }
    if (first == before) break;  // nothing of ours is left
  }
  return {};
}

bool is_archive(const json::object& operation) { return string_or(operation, "action", "") == "archive"; }

// The first thing that happened to each file since.
Result<Operations> first_since(const SessionState& now, std::int64_t seq) {
  Operations out;
  SESSIOND_TRY(for_each_operation(now, seq + 1, now.seq, [&](const json::object& operation) {
    out.emplace(string_or(operation, "name", ""), operation);
  }));
  return out;
}

// The last thing that had happened to these files by then.
Result<Operations> last_until(const SessionState& now, std::int64_t seq,
                              const std::vector<std::string>& names) {
  Operations out;
  SESSIOND_TRY(for_each_operation(now, 1, seq, [&](const json::object& operation) {
    const std::string name(string_or(operation, "name", ""));
    if (std::find(names.begin(), names.end(), name) != names.end()) out.insert_or_assign(name, operation);
  }));
  return out;
}

// What `wanted` wrote: the file now or a kept version of it, or what they begin with, because a file that
// grows still has it.
std::optional<std::string> find_written(const json::object& wanted, const std::string& name,
                                        const Artifacts& there) {
  const std::string_view hash = string_or(wanted, "hash", "");
  const std::int64_t bytes = int_or(wanted, "bytes", -1);
  if (hash.empty() || bytes < 0) return std::nullopt;
  for (const auto& [file, info] : there.files) {
    if (file != name && !version_of(name, file)) continue;
    std::string content = there.text(file);
    if (std::cmp_less(content.size(), bytes)) continue;
    content.resize(static_cast<std::size_t>(bytes));
    if (state_hash(content) == hash) return content;
  }
  return std::nullopt;
}

}  // namespace

Result<ArtifactsThen> artifacts_at(const SessionState& now, std::int64_t revision, const Artifacts& there) {
  ArtifactsThen out;
  if (now.history == nullptr || revision >= now.revision) return out;
  SESSIOND_ASSIGN(const HistoryFile::AtRevision at, now.history->at_revision(revision, now.history_length));
  SESSIOND_ASSIGN(const Operations since, first_since(now, at.line.seq));
  std::vector<std::string> unknown;
  for (const auto& [name, operation] : since) {
    const std::string kept(string_or(operation, "to", ""));
    if (is_archive(operation) && there.has(kept))
      out.files[name] = there.text(kept);
    else
      unknown.push_back(name);
  }
  SESSIOND_ASSIGN(const Operations until, last_until(now, at.line.seq, unknown));
  for (const std::string& name : unknown) {
    const auto last = until.find(name);
    const bool gone = last == until.end() ? !is_archive(since.at(name)) : is_archive(last->second);
    std::optional<std::string> content;
    if (!gone && last != until.end()) content = find_written(last->second, name, there);
    if (gone || content)
      out.files[name] = std::move(content);
    else
      out.lost.push_back(name);
  }
  return out;
}

std::vector<FileOp> bring_back(const ArtifactsThen& then, const Artifacts& there,
                               std::span<const std::string_view> logs) {
  std::vector<FileOp> out;
  for (const auto& [name, content] : then.files) {
    const bool log = std::find(logs.begin(), logs.end(), name) != logs.end();
    if (log && (!content || there.has(name))) continue;
    if (content && there.has(name) && there.text(name) == *content) continue;
    if (there.has(name)) out.push_back({.action = FileOp::Action::archive, .name = name});
    if (content) out.push_back({.action = FileOp::Action::write, .name = name, .bytes = *content});
  }
  return out;
}

}  // namespace sessiond
