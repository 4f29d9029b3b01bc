// One session directory, on the real file system and on the simulated disk.
#include <doctest/doctest.h>

#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "common/json.h"
#include "common/json_patch.h"
#include "daemon/store/layout.h"
#include "daemon/store/session_store.h"
#include "tests/support/fault_env.h"
#include "tests/support/order_env.h"
#include "tests/support/sim_env.h"

namespace sessiond {
namespace {

const std::string history_name(layout::history);
constexpr const char* state_name = "state.json";
constexpr const char* id = "s-1";

// A disk of either kind, with a root on it. Calls go through a FaultEnv that fails nothing until told.
class Disk {
 public:
  explicit Disk(bool real) : real_(real) {
    if (real) {
      std::string path = (std::filesystem::temp_directory_path() / "sessiond-store-XXXXXX").string();
      REQUIRE(::mkdtemp(path.data()) != nullptr);
      path_ = path;
      system_ = make_system_env();
    }
    fault_ = std::make_unique<FaultEnv>(base(), [this](Handle file) {
      if (!real_) sim_.lose_unsynced(file);
    });
    root_ = Open(*fault_, *fault_->open_root(real ? path_ : "/"));
  }
  ~Disk() {
    root_.reset();
    std::error_code ignored;
    if (real_) std::filesystem::remove_all(path_, ignored);
  }

  Env& base() { return real_ ? *system_ : sim_; }
  FaultEnv& env() { return *fault_; }
  SimEnv& sim() { return sim_; }
  Handle root() const { return root_.get(); }
  bool real() const { return real_; }

  std::unique_ptr<SessionStore> open() {
    auto store = SessionStore::open(env(), root(), id);
    REQUIRE(store.ok());
    return std::move(*store);
  }
  std::unique_ptr<SessionStore> loaded() {
    auto store = open();
    const auto tail = store->load();
    REQUIRE(tail.ok());
    return store;
  }
  std::string text(const std::string& name) {
    const Open dir(env(), *env().open_dir(root(), id));
    const auto bytes = read_all(env(), dir.get(), name, 1'000'000);
    return bytes ? *bytes : "(" + bytes.error().message + ")";
  }
  bool has(const std::string& name) {
    const Open dir(env(), *env().open_dir(root(), id));
    return env().stat(dir.get(), name).ok();
  }
  // As another program would: appends, or replaces all.
  void change(const std::string& name, const std::string& bytes, bool append) {
    const Open dir(env(), *env().open_dir(root(), id));
    const Open file(env(), *env().open_or_create(dir.get(), name));
    const std::int64_t at = append ? env().info(file.get())->size : 0;
    REQUIRE(write_all(env(), file.get(), at, bytes).ok());
    REQUIRE(env().truncate(file.get(), at + static_cast<std::int64_t>(bytes.size())).ok());
  }

 private:
  bool real_;
  std::string path_;
  std::unique_ptr<Env> system_;
  SimEnv sim_;
  std::unique_ptr<FaultEnv> fault_;
  Open root_;
};

std::string line(std::int64_t seq, std::int64_t batch_at = 0) {
  HistoryLine made;
  made.timestamp = "2026-01-17T14:30:00.000Z";
  made.command = "session.update";
  made.seq = made.revision = seq;
  made.base = 1;
  made.batch_at = batch_at;
  const json::object before = seq > 1 ? json::object{{"n", seq - 1}} : json::object{};
  const json::object after{{"n", seq}};
  made.changes = json_diff(before, after);
  if (seq == 1) made.document = after;
  return build_history_line(made);
}

void create(Disk& disk) {
  REQUIRE(SessionStore::create(disk.env(), disk.root(), id, line(1), {{state_name, "one"}}).ok());
}

void append(SessionStore& store, std::int64_t seq, bool sync = true) {
  const Status appended = store.append(line(seq, store.synced_length()), sync);
  REQUIRE_MESSAGE(appended.ok(), appended.error().message);
}

// Runs `body` on both disks.
template <class Body>
void on_both(Body body) {
  for (const bool real : {false, true}) {
    CAPTURE(real);
    Disk disk(real);
    body(disk);
  }
}

}  // namespace

TEST_CASE("create gives a whole session, and only once") {
  on_both([](Disk& disk) {
    create(disk);
    CHECK(disk.text(history_name) == line(1));
    CHECK(disk.text(state_name) == "one");
    CHECK(disk.has(".lock"));
    const Status again = SessionStore::create(disk.env(), disk.root(), id, line(1), {});
    REQUIRE(!again.ok());
    CHECK(again.error().code == ErrorCode::already_exists);
    CHECK(disk.env().list(disk.root())->size() == 1);
  });
}

TEST_CASE("create replaces what an interrupted create left") {
  on_both([](Disk& disk) {
    const std::string building = std::string(layout::new_prefix) + id;
    REQUIRE(disk.env().mkdir(disk.root(), building).ok());
    {
      const Open dir(disk.env(), *disk.env().open_dir(disk.root(), building));
      REQUIRE(disk.env().mkdir(dir.get(), "quarantine").ok());
      const Open file(disk.env(), *disk.env().create(dir.get(), history_name));
    }
    create(disk);
    CHECK(disk.text(history_name) == line(1));
    CHECK(disk.env().list(disk.root())->size() == 1);
  });
}

TEST_CASE("append, load, and revisions") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    append(*store, 2);
    append(*store, 3, false);
    CHECK(store->synced_length() < store->length());
    append(*store, 4);
    CHECK(store->synced_length() == store->length());
    const auto tail = disk.open()->load();
    REQUIRE(tail.ok());
    CHECK(tail->last->seq == 4);
    CHECK(to_json_text(*tail->document) == R"({"n":4})");
    CHECK(to_json_text(store->history()->at_revision(3, store->length())->document) == R"({"n":3})");
  });
}

TEST_CASE("a state file is replaced whole and the one before is kept") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    store->accept_state(state_name);
    for (const char* bytes : {"two, longer", "three", "4"}) {
      const std::string before = *store->read_state(state_name);
      REQUIRE(store->write_state({state_name, bytes}).ok());
      CHECK(disk.text(state_name) == bytes);
      CHECK(disk.text("state.json.bak") == before);
      CHECK(store->state_unchanged(state_name));
    }
    REQUIRE(store->sync_state({state_name}).ok());
    disk.change(state_name, "edited", false);
    CHECK(!store->state_unchanged(state_name));
    store->accept_state(state_name);
    CHECK(store->state_unchanged(state_name));
    REQUIRE(store->write_state({"other.json", "new"}).ok());
    CHECK(disk.text("other.json") == "new");
  });
}

TEST_CASE("without EXCHANGE a state file is replaced all the same, also one that is missing") {
  Disk disk(false);
  disk.sim().refuse_exchange();
  create(disk);
  auto store = disk.loaded();
  REQUIRE(store->write_state({state_name, "two"}).ok());
  CHECK(disk.text(state_name) == "two");
  CHECK(disk.text("state.json.bak") == "one");
  REQUIRE(store->write_state({"other.json", "new"}).ok());
  CHECK(disk.text("other.json") == "new");
}

TEST_CASE("a torn tail is saved and cut") {
  on_both([](Disk& disk) {
    create(disk);
    const std::string torn = line(2).substr(0, 50) + std::string(70, '\0');
    disk.change(history_name, torn, true);
    auto store = disk.open();
    const auto tail = store->load();
    REQUIRE(tail.ok());
    CHECK(tail->torn == torn);
    CHECK(disk.text(history_name) == line(1));
    const Open dir(disk.env(), *disk.env().open_dir(store->dir(), "quarantine"));
    const auto saved = disk.env().list(dir.get());
    REQUIRE(saved->size() == 1);
    CHECK(*read_all(disk.env(), dir.get(), saved->front().name, 1'000) == torn);
    append(*store, 2);
    CHECK(disk.text(history_name) == line(1) + line(2, static_cast<std::int64_t>(line(1).size())));
  });
}

TEST_CASE("damage is served up to there and never written to") {
  on_both([](Disk& disk) {
    create(disk);
    std::string history = line(1);
    history += line(2, static_cast<std::int64_t>(history.size()));
    const std::size_t middle = history.size() + 20;
    history += line(3, static_cast<std::int64_t>(history.size()));
    history += line(4, static_cast<std::int64_t>(history.size()));
    const std::string whole = history;
    history[middle] ^= 1;
    disk.change(history_name, history, false);
    auto store = disk.open();
    const auto tail = store->load();
    REQUIRE(tail.ok());
    CHECK(tail->damage != "");
    CHECK(tail->last->seq == 2);
    CHECK(store->append(line(5), true).error().code == ErrorCode::read_only);
    CHECK(disk.text(history_name) == history);
    // Once somebody has mended it, the same object goes on.
    disk.change(history_name, whole, false);
    REQUIRE(store->load().ok());
    CHECK(store->read_only() == "");
    append(*store, 5);
  });
}

TEST_CASE("a last line without newline is kept, foreign or ours") {
  on_both([](Disk& disk) {
    create(disk);
    for (const std::string& last : {std::string(R"({"tool":1})"), line(2).substr(0, line(2).size() - 1)}) {
      disk.change(history_name, line(1) + last, false);
      auto store = disk.loaded();
      const std::int64_t seq = last.starts_with(R"({"tool)") ? 2 : 3;
      const std::string next = line(seq, store->synced_length());
      REQUIRE(store->append(next, true).ok());
      CHECK(disk.text(history_name) == line(1) + last + "\n" + next);
      CHECK(disk.open()->load()->last->seq == seq);
    }
  });
}

TEST_CASE("what another program does to the history is noticed before it is overwritten") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    CHECK(store->history_unchanged());
    disk.change(history_name, "{\"tool\":1}\n", true);
    CHECK(!store->history_unchanged());
    CHECK(store->append(line(2, store->synced_length()), true).error().code == ErrorCode::storage_error);
    REQUIRE(store->load().ok());
    append(*store, 2);
    CHECK(disk.text(history_name).starts_with(line(1) + "{\"tool\":1}\n{"));
    // An editor replaces the file: what we append to would have no name.
    const std::string content = disk.text(history_name);
    disk.change("edited", content, false);
    REQUIRE(disk.env().rename_over(store->dir(), "edited", history_name).ok());
    CHECK(store->append(line(3, store->synced_length()), true).error().code == ErrorCode::storage_error);
    REQUIRE(store->load().ok());
    append(*store, 3);
    CHECK(disk.open()->load()->last->seq == 3);
  });
}

TEST_CASE("no room: refused, taken back, and usable when there is room again") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    for (const int reason : {ENOSPC, EDQUOT, 0}) {
      disk.env().set({.where = Fault::Where::write, .reason = reason, .sticky = true});
      const Status refused = store->append(line(2, store->synced_length()), true);
      REQUIRE(!refused.ok());
      CHECK(refused.error().code == ErrorCode::storage_full);
      CHECK(refused.error().data.contains("errno"));
      CHECK(disk.text(history_name) == line(1));
      disk.env().clear();
    }
    append(*store, 2);
    CHECK(disk.open()->load()->last->seq == 2);
  });
}

TEST_CASE("lines that can neither be written nor taken back have an unknown outcome") {
  Disk disk(false);
  create(disk);
  // The write is short, then there is no room, then the cut fails.
  FaultEnv cannot_write(disk.env(), nullptr);
  auto store = SessionStore::open(cannot_write, disk.root(), id);
  REQUIRE(store.ok());
  REQUIRE((*store)->load().ok());
  disk.env().set({.where = Fault::Where::cut, .reason = EIO});
  cannot_write.set({.where = Fault::Where::write, .reason = 0, .sticky = true});
  const Status unknown = (*store)->append(line(2, (*store)->synced_length()), true);
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().code == ErrorCode::outcome_unknown);
  CHECK(disk.text(history_name) != line(1));
  cannot_write.clear();
  append(**store, 2);
  CHECK(disk.text(history_name) == line(1) + line(2, static_cast<std::int64_t>(line(1).size())));
}

TEST_CASE("a failed sync: unknown, repaired into a new file, nothing else lost") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    append(*store, 2, false);  // waits for the sync that will fail, and is not forgotten
    const std::int64_t length = store->length();
    const auto before = disk.env().stat(store->dir(), history_name);
    disk.env().set({.where = Fault::Where::sync, .reason = EIO});
    const Status unknown = store->append(line(3, store->synced_length()), true);
    REQUIRE(!unknown.ok());
    CHECK(unknown.error().code == ErrorCode::outcome_unknown);
    CHECK(store->read_only() == "");
    CHECK(store->length() == length);
    CHECK(disk.env().stat(store->dir(), history_name)->inode != before->inode);
    CHECK(!disk.has(std::string(layout::sync_failed)));
    CHECK(!disk.has(std::string(layout::history_repair)));
    append(*store, 3);
    CHECK(disk.open()->load()->last->seq == 3);
  });
}

TEST_CASE("a failed repair: read-only, and tried again with the next change") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    disk.env().set({.where = Fault::Where::sync, .reason = EIO, .sticky = true});
    CHECK(store->append(line(2, store->synced_length()), true).error().code == ErrorCode::outcome_unknown);
    CHECK(store->read_only() != "");
    CHECK(!store->must_keep());  // the marker tells the next process
    CHECK(disk.has(std::string(layout::sync_failed)));
    CHECK(store->append(line(2, store->synced_length()), true).error().code == ErrorCode::read_only);
    CHECK(to_json_text(store->history()->at_revision(1, store->length())->document) == R"({"n":1})");
    disk.env().clear();
    append(*store, 2);
    CHECK(store->read_only() == "");
    CHECK(!disk.has(std::string(layout::sync_failed)));
    CHECK(disk.open()->load()->last->seq == 2);
  });
}

TEST_CASE("a load that cannot sync repairs, and does not believe a second sync") {
  on_both([](Disk& disk) {
    create(disk);
    const auto before = disk.env().stat(disk.open()->dir(), history_name);
    OrderEnv order(disk.env(), disk.base(), state_name);
    auto store = SessionStore::open(order, disk.root(), id);
    REQUIRE(store.ok());
    disk.env().set({.where = Fault::Where::sync, .reason = EIO});
    REQUIRE((*store)->load().ok());
    CHECK(disk.env().stat((*store)->dir(), history_name)->inode != before->inode);
    append(**store, 2);
    CHECK(order.violations().empty());
  });
}

TEST_CASE("any marker makes a load copy the history") {
  on_both([](Disk& disk) {
    create(disk);
    for (const char* content : {"", "1", "12\n", "-5\n", "garbage"}) {
      disk.change(std::string(layout::sync_failed), content, false);
      auto store = disk.loaded();
      CHECK(disk.text(history_name) == line(1));
      CHECK(!disk.has(std::string(layout::sync_failed)));
    }
  });
}

TEST_CASE("the lock keeps others out and is not fooled by a new file of its name") {
  on_both([](Disk& disk) {
    create(disk);
    auto first = disk.open();
    auto second = disk.open();
    {
      const auto held = first->lock();
      REQUIRE(held.ok());
      if (!disk.real()) {  // the real one would wait for two seconds
        const auto refused = second->lock();
        REQUIRE(!refused.ok());
        CHECK(refused.error().code == ErrorCode::locked);
        CHECK(refused.error().message.find("handle") != std::string::npos);
      }
    }
    CHECK(second->lock().ok());
    REQUIRE(disk.env().unlink(first->dir(), ".lock").ok());
    const auto held = first->lock();
    REQUIRE(held.ok());
    REQUIRE(disk.has(".lock"));
    if (!disk.real()) CHECK(!second->lock().ok());
  });
}

TEST_CASE("a directory without history gets one") {
  on_both([](Disk& disk) {
    REQUIRE(disk.env().mkdir(disk.root(), id).ok());
    auto store = disk.loaded();
    CHECK(!store->has_history());
    REQUIRE(store->start_history().ok());
    append(*store, 1);
    append(*store, 2);
    CHECK(disk.open()->load()->last->seq == 2);
  });
}

TEST_CASE("quarantine keeps one copy of each content") {
  on_both([](Disk& disk) {
    create(disk);
    auto store = disk.loaded();
    const auto once = store->quarantine(state_name);
    const auto twice = store->quarantine(state_name);
    REQUIRE(once.ok());
    REQUIRE(twice.ok());
    CHECK(*once == *twice);
    disk.change(state_name, "other", false);
    const auto other = store->quarantine(state_name);
    REQUIRE(other.ok());
    CHECK(*other != *once);
    const Open dir(disk.env(), *disk.env().open_dir(store->dir(), "quarantine"));
    CHECK(disk.env().list(dir.get())->size() == 2);
    CHECK(disk.text(state_name) == "other");
  });
}

TEST_CASE("a crash at any call leaves no handle open and nothing but the truth") {
  for (std::size_t change = 0;; ++change) {
    SimEnv sim;
    sim.stop_at(change);
    {
      const Open root(sim, *sim.open_root("/"));
      Status done = SessionStore::create(sim, root.get(), id, line(1), {{state_name, "one"}});
      if (done) {
        auto store = SessionStore::open(sim, root.get(), id);
        if (store && (*store)->load()) done = (*store)->append(line(2, (*store)->synced_length()), true);
      }
      CHECK((sim.stopped() || done.ok()));
    }
    CHECK(sim.open_handles() == 0);
    if (!sim.stopped()) break;
  }
}

}  // namespace sessiond
