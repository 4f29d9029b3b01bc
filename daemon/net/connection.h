// One connected client. It splits what arrives into frames, gives them to the dispatcher and sends the
// replies.
//
// Lives on the network thread and is kept alive by its pending waits and by the listener's set. Nothing is
// read while the peer owes us reading (outbox full), while too many requests are unanswered, or, under HTTP,
// while one is. An idle connection owns no buffer: reads go through one that all connections share.
#pragma once

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/limits.h"
#include "common/log_limit.h"
#include "daemon/net/outbox.h"
#include "daemon/rpc/caller.h"
#include "daemon/rpc/dispatcher.h"
#include "proto/framing.h"

namespace sessiond {

class Connection;

// What all connections share; owned by the listener.
struct ConnectionShared {
  Dispatcher& dispatcher;
  const Limits& limits;
  Stats& stats;
  std::vector<char> read_buffer = std::vector<char>(read_chunk_bytes);
  std::function<void(Connection&)> closed;  // removes it from the listener's set
  LogLimit dropped_log{log::Level::info, 20, std::chrono::seconds(10)};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;

  Connection(Socket socket, Caller caller, ConnectionShared& shared);

  void start();
  // Answers what was accepted, sends it, then closes.
  void drain();
  // At once.
  void close();
  uid_t uid() const { return caller_.uid; }

 private:
  using Event = FrameReader::Event;
  using Clock = std::chrono::steady_clock;

  void wait_readable();
  void wait_writable();
  void on_readable();
  void on_writable();
  // Takes frames off `input` until it is used up or reading must stop; keeps the rest.
  void take_frames(std::string_view input);
  void take_frame(std::string_view body);
  // The peer closed its side: a last line may lack its end.
  void take_last_line();
  void refuse(const Event& event);
  void append_reply(std::string_view body, int http_status = 200);
  void deliver(std::string body);
  // After anything happened: sends, arms waits and deadlines, or closes.
  void settle();
  bool paused() const;
  bool finished() const;
  void update_deadline();
  void on_deadline();
  void drop(std::string_view reason);
  void count_dropped(std::string_view reason);

  Socket socket_;
  Caller caller_;
  ConnectionShared& shared_;
  FrameReader reader_;
  std::string pending_;  // received bytes that are not a whole frame yet, or wait while reading is paused
  Outbox outbox_;
  std::string body_;  // scratch for framings that need the length first
  std::size_t in_flight_ = 0;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool held_back_ = false;      // pending_ may hold whole frames, which wait while reading is paused
  bool greeted_ = false;        // a first whole frame arrived
  bool no_more_input_ = false;  // the peer closed its side, or we drain or close after sending
  bool closed_ = false;
  std::optional<boost::asio::steady_timer> timer_;
  std::optional<Clock::time_point> frame_began_;
  std::optional<Clock::time_point> stalled_since_;
  std::optional<Clock::time_point> deadline_;  // for which timer_ is armed
};

}  // namespace sessiond
