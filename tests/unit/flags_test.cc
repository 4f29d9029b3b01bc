#include "daemon/flags.h"

#include <doctest/doctest.h>

#include <vector>

using namespace sessiond;

namespace {

std::variant<Flags, int> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "sessiond");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_flags(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

TEST_CASE("flags: every flag is taken") {
  const auto parsed =
      parse({"--config", "/c", "--state-dir=/s", "--socket", "/x", "--log-level", "debug", "--check-config"});
  REQUIRE(std::holds_alternative<Flags>(parsed));
  const Flags& flags = std::get<Flags>(parsed);
  CHECK(flags.config.config_file == "/c");
  CHECK(flags.config.state_dir == "/s");
  CHECK(flags.config.socket == "/x");
  CHECK(flags.config.log_level == "debug");
  CHECK(flags.check_config);
}

TEST_CASE("flags: none are needed") {
  const auto parsed = parse({});
  REQUIRE(std::holds_alternative<Flags>(parsed));
  CHECK(std::get<Flags>(parsed).config.config_file.empty());
  CHECK_FALSE(std::get<Flags>(parsed).check_config);
}

TEST_CASE("flags: help and version end well, a wrong line ends with 2") {
  struct Row {
    std::vector<std::string> words;
    int status;
  };
  const Row rows[] = {
      {{"--help"}, 0}, {{"--version"}, 0}, {{"--no-such"}, 2}, {{"word"}, 2}, {{"--socket"}, 2}};
  for (const Row& row : rows) {
    CAPTURE(row.words.front());
    const auto parsed = parse(row.words);
    REQUIRE(std::holds_alternative<int>(parsed));
    CHECK(std::get<int>(parsed) == row.status);
  }
}
