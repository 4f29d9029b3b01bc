// The commands that share one sync: applied one after another on top of each other, in memory. Pure but for
// the commands' own apply; the session writes what comes out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/session/command.h"
#include "daemon/session/snapshot.h"

namespace sessiond {

// Where a session is: fixed for its life in memory.
struct SessionPlace {
  std::string id;
  std::string root;
  std::string directory;
  int root_handle = -1;  // of the directory that holds it
  bool archived = false;
  const Kind* kind = nullptr;
};

Envelope make_envelope(const SessionPlace& place, const SessionState& state, TimePoint now);

Error revision_conflict(std::int64_t revision, std::int64_t wanted);

class Batch {
 public:
  // Prepares the artifact files of one command, given those of the commands before it.
  using Stage = std::function<Status(std::vector<FileOp>& files, const std::vector<FileOp>& pending)>;

  // `replies` are the answers to earlier commands by idempotency key; `synced_length` is what of the history
  // is durable before this batch.
  Batch(const SessionPlace& place, SessionState state, std::int64_t synced_length, TimePoint now,
        const std::map<std::string, std::string>& replies, Stage stage)
      : place_(place),
        state_(std::move(state)),
        synced_length_(synced_length),
        now_(now),
        replies_(replies),
        stage_(std::move(stage)) {}

  void add(Command& command);

  struct Answer {
    Command* command;
    Result<std::string> reply;
    bool changes;  // holds only if the lines become durable
  };

  SessionState& state() { return state_; }
  const std::string& lines() const { return lines_; }
  bool changed() const { return changed_; }
  const std::vector<FileOp>& files() const { return files_; }
  std::vector<Answer>& answers() { return answers_; }

 private:
  // The reply's text.
  Result<std::string> apply_guarded(const Command& command);
  Result<std::string> apply(const Command& command);
  Result<Document> next_document(const Command& command, const Moment& moment, Outcome& outcome,
                                 json::array& changes) const;
  Status check_change(const Document& after) const;
  void add_failure(const Command& command, const Error& error);

  const SessionPlace& place_;
  SessionState state_;
  std::int64_t synced_length_;
  TimePoint now_;
  const std::map<std::string, std::string>& replies_;
  Stage stage_;
  std::string lines_;
  bool changed_ = false;
  std::vector<FileOp> files_;
  std::vector<Answer> answers_;
};

}  // namespace sessiond
