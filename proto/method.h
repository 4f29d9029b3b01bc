// What a method is. Each is declared once, as a struct, in methods_*.h:
//
//   struct DaemonPing {
//     static constexpr std::string_view name = "daemon.ping";
//     static constexpr std::string_view summary = "Answers at once ...";
//     static constexpr Access access = Access::read;
//     using Params = Nothing;          // a described struct
//     struct Reply { ... };            // a described struct
//   };
//
// The lists in those files are joined in methods.h. The dispatcher instantiates a handler per method, so a
// method without one does not compile.
#pragma once

#include <span>
#include <string_view>

#include "proto/describe.h"

namespace sessiond {

enum class Access { read, write };

template <class... Methods>
struct MethodList {};

template <class... Lists>
struct JoinLists;
template <class... A>
struct JoinLists<MethodList<A...>> {
  using type = MethodList<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<MethodList<A...>, MethodList<B...>, Rest...> {
  using type = typename JoinLists<MethodList<A..., B...>, Rest...>::type;
};

// The same, for code that walks the list at run time: discovery, the client, the reference page.
struct MethodInfo {
  std::string_view name;
  std::string_view summary;
  Access access;
  Fields params;
  Fields reply;  // empty when the reply is a document of its own
};

template <class M>
MethodInfo method_info() {
  Fields reply;
  if constexpr (Described<typename M::Reply>) reply = fields_of<typename M::Reply>();
  return {M::name, M::summary, M::access, fields_of<typename M::Params>(), reply};
}

}  // namespace sessiond
