// The artifact files of a session directory: what a commit does to them, how the history records it, and
// doing it again after a crash.
//
// New content is written to a hidden staged file and synced before the line that speaks of it; the commit
// only renames. So each recorded operation is a rename, which can be repeated safely: its source is there, or
// it is done.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/kinds/kind.h"
#include "daemon/store/session_store.h"

namespace sessiond {

struct Artifact {
  std::string name;
  std::int64_t bytes = 0;
  std::string modified_at;
};

// The artifacts of a session, by name; kept versions included, state files and hidden files not.
Result<std::vector<Artifact>> list_artifacts(Env& env, Handle dir);

// The same for a kind to look at. `dir` must stay open while it is used.
Artifacts view_artifacts(Env& env, Handle dir, std::string directory);

// Stages the content of writes and chooses the names of kept versions. `pending` is what earlier commands of
// the same batch will do.
Status stage_artifacts(SessionStore& store, std::vector<FileOp>& files, const std::vector<FileOp>& pending);

// As the history's `artifacts` member.
json::array describe_artifacts(const std::vector<FileOp>& files);

// Does what the history says, after its line is durable, or again when a session is loaded.
Status redo_artifacts(SessionStore& store, const json::array& artifacts);

// Removes what commits that did not happen have staged. Only while none is under way and all that the history
// says is done.
void sweep_staged(SessionStore& store);

}  // namespace sessiond
