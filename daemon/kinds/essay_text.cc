#include "daemon/kinds/essay_text.h"

#include <algorithm>
#include <set>

#include "common/text.h"

namespace sessiond::essay {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool is_heading(std::string_view line) { return line.starts_with("## "); }
bool is_fence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

bool is_rule(std::string_view line) {
  const std::string_view marks = trim(line);
  return marks.size() >= 3 && marks.find_first_not_of('-') == std::string_view::npos;
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The letters and digits of each word, in small letters.
std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  for (const char c : text) {
    if (in_word(c)) {
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!word.empty()) {
      out.insert(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) out.insert(std::move(word));
  return out;
}

}  // namespace

std::vector<OutlineSection> outline_sections(std::string_view text) {
  std::vector<OutlineSection> out;
  bool code = false;
  for (const std::string_view line : lines_of(text)) {
    if (is_fence(line)) code = !code;
    if (!code && is_heading(line))
      out.push_back({std::string(trim(line.substr(3))), ""});
    else if (!out.empty())
      (out.back().body += line) += '\n';
  }
  return out;
}

std::vector<DraftSection> draft_sections(std::string_view text) {
  std::vector<DraftSection> out;
  bool in_paragraph = false;
  for (const std::string_view line : lines_of(text)) {
    const bool blank = trim(line).empty();
    if (is_heading(line)) {
      out.push_back({std::string(trim(line.substr(3))), 0, false});
    } else if (is_rule(line) && !out.empty()) {
      out.back().finished = true;
    } else if (!blank && !line.starts_with('#') && !in_paragraph && !out.empty()) {
      ++out.back().paragraphs;
      out.back().finished = false;
      in_paragraph = true;
      continue;
    }
    if (blank || line.starts_with('#') || is_rule(line)) in_paragraph = false;
  }
  return out;
}

std::int64_t count_words(std::string_view text) {
  std::int64_t count = 0;
  bool counted = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      counted = false;
    } else if (!counted && in_word(c)) {
      counted = true;
      ++count;
    }
  }
  return count;
}

double likeness(std::string_view a, std::string_view b) {
  const std::set<std::string> left = words_of(a), right = words_of(b);
  if (left.empty() && right.empty()) return 1;
  const auto shared =
      std::count_if(left.begin(), left.end(), [&](const std::string& word) { return right.contains(word); });
  const auto all = static_cast<double>(left.size() + right.size()) - static_cast<double>(shared);
  return static_cast<double>(shared) / all;
}

std::string assembled(std::string_view draft) {
  std::string out;
  bool blank = true;  // none at the start, and never two in a row
  for (const std::string_view line : lines_of(draft)) {
    if (is_rule(line)) continue;
    const bool empty = trim(line).empty();
    if (empty && blank) continue;
    (out += line) += '\n';
    blank = empty;
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace sessiond::essay
