// Syncs the state files of sessions that have been quiet for a while. A commit leaves them to the page cache,
// because the history can rebuild them; this makes them survive a power cut too, without making anybody wait.
//
// One thread that sleeps in the kernel: without end while no session waits, else until the first is due. A
// session that goes on changing is looked at once per period, not once per change.
//
// Safe on any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace sessiond {

class QuietSync {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds quiet_default{1'000};

  // What waits. Held weakly: one that leaves memory before it is due is not synced.
  class Subject {
   public:
    virtual ~Subject() = default;
    // When its files were last written.
    virtual Clock::time_point last_written() const = 0;
    // Begins to sync, on another thread. Called from QuietSync's own thread, or from finish.
    virtual void sync_files() = 0;
  };

  explicit QuietSync(std::chrono::milliseconds quiet = quiet_default) : quiet_(quiet) {}
  ~QuietSync() { stop(); }

  // `subject` was written for the first time since its last sync_files.
  void add(std::weak_ptr<Subject> subject);
  // Ends the thread: nothing is synced by itself any more.
  void stop();
  // For a clean stop: stops, and all that wait are due now.
  void finish();

 private:
  void run();
  // Takes what is due at `now` off the queue; the rest are those that were written again meanwhile.
  std::deque<std::shared_ptr<Subject>> take_due(Clock::time_point now);

  struct Waiting {
    std::weak_ptr<Subject> subject;
    Clock::time_point due;
  };

  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;  // by `due`, because all wait equally long
  bool ending_ = false;
  std::thread thread_;  // started with the first that waits
};

}  // namespace sessiond
