#include "daemon/kinds/workflow_view.h"

#include <algorithm>
#include <charconv>

#include "common/json_edit.h"
#include "common/relative_time.h"
#include "common/text.h"
#include "proto/methods_workflow.h"

namespace sessiond::workflow {
namespace {

constexpr double seconds_max = 1e12;  // far beyond any session, and far from overflowing

const json::object& object_or_empty(const json::object& parent, std::string_view name) {
  static const json::object empty;
  const json::object* found = object_member(parent, name);
  return found == nullptr ? empty : *found;
}

const json::object& by_phase(const Document& document, std::string_view name, std::int64_t phase) {
  return object_or_empty(object_or_empty(document, name), std::to_string(phase));
}

std::optional<std::int64_t> plausible_total(std::optional<std::int64_t> total) {
  return total && *total >= 1 && *total <= workflow_phases_max ? total : std::nullopt;
}

std::vector<std::int64_t> completed_list(const Document& document) {
  std::vector<std::int64_t> out;
  if (const json::array* list = array_member(document, "completed_phases"))
    for (const json::value& item : *list)
      if (const auto phase = whole_number(item)) out.push_back(*phase);
  return out;
}

// Legacy files do not say with which number they start: one that never mentions phase 0 but completed phase
// 1 starts with 1.
std::int64_t find_start(const Document& document, const std::vector<std::int64_t>& completed) {
  const json::object& metadata = object_or_empty(document, "metadata");
  for (const auto said : {int_member(object_or_empty(document, "workflow_structure"), "starting_phase"),
                          int_member(metadata, "starting_phase"), int_member(metadata, "start_phase")})
    if (said) return *said == 1 ? 1 : 0;
  if (int_or(document, "current_phase", 0) == 0) return 0;
  for (const std::string_view name :
       {timing_member(document), std::string_view("checkpoints"), std::string_view("phase_artifacts")})
    if (object_or_empty(document, name).contains("0")) return 0;
  return !completed.empty() && *std::min_element(completed.begin(), completed.end()) == 1 ? 1 : 0;
}

std::optional<std::int64_t> find_total(const Document& document, std::int64_t start,
                                       const std::vector<std::int64_t>& completed) {
  const json::object& metadata = object_or_empty(document, "metadata");
  if (const json::object* structure = object_member(document, "workflow_structure"))
    if (const auto total = plausible_total(int_member(*structure, "total_phases"))) return total;
  if (const auto total = plausible_total(int_member(metadata, "total_phases"))) return total;
  if (const auto max = int_member(metadata, "max_phase"); max && *max >= start && *max <= workflow_phases_max)
    return plausible_total(*max - start + 1);
  // The later upstream form stamps completed_at when all is done: then what was completed is all there was.
  if (member(document, "completed_at") != nullptr && !completed.empty()) {
    const std::int64_t highest = *std::max_element(completed.begin(), completed.end());
    if (highest <= workflow_phases_max) return plausible_total(highest - start + 1);
  }
  return std::nullopt;
}

}  // namespace

View::View(const Document& d) : document(d), completed(completed_list(d)) {
  legacy = object_member(d, "workflow_structure") == nullptr || object_member(d, "lifecycle") == nullptr;
  start = find_start(d, completed);
  total = find_total(d, start, completed);
  current = std::max(int_or(d, "current_phase", start), start);
  current = std::min(current, last().value_or(workflow_phases_max));
}

std::optional<std::int64_t> View::last() const {
  return total ? std::optional(start + *total - 1) : std::nullopt;
}

bool View::in_range(std::int64_t phase) const {
  return phase >= start && phase <= last().value_or(workflow_phases_max);
}

bool View::all_completed() const {
  if (!total) return false;
  std::vector<std::int64_t> sorted = completed;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return std::cmp_equal(sorted.size(), *total) && sorted.front() == start && sorted.back() == *last();
}

bool View::complete() const {
  return bool_or(lifecycle(), "completed", false) || all_completed() ||
         (legacy && member(document, "completed_at") != nullptr);
}

bool View::paused() const { return bool_or(lifecycle(), "paused", false); }
bool View::aborted() const { return bool_or(lifecycle(), "aborted", false); }

const json::object& View::structure() const { return object_or_empty(document, "workflow_structure"); }
const json::object& View::lifecycle() const { return object_or_empty(document, "lifecycle"); }
const json::object& View::timing(std::int64_t phase) const {
  return by_phase(document, timing_member(document), phase);
}
const json::object& View::artifact(std::int64_t phase) const {
  return by_phase(document, "phase_artifacts", phase);
}
const json::object& View::evidence(std::int64_t phase) const {
  const json::object& found = object_or_empty(artifact(phase), "evidence");
  return found.empty() ? by_phase(document, "evidence_submitted", phase) : found;
}

std::string_view View::checkpoint(std::int64_t phase) const {
  return string_or(object_or_empty(document, "checkpoints"), std::to_string(phase), "pending");
}

std::string_view View::phase_name(std::int64_t phase) const {
  const json::array* names = array_member(structure(), "phase_names");
  if (names == nullptr || phase < start || std::cmp_greater_equal(phase - start, names->size())) return {};
  const json::value& name = (*names)[static_cast<std::size_t>(phase - start)];
  return name.is_string() ? std::string_view(name.get_string()) : std::string_view();
}

std::string View::label(std::int64_t phase) const {
  const std::string_view name = phase_name(phase);
  return "Phase " + std::to_string(phase) + (name.empty() ? "" : ": " + one_line(name));
}

std::string View::position() const {
  return "Phase " + std::to_string(current) + (total ? " of " + std::to_string(*total) : "");
}

std::string View::remaining() const {
  std::vector<std::string> left;
  for (std::int64_t phase = start; total && phase <= *last(); ++phase)
    if (std::find(completed.begin(), completed.end(), phase) == completed.end())
      left.push_back(std::to_string(phase));
  return join(left, ", ");
}

std::string_view timing_member(const Document& document) {
  const bool later_upstream = !document.contains("phase_timing") && document.contains("phase_timings");
  return later_upstream ? "phase_timings" : "phase_timing";
}

std::optional<TimePoint> time_member(const json::object& object, std::string_view name) {
  const auto parsed = parse_rfc3339(string_or(object, name, ""));
  return parsed ? std::optional(parsed->time) : std::nullopt;
}

std::optional<std::int64_t> phase_of_key(std::string_view key) {
  std::int64_t phase = 0;
  const auto [end, status] = std::from_chars(key.data(), key.data() + key.size(), phase);
  if (status != std::errc() || end != key.data() + key.size()) return std::nullopt;
  // Only the plain spelling: "01" and "-0" would be second names of the same phase.
  return phase >= 0 && std::to_string(phase) == key ? std::optional(phase) : std::nullopt;
}

double paused_seconds(const json::object& timing) {
  return std::clamp(number_member(timing, "paused_duration_seconds").value_or(0), 0.0, seconds_max);
}

double seconds(Millis duration) { return static_cast<double>(duration.count()) / 1000.0; }

Millis millis_of(double seconds) {
  return Millis(static_cast<std::int64_t>(std::clamp(seconds, 0.0, seconds_max) * 1000.0 + 0.5));
}

}  // namespace sessiond::workflow
