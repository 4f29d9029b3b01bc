// Essays to test with.
#pragma once

#include <doctest/doctest.h>

#include "common/json.h"
#include "common/json_edit.h"
#include "common/json_patch.h"
#include "daemon/kinds/essay_document.h"

namespace sessiond::essay_test {

inline const std::string directory = "/tmp/essay-pipeline-20260214-143022";

inline TimePoint minute(std::int64_t minutes) {
  return parse_rfc3339("2026-02-14T14:30:22Z")->time + Millis(minutes * 60'000);
}

// A directory with these files, each a minute younger than the one before.
inline Artifacts files(std::map<std::string, std::string> contents) {
  Artifacts out;
  out.directory = directory;
  std::int64_t minutes = 0;
  for (const auto& [name, text] : contents)
    out.files[name] = {static_cast<std::int64_t>(text.size()), minute(minutes++)};
  out.read = [contents = std::move(contents)](const std::string& name) -> Result<std::string> {
    const auto found = contents.find(name);
    if (found == contents.end()) return Error(ErrorCode::not_found, name);
    return found->second;
  };
  return out;
}

// The text of the part that `pointer` names, or "-" when there is none.
inline std::string part(const Document& document, std::string_view pointer) {
  const json::value value = document;
  const auto found = pointer_get(value, pointer);
  return found.ok() ? to_json_text(**found) : "-";
}

inline std::vector<std::string> rules_of(const std::vector<Discrepancy>& found) {
  std::vector<std::string> out;
  for (const Discrepancy& item : found)
    out.push_back((item.severity == Discrepancy::Severity::error ? "E " : "W ") + item.rule + " " +
                  item.path);
  return out;
}

}  // namespace sessiond::essay_test
