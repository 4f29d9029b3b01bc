#include "daemon/kinds/essay_text.h"

#include <algorithm>

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

using Lines = std::vector<std::string_view>;

// Larger differences are told as a whole: the table below grows with the product of both sides.
constexpr std::size_t diff_cells_max = 1'000'000;

// How many lines stay from each pair of places to the end.
std::vector<std::size_t> common_lengths(const Lines& a, const Lines& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t k = b.size(); k-- > 0;)
      table[i * width + k] = a[i] == b[k] ? table[(i + 1) * width + k + 1] + 1
                                          : std::max(table[(i + 1) * width + k], table[i * width + k + 1]);
  return table;
}

void tell(std::string& out, char sign, std::string_view line) {
  ((out += sign) += ' ') += line;
  out += '\n';
}

}  // namespace

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

std::string line_diff(std::string_view before, std::string_view after) {
  Lines a = lines_of(before), b = lines_of(after);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.pop_back(), b.pop_back();
  const auto first = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  a.erase(a.begin(), first.first);
  b.erase(b.begin(), first.second);
  const bool whole = a.size() * b.size() > diff_cells_max;
  const std::vector<std::size_t> common = whole ? std::vector<std::size_t>() : common_lengths(a, b);
  const std::size_t width = b.size() + 1;
  std::string out;
  std::size_t i = 0, k = 0;
  while (!whole && i < a.size() && k < b.size()) {
    if (a[i] == b[k])
      ++i, ++k;
    else if (common[(i + 1) * width + k] >= common[i * width + k + 1])
      tell(out, '-', a[i++]);
    else
      tell(out, '+', b[k++]);
  }
  while (i < a.size()) tell(out, '-', a[i++]);
  while (k < b.size()) tell(out, '+', b[k++]);
  return out;
}

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
  bool in_paragraph = false, code = false;
  for (const std::string_view line : lines_of(text)) {
    const bool marks = !code && (line.starts_with('#') || is_rule(line));
    if (is_fence(line)) code = !code;
    if (marks && is_heading(line)) out.push_back({std::string(trim(line.substr(3))), 0, false});
    if (marks && is_rule(line) && !out.empty()) out.back().finished = true;
    const bool text_line = !marks && !trim(line).empty();
    if (text_line && !in_paragraph && !out.empty()) {
      ++out.back().paragraphs;
      out.back().finished = false;
    }
    in_paragraph = text_line || (code && in_paragraph);
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
  bool code = false;
  for (const std::string_view line : lines_of(draft)) {
    if (is_fence(line)) code = !code;
    if (!code && is_rule(line)) continue;
    const bool empty = trim(line).empty();
    if (empty && blank && !code) continue;
    (out += line) += '\n';
    blank = empty;
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace sessiond::essay
