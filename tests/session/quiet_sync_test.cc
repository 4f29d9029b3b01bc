// State files are synced when a session has been quiet, and on a clean stop.
#include "daemon/session/quiet_sync.h"

#include <future>

#include "tests/session/session_support.h"
#include "tests/support/forward_env.h"

namespace sessiond {
namespace {

using namespace std::chrono_literals;

struct Subject : QuietSync::Subject {
  std::atomic<QuietSync::Clock::rep> written{0};
  std::atomic<int> looked{0};
  std::promise<void> synced;  // throws when it is set twice

  QuietSync::Clock::time_point last_written() const override {
    ++const_cast<Subject*>(this)->looked;
    return QuietSync::Clock::time_point(QuietSync::Clock::duration(written.load()));
  }
  void sync_files() override { synced.set_value(); }
};

bool done(std::future<void>& future) { return future.wait_for(60s) == std::future_status::ready; }

// Notes which files are synced.
class NotingEnv final : public ForwardEnv {
 public:
  using ForwardEnv::ForwardEnv;
  Result<Handle> open_read(Handle dir, const std::string& name) override {
    Result<Handle> handle = ForwardEnv::open_read(dir, name);
    const std::lock_guard lock(mutex_);
    if (handle) names_[*handle] = name;
    return handle;
  }
  Status sync(Handle file) override {
    const std::lock_guard lock(mutex_);
    if (const auto found = names_.find(file); found != names_.end()) synced_.push_back(found->second);
    return ForwardEnv::sync(file);
  }
  void close(Handle handle) override {
    const std::lock_guard lock(mutex_);
    names_.erase(handle);
    ForwardEnv::close(handle);
  }
  std::vector<std::string> synced() const {
    const std::lock_guard lock(mutex_);
    return synced_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Handle, std::string> names_;
  std::vector<std::string> synced_;
};

}  // namespace

TEST_CASE("quiet sync: one that is quiet is synced, each time it was added") {
  QuietSync quiet(0ms);
  for (int i = 0; i < 3; ++i) {
    const auto subject = std::make_shared<Subject>();
    std::future<void> synced = subject->synced.get_future();
    quiet.add(subject);
    CHECK(done(synced));
  }
}

TEST_CASE("quiet sync: one that is still written waits, one that is gone is forgotten") {
  QuietSync quiet(1ms);
  const auto busy = std::make_shared<Subject>();
  busy->written = QuietSync::Clock::time_point::max().time_since_epoch().count() / 2;
  std::future<void> busy_synced = busy->synced.get_future();
  quiet.add(busy);
  quiet.add(std::make_shared<Subject>());
  const auto other = std::make_shared<Subject>();
  std::future<void> other_synced = other->synced.get_future();
  quiet.add(other);
  CHECK(done(other_synced));
  CHECK(busy->looked > 0);
  CHECK(busy_synced.wait_for(0s) == std::future_status::timeout);
  busy->written = 0;
  CHECK(done(busy_synced));
}

TEST_CASE("quiet sync: a clean stop does not wait for quiet") {
  QuietSync quiet(1h);
  const auto subject = std::make_shared<Subject>();
  std::future<void> synced = subject->synced.get_future();
  quiet.add(subject);
  CHECK(synced.wait_for(0s) == std::future_status::timeout);
  quiet.finish();
  CHECK(synced.wait_for(0s) == std::future_status::ready);
}

TEST_CASE("quiet sync: a changed session's state file is synced once, an unchanged one's not at all") {
  Sessions first;
  first.create("changed");
  first.create("read");
  first.pool.wait_idle();
  const std::unique_ptr<Env> system = make_system_env();
  NotingEnv env(*system);
  ManualClock clock;
  WorkerPool pool(2);
  Registry registry(env, clock, pool);
  REQUIRE(registry.start(first.state_dir, {}).ok());
  std::promise<Result<std::string>> answered;
  Command command;
  command.name = "test";
  command.apply = [](const Document& document, const Moment&) -> Result<Outcome> {
    Outcome outcome{document, {}, [](const Envelope&, std::string&) {}};
    outcome.document["metadata"].as_object()["a"] = 1;
    return outcome;
  };
  command.done = [&](Result<std::string> reply) { answered.set_value(std::move(reply)); };
  const std::shared_ptr<Session> changed = *registry.find("changed", {});
  const std::shared_ptr<Session> read = *registry.find("read", {});
  changed->submit(std::move(command));
  read->look([](Result<Session::SnapshotPtr> found) { CHECK(found.ok()); });
  CHECK(answered.get_future().get().ok());
  pool.wait_idle();
  registry.sync_files();
  pool.wait_idle();
  CHECK(env.synced() == std::vector<std::string>{"session.json"});
  registry.sync_files();
  pool.wait_idle();
  CHECK(env.synced().size() == 1);
}

}  // namespace sessiond
