// Methods about the directories that hold sessions.
#pragma once

#include "proto/method.h"

namespace sessiond {

struct RootItem {
  std::string name, path, kind, origin;
  std::int64_t sessions = 0, problems = 0;
  static constexpr auto fields() {
    using R = RootItem;
    return std::array{field<&R::name>("name", "short name"),
                      field<&R::path>("path", "the directory"),
                      field<&R::kind>("kind", "which kind of session it holds"),
                      field<&R::origin>("origin", "built_in, configured or added"),
                      field<&R::sessions>("sessions", "sessions in it, archived ones included"),
                      field<&R::problems>("problems", "sessions that cannot be used as they are")};
  }
};

struct RootList {
  static constexpr std::string_view name = "root.list";
  static constexpr std::string_view summary = "Lists the directories that hold sessions";
  static constexpr Access access = Access::read;
  using Params = Nothing;
  struct Reply {
    std::vector<RootItem> roots;
    static constexpr auto fields() { return std::array{field<&Reply::roots>("roots", "the roots, by name")}; }
  };
};

struct RootAdd {
  static constexpr std::string_view name = "root.add";
  static constexpr std::string_view summary = "Adds a directory with sessions, for good";
  static constexpr Access access = Access::write;
  struct Params {
    std::string path, kind;
    std::optional<std::string> name;
    static constexpr auto fields() {
      using P = Params;
      return std::array{field<&P::path>("path", "absolute path of the directory", length(1, 3'000)),
                        field<&P::kind>("kind", "which kind of session it holds", length(1, 64)),
                        field<&P::name>("name", "short name (the directory's own)", length(1, 128))};
    }
  };
  using Reply = RootItem;
};

struct RootNameParams {
  std::string name;
  static constexpr auto fields() {
    return std::array{field<&RootNameParams::name>("name", "name of the root", length(1, 128))};
  }
};

struct RootRemove {
  static constexpr std::string_view name = "root.remove";
  static constexpr std::string_view summary = "Forgets an added root; its files stay";
  static constexpr Access access = Access::write;
  using Params = RootNameParams;
  struct Reply {
    std::string name, message;
    static constexpr auto fields() {
      return std::array{field<&Reply::name>("name", "name of the root"),
                        field<&Reply::message>("message", "what happened, for a person")};
    }
  };
};

struct RootScan {
  static constexpr std::string_view name = "root.scan";
  static constexpr std::string_view summary = "Looks again at what is in a root";
  static constexpr Access access = Access::read;
  using Params = RootNameParams;
  using Reply = RootItem;
};

using RootMethods = MethodList<RootList, RootAdd, RootRemove, RootScan>;

}  // namespace sessiond
