// The document of an essay: session-state.yaml as its schema gives it, every member always there and in the
// schema's order. Reading it, judging it, and making it anew from the files that the stages left.
#pragma once

#include <array>

#include "daemon/kinds/artifacts.h"
#include "daemon/kinds/kind.h"

namespace sessiond::essay {

inline constexpr std::array<std::string_view, 4> stage_names{"thesis_development", "essay_structuring",
                                                             "argument_development", "paragraph_writing"};
inline constexpr std::array<std::string_view, 4> statuses{"in_progress", "paused", "completed", "abandoned"};
inline constexpr std::array<std::string_view, 4> stage_statuses{"not_started", "in_progress", "completed",
                                                                "needs_review"};
// Files of the stages, by their documented names.
inline constexpr std::string_view thesis_name = "stage-1-thesis.md";
inline constexpr std::string_view development_log_name = "stage-1-development-log.md";
inline constexpr std::string_view outline_name = "stage-2-outline.md";
inline constexpr std::string_view draft_name = "stage-4-draft.md";
inline constexpr std::string_view paragraph_log_name = "stage-4-paragraph-log.md";
inline constexpr std::string_view final_name = "final-essay.md";
inline constexpr std::string_view fact_log_name = "fact-check-log.md";
inline constexpr std::string_view voice_log_name = "voice-check-log.md";
// Those that only grow.
inline constexpr std::array<std::string_view, 4> log_names{development_log_name, paragraph_log_name,
                                                           fact_log_name, voice_log_name};
std::string arguments_name(std::int64_t section);  // "stage-3-section-2-arguments.md"
// The section of an arguments file; none for any other name, kept versions included.
std::optional<std::int64_t> section_of(std::string_view name);

// "{session_dir}/{name}", as the document names its files.
std::string path_in(const Document& document, std::string_view name);
// The directory is at `directory` now: session_dir says so, and the paths of its files lead there.
void relocate(Document& document, const std::string& directory);

// A document before anything happened.
Document blank_document(std::string_view pipeline_id, std::string_view directory, TimePoint now);
json::object blank_stage(int stage);
json::object blank_output();
json::object blank_argument_section(std::int64_t index);
json::object blank_writing_section(std::int64_t index);

// Stage 1 to 4; an empty object when the document has none.
const json::object& stage_of(const Document& document, int stage);
json::object& stage_at(Document& document, int stage);
std::string_view status_of(const Document& document, int stage);

// The parsed state file, also of other tools: `sections` without a value is an empty list, and members that
// are missing get the schema's first values, each with a warning. Unknown members are kept, behind the known
// ones. An error only when it is no essay at all.
Result<Document> import_document(const json::value& file, std::vector<Discrepancy>& warnings);

// Every rule that the document alone can break.
std::vector<Discrepancy> check(const Document& document);
// Those that need the directory: files that it names must exist.
std::vector<Discrepancy> check_files(const Document& document, const Artifacts& artifacts);

// Level 2 of recovery: the state that the files tell of. Kept versions do not count. An error when there is
// no file that tells anything.
Result<Document> reconstruct(const Artifacts& artifacts, std::string_view session_id, TimePoint now);
// Level 3: a person says where to go on, as {stage, section, paragraph, total_sections}, or gives the whole
// document. What the files tell is kept; a stage before that one without its file is up for review.
Result<Document> start_from(const json::object& directions, const Artifacts& artifacts,
                            std::string_view session_id, TimePoint now);

}  // namespace sessiond::essay
