// Methods that carry whole sessions out of the daemon and back in, and that bring back damaged ones.
#pragma once

#include "proto/methods_reading.h"

namespace sessiond {

struct SessionExport {
  static constexpr std::string_view name = "session.export";
  static constexpr std::string_view summary =
      "Packs a session, history and artifacts included, into one bundle file";
  static constexpr Access access = Access::read;
  static constexpr std::array<std::string_view, 2> formats{"bundle", "state"};
  struct Params {
    std::string session_id;
    std::optional<std::string> format, path;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::format>("format", "bundle (default), or state: the plain state file alone",
                            one_of(formats)),
          field<&P::path>("path", "absolute path of a new file; without it the content comes in the reply",
                          length(1, 3'000))};
    }
  };
  struct Reply {
    Envelope session;
    std::string format, sha256;
    std::int64_t bytes = 0;
    std::optional<std::string> path, base64;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::format>("format", "bundle or state"),
                        field<&Reply::bytes>("bytes", "size of the file"),
                        field<&Reply::sha256>("sha256", "SHA-256 of the file"),
                        field<&Reply::path>("path", "where it was written"),
                        field<&Reply::base64>("base64", "the content, when no path was given")};
    }
  };
};

struct SessionImport {
  static constexpr std::string_view name = "session.import";
  static constexpr std::string_view summary = "Makes a session from a bundle or from a plain state file";
  static constexpr Access access = Access::write;
  struct Params {
    std::optional<std::string> path, base64, kind, root, session_id;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::path>("path", "absolute path of the bundle or state file", length(1, 3'000)),
          field<&P::base64>("base64", "the content itself, instead of a path"),
          field<&P::kind>("kind", "kind of a plain state file; a bundle says its own", length(1, 64)),
          field<&P::root>("root", "root to put it into; default: the kind's own", length(1, 128)),
          field<&P::session_id>("session_id", "id to give it; default: its own", length(1, 128))};
    }
  };
  using Reply = MessageReply;
};

struct SessionRecover {
  static constexpr std::string_view name = "session.recover";
  static constexpr std::string_view summary =
      "Makes a damaged session usable again, from what the caller chooses";
  static constexpr Access access = Access::write;
  static constexpr std::array<std::string_view, 5> sources{"history", "state", "backup", "artifacts",
                                                           "fresh"};
  struct Params {
    std::string session_id;
    std::string from;
    std::optional<json::object> directions;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::from>(
              "from",
              "history up to the damage, the state file, its .bak, artifact files, or a fresh document",
              one_of(sources)),
          field<&P::directions>("directions", "with fresh: the document to start from")};
    }
  };
  struct Reply {
    Envelope session;
    json::object recovery;
    std::string message;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::recovery>("recovery", "level, source, revision, lost and message"),
                        field<&Reply::message>("message", "what happened, for a person")};
    }
  };
};

using BundleMethods = MethodList<SessionExport, SessionImport, SessionRecover>;

}  // namespace sessiond
