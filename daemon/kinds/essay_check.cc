// The rules of an essay's document, and of the files that it names: the specification's validation table, and
// the schema's types and values.
#include <algorithm>

#include "common/json.h"
#include "common/json_edit.h"
#include "common/text.h"
#include "daemon/kinds/essay_document.h"
#include "proto/methods_essay.h"

namespace sessiond::essay {
namespace {

using Values = std::span<const std::string_view>;

struct Checker {
  const Document& document;
  std::vector<Discrepancy> found;

  void error(std::string_view rule, std::string path, std::string message) {
    found.push_back({Discrepancy::Severity::error, std::string(rule), std::move(path), std::move(message)});
  }
  void warning(std::string_view rule, std::string path, std::string message) {
    found.push_back({Discrepancy::Severity::warning, std::string(rule), std::move(path), std::move(message)});
  }
};

std::string stage_path(int stage, std::string_view name = "") {
  const std::string path = "/stages/stage_" + std::to_string(stage);
  return name.empty() ? path : pointer_to(path, name);
}

// One of the values; null or missing only when it is optional.
void check_value(Checker& out, const json::object& object, std::string_view name, const std::string& path,
                 Values values, bool optional) {
  const json::value* value = member(object, name);
  if (value == nullptr && optional) return;
  const std::string_view text = string_or(object, name, "");
  if (std::find(values.begin(), values.end(), text) != values.end()) return;
  out.error("value", pointer_to(path, name),
            "expected one of " + join(values, ", ") + ", got " +
                (value == nullptr ? std::string("nothing") : brief(*value)));
}

void check_time(Checker& out, const json::object& object, std::string_view name, const std::string& path) {
  const json::value* value = member(object, name);
  if (value == nullptr) return;
  const auto parsed = parse_rfc3339(string_or(object, name, ""));
  const std::string at = pointer_to(path, name);
  if (!parsed)
    out.warning("time_format", at, "expected a time such as 2026-02-14T14:30:22Z, got " + brief(*value));
  else if (parsed->naive)
    out.warning("time_naive", at, "has no zone; read as UTC");
}

// A whole number in a range, or nothing.
void check_number(Checker& out, const json::object& object, std::string_view name, const std::string& path,
                  std::int64_t low, std::int64_t high) {
  const json::value* value = member(object, name);
  if (value == nullptr) return;
  const auto number = whole_number(*value);
  if (!number || *number < low || *number > high)
    out.error("range", pointer_to(path, name),
              "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                  ", got " + brief(*value));
}

void check_identity(Checker& out) {
  const Document& document = out.document;
  if (string_or(document, "pipeline_id", "").empty())
    out.error("required", "/pipeline_id", "pipeline_id is missing");
  for (const std::string_view name : {"started_at", "last_activity"}) {
    if (member(document, name) == nullptr)
      out.warning("required", pointer_to("", name), std::string(name) + " is missing");
    check_time(out, document, name, "");
  }
  check_value(out, document, "status", "", statuses, false);
  check_value(out, document, "pushback_level", "", essay_pushback_levels, false);
  for (const std::string_view name : {"style_profile_path", "samples_dir_path", "session_dir"})
    if (const json::value* value = member(document, name); value != nullptr && !value->is_string())
      out.error("type", pointer_to("", name), "expected a path, got " + brief(*value));
  const std::int64_t stage = int_or(document, "current_stage", 0);
  if (stage < 1 || stage > 4)
    return out.error("current_stage", "/current_stage", "expected a whole number from 1 to 4");
  const std::string_view wanted = stage_names[static_cast<std::size_t>(stage - 1)];
  if (string_or(document, "current_stage_name", "") != wanted)
    out.warning("current_stage_name", "/current_stage_name",
                "expected " + quoted(wanted) + " for stage " + std::to_string(stage));
}

void check_stages(Checker& out) {
  for (int stage = 1; stage <= 4; ++stage) {
    const json::object& state = stage_of(out.document, stage);
    if (state.empty()) {
      out.error("required", stage_path(stage), "the stage is missing");
      continue;
    }
    check_value(out, state, "status", stage_path(stage), stage_statuses, false);
    check_time(out, state, "completed_at", stage_path(stage));
  }
  check_value(out, stage_of(out.document, 1), "claim_type", stage_path(1), essay_claim_types, true);
  check_value(out, stage_of(out.document, 2), "audience", stage_path(2), essay_audiences, true);
  check_number(out, stage_of(out.document, 2), "total_sections", stage_path(2), 1, 1'000);
  check_number(out, stage_of(out.document, 2), "target_word_count", stage_path(2), 1, 10'000'000);
}

// "No stage can be completed if a prerequisite stage is not_started."
void check_prerequisites(Checker& out) {
  for (int stage = 2; stage <= 4; ++stage) {
    if (status_of(out.document, stage) != "completed") continue;
    for (int before = 1; before < stage; ++before)
      if (status_of(out.document, before) == "not_started")
        out.error("status_consistency", stage_path(stage, "status"),
                  "stage " + std::to_string(stage) + " is completed, but stage " + std::to_string(before) +
                      " is not_started");
  }
}

struct StageFile {
  int stage;
  std::string_view member;
};
constexpr std::array<StageFile, 3> stage_files{{{1, "thesis_file"}, {2, "outline_file"}, {4, "draft_file"}}};

// A completed stage names its artifact; whether the file exists is for check_files.
void check_completed(Checker& out) {
  for (const StageFile& file : stage_files)
    if (status_of(out.document, file.stage) == "completed" &&
        string_or(stage_of(out.document, file.stage), file.member, "").empty())
      out.error(
          "stage_artifact", stage_path(file.stage, file.member),
          "stage " + std::to_string(file.stage) + " is completed, but names no " + std::string(file.member));
  if (status_of(out.document, 3) == "completed" &&
      !bool_or(stage_of(out.document, 3), "birds_eye_approved", false))
    out.warning("birds_eye", stage_path(3, "birds_eye_approved"),
                "stage 3 is completed, but the bird's-eye view was not approved");
}

void check_section(Checker& out, int stage, const json::object& section, std::int64_t index,
                   const std::string& at) {
  if (int_or(section, "section_index", 0) != index)
    out.error("section_index", pointer_to(at, "section_index"), "expected " + std::to_string(index));
  check_value(out, section, "status", at, stage_statuses, false);
  if (stage == 3 && string_or(section, "status", "") == "completed" &&
      string_or(section, "argument_map_file", "").empty())
    out.error("section_artifact", pointer_to(at, "argument_map_file"),
              "section " + std::to_string(index) + " is completed, but names no argument map");
  for (const std::string_view name :
       {"verified_claims", "deferred_claims", "total_paragraphs", "completed_paragraphs"})
    check_number(out, section, name, at, 0, 1'000'000);
}

void check_sections(Checker& out, int stage) {
  const std::string path = stage_path(stage, "sections");
  const json::value* value = member(stage_of(out.document, stage), "sections");
  if (value == nullptr) return;
  if (!value->is_array()) return out.error("type", path, "expected a list, got " + brief(*value));
  std::int64_t index = 0;
  for (const json::value& item : value->get_array()) {
    const std::string at = pointer_to(path, std::to_string(index++));
    if (const json::object* section = item.if_object())
      check_section(out, stage, *section, index, at);
    else
      out.error("type", at, "expected an object, got " + brief(item));
  }
}

std::optional<std::int64_t> total_sections(const Document& document) {
  const auto total = int_member(stage_of(document, 3), "total_sections");
  return total ? total : int_member(stage_of(document, 2), "total_sections");
}

// "Must be within range 1 to total_sections."
void check_current_section(Checker& out, int stage) {
  const json::value* value = member(stage_of(out.document, stage), "current_section");
  if (value == nullptr) return;
  const auto section = whole_number(*value);
  const std::int64_t total = total_sections(out.document).value_or(1'000);
  if (!section || *section < 1 || *section > total)
    out.error("current_section", stage_path(stage, "current_section"),
              "expected 1 to " + std::to_string(total) + ", got " + brief(*value));
}

// 1 to the section's total; while that is unknown, at most the one behind those that are done.
void check_current_paragraph(Checker& out) {
  const json::object& stage = stage_of(out.document, 4);
  const json::value* value = member(stage, "current_paragraph");
  if (value == nullptr) return;
  std::int64_t high = 1;
  const json::array* sections = array_member(stage, "sections");
  const std::int64_t current = int_or(stage, "current_section", 0);
  if (sections != nullptr && current >= 1 && std::cmp_less_equal(current, sections->size()))
    if (const json::object* section = (*sections)[static_cast<std::size_t>(current - 1)].if_object())
      high = std::max<std::int64_t>(
          1,
          int_member(*section, "total_paragraphs").value_or(int_or(*section, "completed_paragraphs", 0) + 1));
  const auto paragraph = whole_number(*value);
  if (!paragraph || *paragraph < 1 || *paragraph > high)
    out.error("current_paragraph", stage_path(4, "current_paragraph"),
              "expected 1 to " + std::to_string(high) + ", got " + brief(*value));
}

void check_list(Checker& out, const std::string& path, const json::value& list) {
  if (!list.is_array()) return out.error("type", path, "expected a list, got " + brief(list));
  std::size_t index = 0;
  for (const json::value& entry : list.get_array()) {
    const std::string at = pointer_to(path, std::to_string(index++));
    if (!entry.is_object()) out.error("type", at, "expected an object, got " + brief(entry));
  }
}

void check_lists(Checker& out) {
  for (const std::string_view name : {"deferred_verifications", "user_overrides", "revision_history"})
    if (const json::value* value = member(out.document, name)) check_list(out, pointer_to("", name), *value);
  if (const json::object* voice = object_member(out.document, "voice_calibration")) {
    check_number(out, *voice, "first_assessment_user_rating", "/voice_calibration", 1, 5);
    check_value(out, *voice, "voice_reference_mode", "/voice_calibration", essay_voice_modes, true);
  }
}

// The writer's own files. A path that does not start at the root cannot be looked up here.
void check_elsewhere(Checker& out, const Artifacts& artifacts) {
  for (const std::string_view name : {"style_profile_path", "samples_dir_path"}) {
    const std::string path(string_or(out.document, name, ""));
    if (path.starts_with('/') && artifacts.exists && !artifacts.exists(path))
      out.error("file_path", pointer_to("", name), path + " does not exist or cannot be seen");
  }
}

// A file of the document: where it is named, and the path.
struct Named {
  std::string rule, path, file;
};

std::vector<Named> named_files(const Document& document) {
  std::vector<Named> out;
  const auto add = [&](const json::object& object, std::string_view name, const std::string& path,
                       bool completed, std::string_view rule) {
    const std::string_view file = string_or(object, name, "");
    if (!file.empty())
      out.push_back({completed ? std::string(rule) : "file_path", pointer_to(path, name), std::string(file)});
  };
  for (const StageFile& file : stage_files)
    add(stage_of(document, file.stage), file.member, stage_path(file.stage),
        status_of(document, file.stage) == "completed", "stage_artifact");
  add(stage_of(document, 1), "development_log", stage_path(1), false, "");
  add(stage_of(document, 4), "paragraph_log", stage_path(4), false, "");
  if (const json::array* sections = array_member(stage_of(document, 3), "sections"))
    for (std::size_t i = 0; i < sections->size(); ++i)
      if (const json::object* section = (*sections)[i].if_object())
        add(*section, "argument_map_file", pointer_to(stage_path(3, "sections"), std::to_string(i)),
            string_or(*section, "status", "") == "completed", "section_artifact");
  if (const json::object* output = object_member(document, "output"))
    add(*output, "final_essay_file", "/output", false, "");
  return out;
}

}  // namespace

std::vector<Discrepancy> check(const Document& document) {
  Checker out{document, {}};
  check_identity(out);
  check_stages(out);
  check_prerequisites(out);
  check_completed(out);
  for (const int stage : {3, 4}) {
    check_sections(out, stage);
    check_current_section(out, stage);
  }
  check_current_paragraph(out);
  check_lists(out);
  return std::move(out.found);
}

std::vector<Discrepancy> check_files(const Document& document, const Artifacts& artifacts) {
  Checker out{document, {}};
  const std::string anywhere = path_in(document, "");
  const std::string before = anywhere.substr(0, anywhere.size() - 1);
  if (!artifacts.directory.empty() && before != artifacts.directory)
    out.warning("session_dir", "/session_dir", "the files are in " + artifacts.directory + " now");
  for (Named& named : named_files(document)) {
    const std::size_t slash = named.file.rfind('/');
    const std::string name = slash == std::string::npos ? named.file : named.file.substr(slash + 1);
    const std::string directory = slash == std::string::npos ? before : named.file.substr(0, slash);
    if (directory != before && directory != artifacts.directory)
      out.warning("file_path", std::move(named.path), named.file + " is not in the session's directory");
    else if (!artifacts.has(name))
      out.error(named.rule, std::move(named.path), name + " does not exist");
  }
  check_elsewhere(out, artifacts);
  return std::move(out.found);
}

}  // namespace sessiond::essay
