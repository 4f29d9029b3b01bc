#include "tests/bench/sessions_on_disk.h"

#include <sys/stat.h>

#include <fstream>
#include <stdexcept>

#include "common/json_patch.h"
#include "daemon/kinds/workflow.h"
#include "daemon/session/recovery.h"
#include "daemon/session/state_text.h"
#include "daemon/store/layout.h"

namespace sessiond::bench {
namespace {

// A fixed time, so that two runs make the same sessions.
const TimePoint first_time = parse_rfc3339("2026-01-17T14:30:00Z")->time;

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

Document new_document(const std::string& id, std::size_t index) {
  const WorkflowCreate::Params params{.workflow_type = "spec_execution_v1",
                                      .target_file = "specs/feature-" + std::to_string(index % 100),
                                      .total_phases = 6};
  auto made = workflow::create(id, params, Moment{first_time + std::chrono::seconds(index), "", ""});
  if (!made) throw std::runtime_error(made.error().message);
  // Some are paused, so that a filter by status has something to find.
  if (index % 10 != 9) return std::move(made->document);
  auto paused =
      workflow_kind().pause(made->document, {}, Moment{first_time + std::chrono::seconds(index), "", ""});
  return std::move(paused->document);
}

HistoryLine line_of(const Document& document, std::int64_t seq, TimePoint time) {
  HistoryLine line;
  line.timestamp = format_rfc3339_millis(time);
  line.command = seq == 1 ? "workflow.create" : "session.update";
  line.arguments = json::object{};
  line.seq = line.revision = seq;
  line.meta = describe_meta(workflow_kind(), document, {}, line.timestamp, time);
  return line;
}

void write_session(const std::string& root, const std::string& id, const Document& document,
                   std::string_view history) {
  const std::string directory = root + "/" + id + "/";
  if (mkdir(directory.c_str(), 0700) != 0) throw std::runtime_error("cannot make " + directory);
  for (const StateBytes& file : render_state(workflow_kind(), document))
    write_file(directory + file.name, file.bytes);
  write_file(directory + std::string(layout::history), history);
  write_file(directory + std::string(layout::lock), "");
}

void add_files(HistoryLine& line, const Document& document) {
  for (const StateBytes& file : render_state(workflow_kind(), document))
    line.files[file.name] = state_hash(file.bytes);
}

}  // namespace

void make_sessions(const std::string& root, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string id = "scale-" + std::to_string(i);
    const Document document = new_document(id, i);
    HistoryLine line = line_of(document, 1, first_time + std::chrono::seconds(i));
    line.base = 1;
    line.document = document;
    add_files(line, document);
    write_session(root, id, document, build_history_line(line));
  }
}

void make_long_session(const std::string& root, const std::string& id, std::int64_t revisions) {
  Document document = new_document(id, 0);
  std::string history;
  std::int64_t base = 1;
  for (std::int64_t revision = 1; revision <= revisions; ++revision) {
    const auto length = static_cast<std::int64_t>(history.size());
    Document next = document;
    if (revision > 1) next["metadata"].as_object()["step"] = "step number " + std::to_string(revision);
    HistoryLine line = line_of(next, revision, first_time + std::chrono::seconds(revision));
    line.changes = json_diff(document, next);
    line.batch_at = length;
    if (revision == 1 || revision - base >= snapshot_interval) {
      base = revision;
      line.document = next;
    }
    line.base = base;
    document = std::move(next);
    if (revision == revisions) add_files(line, document);
    history += build_history_line(line);
  }
  write_session(root, id, document, history);
}

}  // namespace sessiond::bench
