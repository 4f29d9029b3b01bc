// What the Markdown files of an essay say: sections of an outline, progress of a draft, words, likeness. Pure
// functions on text; any text is accepted.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sessiond::essay {

struct OutlineSection {
  std::string title;  // without "## "
  std::string body;   // the lines below it
};
// One per heading of the second level. Headings inside fenced code do not count.
std::vector<OutlineSection> outline_sections(std::string_view text);

struct DraftSection {
  std::string title;
  std::int64_t paragraphs = 0;  // between blank lines
  bool finished = false;        // "---" stands behind it
};
std::vector<DraftSection> draft_sections(std::string_view text);

// Words that hold a letter or digit; marks of Markdown are none.
std::int64_t count_words(std::string_view text);

// The words of a text in small letters, without punctuation.
std::set<std::string> words_of(std::string_view text);

// How alike two texts are by the words they use, whatever their order, case and punctuation: 0 to 1.
double likeness(std::string_view a, std::string_view b);

// What changed between two texts, line by line: "- gone" and "+ new". Lines that stay are left out.
std::string line_diff(std::string_view before, std::string_view after);

// The essay that a draft amounts to: the rules between its sections left out.
std::string assembled(std::string_view draft);

}  // namespace sessiond::essay
