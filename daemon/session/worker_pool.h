// Threads for work that blocks in the file system. There is always one; another is started when work waits
// and none is idle, up to a limit; idle ones sleep in the kernel. Many of them may wait in a sync at the same
// time, which is what lets the file system merge the syncs of different sessions.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sessiond {

class WorkerPool {
 public:
  // Throws when not even one thread can be started.
  explicit WorkerPool(std::size_t threads_max);
  // Finishes what was posted, then ends the threads.
  ~WorkerPool();

  // On any thread. Work runs in the order of posting as threads become free. An exception that leaves the
  // work is logged and ends there; who waits for an answer must be told before.
  void post(std::function<void()> work);
  // Returns when nothing is running or waiting. Work that is posted meanwhile is waited for too.
  void wait_idle();

 private:
  void run();
  void add_thread();  // under the mutex

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable work_there_;
  std::condition_variable all_idle_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace sessiond
