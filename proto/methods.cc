#include "proto/methods.h"

namespace sessiond {
namespace {

template <class... Methods>
std::vector<MethodInfo> describe(MethodList<Methods...>) {
  return {method_info<Methods>()...};
}

}  // namespace

std::span<const MethodInfo> all_methods() {
  static const std::vector<MethodInfo> methods = describe(AllMethods{});
  return methods;
}

const MethodInfo* find_method(std::string_view name) {
  for (const MethodInfo& method : all_methods())
    if (method.name == name) return &method;
  return nullptr;
}

std::span<const std::string_view> method_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const MethodInfo& method : all_methods()) out.push_back(method.name);
    return out;
  }();
  return names;
}

}  // namespace sessiond
