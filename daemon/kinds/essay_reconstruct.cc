// Level 2 of recovery: the state of an essay from the files that its stages left.
#include <algorithm>

#include "common/json_edit.h"
#include "daemon/kinds/essay_step.h"
#include "daemon/kinds/essay_text.h"

namespace sessiond::essay {
namespace {

// What the files say, before it becomes a document.
struct Evidence {
  bool thesis, outline, draft, final_essay;
  std::vector<std::int64_t> argued;  // sections with an arguments file, ascending
  std::vector<DraftSection> written;
  std::int64_t sections = 0;  // in all, as far as anybody can tell
  std::optional<TimePoint> first, last;

  explicit Evidence(const Artifacts& files)
      : thesis(files.has(std::string(thesis_name))),
        outline(files.has(std::string(outline_name))),
        draft(files.has(std::string(draft_name))),
        final_essay(files.has(std::string(final_name))),
        written(draft_sections(files.text(std::string(draft_name)))) {
    for (const auto& [name, info] : files.files) {
      if (const auto section = section_of(name)) argued.push_back(*section);
      first = std::min(first.value_or(info.modified), info.modified);
      last = std::max(last.value_or(info.modified), info.modified);
    }
    std::sort(argued.begin(), argued.end());
    sections = static_cast<std::int64_t>(outline_sections(files.text(std::string(outline_name))).size());
    if (!argued.empty()) sections = std::max(sections, argued.back());
    sections = std::max(sections, static_cast<std::int64_t>(written.size()));
  }

  bool any() const { return thesis || outline || draft || final_essay || !argued.empty(); }
  bool has_arguments(std::int64_t section) const {
    return std::binary_search(argued.begin(), argued.end(), section);
  }
  bool all_argued() const { return sections > 0 && std::cmp_equal(argued.size(), sections); }
  // The highest stage that left something.
  int highest() const { return draft || final_essay ? 4 : !argued.empty() ? 3 : outline ? 2 : 1; }
};

json::value time_of(const Artifacts& files, std::string_view name) {
  const auto found = files.files.find(std::string(name));
  return found == files.files.end() ? json::value() : json::value(format_rfc3339(found->second.modified));
}

void set_file_stage(Document& document, int stage, std::string_view member, std::string_view name,
                    const Artifacts& files) {
  json::object& state = stage_at(document, stage);
  state["status"] = "completed";
  state[member] = path_in(document, name);
  state["completed_at"] = time_of(files, name);
}

void set_arguments(Document& document, const Evidence& evidence, const Artifacts& files) {
  json::object& stage = stage_at(document, 3);
  json::array sections;
  std::int64_t current = 0;
  for (std::int64_t index = 1; index <= evidence.sections; ++index) {
    json::object section = blank_argument_section(index);
    if (evidence.has_arguments(index)) {
      section["status"] = "completed";
      section["argument_map_file"] = path_in(document, arguments_name(index));
      section["completed_at"] = time_of(files, arguments_name(index));
    } else if (current == 0) {
      current = index;
    }
    sections.push_back(std::move(section));
  }
  stage["sections"] = std::move(sections);
  if (evidence.sections == 0) return;
  stage["total_sections"] = evidence.sections;
  stage["current_section"] = current == 0 ? evidence.sections : current;
  const bool done = evidence.all_argued() || evidence.draft || evidence.final_essay;
  stage["status"] = done ? "completed" : "in_progress";
  stage["birds_eye_approved"] = done;
  if (done && !evidence.argued.empty())
    stage["completed_at"] = time_of(files, arguments_name(evidence.argued.back()));
}

// What the draft says about one section.
json::object written_section(std::int64_t index, const DraftSection* written) {
  json::object section = blank_writing_section(index);
  if (written == nullptr) return section;
  section["completed_paragraphs"] = written->paragraphs;
  if (written->finished) section["total_paragraphs"] = written->paragraphs;
  section["status"] = written->finished ? "completed" : "in_progress";
  return section;
}

void set_writing(Document& document, const Evidence& evidence) {
  json::object& stage = stage_at(document, 4);
  stage["status"] = "in_progress";
  json::array sections;
  for (std::int64_t index = 1; index <= evidence.sections; ++index) {
    const bool there = std::cmp_less_equal(index, evidence.written.size());
    sections.push_back(
        written_section(index, there ? &evidence.written[static_cast<std::size_t>(index - 1)] : nullptr));
  }
  stage["sections"] = std::move(sections);
  settle_writing(document);
  if (evidence.draft) stage["draft_file"] = path_in(document, draft_name);
}

void set_logs(Document& document, const Artifacts& files) {
  if (files.has(std::string(development_log_name)))
    stage_at(document, 1)["development_log"] = path_in(document, development_log_name);
  if (files.has(std::string(paragraph_log_name)))
    stage_at(document, 4)["paragraph_log"] = path_in(document, paragraph_log_name);
}

void set_finished(Document& document, const Artifacts& files) {
  const std::string name(final_name);
  json::object& output = object_at(document, "output");
  output["final_essay_file"] = path_in(document, name);
  output["total_word_count"] = count_words(files.text(name));
  output["completed_at"] = time_of(files, name);
  document["status"] = "completed";
  stage_at(document, 4)["status"] = "completed";
  stage_at(document, 4)["completed_at"] = time_of(files, name);
}

// A stage below the highest one has begun, whether or not its file is still there.
int settle_stages(Document& document, int highest) {
  int current = 0;
  for (int stage = 1; stage <= 4; ++stage) {
    json::object& state = stage_at(document, stage);
    const bool untouched = string_or(state, "status", "") == "not_started";
    if (stage < highest && untouched) state["status"] = "needs_review";
    if (current == 0 && string_or(state, "status", "") != "completed") current = stage;
  }
  return current == 0 ? 4 : current;
}

}  // namespace

Result<Document> reconstruct(const Artifacts& artifacts, std::string_view session_id, TimePoint now) {
  const Evidence evidence(artifacts);
  if (!evidence.any()) return Error(ErrorCode::damaged, "no file of an essay's stages is there");
  const std::string id(session_id);
  Document document = blank_document(id.starts_with("essay-") ? id : "essay-" + id, artifacts.directory,
                                     evidence.first.value_or(now));
  document["last_activity"] = format_rfc3339(evidence.last.value_or(now));
  if (evidence.thesis) set_file_stage(document, 1, "thesis_file", thesis_name, artifacts);
  if (evidence.outline) {
    set_file_stage(document, 2, "outline_file", outline_name, artifacts);
    if (evidence.sections > 0) stage_at(document, 2)["total_sections"] = evidence.sections;
  }
  if (evidence.outline || !evidence.argued.empty() || evidence.draft)
    set_arguments(document, evidence, artifacts);
  if (evidence.draft || evidence.final_essay || string_or(stage_of(document, 3), "status", "") == "completed")
    set_writing(document, evidence);
  set_logs(document, artifacts);
  if (evidence.final_essay) set_finished(document, artifacts);
  const int current = settle_stages(document, evidence.highest());
  json::object& state = stage_at(document, current);
  if (string_or(state, "status", "") == "not_started") state["status"] = "in_progress";
  document["current_stage"] = current;
  document["current_stage_name"] = stage_names[static_cast<std::size_t>(current - 1)];
  return document;
}

}  // namespace sessiond::essay
