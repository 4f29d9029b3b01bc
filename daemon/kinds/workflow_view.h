// Reads a workflow document of any form: what the members mean, in one place, so that commands, checks and
// texts agree. Nothing here changes a document, and nothing assumes that it is valid.
#pragma once

#include "daemon/kinds/kind.h"

namespace sessiond::workflow {

inline constexpr std::string_view legacy_warning = "Legacy session format, limited resumption context";

// The document must outlive the view.
struct View {
  explicit View(const Document& document);

  const Document& document;
  bool legacy = false;                // without workflow_structure or lifecycle
  std::optional<std::int64_t> total;  // of phases; unknown in some legacy files
  std::int64_t start = 0;             // number of the first phase
  std::int64_t current = 0;           // within range, whatever the file says
  std::vector<std::int64_t> completed;

  std::optional<std::int64_t> last() const;
  bool in_range(std::int64_t phase) const;
  // All phases are in completed_phases: the specification's set rule.
  bool all_completed() const;
  // By the flag; without it by the set rule, or by the completed_at of the later upstream form.
  bool complete() const;
  bool paused() const;
  bool aborted() const;
  bool ended() const { return complete() || aborted(); }

  // Never null; empty when the document has none.
  const json::object& structure() const;
  const json::object& lifecycle() const;
  const json::object& timing(std::int64_t phase) const;
  const json::object& artifact(std::int64_t phase) const;
  // Of the phase's artifact, or evidence_submitted of the later upstream form.
  const json::object& evidence(std::int64_t phase) const;
  std::string_view checkpoint(std::int64_t phase) const;  // "pending" when not set

  std::string_view phase_name(std::int64_t phase) const;  // empty when not known
  std::string label(std::int64_t phase) const;            // "Phase 0: Planning" or "Phase 0"
  std::string position() const;                           // "Phase 3 of 6"
  std::string remaining() const;                          // "3, 4, 5"
};

std::string_view timing_member(const Document& document);  // phase_timing, or phase_timings
std::optional<TimePoint> time_member(const json::object& object, std::string_view name);
std::optional<std::int64_t> phase_of_key(std::string_view key);
// paused_duration_seconds of a phase; bounded, because a foreign file may say anything.
double paused_seconds(const json::object& timing);
double seconds(Millis duration);
Millis millis_of(double seconds);

// What the specification computes when a session is loaded. Durations leave paused time out.
struct Metrics {
  std::optional<double> percent_complete;
  std::optional<std::int64_t> phases_remaining;
  std::optional<double> avg_phase_duration;   // seconds
  std::optional<double> estimated_remaining;  // seconds
  std::optional<double> time_in_phase;        // seconds; none when the phase has ended
  bool is_stalled = false;
};
Metrics metrics(const View& view, TimePoint now);

// How long a phase that has ended took, pauses left out; nothing when its times are not known.
std::optional<double> active_seconds(const View& view, std::int64_t phase);

// The decision tree: completed, aborted, paused, checkpoint_failed, possibly_stalled, active.
std::string_view status(const View& view, const Metrics& metrics);

// One sentence: what to do now.
std::string next_step(const View& view, const Metrics& metrics);

}  // namespace sessiond::workflow
