#include "daemon/net/connection.h"

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>

namespace sessiond {

Connection::Connection(Socket socket, Caller caller, ConnectionShared& shared)
    : socket_(std::move(socket)),
      caller_(std::move(caller)),
      shared_(shared),
      reader_(shared.limits.frame_bytes) {}

void Connection::start() {
  caller_.later = [weak = weak_from_this(), executor = socket_.get_executor()](std::string body) {
    boost::asio::post(executor, [weak, text = std::move(body)]() mutable {
      if (auto self = weak.lock()) self->deliver(std::move(text));
    });
  };
  frame_began_ = Clock::now();
  // A client usually writes right after it connects: look before waiting.
  on_readable();
}

void Connection::drain() {
  no_more_input_ = true;
  pending_.clear();
  settle();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();
  if (timer_) timer_->cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
  shared_.closed(*this);
}

void Connection::wait_readable() {
  if (waiting_readable_) return;
  waiting_readable_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    self->waiting_readable_ = false;
    if (error || self->closed_) return;
    self->on_readable();
  });
}

void Connection::wait_writable() {
  if (waiting_writable_) return;
  waiting_writable_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    self->waiting_writable_ = false;
    if (error || self->closed_) return;
    self->on_writable();
  });
}

void Connection::on_readable() {
  if (no_more_input_ || paused()) return settle();
  std::vector<char>& buffer = shared_.read_buffer;
  const ssize_t count = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return close();
    return settle();
  }
  if (count == 0) {
    take_last_line();
    no_more_input_ = true;
    return settle();
  }
  const std::string_view arrived(buffer.data(), static_cast<std::size_t>(count));
  if (pending_.empty()) {
    take_frames(arrived);
  } else {
    pending_ += arrived;
    take_frames(pending_);
  }
  settle();
}

void Connection::on_writable() { settle(); }

void Connection::take_frames(std::string_view input) {
  while (!paused() && !no_more_input_) {
    const Event event = reader_.next(input);
    if (event.kind == Event::Kind::need_more) break;
    greeted_ = true;
    frame_began_.reset();
    if (event.kind == Event::Kind::frame)
      take_frame(event.body);
    else if (event.kind == Event::Kind::interim)
      outbox_.tail() += event.body;
    else
      refuse(event);
  }
  if (no_more_input_) input = {};
  held_back_ = !input.empty() && paused();
  // `input` may be a view into pending_.
  if (input.empty())
    pending_ = std::string();
  else if (input.size() != pending_.size() || input.data() != pending_.data())
    pending_ = std::string(input);
}

void Connection::take_last_line() {
  if (reader_.framing() != Framing::lines || pending_.empty()) return;
  pending_ += '\n';
  take_frames(pending_);
}

void Connection::take_frame(std::string_view frame) {
  Done done = Done::now;
  if (reader_.framing() == Framing::lines) {
    std::string& tail = outbox_.tail();
    const std::size_t before = tail.size();
    done = shared_.dispatcher.handle(frame, caller_, tail);
    if (tail.size() > before) tail += '\n';
  } else {
    body_.clear();
    done = shared_.dispatcher.handle(frame, caller_, body_);
    if (done == Done::now) append_reply(body_);
  }
  if (done == Done::later) ++in_flight_;
}

void Connection::append_reply(std::string_view body, int http_status) {
  append_framed(outbox_.tail(), reader_.framing(), body, http_status, reader_.keep_alive());
  if (reader_.framing() == Framing::http && !reader_.keep_alive()) no_more_input_ = true;
}

void Connection::refuse(const Event& event) {
  body_.clear();
  shared_.dispatcher.refuse(*event.error, body_);
  if (event.close) {
    no_more_input_ = true;
    count_dropped(event.error->message);
  }
  append_framed(outbox_.tail(), reader_.framing(), body_, event.http_status,
                !event.close && reader_.keep_alive());
}

void Connection::deliver(std::string body) {
  --in_flight_;
  if (closed_) return;
  append_reply(body);
  settle();
}

bool Connection::paused() const {
  if (outbox_.size() >= shared_.limits.outbox_bytes) return true;
  return in_flight_ >= (reader_.framing() == Framing::http ? 1 : requests_in_flight_max);
}

bool Connection::finished() const { return no_more_input_ && in_flight_ == 0 && outbox_.empty(); }

void Connection::settle() {
  const Outbox::Sent sent = outbox_.send_to(socket_.native_handle());
  if (sent == Outbox::Sent::broken) return close();
  if (outbox_.empty())
    stalled_since_.reset();
  else if (!stalled_since_ || sent == Outbox::Sent::some)
    stalled_since_ = Clock::now();
  // Room again: frames that were received before the pause come first.
  if (held_back_ && !paused() && !no_more_input_) {
    take_frames(pending_);
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
      if (!self->closed_) self->settle();
    });
    return;
  }
  if (finished()) return close();
  if (!outbox_.empty()) wait_writable();
  if (!no_more_input_ && !paused()) wait_readable();
  update_deadline();
}

void Connection::update_deadline() {
  if (!reader_.inside_frame(pending_) && greeted_)
    frame_began_.reset();
  else if (!frame_began_)
    frame_began_ = Clock::now();
  std::optional<Clock::time_point> wanted;
  if (stalled_since_)
    wanted = *stalled_since_ + shared_.limits.stall;
  else if (frame_began_ && !no_more_input_ && !paused())
    wanted = *frame_began_ + shared_.limits.handshake;
  if (wanted == deadline_) return;
  deadline_ = wanted;
  if (!wanted) {
    timer_.reset();
    return;
  }
  if (!timer_) timer_.emplace(socket_.get_executor());
  timer_->expires_at(*wanted);
  timer_->async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && !self->closed_) self->on_deadline();
  });
}

void Connection::on_deadline() {
  if (!deadline_ || Clock::now() < *deadline_) return;  // moved in the meantime
  if (stalled_since_) return drop("it does not read its replies");
  drop(greeted_ ? "a request was not complete in time" : "no request arrived in time");
}

void Connection::count_dropped(std::string_view reason) {
  ++shared_.stats.connections_dropped;
  shared_.dropped_log.write("closing a connection of uid " + std::to_string(caller_.uid) + " (pid " +
                            std::to_string(caller_.pid) + "): " + std::string(reason));
}

void Connection::drop(std::string_view reason) {
  count_dropped(reason);
  if (!stalled_since_) {
    body_.clear();
    shared_.dispatcher.refuse(Error(ErrorCode::limit_exceeded, std::string(reason))
                                  .with("limit_ms", shared_.limits.handshake.count()),
                              body_);
    append_framed(outbox_.tail(), reader_.framing(), body_, 408, false);
    outbox_.send_to(socket_.native_handle());
  }
  close();
}

}  // namespace sessiond
