// Methods about the files that belong to a session.
#pragma once

#include "proto/envelope.h"
#include "proto/method.h"
#include "proto/methods_reading.h"

namespace sessiond {

struct ArtifactPut {
  static constexpr std::string_view name = "artifact.put";
  static constexpr std::string_view summary = "Writes an artifact; the content before is kept as a version";
  static constexpr Access access = Access::write;
  struct Params {
    std::string session_id, name;
    std::optional<std::string> text, base64;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
                        field<&P::name>("name", "plain file name", length(1, 200)),
                        field<&P::text>("text", "content as text"),
                        field<&P::base64>("base64", "content as base64, instead of text")};
    }
  };
  struct Reply {
    Envelope session;
    std::string name, sha256;
    std::int64_t bytes = 0;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::name>("name", "file name"), field<&Reply::bytes>("bytes", "size"),
                        field<&Reply::sha256>("sha256", "SHA-256 of the content")};
    }
  };
};

struct ArtifactGet {
  static constexpr std::string_view name = "artifact.get";
  static constexpr std::string_view summary = "Reads an artifact, or a kept version of it";
  static constexpr Access access = Access::read;
  struct Params {
    std::string session_id, name;
    std::optional<std::int64_t> version;
    static constexpr auto fields() {
      using P = Params;
      return std::array{
          field<&P::session_id>("session_id", "id, or root/id", length(1, 512)),
          field<&P::name>("name", "plain file name", length(1, 200)),
          field<&P::version>("version", "kept version N (the current one)", between(1, 1'000'000))};
    }
  };
  struct Reply {
    Envelope session;
    std::string name, sha256;
    std::int64_t bytes = 0;
    std::optional<std::string> text, base64;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::name>("name", "file name"),
                        field<&Reply::bytes>("bytes", "size"),
                        field<&Reply::sha256>("sha256", "SHA-256 of the content"),
                        field<&Reply::text>("text", "content, if it is UTF-8 text"),
                        field<&Reply::base64>("base64", "content, if it is not")};
    }
  };
};

struct ArtifactList {
  static constexpr std::string_view name = "artifact.list";
  static constexpr std::string_view summary = "Lists a session's artifacts and their kept versions";
  static constexpr Access access = Access::read;
  using Params = SessionParams;
  struct Item {
    std::string name, modified_at;
    std::int64_t bytes = 0;
    static constexpr auto fields() {
      return std::array{field<&Item::name>("name", "file name"), field<&Item::bytes>("bytes", "size"),
                        field<&Item::modified_at>("modified_at", "when the file was last written")};
    }
  };
  struct Reply {
    Envelope session;
    std::vector<Item> artifacts;
    static constexpr auto fields() {
      return std::array{field<&Reply::session>("session", "the session"),
                        field<&Reply::artifacts>("artifacts", "the files, by name")};
    }
  };
};

using ArtifactMethods = MethodList<ArtifactPut, ArtifactGet, ArtifactList>;

}  // namespace sessiond
