#include "tests/store/model_session.h"

#include "common/json.h"
#include "common/json_patch.h"
#include "daemon/store/layout.h"

namespace sessiond {
namespace {

constexpr std::int64_t document_every = 3;  // lines; far below the real interval, so that both kinds occur
constexpr const char* timestamp = "2026-01-17T14:30:00.000Z";

// True when `rest` is the first of `lines`, whole. The newline of the last may be missing: it says nothing.
bool is_start_of(const std::string& rest, const std::vector<std::string>& lines) {
  std::string so_far;
  if (rest.empty() || rest == "\n") return true;
  for (const std::string& line : lines) {
    so_far += line;
    if (rest == so_far || rest + '\n' == so_far) return true;
  }
  return false;
}

}  // namespace

std::string Model::disagrees(const std::string& history) const {
  if (!history.starts_with(acknowledged))
    return "acknowledged lines are gone: " + std::to_string(history.size()) + " bytes are there, " +
           std::to_string(acknowledged.size()) + " were acknowledged";
  const std::string rest = history.substr(acknowledged.size());
  if (is_start_of(rest, possible) || is_start_of(rest, uncertain)) return "";
  return "behind the acknowledged lines is something else than whole lines in flight: " +
         brief(json::value(json::string_view(rest)), 300);
}

Result<std::string> read_history(Env& env, Handle dir) {
  return read_all(env, dir, std::string(layout::history), history_line_bytes_max);
}

json::object ModelSession::change(const json::object& before) {
  json::object after = before;
  after["n"] = (before.contains("n") ? before.at("n").as_int64() : 0) + 1;
  const std::size_t size = random_() % 120;  // one after the other: every compiler must run the same
  const char letter = static_cast<char>('a' + random_() % 26);
  after["text"] = std::string(size, letter);
  after["list"].emplace_array();
  for (std::size_t i = random_() % 4; i > 0; --i)
    after["list"].as_array().push_back(static_cast<std::int64_t>(random_() % 100));
  return after;
}

ModelSession::Prepared ModelSession::next_line(const HistoryLine& last, const json::object& before,
                                               bool success) {
  Prepared next;
  next.document = success ? change(before) : before;
  next.state = to_pretty_json(next.document) + "\n";
  HistoryLine& line = next.line;
  line.timestamp = timestamp;
  line.command = success ? "session.update" : "session.refuse";
  line.success = success;
  line.seq = last.seq + 1;
  line.revision = last.revision + (success ? 1 : 0);
  line.batch_at = store_ ? store_->synced_length() : 0;
  line.base = last.base;
  if (success) {
    line.changes = json_diff(before, next.document);
    line.files[model_state_file] = state_hash(next.state);
  } else {
    line.error = "not now";
  }
  if (line.seq == 1 || (success && line.seq - last.base >= document_every)) {
    line.document = next.document;
    line.base = line.seq;
  }
  next.text = build_history_line(line);
  model_.document_after[next.text] = to_json_text(next.document);
  if (success) model_.line_of_state[next.state] = next.text;
  return next;
}

void ModelSession::adopt(const Prepared& last) {
  last_ = last.line;
  document_ = last.document;
}

Status ModelSession::create() {
  const Prepared first = next_line(HistoryLine(), {}, true);
  model_.acknowledged = first.text;  // if the session is there at all
  Status made = SessionStore::create(env_, root_, model_id, first.text, {{model_state_file, first.state}});
  if (made) model_.create_acknowledged = true;
  return made;
}

Status ModelSession::open() {
  close();
  std::unique_ptr<SessionStore> store = std::move(kept_);
  if (store == nullptr) {
    SESSIOND_ASSIGN(store, SessionStore::open(env_, root_, model_id));
  }
  Result<HistoryTail> loaded = store->load();
  if (!loaded) {
    if (store->must_keep()) kept_ = std::move(store);
    return std::move(loaded).error();
  }
  tail_ = std::move(*loaded);
  last_ = tail_.last.value_or(HistoryLine());
  document_ = tail_.document.value_or(json::object());
  if (store->has_history()) {
    // What a load has shown is promised from then on.
    SESSIOND_ASSIGN(std::string history, read_history(env_, store->dir()));
    // A torn tail that could not be put aside yet stays, and is not shown.
    if (store->can_retry()) history.resize(static_cast<std::size_t>(tail_.good_length));
    if (std::string why = model_.disagrees(history); !why.empty())
      return Error(ErrorCode::internal, "loaded: " + why);
    model_.acknowledged = history;
    model_.create_acknowledged = true;
    model_.possible.clear();
    model_.uncertain.clear();
  }
  if (!store->has_history() && !model_.acknowledged.empty())
    return Error(ErrorCode::internal, "loaded: the history is gone");
  store_ = std::move(store);
  return {};
}

void ModelSession::close() {
  if (store_ != nullptr && store_->must_keep()) kept_ = std::move(store_);
  store_.reset();
}

Status ModelSession::start() {
  SESSIOND_TRY(open());
  if (store_->has_history()) return {};
  Status started = store_->start_history();
  if (!started) close();
  return started;
}

Status ModelSession::append(const std::vector<Prepared>& lines, bool sync) {
  const std::vector<std::string> before = model_.possible;
  std::string bytes;
  for (const Prepared& prepared : lines) {
    const bool after_unfinished = bytes.empty() && model_.possible.empty() && !model_.acknowledged.empty() &&
                                  !model_.acknowledged.ends_with('\n');
    model_.possible.push_back((after_unfinished ? "\n" : "") + prepared.text);
    bytes += prepared.text;
  }
  const Status appended = store_->append(bytes, sync);
  if (!appended) {
    if (appended.error().code == ErrorCode::outcome_unknown) model_.uncertain = model_.possible;
    model_.possible = before;
    return appended;
  }
  model_.uncertain.clear();
  if (sync) {
    for (const std::string& line : model_.possible) model_.acknowledged += line;
    model_.possible.clear();
  }
  adopt(lines.back());
  return {};
}

Status ModelSession::commit(int count) {
  SESSIOND_ASSIGN(const auto locked, store_->lock());
  std::vector<Prepared> lines{next_line(last_, document_, true)};
  for (int i = 1; i < count; ++i) lines.push_back(next_line(lines.back().line, lines.back().document, true));
  const StateBytes state{model_state_file, lines.back().state};
  if (options_.state_first) SESSIOND_TRY(store_->write_state(state));
  SESSIOND_TRY(append(lines, true));
  if (!options_.state_first) SESSIOND_TRY(store_->write_state(state));
  return check_visible(state);
}

// A reply also promises that the files show the change.
Status ModelSession::check_visible(const StateBytes& state) {
  SESSIOND_ASSIGN(const std::string bytes, store_->read_state(state.name));
  if (bytes != state.bytes) return Error(ErrorCode::internal, "the state file does not show the change");
  return {};
}

Status ModelSession::note_failure() {
  SESSIOND_ASSIGN(const auto locked, store_->lock());
  return append({next_line(last_, document_, false)}, false);
}

Status ModelSession::step() {
  if (!is_open()) return open();
  const auto choice = random_() % 10;
  Status done;
  if (choice < 2 && last_.seq > 0)
    done = note_failure();
  else if (choice == 2)
    (void)store_->sync_state({model_state_file}).ok();  // in the background; nothing was promised
  else
    done = commit(1 + static_cast<int>(random_() % 3));
  // Sometimes the layer above reads again, sometimes it goes on with what it has.
  if (!done && random_() % 2 == 0) close();
  return done;
}

}  // namespace sessiond
