// The collector that the checks of a workflow document write to. Not for use outside of the kind.
#pragma once

#include "daemon/kinds/workflow_parts.h"

namespace sessiond::workflow {

class Checker {
 public:
  explicit Checker(const View& checked) : view(checked) {}

  const View& view;
  std::vector<Discrepancy> found;

  // Makes the state meaningless, whoever wrote it.
  void error(std::string_view rule, std::string path, std::string message);
  // Is not what this daemon writes: an error in its own form, a warning in a legacy one.
  void strict(std::string_view rule, std::string path, std::string message);
  void warning(std::string_view rule, std::string path, std::string message);

  // A time that may be missing or null. Reports what is wrong with it; nothing when it cannot be read.
  std::optional<TimePoint> time(const json::object& object, std::string_view name, std::string_view path);
  // A number of seconds that may be missing or null.
  void seconds(const json::object& object, std::string_view name, std::string_view path);
  // True when the member is there and of that type; another type is reported, missing or null is not.
  bool typed(const json::object& object, std::string_view name, json::kind kind, const std::string& path);
};

// The groups of rules, one after another; check() calls them all.
void check_identity(Checker& out);
void check_structure(Checker& out);
void check_progress(Checker& out);
void check_timing(Checker& out);
void check_results(Checker& out);  // checkpoints and artifacts
void check_lifecycle(Checker& out);

}  // namespace sessiond::workflow
