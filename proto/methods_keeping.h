// Methods that keep, move and bring back whole sessions.
#pragma once

#include "proto/methods_reading.h"

namespace sessiond {

struct SessionRevert {
  static constexpr std::string_view name = "session.revert";
  static constexpr std::string_view summary = "Brings back an earlier revision as a new one";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::int64_t revision = 0;
    static constexpr auto fields() {
      return std::array{field<&Params::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&Params::revision>("revision", "the revision to bring back", at_least(1))};
    }
  };
  using Reply = MessageReply;
};

struct SessionFork {
  static constexpr std::string_view name = "session.fork";
  static constexpr std::string_view summary = "Makes a new session from a revision of another";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::optional<std::int64_t> revision;
    std::optional<std::string> new_session_id;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::revision>("revision", "revision to start from (the newest)", at_least(1)),
          field<&P::new_session_id>("new_session_id", "id of the new session (made up)", length(1, 128))};
    }
  };
  using Reply = MessageReply;
};

struct SessionMigrate {
  static constexpr std::string_view name = "session.migrate";
  static constexpr std::string_view summary = "Upgrades a session of an older format";
  static constexpr Access access = Access::write;
  using Params = SessionParams;
  using Reply = MessageReply;
};

// Where a session's directory went.
struct MovedReply {
  std::string session_id;
  std::string directory;
  std::string message;
  static constexpr auto fields() {
    using R = MovedReply;
    return std::array{field<&R::session_id>("session_id", "the session"),
                      field<&R::directory>("directory", "where its files are now"),
                      field<&R::message>("message", "what happened, for a person")};
  }
};

struct SessionArchive {
  static constexpr std::string_view name = "session.archive";
  static constexpr std::string_view summary = "Moves a session that is not active into the archive";
  static constexpr Access access = Access::write;
  using Params = SessionParams;
  using Reply = MovedReply;
};

struct SessionRestore {
  static constexpr std::string_view name = "session.restore";
  static constexpr std::string_view summary = "Brings a session back from the archive";
  static constexpr Access access = Access::write;
  using Params = SessionParams;
  using Reply = MovedReply;
};

struct SessionDelete {
  static constexpr std::string_view name = "session.delete";
  static constexpr std::string_view summary = "Moves a session that has ended or is archived into the trash";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id;
    std::string confirm;
    static constexpr auto fields() {
      return std::array{field<&Params::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&Params::confirm>("confirm", "the same id again, to be sure", length(1, 512))};
    }
  };
  using Reply = MovedReply;
};

using KeepingMethods =
    MethodList<SessionRevert, SessionFork, SessionMigrate, SessionArchive, SessionRestore, SessionDelete>;

}  // namespace sessiond
