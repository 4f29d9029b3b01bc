#include "proto/methods.h"

#include <doctest/doctest.h>

#include <set>

#include "proto/write_options.h"

using namespace sessiond;

TEST_CASE("methods: each is listed once and found by its name") {
  std::set<std::string_view> names;
  for (const MethodInfo& method : all_methods()) {
    CAPTURE(method.name);
    CHECK(names.insert(method.name).second);
    CHECK(find_method(method.name) == &method);
  }
  CHECK(names.size() == method_names().size());
  CHECK(names.count("daemon.ping") == 1);
  CHECK(find_method("daemon.pin") == nullptr);
  CHECK(find_method("") == nullptr);
}

TEST_CASE("methods: names are a group, a dot and a verb") {
  for (const MethodInfo& method : all_methods()) {
    CAPTURE(method.name);
    const std::size_t dot = method.name.find('.');
    CHECK(dot != std::string_view::npos);
    CHECK(dot > 0);
    CHECK(dot + 1 < method.name.size());
    CHECK(method.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == std::string_view::npos);
  }
}

TEST_CASE("methods: no write declares a parameter that every write takes") {
  for (const MethodInfo& method : all_methods()) {
    if (method.access != Access::write) continue;
    for (const Field& own : method.params)
      for (const Field& common : fields_of<WriteOptions>()) CHECK(own.name != common.name);
  }
}
