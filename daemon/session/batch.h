// The commands that share one sync: applied one after another on top of each other, in memory. Pure but for
// the commands' own apply; the session writes what comes out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/session/command.h"
#include "daemon/session/snapshot.h"
#include "daemon/store/session_store.h"

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
// Of a document that is not in `state` yet.
Envelope make_envelope(const SessionPlace& place, const SessionState& state, const Summary& summary);

Error revision_conflict(std::int64_t revision, std::int64_t wanted);

class Batch {
 public:
  // Prepares the artifact files of one command, given those of the commands before it.
  using Stage = std::function<Status(std::vector<FileOp>& files, const std::vector<FileOp>& pending)>;

  // `before` is the newest state; `replies` are the answers to earlier commands by idempotency key;
  // `synced_length` is what of the history is durable before this batch.
  Batch(const SessionPlace& place, std::shared_ptr<const Snapshot> before, std::int64_t synced_length,
        TimePoint now, const std::map<std::string, std::string>& replies, Stage stage)
      : place_(place),
        before_(std::move(before)),
        state_(*before_),
        synced_length_(synced_length),
        now_(now),
        replies_(replies),
        stage_(std::move(stage)) {}

  void add(Command& command);
  // For a command that looks at files; outlives the batch.
  void use_artifacts(const Artifacts& artifacts) { artifacts_ = &artifacts; }
  // After the last command: makes the bytes of the lines and of the state files. An error: they cannot be
  // written; add the commands to batches of their own. A batch of one command always succeeds, with the
  // command refused.
  Status finish();

  struct Answer {
    Command* command;
    Result<std::string> reply;
    bool changes;  // holds only if the lines become durable
  };

  SessionState& state() { return state_; }
  const std::string& lines() const { return text_; }
  const std::vector<StateBytes>& state_files() const { return state_files_; }
  bool changed() const { return changed_; }
  const std::vector<FileOp>& files() const { return files_; }
  std::vector<Answer>& answers() { return answers_; }

 private:
  // The reply's text. Whatever goes wrong, the document is as before.
  Result<std::string> apply_guarded(const Command& command);
  Result<std::string> apply(const Command& command);
  // Changes the document as the history will; it must become `wanted`.
  Status record(const Command& command, const json::array& changes, const Document& wanted);
  void restore();
  std::string spell_reply(const Outcome& outcome, const Summary& summary, const HistoryLine& line) const;
  void take(HistoryLine line, TimePoint now, std::vector<FileOp>& files);
  Status check_change(const Document& after) const;
  void add_failure(const Command& command, const Error& error);
  Status render();
  Status print_lines();

  const SessionPlace& place_;
  std::shared_ptr<const Snapshot> before_;
  SessionState state_;             // after the commands so far
  bool document_touched_ = false;  // by a command that is not in lines_
  std::int64_t synced_length_;
  TimePoint now_;
  const std::map<std::string, std::string>& replies_;
  Stage stage_;
  const Artifacts* artifacts_ = nullptr;
  std::vector<HistoryLine> lines_;
  std::string text_;  // of the lines
  std::vector<StateBytes> state_files_;
  bool changed_ = false;
  std::vector<FileOp> files_;
  std::vector<Answer> answers_;
};

}  // namespace sessiond
