#include "daemon/kinds/essay_document.h"

#include <charconv>

#include "common/json.h"
#include "common/json_edit.h"

namespace sessiond::essay {
namespace {

json::object blank_stages() {
  return {{"stage_1",
           {{"status", "not_started"},
            {"thesis_file", nullptr},
            {"development_log", nullptr},
            {"claim_type", nullptr},
            {"completed_at", nullptr}}},
          {"stage_2",
           {{"status", "not_started"},
            {"outline_file", nullptr},
            {"total_sections", nullptr},
            {"target_word_count", nullptr},
            {"audience", nullptr},
            {"completed_at", nullptr}}},
          {"stage_3",
           {{"status", "not_started"},
            {"total_sections", nullptr},
            {"current_section", nullptr},
            {"sections", json::array()},
            {"birds_eye_approved", false},
            {"completed_at", nullptr}}},
          {"stage_4",
           {{"status", "not_started"},
            {"current_section", nullptr},
            {"current_paragraph", nullptr},
            {"draft_file", nullptr},
            {"paragraph_log", nullptr},
            {"sections", json::array()},
            {"completed_at", nullptr}}}};
}

void warn(std::vector<Discrepancy>& out, std::string_view rule, std::string path, std::string message) {
  out.push_back({Discrepancy::Severity::warning, std::string(rule), std::move(path), std::move(message)});
}

// `given` in the order of `wanted`, what is missing taken from there.
json::object completed(const json::object& given, const json::object& wanted, const std::string& path,
                       std::vector<Discrepancy>& warnings) {
  json::object out;
  for (const auto& [name, first] : wanted) {
    const json::value* value = given.if_contains(name);
    const std::string at = pointer_to(path, name);
    if (value == nullptr) warn(warnings, "missing", at, "is missing; taken as " + brief(first));
    const bool unset = value == nullptr || (value->is_null() && (first.is_array() || first.is_object()));
    if (unset)
      out[name] = first;
    else if (value->is_object() && first.is_object())
      out[name] = completed(value->get_object(), first.get_object(), at, warnings);
    else
      out[name] = *value;
  }
  for (const auto& [name, value] : given)
    if (!out.contains(name)) out[name] = value;
  return out;
}

// Paths below the old directory lead into the new one.
void move_paths(json::value& value, const std::string& from, const std::string& to) {
  if (json::object* object = value.if_object())
    for (auto& pair : *object) move_paths(pair.value(), from, to);
  else if (json::array* array = value.if_array())
    for (json::value& item : *array) move_paths(item, from, to);
  else if (const json::string* text = value.if_string(); text != nullptr && text->starts_with(from + "/"))
    value = to + std::string(text->subview(from.size()));
}

// Other tools end it with a slash.
std::string directory_of(const Document& document) {
  std::string directory(string_or(document, "session_dir", ""));
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

}  // namespace

std::string arguments_name(std::int64_t section) {
  return "stage-3-section-" + std::to_string(section) + "-arguments.md";
}

std::optional<std::int64_t> section_of(std::string_view name) {
  constexpr std::string_view before = "stage-3-section-", after = "-arguments.md";
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
    return std::nullopt;
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = status == std::errc() && end == name.data() + name.size();
  return whole && number >= 1 && number <= 1'000 ? std::optional(number) : std::nullopt;
}

std::string path_in(const Document& document, std::string_view name) {
  return directory_of(document) + "/" + std::string(name);
}

void relocate(Document& document, const std::string& directory) {
  const std::string from = directory_of(document);
  if (from == directory) return;
  for (const std::string_view name : {"stages", "output"}) move_paths(document[name], from, directory);
  document["session_dir"] = directory;
}

Document blank_document(std::string_view pipeline_id, std::string_view directory, TimePoint now) {
  const std::string time = format_rfc3339(now);
  return {{"pipeline_id", pipeline_id},
          {"started_at", time},
          {"last_activity", time},
          {"status", "in_progress"},
          {"style_profile_path", nullptr},
          {"samples_dir_path", nullptr},
          {"pushback_level", "full"},
          {"session_dir", directory},
          {"current_stage", 1},
          {"current_stage_name", stage_names[0]},
          {"stages", blank_stages()},
          {"voice_calibration",
           {{"first_assessment_user_rating", nullptr},
            {"calibration_notes", nullptr},
            {"voice_reference_mode", "profile"}}},
          {"deferred_verifications", json::array()},
          {"user_overrides", json::array()},
          {"revision_history", json::array()},
          {"output", blank_output()}};
}

json::object blank_output() {
  return {{"final_essay_file", nullptr},
          {"sources_verified", nullptr},
          {"voice_consistency_score", nullptr},
          {"total_word_count", nullptr},
          {"completed_at", nullptr}};
}

json::object blank_stage(int stage) {
  return blank_stages().at("stage_" + std::to_string(stage)).get_object();
}

json::object blank_argument_section(std::int64_t index) {
  return {{"section_index", index}, {"status", "not_started"}, {"argument_map_file", nullptr},
          {"verified_claims", 0},   {"deferred_claims", 0},    {"completed_at", nullptr}};
}

json::object blank_writing_section(std::int64_t index) {
  return {{"section_index", index},
          {"total_paragraphs", nullptr},
          {"completed_paragraphs", 0},
          {"status", "not_started"},
          {"voice_check_score", nullptr}};
}

const json::object& stage_of(const Document& document, int stage) {
  static const json::object empty;
  const json::object* stages = object_member(document, "stages");
  if (stages == nullptr) return empty;
  const json::object* found = object_member(*stages, "stage_" + std::to_string(stage));
  return found == nullptr ? empty : *found;
}

json::object& stage_at(Document& document, int stage) {
  return object_at(object_at(document, "stages"), "stage_" + std::to_string(stage));
}

std::string_view status_of(const Document& document, int stage) {
  return string_or(stage_of(document, stage), "status", "not_started");
}

Result<Document> import_document(const json::value& file, std::vector<Discrepancy>& warnings) {
  const json::object* given = file.if_object();
  if (given == nullptr)
    return Error(ErrorCode::damaged, "Not an essay session: expected an object, got " + brief(file));
  if (object_member(*given, "stages") == nullptr)
    return Error(ErrorCode::damaged, "Not an essay session: it has no stages").with("path", "/stages");
  const std::int64_t stage = int_or(*given, "current_stage", 1);
  if (stage < 1 || stage > 4)
    return Error(ErrorCode::damaged, "Not an essay session that makes sense: current_stage is " +
                                         std::to_string(stage) + ", expected 1 to 4")
        .with("path", "/current_stage");
  return completed(*given, blank_document("", "", TimePoint{}), "", warnings);
}

}  // namespace sessiond::essay
