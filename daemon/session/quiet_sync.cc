#include "daemon/session/quiet_sync.h"

#include <system_error>

#include "common/caught.h"
#include "common/log.h"

namespace sessiond {
namespace {

void begin_sync(QuietSync::Subject& subject) {
  try {
    subject.sync_files();
  } catch (...) {
    log::error("the state files of a session were not synced: " + caught_error().message);
  }
}

}  // namespace

void QuietSync::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void QuietSync::add(std::weak_ptr<Subject> subject) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(subject), Clock::now() + quiet_});
  if (waiting_.size() == 1) changed_.notify_one();  // else it wakes up for an earlier one anyway
  if (thread_.joinable() || ending_) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    log::warn(std::string("state files are not synced before the daemon stops: ") + error.what());
  }
}

void QuietSync::finish() {
  stop();
  std::deque<Waiting> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(waiting_);
  }
  for (const Waiting& one : all)
    if (const std::shared_ptr<Subject> subject = one.subject.lock()) begin_sync(*subject);
}

std::deque<std::shared_ptr<QuietSync::Subject>> QuietSync::take_due(Clock::time_point now) {
  std::deque<std::shared_ptr<Subject>> due;
  while (!waiting_.empty() && waiting_.front().due <= now) {
    const Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    std::shared_ptr<Subject> subject = first.subject.lock();
    if (subject == nullptr) continue;
    if (subject->last_written() + quiet_ <= now)
      due.push_back(std::move(subject));
    else
      waiting_.push_back({first.subject, now + quiet_});
  }
  return due;
}

void QuietSync::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (const Clock::time_point first = waiting_.front().due; first > now) {
      changed_.wait_until(lock, first);
      continue;
    }
    std::deque<std::shared_ptr<Subject>> due = take_due(now);
    lock.unlock();
    for (const std::shared_ptr<Subject>& subject : due) begin_sync(*subject);
    due.clear();  // the last owner of a session may be here
    lock.lock();
  }
}

}  // namespace sessiond
