// Workflows to test with: made through the real commands, at times that the test names in minutes.
#pragma once

#include <doctest/doctest.h>

#include "common/json.h"
#include "common/json_edit.h"
#include "daemon/kinds/workflow.h"

namespace sessiond::workflow_test {

inline json::value parse(std::string_view text) {
  auto parsed = parse_json(text);
  REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.error().message));
  return *parsed;
}
inline json::object parse_object(std::string_view text) { return parse(text).get_object(); }

// Minutes after 2025-10-23T07:00:00Z.
inline TimePoint minute(double minutes) {
  return parse_rfc3339("2025-10-23T07:00:00Z")->time + Millis(static_cast<std::int64_t>(minutes * 60'000));
}
inline Moment at(double minutes) { return {minute(minutes), "tester", "model-1"}; }

inline Document must(auto result) {
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return std::move(result->document);
}

struct Options {
  std::int64_t total = 6;
  std::int64_t start = 0;
  bool named = false;
};
inline Document created(Options options = {}, double minutes = 0) {
  WorkflowCreate::Params params{.workflow_type = "spec_execution_v1",
                                .target_file = ".praxis-os/specs/my-spec",
                                .total_phases = options.total,
                                .starting_phase = options.start};
  if (options.named)
    params.phase_names = {"Planning", "Setup", "Implementation", "Testing", "Review", "Release"};
  return must(workflow::create("abc-123", params, at(minutes)));
}

inline auto complete(const Document& document, std::int64_t phase, double minutes, bool passed = true) {
  return workflow::complete_phase(
      document, {.session_id = "abc-123", .phase = phase, .checkpoint_passed = passed}, at(minutes));
}
inline auto retry(const Document& document, std::int64_t phase, double minutes, bool reset = false) {
  return workflow::retry_phase(document, {"abc-123", phase, reset}, at(minutes));
}
inline auto roll_back(const Document& document, std::int64_t to, double minutes) {
  return workflow::rollback(document, {"abc-123", to, "wrong turn"}, at(minutes));
}
inline auto record(const Document& document, std::string message, double minutes) {
  return workflow::record_error(document, {"abc-123", std::move(message)}, at(minutes));
}
inline auto pause(const Document& document, double minutes, std::optional<std::string> reason = {},
                  std::optional<std::string> context = {}) {
  return workflow_kind().pause(document, {"abc-123", std::move(reason), std::move(context)}, at(minutes));
}
inline auto resume(const Document& document, double minutes) {
  return workflow_kind().resume(document, {"abc-123", {}}, at(minutes));
}
inline auto finish(const Document& document, double minutes) {
  return workflow_kind().complete(document, {"abc-123", {}}, at(minutes));
}
inline auto abort(const Document& document, double minutes) {
  return workflow_kind().abort(document, {"abc-123", "no longer wanted"}, at(minutes));
}
inline auto update(const Document& document, std::string_view changes, double minutes) {
  return workflow_kind().update(document, {"abc-123", parse_object(changes)}, at(minutes));
}
inline std::string status_at(const Document& document, double minutes) {
  return workflow_kind().summary(document, minute(minutes)).status;
}

// The first `count` phases passed, half an hour each.
inline Document with_completed(std::int64_t count, Options options = {}) {
  Document document = created(options);
  for (std::int64_t i = 0; i < count; ++i)
    document = must(complete(document, options.start + i, 30.0 * static_cast<double>(i + 1)));
  return document;
}

// The text of the part that `pointer` names, or "-" when there is none.
inline std::string part(const Document& document, std::string_view pointer) {
  const json::value value = document;
  const auto found = pointer_get(value, pointer);
  return found.ok() ? to_json_text(**found) : "-";
}

inline std::vector<Discrepancy> found_in(const Document& document, Discrepancy::Severity severity) {
  std::vector<Discrepancy> out;
  for (const Discrepancy& item : workflow_kind().check(document))
    if (item.severity == severity) out.push_back(item);
  return out;
}
// Every discrepancy as "E rule path" or "W rule path".
inline std::vector<std::string> rules_of(const Document& document) {
  std::vector<std::string> out;
  for (const Discrepancy& item : workflow_kind().check(document))
    out.push_back((item.severity == Discrepancy::Severity::error ? "E " : "W ") + item.rule + " " +
                  item.path);
  return out;
}

inline void check_refused(const auto& result, std::string_view message, ErrorCode code = ErrorCode::refused) {
  REQUIRE(!result.ok());
  CHECK(result.error().message == message);
  CHECK(result.error().code == code);
}

}  // namespace sessiond::workflow_test
