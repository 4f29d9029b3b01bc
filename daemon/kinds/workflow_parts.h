// What the files of the kind `workflow` share: the functions of its table, and the small steps that several
// commands take. Not for use outside of the kind.
#pragma once

#include "common/json_edit.h"
#include "daemon/kinds/workflow.h"
#include "daemon/kinds/workflow_view.h"

namespace sessiond::workflow {

inline constexpr std::array<std::string_view, 4> checkpoint_values{"pending", "passed", "failed", "skipped"};
inline constexpr std::array<std::string_view, 4> paused_reasons{"user_request", "checkpoint_failed",
                                                                "system_error", "inactivity"};
// Lists in the document are bounded: it is read and written whole with every change. The history has all.
inline constexpr std::size_t attempts_kept = 50;
inline constexpr std::size_t errors_kept = 200;
inline constexpr std::size_t interruptions_kept = 100;  // pauses, and rollbacks
// Counters of a foreign file are not trusted to leave room for one more.
inline constexpr std::int64_t count_max = 1'000'000'000;

// The table's functions; see kind.h.
bool ended(const Document& document);
Summary summary(const Document& document, TimePoint now);
std::vector<Discrepancy> check(const Document& document);
ContextFacts context(const Document& document, TimePoint now);
Result<Applied<SessionPause::Reply>> pause(const Document&, const SessionPause::Params&, const Moment&);
Result<Applied<SessionResume::Reply>> resume(const Document&, const SessionResume::Params&, const Moment&);
Result<Applied<SessionComplete::Reply>> complete(const Document&, const SessionComplete::Params&,
                                                 const Moment&);
Result<Applied<SessionAbort::Reply>> abort(const Document&, const SessionAbort::Params&, const Moment&);
Result<Applied<SessionUpdate::Reply>> update(const Document&, const SessionUpdate::Params&, const Moment&);
Result<Applied<MessageReply>> migrate(const Document&, const Moment&);

// The specification's display, for a reader.
std::string display(const View& view, TimePoint now);
// Names of files in the outputs and evidence of the phases and in the metadata, each once.
std::vector<std::string> files_touched(const View& view);
// "tests_passing=42/45, coverage=65%".
std::string evidence_text(const json::object& evidence);
// The commands of a phase's artifact, one line each.
std::vector<std::string> command_lines(const json::object& artifact);

// `what` completes "Cannot ...": refuses when the session has ended; the second also while it is paused.
Status ensure_open(const View& view, std::string_view what);
Status ensure_working(const View& view, std::string_view what);

// The time to write: never before anything the document says has happened.
TimePoint stamp(const View& view, const Moment& moment);

void push_bounded(json::array& list, json::value item, std::size_t kept);
json::object new_lifecycle();
// The document's lifecycle, made when a legacy file has none.
json::object& lifecycle_of(Document& document);
json::object new_timing(const View& view, std::int64_t phase, TimePoint started);
// Refuses evidence, outputs, commands or metadata that belong into an artifact file.
Status check_part_size(std::string_view name, const json::value& part);
Status check_part_size(std::string_view name, const json::object& part);
// Ends the pause: adds it to the current attempt's paused time and to lifecycle.pauses.
void end_pause(Document& document, const View& before, TimePoint now);
// lifecycle.completed and what goes with it.
void set_completed(Document& document, TimePoint now);

// An attempt is one run at a phase; its times stand in phase_timing.N until it is over.
std::int64_t next_attempt(const json::object& timing);  // the number of the one under way
void start_attempt(json::object& timing, TimePoint started);
void end_attempt(json::object& timing, TimePoint now);
// Copies the attempt and its artifact into `attempts`. Its times must have been stamped.
void keep_attempt(Document& document, std::int64_t phase, std::string_view checkpoint);

void add_error(Document& document, WorkflowError error, const std::string& agent);
// The errors of one phase, or of all.
std::vector<WorkflowError> errors_of(const View& view, std::optional<std::int64_t> phase);

}  // namespace sessiond::workflow
