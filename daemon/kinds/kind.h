// What a kind of session is: a table of pure functions on documents. No I/O, no clock, no logging inside; the
// time is an argument. Everything that changes a document copies it, changes the copy and returns it; the
// session layer makes it durable and publishes it.
//
// A kind's own methods (workflow.complete_phase ...) are functions in its header with the same shape:
//   Result<Applied<Reply>> name(const Document&, const Params&, const Moment&);
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/time.h"
#include "daemon/kinds/artifacts.h"
#include "proto/methods_lifecycle.h"

namespace sessiond {

// The state as one JSON object. A kind with several state files has one member per file.
using Document = json::object;

// When and by whom. `now` never runs backwards within a session.
struct Moment {
  TimePoint now;
  std::string agent;
  std::string model;
  // The session's files, for kinds whose commands depend on them; null while there are none.
  const Artifacts* artifacts = nullptr;
};

// A change to an artifact file that belongs to the same commit. Recorded in the history and idempotent, so
// that it can be done again after a crash.
struct FileOp {
  enum class Action { write, archive };
  Action action = Action::write;
  std::string name;    // of the artifact
  std::string bytes;   // write: its new content
  std::string staged;  // write: the file that holds the content until the commit; set by the session layer
  std::string to;      // archive: the kept version's name; the next free one when left empty
  std::uint64_t inode = 0;  // of the staged file or of the archived one; set by the session layer
};

template <class Reply>
struct Applied {
  Document document;
  Reply reply;  // without the envelope, which the session layer fills in
  std::vector<FileOp> files;
};

// Something about a document that is not as its specification says.
struct Discrepancy {
  enum class Severity { warning, error };
  Severity severity = Severity::error;
  std::string rule;     // short stable name: "current_phase_range"
  std::string path;     // JSON pointer
  std::string message;  // for a person: what is wrong and what was expected
};

// What the registry keeps of a session and session.list shows.
struct Summary {
  std::string status;
  std::string title;                   // one line
  std::string position;                // "Phase 3 of 6"; empty if the kind has none
  std::optional<double> progress;      // 0 to 1
  std::optional<std::string> project;  // path or target that it is about
  std::string created_at;
  std::string updated_at;
};

struct ContextFacts {
  json::object facts;
  std::string text;
};

enum class FileFormat { json, yaml };
struct StateFile {
  std::string_view name;  // in the session directory
  FileFormat format;
  std::string_view member;  // of the document that the file holds; empty: the whole document
};

struct Kind {
  std::string_view name;
  std::span<const StateFile> files;
  // Reads a document from the parsed contents of its state files (by name), in any form the kind knows, ours
  // or an older or foreign one. What is merely off is a warning; an error means that it cannot be understood.
  Result<Document> (*import)(const std::map<std::string, json::value>& files,
                             std::vector<Discrepancy>& warnings);
  // The session's id as its document has it, if it has one.
  std::optional<std::string> (*own_id)(const Document&);
  // Gives a copy of a session its own id.
  void (*rename)(Document&, std::string_view session_id);
  // True when a document of this kind refuses further changes.
  bool (*ended)(const Document&);
  Summary (*summary)(const Document&, TimePoint now);
  // Every rule of the specification. An error keeps a write from happening; on read both are reported.
  std::vector<Discrepancy> (*check)(const Document&);
  ContextFacts (*context)(const Document&, TimePoint now);
  Result<Applied<SessionPause::Reply>> (*pause)(const Document&, const SessionPause::Params&, const Moment&);
  // The reply's context and text are filled in by the session layer from context().
  Result<Applied<SessionResume::Reply>> (*resume)(const Document&, const SessionResume::Params&,
                                                  const Moment&);
  Result<Applied<SessionComplete::Reply>> (*complete)(const Document&, const SessionComplete::Params&,
                                                      const Moment&);
  Result<Applied<SessionAbort::Reply>> (*abort)(const Document&, const SessionAbort::Params&, const Moment&);
  Result<Applied<SessionUpdate::Reply>> (*update)(const Document&, const SessionUpdate::Params&,
                                                  const Moment&);
  // Upgrades an older form; the reply's message says what was upgraded. An error of code refused when there
  // is nothing to do.
  Result<Applied<MessageReply>> (*migrate)(const Document&, const Moment&);
  // Rules that need the session's files; null for a kind whose document names none.
  std::vector<Discrepancy> (*check_files)(const Document&, const Artifacts&) = nullptr;
  // Level 2 of recovery: the document that the artifact files tell of; null for a kind without such files.
  Result<Document> (*reconstruct)(const Artifacts&, std::string_view session_id, TimePoint now) = nullptr;
  // A document from what a person says of where to go on, with the files that are there; null: only whole
  // documents are understood.
  Result<Document> (*start_from)(const json::object& directions, const Artifacts&,
                                 std::string_view session_id, TimePoint now) = nullptr;
  // A directory of such a name is a session also when nothing but its artifacts is left; empty: none is.
  std::string_view directory_prefix = {};
  // Artifacts that only grow. Going back to an earlier revision does not make them shorter.
  std::span<const std::string_view> logs = {};
};

}  // namespace sessiond
