// The artifact files of a session as they were at an earlier revision, as far as the history and the kept
// versions tell. What a commit did to a file is in its line: archived as that version, or written with so
// many bytes of this hash.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/kinds/kind.h"
#include "daemon/session/snapshot.h"

namespace sessiond {

struct ArtifactsThen {
  // Files that commits have touched since: their content then, or nothing when they were not there.
  std::map<std::string, std::optional<std::string>> files;
  // Files that were there then, and whose content of then nobody kept.
  std::vector<std::string> lost;
};

// Reads files; `there` is what the directory holds now.
Result<ArtifactsThen> artifacts_at(const SessionState& now, std::int64_t revision, const Artifacts& there);

// What makes the directory as it was then. Whatever is replaced is kept as a version; `logs` stay as they
// are.
std::vector<FileOp> bring_back(const ArtifactsThen& then, const Artifacts& there,
                               std::span<const std::string_view> logs);

}  // namespace sessiond
