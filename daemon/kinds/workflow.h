// The kind `workflow`: work that runs through numbered phases, each ended by a checkpoint. One state file,
// session.json, whose document is, in this order:
//
//   session_id, workflow_type, target_file
//   workflow_structure  total_phases, starting_phase (0 or 1), indexing_scheme, workflow_version and, when
//                       given, phase_names: the contract the session was created with
//   current_phase       always a phase that exists; stays at the last one when the workflow is complete
//   completed_phases    ascending
//   phase_timing        by phase: started_at; when ended completed_at and duration_seconds (wall time);
//                       paused_duration_seconds if it was ever paused; attempts
//   lifecycle           flags, set by commands and never computed, see below
//   phase_artifacts     by phase: phase_number, evidence, outputs, commands_executed, timestamp; issue and
//                       next_step when given
//   checkpoints         by phase: pending, passed, failed or skipped
//   created_at, updated_at, metadata
//
// Where the specification leaves a place open:
// - phase_timing.N.attempts lists the attempts at phase N that did not stand, oldest first: attempt (its
//   number), started_at, completed_at, duration_seconds, paused_duration_seconds, checkpoint (failed; pending
//   when given up after an error; passed when undone by a rollback), and what phase_artifacts.N held. The
//   last 50 are kept.
// - lifecycle.errors lists {phase, message, at, source, agent}: recorded errors and failed checkpoints, the
//   last 200. last_error and last_error_at are of the last recorded one.
// - lifecycle.pauses lists {phase, paused_at, paused_reason, paused_context, resumed_at, duration_seconds},
//   lifecycle.rollbacks {from_phase, to_phase, reason, at}, the last 100 of each: the flags tell the present,
//   these what a reader later wants to know.
// - lifecycle.aborted, aborted_at, aborted_reason, total_duration_seconds and completed_reason appear when
//   they happen.
// Members that are not known are kept.
//
// Two older forms are read as they are, never rewritten on load, and upgraded by migrate(): files without
// workflow_structure or lifecycle, and those with phase_timings, evidence_submitted and a current_phase one
// past the end (the form that later versions of the original tool write).
#pragma once

#include "daemon/kinds/kind.h"
#include "proto/methods_workflow.h"

namespace sessiond {

const Kind& workflow_kind();

// Reads a state file of any of the forms. What is wrong in format becomes a warning; what would make the
// state meaningless is an error that names every place. The document is the file's object, unchanged.
Result<Document> workflow_import(const json::value& file, std::vector<Discrepancy>& warnings);

// The kind's own methods. Each refuses without a change, or returns the whole next document.
namespace workflow {

// `session_id` is the name the session layer settled on; params.session_id and params.root are its business.
Result<Applied<WorkflowCreate::Reply>> create(std::string_view session_id, const WorkflowCreate::Params&,
                                              const Moment&);
Result<Applied<WorkflowCompletePhase::Reply>> complete_phase(const Document&,
                                                             const WorkflowCompletePhase::Params&,
                                                             const Moment&);
Result<Applied<WorkflowRetryPhase::Reply>> retry_phase(const Document&, const WorkflowRetryPhase::Params&,
                                                       const Moment&);
Result<Applied<WorkflowRollback::Reply>> rollback(const Document&, const WorkflowRollback::Params&,
                                                  const Moment&);
Result<Applied<WorkflowRecordError::Reply>> record_error(const Document&, const WorkflowRecordError::Params&,
                                                         const Moment&);
Result<WorkflowGetErrors::Reply> get_errors(const Document&, const WorkflowGetErrors::Params&);

}  // namespace workflow
}  // namespace sessiond
