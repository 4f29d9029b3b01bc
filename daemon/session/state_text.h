// A document as the bytes of its state files, and back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/kinds/kind.h"
#include "daemon/store/session_store.h"

namespace sessiond {

std::vector<StateBytes> render_state(const Kind& kind, const Document& document);

// Parses one state file's bytes in its format.
Result<json::value> parse_state(const StateFile& file, std::string_view bytes);

// The names of the kind's state files.
std::vector<std::string> state_names(const Kind& kind);

}  // namespace sessiond
