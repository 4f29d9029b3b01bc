// Bounded YAML reading into JSON values. yaml-cpp parses; its events are taken directly, because its trees
// cost 230 bytes a byte and crash on self references. Accepted is the plain subset that state and
// configuration files use: one document, no anchors, aliases or tags, no name twice, valid UTF-8, at most
// json_depth_max levels and yaml_nodes_max nodes. Plain scalars follow YAML 1.2's core schema; quoted ones
// are strings.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sessiond {

// The line (from 1) of each mapping member and sequence item, by its JSON pointer.
using LineMap = std::map<std::string, int>;

// An empty text is null. `lines`, when given, receives where everything stands.
Result<json::value> parse_yaml(std::string_view text, LineMap* lines = nullptr);

}  // namespace sessiond
