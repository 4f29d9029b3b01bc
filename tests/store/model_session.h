// A session as the session layer drives the store, and the model of what it was promised. The model is told
// before a call what the call may leave, and after it what it acknowledged; at any moment between, a
// surviving disk can be compared with it.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/store/session_store.h"

namespace sessiond {

inline constexpr const char* model_id = "s-1";
inline constexpr const char* model_state_file = "state.json";

struct Model {
  bool create_acknowledged = false;
  std::string acknowledged;            // bytes of the history that must be there
  std::vector<std::string> possible;   // lines behind them, each whole or not there, in this order
  std::vector<std::string> uncertain;  // or these: the outcome of their append was unknown
  std::map<std::string, std::string> document_after;  // by a line's text, as JSON text
  std::map<std::string, std::string> line_of_state;   // by a state file's bytes

  // Empty, or why a history with this content breaks a promise.
  std::string disagrees(const std::string& history) const;
};

class ModelSession {
 public:
  struct Options {
    bool state_first = false;  // the mutation of that name
  };

  // `root` stays open as long as the session.
  ModelSession(Env& env, Handle root, Model& model, std::uint64_t seed, Options options)
      : env_(env), root_(root), model_(model), random_(seed), options_(options) {}

  Status create();
  Status open();
  // In a directory that has no history.
  Status start();
  // `lines` commands, appended together with one sync, then the state file.
  Status commit(int lines);
  // A refused command: one line that waits for the next sync.
  Status note_failure();
  // One of the above, by chance. A failed or unknown outcome is followed by a load.
  Status step();

  bool is_open() const { return store_ != nullptr; }
  SessionStore& store() { return *store_; }
  const HistoryTail& tail() const { return tail_; }
  void close();

 private:
  struct Prepared {
    std::string text;
    HistoryLine line;
    json::object document;
    std::string state;
  };
  Prepared next_line(const HistoryLine& last, const json::object& before, bool success);
  Status append(const std::vector<Prepared>& lines, bool sync);
  void adopt(const Prepared& last);
  Status check_visible(const StateBytes& state);
  json::object change(const json::object& before);

  Env& env_;
  Handle root_;
  Model& model_;
  std::mt19937_64 random_;
  Options options_;
  std::unique_ptr<SessionStore> store_;
  std::unique_ptr<SessionStore> kept_;  // must_keep()
  HistoryTail tail_;
  HistoryLine last_;
  json::object document_;
};

// The whole history file as the page cache shows it.
Result<std::string> read_history(Env& env, Handle dir);

}  // namespace sessiond
