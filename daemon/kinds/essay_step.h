// What the commands of the kind `essay` share. Not for use outside of the kind.
#pragma once

#include "common/json_edit.h"
#include "daemon/kinds/essay.h"

namespace sessiond::essay {

// A command under way: the next document and what happens to files with it.
struct Step {
  // The document of a directory that was moved follows it.
  Step(const Document& before, const Moment& moment);
  Document document;
  std::vector<FileOp> files;
  std::string now;
  const Artifacts& there;

  // The stage's file from `text`, the one before kept as a version; without text it must be there already.
  Result<std::string> artifact(std::string_view name, const std::optional<std::string>& text);
  // Adds an entry to a log, and gives the log's path.
  std::string log(std::string_view name, const std::string& entry);
  void write(std::string_view name, std::string bytes);
  // Moves the file to its next kept version, and gives that one's name.
  std::string archive(const std::string& name);
  // Moves to the first stage that is not completed, and begins it.
  void advance();
  Applied<EssayReply> done(std::string message);
};

// The sections of stage 4, and where writing begins, as far as they are not there yet.
void prepare_writing(Document& document);
// Writing goes on at the first section that is not written, behind what it has.
void settle_writing(Document& document);
// The first section whose arguments are not done; 0 when all are.
std::int64_t unfinished_arguments(const Document& document);
// Refuses `what` unless the session is in progress.
Status ensure_working(const Document& document, std::string_view what);
// And unless the stage is under way or up for review.
Status ensure_stage(const Document& document, int stage, std::string_view what);
std::int64_t section_count(const Document& document);
// The section's entry, or invalid_params.
Result<json::object*> section_at(Document& document, int stage, std::int64_t section);
Error refused(const std::string& message, std::string_view next);

}  // namespace sessiond::essay
