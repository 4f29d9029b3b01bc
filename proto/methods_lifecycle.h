// The methods that every kind of session has.
#pragma once

#include "proto/envelope.h"
#include "proto/method.h"

namespace sessiond {

// The reply of a change that has nothing to tell but a sentence.
struct MessageReply {
  Envelope session;
  std::string message;
  static constexpr auto fields() {
    return std::array{field<&MessageReply::session>("session", "the session"),
                      field<&MessageReply::message>("message", "what happened, for a person")};
  }
};

// Most methods name a session and a reason.
struct ReasonParams {
  std::string session_id;
  std::optional<std::string> reason;
  static constexpr auto fields() {
    using P = ReasonParams;
    return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                      field<&P::reason>("reason", "why", length(1, 2'000))};
  }
};

struct SessionPause {
  static constexpr std::string_view name = "session.pause";
  static constexpr std::string_view summary = "Pauses a session, keeping why and where work stood";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<std::string> reason;
    std::optional<std::string> context;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::reason>("reason", "why; some kinds take only certain reasons", length(1, 2'000)),
          field<&P::context>("context", "what was being worked on", length(1, 10'000))};
    }
  };
  using Reply = MessageReply;
};

// What session.resume and session.context tell: the facts for programs, and a text for a reader.
struct ContextReply {
  Envelope session;
  json::object context;
  std::string text;
  std::string message;
  static constexpr auto fields() {
    using R = ContextReply;
    return std::array{field<&R::session>("session", "the session"),
                      field<&R::context>("context", "where work stands, for programs"),
                      field<&R::text>("text", "the same, for a reader that knows nothing"),
                      field<&R::message>("message", "the one sentence to show first")};
  }
};

struct SessionResume {
  static constexpr std::string_view name = "session.resume";
  static constexpr std::string_view summary =
      "Resumes a session and tells where work stands and what is next";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<bool> skip_verify;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::skip_verify>("skip_verify", "do not compare the session with the world around it")};
    }
  };
  using Reply = ContextReply;
};

struct SessionComplete {
  static constexpr std::string_view name = "session.complete";
  static constexpr std::string_view summary = "Marks a session as completed";
  static constexpr Access access = Access::write;
  using Params = ReasonParams;
  using Reply = MessageReply;
};

struct SessionAbort {
  static constexpr std::string_view name = "session.abort";
  static constexpr std::string_view summary = "Ends a session that will not be completed";
  static constexpr Access access = Access::write;
  using Params = ReasonParams;
  using Reply = MessageReply;
};

struct SessionUpdate {
  static constexpr std::string_view name = "session.update";
  static constexpr std::string_view summary = "Changes the members that the kind leaves to its users";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    json::object changes;
    static constexpr auto fields() {
      return std::array{field<&Params::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&Params::changes>("changes", "an RFC 7396 merge patch of the document")};
    }
  };
  using Reply = MessageReply;
};

using LifecycleMethods =
    MethodList<SessionPause, SessionResume, SessionComplete, SessionAbort, SessionUpdate>;

}  // namespace sessiond
