// Makes workflow sessions as directories, without the daemon and without syncs: true sessions, many per
// second.
#pragma once

#include <string>

namespace sessiond::bench {

// Sessions `scale-0` ... below the root, each at revision 1.
void make_sessions(const std::string& root, std::size_t count);

// One session whose history has this many revisions.
void make_long_session(const std::string& root, const std::string& id, std::int64_t revisions);

}  // namespace sessiond::bench
