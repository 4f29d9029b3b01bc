#include "common/error.h"

#include <doctest/doctest.h>

#include <set>

#include "common/result.h"

using namespace sessiond;

TEST_CASE("errors: every number and every name belongs to one code") {
  std::set<int> numbers;
  std::set<std::string_view> names;
  for (const ErrorInfo& info : error_table()) {
    CAPTURE(info.name);
    CHECK(numbers.insert(info.number).second);
    CHECK(names.insert(info.name).second);
    CHECK_FALSE(info.text.empty());
    CHECK(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(info.exit_status > 1);
    CHECK(info.exit_status < 126);
    CHECK(&error_info(info.code) == &info);
    CHECK(&error_info_by_number(info.number) == &info);
  }
}

TEST_CASE("errors: numbers stay in the ranges that JSON-RPC gives out") {
  const std::set<int> standard{-32700, -32600, -32601, -32602, -32603};
  for (const ErrorInfo& info : error_table()) {
    CAPTURE(info.name);
    CHECK((standard.count(info.number) == 1 || (info.number <= -32000 && info.number >= -32099)));
  }
}

TEST_CASE("errors: an unknown number is an internal error") {
  for (std::int64_t number : {std::int64_t(0), std::int64_t(-1), std::int64_t(-32099), INT64_MAX})
    CHECK(error_info_by_number(number).code == ErrorCode::internal);
}

TEST_CASE("errors: facts and advice are collected in data") {
  const Error error = Error(ErrorCode::claimed, "taken").with("holder", "a").with("seconds", 5).next("wait");
  CHECK(error.message == "taken");
  CHECK(error.data == json::object{{"holder", "a"}, {"seconds", 5}, {"next", "wait"}});
}

TEST_CASE("results: SESSIOND_TRY and SESSIOND_ASSIGN leave with the first error") {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return Error(ErrorCode::refused, "odd: " + std::to_string(number));
    return number / 2;
  };
  const auto quarter = [&](int number) -> Result<int> {
    SESSIOND_TRY(half(number));
    SESSIOND_ASSIGN(const int once, half(number));
    SESSIOND_ASSIGN(const int twice, half(once));
    return twice;
  };
  CHECK(*quarter(12) == 3);
  CHECK(quarter(6).error().message == "odd: 3");
  CHECK(quarter(5).error().message == "odd: 5");
  CHECK(Status().ok());
  CHECK_FALSE(Status(Error(ErrorCode::refused, "no")).ok());
}
