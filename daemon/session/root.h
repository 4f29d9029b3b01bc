// A root: a directory that holds sessions of one kind. Archived sessions are in .archive below it, deleted
// ones in .trash: moving a session is one rename on one file system, so it is atomic.
#pragma once

#include <string>

#include "daemon/kinds/kind.h"
#include "daemon/store/env.h"

namespace sessiond {

struct Root {
  enum class Origin { built_in, configured, added };

  std::string name;
  std::string path;
  const Kind* kind = nullptr;
  Origin origin = Origin::built_in;
  Open dir;
  Open archive;  // opened or made when it is needed
};

// The directory must exist, be ours or root's, and not be writable by others (a sticky one such as /tmp may
// be: the sessions in it must then be ours). The error says what is wrong and how to put it right.
Result<Root> open_root(Env& env, std::string name, std::string path, const Kind& kind, Root::Origin origin);

}  // namespace sessiond
