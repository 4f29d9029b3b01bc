// What a new output of a stage means for the stages behind it: minor, moderate or major, with reasons. A
// proposal made from words and headings, for a person to confirm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/kinds/essay_document.h"

namespace sessiond::essay {

// A stage's new output. `section` is whose arguments change, in stage 3.
struct Rewrite {
  int stage = 1;
  std::optional<std::int64_t> section;
  std::optional<std::string> text, claim_type;
};

struct Impact {
  std::string_view impact;
  std::vector<std::string> reasons;
  std::vector<std::string> affected;  // artifacts to archive when it is moderate
};

// Refuses a rewrite that does not fit its stage, naming the parameter.
Status check_rewrite(const Document& document, const Rewrite& rewrite);

// The file that the stage's output is in.
std::string output_name(const Rewrite& rewrite);

// The stage whose work is in this file; 0 for a file of no stage, kept versions included.
int stage_of_file(std::string_view name);

// The artifacts of the stages behind `stage` that are there, in the order of the stages.
std::vector<std::string> downstream(int stage, const Artifacts& there);

// Precondition: check_rewrite() is content, and there is a text or a claim type.
Impact judge(const Document& document, const Rewrite& rewrite, const Artifacts& there);

}  // namespace sessiond::essay
