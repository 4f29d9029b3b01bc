// Methods that look at sessions without changing them.
#pragma once

#include "proto/envelope.h"
#include "proto/method.h"
#include "proto/methods_lifecycle.h"

namespace sessiond {

struct SessionParams {
  std::string session_id;
  static constexpr auto fields() {
    return std::array{field<&SessionParams::session_id>("session_id", "id, or root/id", length(1, 512))};
  }
};

struct SessionGet {
  static constexpr std::string_view name = "session.get";
  static constexpr std::string_view summary =
      "Gives a session's document, or a part of it, now or at an earlier revision";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id;
    std::optional<std::int64_t> at_revision;
    std::optional<std::string> pointer;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::at_revision>("at_revision", "this revision instead of the newest", at_least(1)),
          field<&P::pointer>("pointer", "JSON pointer of the part that is wanted", length(0, 1'000))};
    }
  };
  struct Reply {
    Envelope session;
    RawJson document;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::document>("document", "its state, or the part at `pointer`")};
    }
  };
};

struct SessionList {
  static constexpr std::string_view name = "session.list";
  static constexpr std::string_view summary = "Lists sessions, newest change first, a page at a time";
  static constexpr Access access = Access::read;
  static constexpr std::array<std::string_view, 4> sorts{"updated", "created", "activity", "id"};
  struct Params {
    std::optional<std::string> kind, status, root, project, text, updated_since, sort, cursor;
    std::optional<std::int64_t> limit;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::kind>("kind", "only of this kind", length(1, 64)),
          field<&P::status>("status", "only with this status", length(1, 64)),
          field<&P::root>("root", "only in this root", length(1, 128)),
          field<&P::project>("project", "only about exactly this project or target", length(1, 4'096)),
          field<&P::text>("text", "only with this text in id, title or project", length(1, 200)),
          field<&P::updated_since>("updated_since", "only changed at or after this time (RFC 3339)",
                                   length(1, 64)),
          field<&P::sort>("sort", "updated (default), created, activity or id", one_of(sorts)),
          field<&P::limit>("limit", "sessions on one page (50)", between(1, 1'000)),
          field<&P::cursor>("cursor", "next_cursor of the page before", length(1, 512))};
    }
  };
  struct Item {
    std::string session_id, root, kind, status, title, position, updated_at, last_activity, created_at;
    std::optional<double> progress;
    std::optional<std::string> project, problem;
    std::int64_t revision = 0;
    static constexpr auto fields() {
      using I = Item;
      return std::array{field<&I::session_id>("session_id", "unique in its root"),
                        field<&I::root>("root", "name of its root"),
                        field<&I::kind>("kind", "its kind"),
                        field<&I::status>("status", "status at its last change"),
                        field<&I::title>("title", "what it is about, in one line"),
                        field<&I::position>("position", "where work stands, in a few words"),
                        field<&I::progress>("progress", "0 to 1, if the kind can tell"),
                        field<&I::project>("project", "path or target that it is about"),
                        field<&I::revision>("revision", "number of its last change"),
                        field<&I::created_at>("created_at", "when it was created"),
                        field<&I::updated_at>("updated_at", "when it was last changed"),
                        field<&I::last_activity>("last_activity", "last write, resume or heartbeat"),
                        field<&I::problem>("problem", "what is wrong with it, if anything")};
    }
  };
  struct Reply {
    std::vector<Item> sessions;
    std::optional<std::string> next_cursor;
    std::int64_t total = 0;
    std::string text;
    static constexpr auto fields() {
      return std::array{field<&Reply::sessions>("sessions", "this page"),
                        field<&Reply::next_cursor>("next_cursor", "give it as cursor for the next page"),
                        field<&Reply::total>("total", "sessions that match, on all pages"),
                        field<&Reply::text>("text", "this page for a reader, a line for each session")};
    }
  };
};

struct SessionContext {
  static constexpr std::string_view name = "session.context";
  static constexpr std::string_view summary =
      "Tells where work stands and what is next, for programs and for readers";
  static constexpr Access access = Access::read;
  using Params = SessionParams;
  using Reply = ContextReply;
};

struct SessionHistory {
  static constexpr std::string_view name = "session.history";
  static constexpr std::string_view summary = "Lists what was done to a session, command by command";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id;
    std::optional<std::int64_t> from, limit;
    std::optional<bool> reverse;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::from>("from", "first line (seq) that is wanted; the last one with reverse", at_least(1)),
          field<&P::limit>("limit", "lines on one page (100)", between(1, 1'000)),
          field<&P::reverse>("reverse", "newest first")};
    }
  };
  struct Reply {
    Envelope session;
    std::vector<RawJson> entries;
    std::optional<std::int64_t> next;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::entries>("entries", "lines of the history as they stand"),
                        field<&Reply::next>("next", "give it as from for the next page")};
    }
  };
};

struct SessionDiff {
  static constexpr std::string_view name = "session.diff";
  static constexpr std::string_view summary = "Shows what changed between two revisions";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id;
    std::int64_t from = 0;
    std::optional<std::int64_t> to;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::from>("from", "the earlier revision", at_least(1)),
                        field<&P::to>("to", "the later revision (the newest)", at_least(1))};
    }
  };
  struct Reply {
    Envelope session;
    std::int64_t from = 0, to = 0;
    json::value changes;
    std::string text;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::from>("from", "the earlier revision"),
                        field<&Reply::to>("to", "the later revision"),
                        field<&Reply::changes>("changes", "RFC 6902 operations"),
                        field<&Reply::text>("text", "the same, a line for each change")};
    }
  };
};

struct SessionValidate {
  static constexpr std::string_view name = "session.validate";
  static constexpr std::string_view summary = "Checks a session against every rule of its kind";
  static constexpr Access access = Access::read;
  using Params = SessionParams;
  struct Problem {
    std::string severity, rule, path, message;
    static constexpr auto fields() {
      using P = Problem;
      return std::array{field<&P::severity>("severity", "warning or error"),
                        field<&P::rule>("rule", "short name of the rule"),
                        field<&P::path>("path", "JSON pointer"),
                        field<&P::message>("message", "what is wrong")};
    }
  };
  struct Reply {
    Envelope session;
    bool valid = false;
    std::vector<Problem> discrepancies;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::valid>("valid", "true when there is no error"),
                        field<&Reply::discrepancies>("discrepancies", "what is not as specified")};
    }
  };
};

using ReadingMethods =
    MethodList<SessionGet, SessionList, SessionContext, SessionHistory, SessionDiff, SessionValidate>;

}  // namespace sessiond
