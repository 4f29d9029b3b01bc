#include "daemon/store/layout.h"

#include <algorithm>

#include "common/text.h"
#include "common/utf8.h"

namespace sessiond::layout {
namespace {

constexpr std::size_t session_id_bytes_max = 128;
constexpr std::size_t artifact_name_bytes_max = 200;

bool word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool reserved(std::string_view name) {
  // State files of every kind, whatever the kind of this session: a bundle may move between kinds' tools.
  constexpr std::string_view names[] = {history,
                                        quarantine,
                                        "session.json",
                                        "session-state.yaml",
                                        "state.yaml",
                                        "implementation-plan.yaml",
                                        "quedonde_session_state.json"};
  if (name.ends_with(".bak") || name.ends_with(".tmp") || name.ends_with(".repair")) return true;
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::string backup_of(std::string_view state_file) { return std::string(state_file) + ".bak"; }
std::string temporary_of(std::string_view state_file) { return std::string(state_file) + ".tmp"; }

Status check_session_id(std::string_view id) {
  const bool good =
      !id.empty() && id.size() <= session_id_bytes_max && word(id.front()) &&
      std::all_of(id.begin(), id.end(), [](char c) { return word(c) || c == '.' || c == '_' || c == '-'; });
  if (good) return {};
  return Error(ErrorCode::invalid_params,
               "session_id: expected 1 to 128 of A-Z a-z 0-9 . _ - that start with a letter or digit, got " +
                   quoted(id))
      .with("field", "params.session_id");
}

// What keeps `name` from being an artifact's; empty when nothing does.
static std::string_view artifact_problem(std::string_view name) {
  if (!is_utf8(name) || std::any_of(name.begin(), name.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    return "control characters are not allowed";
  if (name.find('/') != std::string_view::npos) return "it must be a plain name, not a path";
  if (name.starts_with('.')) return "it must not start with a dot";
  if (reserved(name)) return "the name is taken by the session itself";
  return {};
}

bool is_artifact(std::string_view name) { return !name.empty() && artifact_problem(name).empty(); }

Status check_artifact_name(std::string_view name) {
  std::string_view problem = artifact_problem(name);
  if (name.empty() || name.size() > artifact_name_bytes_max) problem = "it must have 1 to 200 bytes";
  if (problem.empty()) return {};
  return Error(ErrorCode::invalid_params,
               "name: " + quoted(name) + " cannot be an artifact: " + std::string(problem))
      .with("field", "params.name");
}

}  // namespace sessiond::layout
