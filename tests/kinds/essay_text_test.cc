#include "daemon/kinds/essay_text.h"

#include <doctest/doctest.h>

namespace sessiond::essay {
namespace {

std::string spelled(std::string_view draft) {
  std::string out;
  for (const DraftSection& section : draft_sections(draft))
    out += section.title + " " + std::to_string(section.paragraphs) + (section.finished ? " done;" : ";");
  return out;
}

TEST_CASE("essay text: progress of a draft") {
  struct Row {
    std::string_view draft, progress;
  };
  const Row rows[] = {
      {"", ""},
      {"# Title\n\nno section yet\n", ""},
      {"## A\n", "A 0;"},
      {"## A\n\none\n", "A 1;"},
      {"## A\n\none\nstill one\n\ntwo\n", "A 2;"},
      {"## A\none\n\ntwo\n\n---\n", "A 2 done;"},
      {"## A\n\none\n\n---\n\n## B\n\none\n", "A 1 done;B 1;"},
      {"## A\r\n\r\none\r\n\r\n---\r\n", "A 1 done;"},
      {"## A\n\none\n\n### Sub\n\ntwo\n", "A 2;"},
      {"## A\n\none\n\n---\n\nmore after all\n", "A 2;"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.draft);
    CHECK(spelled(row.draft) == row.progress);
  }
}

TEST_CASE("essay text: sections of an outline") {
  const auto sections =
      outline_sections("# T\n## One\nbody\n```\n## not one\n```\n### sub\n##Two\n## Three \n");
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].title == "One");
  CHECK(sections[0].body == "body\n```\n## not one\n```\n### sub\n##Two\n");
  CHECK(sections[1].title == "Three");
}

TEST_CASE("essay text: words and likeness") {
  CHECK(count_words("") == 0);
  CHECK(count_words("## A title\n\n--- one, two - three's  été\n") == 6);
  CHECK(likeness("Cities need trees.", "trees need CITIES") == doctest::Approx(1));
  CHECK(likeness("", "") == doctest::Approx(1));
  CHECK(likeness("a b", "c d") == doctest::Approx(0));
  CHECK(likeness("a b c", "b c d") == doctest::Approx(0.5));
}

TEST_CASE("essay text: the essay that a draft amounts to") {
  CHECK(assembled("## A\n\none\n\n---\n\n## B\n\ntwo\n\n---\n") == "## A\n\none\n\n## B\n\ntwo\n");
  CHECK(assembled("").empty());
}

}  // namespace
}  // namespace sessiond::essay
