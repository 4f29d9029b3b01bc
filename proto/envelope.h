// What every reply about a session says of it.
#pragma once

#include "proto/describe.h"

namespace sessiond {

struct Envelope {
  std::string session_id;
  std::string root;
  std::string kind;
  std::string status;
  std::int64_t revision = 0;
  std::string created_at;
  std::string updated_at;
  std::string last_activity;
  std::string directory;
  std::vector<std::string> warnings;

  static constexpr auto fields() {
    using E = Envelope;
    return std::array{
        field<&E::session_id>("session_id", "unique in its root"),
        field<&E::root>("root", "name of the root that holds it"),
        field<&E::kind>("kind", "which of the state formats it has"),
        field<&E::status>("status", "where it stands in its life; the values depend on the kind"),
        field<&E::revision>("revision", "number of its last committed change"),
        field<&E::created_at>("created_at", "when it was created"),
        field<&E::updated_at>("updated_at", "when it was last changed"),
        field<&E::last_activity>("last_activity", "last write, resume or heartbeat"),
        field<&E::directory>("directory", "where its files are"),
        field<&E::warnings>("warnings", "what the caller should know")};
  }
};

}  // namespace sessiond
