// A command: one change of one session, on its way through the session's strand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/kinds/kind.h"
#include "proto/write_options.h"

namespace sessiond {

// What applying a command gives: the next document, and how to spell the reply once the envelope is known.
struct Outcome {
  Document document;
  std::vector<FileOp> files;
  std::function<void(const Envelope& envelope, std::string& out)> write_reply;
};

struct Command {
  std::string name;       // the method
  json::value arguments;  // as they were given, for the history
  WriteOptions options;
  json::object meta;  // members to set in what the history keeps beside the document
  // Most commands are refused once the session has ended; a few make sense only then.
  bool allowed_when_ended = false;
  // It looks at earlier revisions, so those before it in the queue must be in the history.
  bool reads_history = false;
  // Pure, on the strand. May be called on a document that is not published yet.
  std::function<Result<Outcome>(const Document&, const Moment&)> apply;
  // Called exactly once, on the strand: the text of the result, or the error. The change is durable by then.
  std::function<void(Result<std::string>)> done;
};

}  // namespace sessiond
