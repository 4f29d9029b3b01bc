#include "daemon/session/worker_pool.h"

#include <system_error>

#include "common/caught.h"
#include "common/log.h"

namespace sessiond {

WorkerPool::WorkerPool(std::size_t threads_max) : threads_max_(threads_max) {
  const std::lock_guard lock(mutex_);  // the thread looks at the vector that it is being put into
  threads_.reserve(threads_max);
  threads_.emplace_back([this] { run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_there_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (idle_ < waiting_.size() && threads_.size() < threads_max_) add_thread();
  }
  work_there_.notify_one();
}

// Without a further thread the work only waits longer.
void WorkerPool::add_thread() {
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error& error) {
    log::warn(std::string("cannot start a worker: ") + error.what());
  }
}

void WorkerPool::wait_idle() {
  std::unique_lock lock(mutex_);
  all_idle_.wait(lock, [this] { return waiting_.empty() && idle_ == threads_.size(); });
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    if (waiting_.empty() && idle_ == threads_.size()) all_idle_.notify_all();
    work_there_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      work();
    } catch (...) {
      log::error("work was given up: " + caught_error().message);
    }
    work = nullptr;
    lock.lock();
  }
}

}  // namespace sessiond
