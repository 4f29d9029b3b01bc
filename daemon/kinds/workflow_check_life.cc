// The rules of a workflow document about its lifecycle: that the flags agree with each other and with the
// phases.
#include <algorithm>

#include "common/text.h"
#include "daemon/kinds/workflow_check.h"

namespace sessiond::workflow {
namespace {

constexpr std::string_view path = "/lifecycle";

// A flag and the time of it belong together.
void check_flag_time(Checker& out, std::string_view flag, std::string_view time) {
  const json::object& lifecycle = out.view.lifecycle();
  const bool set = bool_or(lifecycle, flag, false);
  const bool timed = member(lifecycle, time) != nullptr;
  if (set && !timed)
    out.strict("lifecycle_time", pointer_to(path, time), std::string(flag) + " is true, but not since when");
  if (!set && timed)
    out.warning("lifecycle_time", pointer_to(path, time),
                "is set, but " + std::string(flag) + " is not true");
}

void check_completed(Checker& out) {
  const View& view = out.view;
  const bool flag = bool_or(view.lifecycle(), "completed", false);
  if (flag && view.total && !view.all_completed())
    out.error("lifecycle_completed", "/lifecycle/completed",
              "is true, but phases are not completed: " + view.remaining());
  if (!flag && view.all_completed() && !view.legacy)
    out.warning("lifecycle_completed", "/lifecycle/completed", "is not true, but all phases are completed");
  if (flag && view.paused())
    out.strict("lifecycle_conflict", "/lifecycle/paused", "a completed session cannot be paused");
  if (flag && view.aborted())
    out.error("lifecycle_conflict", "/lifecycle/aborted", "a completed session cannot be aborted");
}

void check_paused(Checker& out) {
  const json::object& lifecycle = out.view.lifecycle();
  const json::value* reason = member(lifecycle, "paused_reason");
  if (reason == nullptr) {
    if (out.view.paused())
      out.strict("paused_reason", "/lifecycle/paused_reason", "paused is true, but not why");
    return;
  }
  const std::string_view text = string_or(lifecycle, "paused_reason", "");
  if (std::find(paused_reasons.begin(), paused_reasons.end(), text) == paused_reasons.end())
    out.strict("paused_reason", "/lifecycle/paused_reason",
               "expected one of " + join(paused_reasons, ", ") + ", got " + brief(*reason));
}

void check_resumed(Checker& out) {
  const json::object& lifecycle = out.view.lifecycle();
  const json::value* value = member(lifecycle, "resume_count");
  const std::int64_t count = int_or(lifecycle, "resume_count", value == nullptr ? 0 : -1);
  if (count < 0) out.strict("resume_count", "/lifecycle/resume_count", "expected a whole number >= 0");
  if ((count > 0) != (member(lifecycle, "resumed_at") != nullptr))
    out.warning("resume_count", "/lifecycle/resumed_at", "does not agree with resume_count");
}

void check_errors(Checker& out) {
  const json::object& lifecycle = out.view.lifecycle();
  if ((member(lifecycle, "last_error") == nullptr) != (member(lifecycle, "last_error_at") == nullptr))
    out.strict("last_error", "/lifecycle/last_error_at", "last_error and last_error_at belong together");
  if (!out.typed(lifecycle, "errors", json::kind::array, "/lifecycle/errors")) return;
  std::size_t index = 0;
  for (const json::value& item : lifecycle.at("errors").get_array()) {
    const std::string at = pointer_to("/lifecycle/errors", std::to_string(index++));
    const json::object* error = item.if_object();
    if (error == nullptr || string_or(*error, "message", "").empty() || !int_member(*error, "phase"))
      out.strict("errors", at, "expected an object with phase, message and at");
    else
      out.time(*error, "at", at);
  }
}

}  // namespace

void check_lifecycle(Checker& out) {
  const json::object& lifecycle = out.view.lifecycle();
  if (object_member(out.view.document, "lifecycle") == nullptr) return;  // legacy, or reported as a type
  for (const std::string_view flag : {"completed", "paused", "aborted"})
    out.typed(lifecycle, flag, json::kind::bool_, pointer_to(path, flag));
  for (const std::string_view flag : {"completed", "paused"})
    if (!lifecycle.contains(flag))
      out.strict("required", pointer_to(path, flag), std::string(flag) + " is missing");
  for (const std::string_view time :
       {"completed_at", "paused_at", "resumed_at", "last_error_at", "aborted_at"})
    out.time(lifecycle, time, path);
  for (const std::string_view list : {"pauses", "rollbacks"})
    out.typed(lifecycle, list, json::kind::array, pointer_to(path, list));
  out.seconds(lifecycle, "total_duration_seconds", path);
  check_flag_time(out, "completed", "completed_at");
  check_flag_time(out, "paused", "paused_at");
  check_flag_time(out, "aborted", "aborted_at");
  check_completed(out);
  check_paused(out);
  check_resumed(out);
  check_errors(out);
}

}  // namespace sessiond::workflow
