#include "daemon/kinds/essay_impact.h"

#include <algorithm>
#include <cmath>

#include "common/json_edit.h"
#include "common/text.h"
#include "daemon/kinds/essay_text.h"

namespace sessiond::essay {
namespace {

// Texts that share so much of their words are the same, said otherwise; so little, and they are strangers.
constexpr double reworded = 0.6;
constexpr double strange = 0.25;
// Shorter words say little about what a text is about.
constexpr std::size_t telling_word_bytes = 5;
constexpr std::size_t words_named_max = 5;

std::string percent(double share) {
  return std::to_string(static_cast<int>(std::lround(share * 100))) + " % of the words are shared";
}

Error wrong(std::string_view field, std::string_view message) {
  const std::string path = "params." + std::string(field);
  return Error(ErrorCode::invalid_params, path + ": " + std::string(message)).with("field", path);
}

bool is_written(const Document& document, std::int64_t section) {
  const json::array* sections = array_member(stage_of(document, 4), "sections");
  if (sections == nullptr || section < 1 || std::cmp_greater(section, sections->size())) return false;
  const json::object* entry = (*sections)[static_cast<std::size_t>(section - 1)].if_object();
  return entry != nullptr && int_or(*entry, "completed_paragraphs", 0) > 0;
}

void add_if_there(std::vector<std::string>& out, const Artifacts& there, const std::string& name) {
  if (there.has(name)) out.push_back(name);
}

// The draft, and the essay made from it.
void add_texts(std::vector<std::string>& out, const Artifacts& there) {
  add_if_there(out, there, std::string(draft_name));
  add_if_there(out, there, std::string(final_name));
}

// Words of the old thesis that the new one has no more and that `text` uses.
std::vector<std::string> lost_words(const std::string& before, const std::string& after,
                                    const std::string& text) {
  const std::set<std::string> kept = words_of(after), used = words_of(text);
  std::vector<std::string> out;
  for (const std::string& word : words_of(before))
    if (word.size() >= telling_word_bytes && !kept.contains(word) && used.contains(word) &&
        out.size() < words_named_max)
      out.push_back(word);
  return out;
}

Impact judge_thesis(const Document& document, const Rewrite& rewrite, const Artifacts& there) {
  const std::string type(string_or(stage_of(document, 1), "claim_type", ""));
  if (rewrite.claim_type && !type.empty() && *rewrite.claim_type != type)
    return {"major", {"the claim type changes from " + type + " to " + *rewrite.claim_type}, {}};
  if (!rewrite.text) return {"minor", {"the claim type stays " + type}, {}};
  const std::string before = there.text(std::string(thesis_name));
  const double alike = likeness(before, *rewrite.text);
  if (alike < strange) return {"major", {"it is another thesis: " + percent(alike)}, {}};
  if (alike >= reworded) return {"minor", {"the thesis is reworded: " + percent(alike)}, {}};
  Impact out{"moderate", {"the thesis changes in part: " + percent(alike)}, {}};
  for (const std::string& name : downstream(1, there)) {
    if (name == paragraph_log_name) continue;
    const std::vector<std::string> words = lost_words(before, *rewrite.text, there.text(name));
    if (words.empty()) continue;
    out.affected.push_back(name);
    out.reasons.push_back(name + " goes on about " + join(words, ", "));
  }
  if (out.affected.empty()) {
    out.impact = "minor";
    out.reasons.emplace_back("nothing that follows uses the words that go");
  }
  return out;
}

using Outline = std::vector<OutlineSection>;

// Where a section of this title is, from 1; 0 when there is none.
std::int64_t place_of(const Outline& outline, const std::string& title) {
  for (std::size_t i = 0; i < outline.size(); ++i)
    if (equals_ignoring_case(outline[i].title, title)) return static_cast<std::int64_t>(i) + 1;
  return 0;
}

bool same_body(const OutlineSection& a, const OutlineSection& b) {
  return likeness(a.body, b.body) >= reworded;
}

// What became of the sections of an outline.
struct Sections {
  std::vector<std::string> reasons;
  std::vector<std::int64_t> touched;  // their arguments may not hold any more
  bool kept = false;                  // at least one is still what it was
  bool added = false;                 // there is a new one

  void note(std::int64_t section, const OutlineSection& what, std::string_view happened, bool hurts) {
    std::string reason = "section ";
    reason += std::to_string(section);
    reason += ", " + one_line(what.title, 60) + ", ";
    reason += happened;
    reasons.push_back(std::move(reason));
    if (hurts) touched.push_back(section);
  }
};

void follow(Sections& out, std::int64_t section, const Outline& before, const Outline& after) {
  const OutlineSection& old = before[static_cast<std::size_t>(section - 1)];
  const std::int64_t now = place_of(after, old.title);
  const OutlineSection* same_place =
      std::cmp_less_equal(section, after.size()) ? &after[static_cast<std::size_t>(section - 1)] : nullptr;
  if (now == section) {
    out.kept = true;
    if (!same_body(old, *same_place)) out.note(section, old, "is rewritten", true);
    return;
  }
  if (now != 0) {
    out.kept = true;
    out.note(section, old, "becomes section " + std::to_string(now), true);
  } else if (same_place != nullptr && place_of(before, same_place->title) == 0) {
    const bool same = !trim(old.body).empty() && same_body(old, *same_place);
    out.kept = out.kept || same;
    out.note(section, old, "is called " + one_line(same_place->title, 60) + " now", !same);
  } else {
    out.note(section, old, "is removed", true);
  }
}

Sections compare(const Outline& before, const Outline& after) {
  Sections out;
  for (std::size_t i = 0; i < before.size(); ++i)
    follow(out, static_cast<std::int64_t>(i) + 1, before, after);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool renamed = i < before.size() && place_of(after, before[i].title) == 0;
    if (place_of(before, after[i].title) != 0 || renamed) continue;
    out.added = true;
    out.note(static_cast<std::int64_t>(i) + 1, after[i], "is added", false);
  }
  return out;
}

// An outline without headings is judged as one text.
Impact judge_whole_outline(const std::string& before, const std::string& after, const Artifacts& there) {
  const double alike = likeness(before, after);
  if (alike < strange) return {"major", {"it is another outline: " + percent(alike)}, {}};
  if (alike >= reworded) return {"minor", {"the outline is reworded: " + percent(alike)}, {}};
  Impact out{"moderate", {"the outline changes in part: " + percent(alike)}, downstream(2, there)};
  std::erase(out.affected, paragraph_log_name);
  return out;
}

Impact judge_outline(const Document& document, const Rewrite& rewrite, const Artifacts& there) {
  const std::string before = there.text(std::string(outline_name));
  const std::string after = rewrite.text.value_or(before);
  const Outline old = outline_sections(before), now = outline_sections(after);
  if (old.empty() || now.empty()) return judge_whole_outline(before, after, there);
  Sections found = compare(old, now);
  if (!found.kept) {
    found.reasons.emplace_back("no section stays what it was");
    return {"major", std::move(found.reasons), {}};
  }
  if (found.touched.empty() && !found.added) {
    found.reasons.emplace_back("the sections stay what they were; at most their wording changes");
    return {"minor", std::move(found.reasons), {}};
  }
  Impact out{"moderate", std::move(found.reasons), {}};
  bool written = false;
  for (const std::int64_t section : found.touched) {
    add_if_there(out.affected, there, arguments_name(section));
    written = written || is_written(document, section);
  }
  if (written) add_texts(out.affected, there);
  return out;
}

Impact judge_arguments(const Document& document, const Rewrite& rewrite, const Artifacts& there) {
  const std::int64_t section = rewrite.section.value_or(1);
  const std::string number = std::to_string(section);
  if (!is_written(document, section))
    return {"minor", {"nothing of section " + number + " is written yet"}, {}};
  const double alike = likeness(there.text(arguments_name(section)), rewrite.text.value_or(""));
  if (alike >= reworded)
    return {"minor", {"the arguments of section " + number + " are reworded: " + percent(alike)}, {}};
  Impact out{
      "moderate", {"the draft has section " + number + ", and its arguments change: " + percent(alike)}, {}};
  add_texts(out.affected, there);
  return out;
}

Impact judge_draft(const Rewrite& rewrite, const Artifacts& there) {
  if (!there.has(std::string(final_name))) return {"minor", {"no essay is made of the draft yet"}, {}};
  if (there.text(std::string(draft_name)) == rewrite.text.value_or(""))
    return {"minor", {"the draft stays as it is"}, {}};
  return {"moderate", {"the final essay is made of the draft that changes"}, {std::string(final_name)}};
}

}  // namespace

Status check_rewrite(const Document& document, const Rewrite& rewrite) {
  if (rewrite.claim_type && rewrite.stage != 1) return wrong("claim_type", "only stage 1 has one");
  if (rewrite.section && rewrite.stage != 3) return wrong("section", "only with stage 3");
  if (rewrite.stage != 3) return {};
  if (rewrite.text && !rewrite.section) return wrong("section", "whose arguments are these?");
  const std::int64_t total = int_or(stage_of(document, 3), "total_sections", 0);
  if (rewrite.section && *rewrite.section > total)
    return wrong("section", "expected 1 to " + std::to_string(total));
  return {};
}

std::string output_name(const Rewrite& rewrite) {
  switch (rewrite.stage) {
    case 1:
      return std::string(thesis_name);
    case 2:
      return std::string(outline_name);
    case 3:
      return arguments_name(rewrite.section.value_or(1));
    default:
      return std::string(draft_name);
  }
}

int stage_of_file(std::string_view name) {
  if (name == thesis_name || name == development_log_name) return 1;
  if (name == outline_name) return 2;
  if (section_of(name)) return 3;
  return name == draft_name || name == paragraph_log_name || name == final_name ? 4 : 0;
}

std::vector<std::string> downstream(int stage, const Artifacts& there) {
  std::vector<std::string> out;
  for (int behind = stage + 1; behind <= 4; ++behind)
    for (const auto& [name, info] : there.files)
      if (stage_of_file(name) == behind) out.push_back(name);
  if (stage == 4) add_if_there(out, there, std::string(final_name));
  return out;
}

Impact judge(const Document& document, const Rewrite& rewrite, const Artifacts& there) {
  switch (rewrite.stage) {
    case 1:
      return judge_thesis(document, rewrite, there);
    case 2:
      return judge_outline(document, rewrite, there);
    case 3:
      return judge_arguments(document, rewrite, there);
    default:
      return judge_draft(rewrite, there);
  }
}

}  // namespace sessiond::essay
