// The methods of the kind `workflow`: work that runs through numbered phases, each ended by a checkpoint.
#pragma once

#include "proto/envelope.h"
#include "proto/method.h"

namespace sessiond {

// Limits of a workflow. Larger texts and results belong into artifact files.
inline constexpr std::int64_t workflow_phases_max = 1'000;
inline constexpr std::size_t workflow_name_max = 200;        // a type, a version, the name of a phase
inline constexpr std::size_t workflow_target_max = 4'096;    // as long as a path can be
inline constexpr std::size_t workflow_message_max = 10'000;  // an error, an issue, a next step
inline constexpr std::size_t workflow_commands_max = 1'000;  // commands of one phase
inline constexpr std::size_t workflow_part_bytes =
    64 * 1024;  // evidence, outputs, commands or metadata as JSON

// An error that was recorded, or a checkpoint that failed.
struct WorkflowError {
  std::int64_t phase = 0;
  std::string message;
  std::string at;
  std::string source;
  static constexpr auto fields() {
    using E = WorkflowError;
    return std::array{field<&E::phase>("phase", "phase in which it happened"),
                      field<&E::message>("message", "what went wrong"), field<&E::at>("at", "when"),
                      field<&E::source>("source", "recorded (workflow.record_error) or checkpoint")};
  }
};

struct WorkflowCreate {
  static constexpr std::string_view name = "workflow.create";
  static constexpr std::string_view summary = "Starts a workflow with a fixed number of phases";
  static constexpr Access access = Access::write;
  struct Params {
    std::optional<std::string> session_id;
    std::optional<std::string> root;
    std::string workflow_type;
    std::string target_file;
    std::int64_t total_phases = 0;
    std::optional<std::int64_t> starting_phase;
    std::optional<std::string> workflow_version;
    std::optional<std::vector<std::string>> phase_names;
    std::optional<json::object> metadata;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "a safe file name; the daemon chooses one if left out",
                                length(1, 128)),
          field<&P::root>("root", "name of the root to create it in; default: the kind's own",
                          length(1, 128)),
          field<&P::workflow_type>("workflow_type", "which workflow this runs, as spec_execution_v1",
                                   length(1, workflow_name_max)),
          field<&P::target_file>("target_file", "what it works on", length(1, workflow_target_max)),
          field<&P::total_phases>("total_phases", "number of phases", between(1, workflow_phases_max)),
          field<&P::starting_phase>("starting_phase", "number of the first phase, 0 (default) or 1",
                                    between(0, 1)),
          field<&P::workflow_version>("workflow_version", "version of the workflow; default v1",
                                      length(1, workflow_name_max)),
          field<&P::phase_names>("phase_names", "a name for each phase, in order",
                                 length(1, static_cast<std::size_t>(workflow_phases_max))),
          field<&P::metadata>("metadata", "anything the caller wants to keep with the session")};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t current_phase = 0;
    std::string message;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::current_phase>("current_phase", "the phase to work on"),
                        field<&Reply::message>("message", "what happened, for a person")};
    }
  };
};

struct WorkflowCompletePhase {
  static constexpr std::string_view name = "workflow.complete_phase";
  static constexpr std::string_view summary =
      "Ends the current phase with its evidence; a passed checkpoint goes on to the next";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t phase = 0;
    std::optional<json::object> evidence;
    std::optional<json::object> outputs;
    std::optional<std::vector<json::value>> commands_executed;
    std::optional<bool> checkpoint_passed;
    std::optional<std::string> issue;
    std::optional<std::string> next_step;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::phase>("phase", "must be the current phase", between(0, workflow_phases_max)),
          field<&P::evidence>("evidence", "what shows that the phase is done, as tests_passing: 42/45"),
          field<&P::outputs>("outputs", "what the phase produced; files under `files`"),
          field<&P::commands_executed>("commands_executed", "commands that were run, texts or objects",
                                       length(0, workflow_commands_max)),
          field<&P::checkpoint_passed>("checkpoint_passed", "default true"),
          field<&P::issue>("issue", "what is not as it should be", length(1, workflow_message_max)),
          field<&P::next_step>("next_step", "what to do next", length(1, workflow_message_max))};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t phase = 0;
    std::string checkpoint;
    bool workflow_completed = false;
    std::int64_t current_phase = 0;
    std::optional<double> duration_seconds;
    std::string next;
    std::string message;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{
          field<&R::session>("session", "the session"),
          field<&R::phase>("phase", "the phase that was ended"),
          field<&R::checkpoint>("checkpoint", "passed or failed"),
          field<&R::workflow_completed>("workflow_completed", "whether that was the last phase"),
          field<&R::current_phase>("current_phase", "the current phase now"),
          field<&R::duration_seconds>("duration_seconds", "how long the phase took, pauses included"),
          field<&R::next>("next", "what to do next"),
          field<&R::message>("message", "what happened, for a person")};
    }
  };
};

struct WorkflowRetryPhase {
  static constexpr std::string_view name = "workflow.retry_phase";
  static constexpr std::string_view summary = "Starts a new attempt at the current phase after a failure";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t phase = 0;
    std::optional<bool> reset_evidence;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::phase>("phase", "must be the current phase", between(0, workflow_phases_max)),
          field<&P::reset_evidence>("reset_evidence",
                                    "start without the last attempt's artifact, which stays in its record")};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t phase = 0;
    std::int64_t attempt = 0;
    std::vector<WorkflowError> earlier_errors;
    std::string message;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{field<&R::session>("session", "the session"),
                        field<&R::phase>("phase", "the phase that starts again"),
                        field<&R::attempt>("attempt", "number of the new attempt, from 2"),
                        field<&R::earlier_errors>("earlier_errors", "what went wrong in this phase so far"),
                        field<&R::message>("message", "what happened, for a person")};
    }
  };
};

struct WorkflowRollback {
  static constexpr std::string_view name = "workflow.rollback";
  static constexpr std::string_view summary =
      "Goes back to an earlier phase and clears what later phases left";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t to_phase = 0;
    std::optional<std::string> reason;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::to_phase>("to_phase", "must be before the current phase",
                                            between(0, workflow_phases_max)),
                        field<&P::reason>("reason", "why", length(1, 2'000))};
    }
  };
  // Phase numbers by the member of the document that they were removed from.
  struct Cleared {
    std::vector<std::int64_t> completed_phases, phase_artifacts, checkpoints, phase_timing;
    static constexpr auto fields() {
      using C = Cleared;
      return std::array{
          field<&C::completed_phases>("completed_phases", "phases that no longer count as completed"),
          field<&C::phase_artifacts>("phase_artifacts", "phases whose artifacts were cleared"),
          field<&C::checkpoints>("checkpoints", "phases whose checkpoints were cleared"),
          field<&C::phase_timing>("phase_timing", "phases whose times were cleared")};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t from_phase = 0;
    std::int64_t current_phase = 0;
    Cleared cleared;
    std::string message;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{field<&R::session>("session", "the session"),
                        field<&R::from_phase>("from_phase", "the current phase before"),
                        field<&R::current_phase>("current_phase", "the current phase now"),
                        field<&R::cleared>("cleared", "what was removed; the history keeps it"),
                        field<&R::message>("message", "what happened, for a person")};
    }
  };
};

struct WorkflowRecordError {
  static constexpr std::string_view name = "workflow.record_error";
  static constexpr std::string_view summary = "Records that something went wrong in the current phase";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::string message;
    static constexpr auto fields() {
      return std::array{
          field<&Params::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&Params::message>("message", "what went wrong", length(1, workflow_message_max))};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t phase = 0;
    std::string message;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::phase>("phase", "phase that it was recorded for"),
                        field<&Reply::message>("message", "what happened, for a person")};
    }
  };
};

struct WorkflowGetErrors {
  static constexpr std::string_view name = "workflow.get_errors";
  static constexpr std::string_view summary = "Lists recorded errors and failed checkpoints, oldest first";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id;
    std::optional<std::int64_t> phase;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::phase>("phase", "only those of this phase", between(0, workflow_phases_max))};
    }
  };
  struct Reply {
    Envelope session;
    std::vector<WorkflowError> errors;
    std::optional<std::string> last_error;
    std::optional<std::string> last_error_at;
    static constexpr auto fields() {
      using R = Reply;
      return std::array{field<&R::session>("session", "the session"),
                        field<&R::errors>("errors", "oldest first"),
                        field<&R::last_error>("last_error", "the last recorded one of any phase"),
                        field<&R::last_error_at>("last_error_at", "when that was")};
    }
  };
};

using WorkflowMethods = MethodList<WorkflowCreate, WorkflowCompletePhase, WorkflowRetryPhase,
                                   WorkflowRollback, WorkflowRecordError, WorkflowGetErrors>;

}  // namespace sessiond
