// Damage of every kind to the files of a small session, on a simulated disk: what is served is what was
// acknowledged, or it says that it is not; the damaged bytes are kept, once; a second look finds nothing new.
//
// Every case with SESSIOND_DAMAGE=all, else a part of them that is spread evenly.
#include <cstdlib>
#include <functional>
#include <random>

#include "tests/session/sim_support.h"

namespace sessiond {
namespace {

const std::string history_name(layout::history);
const std::string state_name = "session.json";
const std::string backup_name = "session.json.bak";
const std::string dir = sim_root + "demo";

// Content by name; none: the file is missing.
using Files = std::map<std::string, std::optional<std::string>>;

// A healthy session and what was acknowledged of it.
struct Healthy {
  SimEnv disk;
  Files files;
  std::vector<json::value> documents;  // by revision, from 1
  std::vector<std::string> states;     // the state file at each of them

  Healthy() {
    Sessions s(forward(disk));
    s.create("demo", 3);
    note(s);
    for (int i = 0; i < 2; ++i) {
      s.complete("demo", i);
      note(s);
    }
    s.update("demo", R"({"note":"a longer text, so that there is something to hit"})");
    note(s);
    s.put("demo", "note.md", "artifact");
    note(s);
    s.pool.wait_idle();
    for (const std::string& name : {history_name, state_name, backup_name})
      files[name] = sim_read(disk, dir, name);
  }
  void note(Sessions& s) {
    documents.push_back(s.document("demo"));
    s.pool.wait_idle();
    states.push_back(sim_read(disk, dir, state_name));
  }
  const json::value& newest() const { return documents.back(); }
};

struct Case {
  std::string name;
  Files changed;
};
using Cases = std::vector<Case>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line + "\n");
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

std::string filled(std::string text, std::size_t at, std::size_t size, const std::string& with) {
  for (std::size_t i = at; i < std::min(at + size, text.size()); ++i)
    text[i] = with.empty() || i - at >= with.size() ? '\0' : with[i - at];
  return text;
}

void add_bytes(Cases& out, const std::string& name, const std::string& good, const std::string& other) {
  for (std::size_t at = 0; at < good.size(); ++at) {
    const std::string where = name + " at " + std::to_string(at);
    out.push_back({"cut " + where, {{name, good.substr(0, at)}}});
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    out.push_back({"flip " + where, {{name, flipped}}});
  }
  for (std::size_t at = 0; at < good.size(); at += 8) {
    const std::string where = name + " at " + std::to_string(at);
    out.push_back({"zeros to the end of " + where, {{name, filled(good, at, good.size(), "")}}});
    out.push_back({"zero block in " + where, {{name, filled(good, at, 64, "")}}});
    out.push_back({"foreign block in " + where, {{name, filled(good, at, 64, other.substr(0, 64))}}});
  }
}

void add_lines(Cases& out, const std::string& good) {
  const std::vector<std::string> lines = lines_of(good);
  const auto add = [&](const std::string& what, const std::vector<std::string>& changed) {
    out.push_back({what + " of the history", {{history_name, joined(changed)}}});
  };
  for (std::size_t a = 0; a < lines.size(); ++a) {
    const std::string number = "line " + std::to_string(a + 1);
    std::vector<std::string> changed = lines;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(a));
    add(number + " removed", changed);
    changed = lines;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(a), lines[a]);
    add(number + " doubled", changed);
    changed = lines;
    changed.push_back(lines[a]);
    add(number + " repeated at the end", changed);
    for (std::size_t b = a + 1; b < lines.size(); ++b) {
      changed = lines;
      std::swap(changed[a], changed[b]);
      add(number + " swapped with " + std::to_string(b + 1), changed);
    }
  }
}

// What a state file or a backup may be: gone, empty, cut, older, newer, broken.
std::vector<std::pair<std::string, std::optional<std::string>>> fates(const Healthy& healthy) {
  const std::string& newest = healthy.states.back();
  std::vector<std::pair<std::string, std::optional<std::string>>> out{
      {"missing", std::nullopt},
      {"empty", ""},
      {"cut", newest.substr(0, newest.size() / 2)},
      {"zeros", std::string(newest.size(), '\0')},
      {"broken", "{ this is no JSON"},
      {"newest", newest}};
  for (std::size_t i = 0; i + 1 < healthy.states.size(); ++i)
    out.push_back({"revision " + std::to_string(i + 1), healthy.states[i]});
  return out;
}

void add_combinations(Cases& out, const Healthy& healthy) {
  const std::string& history = *healthy.files.at(history_name);
  std::vector<std::pair<std::string, std::optional<std::string>>> histories{
      {"whole", history}, {"missing", std::nullopt}, {"empty", ""}, {"no line of ours", "{\"a\":1}\n"}};
  std::size_t at = 0;
  for (const std::string& line : lines_of(history)) {
    histories.push_back({"cut before byte " + std::to_string(at), history.substr(0, at)});
    histories.push_back({"cut in byte " + std::to_string(at + 30), history.substr(0, at + 30)});
    at += line.size();
  }
  for (const auto& [h, history_bytes] : histories)
    for (const auto& [s, state] : fates(healthy))
      for (const auto& [b, backup] : fates(healthy))
        out.push_back({"history " + h + ", state " + s + ", backup " + b,
                       {{history_name, history_bytes}, {state_name, state}, {backup_name, backup}}});
}

// Two damages of different files, by chance but the same every time.
void add_pairs(Cases& out, std::size_t count) {
  const Cases singles = out;
  std::mt19937_64 random(20260117);
  while (count > 0) {
    const Case& a = singles[random() % singles.size()];
    const Case& b = singles[random() % singles.size()];
    Files both = a.changed;
    both.insert(b.changed.begin(), b.changed.end());
    if (both.size() == a.changed.size()) continue;
    out.push_back({a.name + " and " + b.name, std::move(both)});
    --count;
  }
}

Cases all_cases(const Healthy& healthy) {
  Cases out;
  const std::string& history = *healthy.files.at(history_name);
  const std::string& state = *healthy.files.at(state_name);
  add_bytes(out, history_name, history, state);
  add_bytes(out, state_name, state, history);
  add_bytes(out, backup_name, *healthy.files.at(backup_name), history);
  add_lines(out, history);
  add_pairs(out, 4'000);
  add_combinations(out, healthy);
  return out;
}

void damage(SimEnv& disk, const Files& changed) {
  for (const auto& [name, bytes] : changed) {
    if (bytes) {
      sim_write(disk, dir, name, *bytes);
      continue;
    }
    const Open opened(disk, *disk.open_root(dir));
    REQUIRE(disk.unlink(opened.get(), name).ok());
    REQUIRE(disk.sync_dir(opened.get()).ok());
  }
}

// What one look at the session gives.
struct Seen {
  json::object reply;
  std::string history;
  std::string state;
  std::vector<std::string> quarantine;

  Seen(SimEnv& disk) {
    Sessions s(forward(disk));
    reply = s.call("session.get", Sessions::of("demo"));
    s.pool.wait_idle();
    history = sim_read(disk, dir, history_name);
    state = sim_read(disk, dir, state_name);
    quarantine = sim_files(disk, dir + "/quarantine");
  }
  bool refused() const { return reply.contains("error"); }
  const json::value& document() const { return reply.at("result").at("document"); }
  std::string warnings() const {
    return refused() ? "" : to_json_text(reply.at("result").at("session").at("warnings"));
  }
  bool warns_of(std::string_view text) const { return warnings().find(text) != std::string::npos; }
  std::string last_command() const {
    const std::vector<std::string> lines = lines_of(history);
    if (lines.empty()) return "";
    const ReadLine read =
        read_history_line(std::string_view(lines.back()).substr(0, lines.back().size() - 1));
    return read.state == LineState::ours ? read.line.command : "";
  }
};

// Checks one case. Empty, or what is wrong.
class Judge {
 public:
  Judge(const Healthy& healthy, const Case& one) : healthy_(healthy), files_(healthy.files), one_(one) {
    for (const auto& [name, bytes] : one.changed) files_[name] = bytes;
  }

  std::string judge() {
    const std::unique_ptr<SimEnv> disk = healthy_.disk.process_kill();
    damage(*disk, one_.changed);
    const Seen first(*disk);
    for (const auto& check : {&Judge::what_is_served, &Judge::what_is_kept, &Judge::what_is_said})
      if (std::string wrong = (this->*check)(first); !wrong.empty()) return wrong + "; " + about(first);
    const Seen second(*disk);
    if (first.refused() != second.refused()) return "the second look differs; " + about(second);
    if (!first.refused() && first.document() != second.document()) return "the second document differs";
    if (first.history != second.history) return "the second look changes the history";
    if (first.quarantine != second.quarantine) return "the second look puts more aside";
    return go_on(*disk, first);
  }

  bool silent() const { return silent_; }

 private:
  static std::string about(const Seen& seen) { return to_json_text(seen.reply).substr(0, 600); }

  const std::string& damaged(const std::string& name) const {
    static const std::string none;
    return files_.at(name) ? *files_.at(name) : none;
  }

  bool whole_history() const { return damaged(history_name) == *healthy_.files.at(history_name); }

  // The history lost whole lines at its end, and no state file speaks of them: nobody can know.
  bool without_evidence(const Seen& seen) const {
    const std::string& good = *healthy_.files.at(history_name);
    const std::string& bad = damaged(history_name);
    return good.starts_with(bad) && bad != good && damaged(state_name) != healthy_.states.back() &&
           !seen.refused();
  }

  std::string what_is_served(const Seen& seen) {
    if (seen.refused()) {
      if (seen.reply.at("error").at("data").at("error") != "damaged") return "not the error damaged";
      return whole_history() ? "refused although the history is whole" : "";
    }
    if (seen.document() == healthy_.newest()) return "";
    if (seen.last_command() == "external.edit" || whole_history() == false) return an_older_one(seen);
    return "not what was acknowledged";
  }

  std::string an_older_one(const Seen& seen) {
    const auto& known = healthy_.documents;
    const bool existed = std::find(known.begin(), known.end(), seen.document()) != known.end();
    const Result<json::value> edit = parse_json(damaged(state_name));
    // A damaged state file that is within the rules is an edit to everybody.
    if (edit && seen.document() == *edit) return "";
    const Result<json::value> backup = parse_json(damaged(backup_name));
    if (backup && seen.document() == *backup && seen.warns_of("recovered from backup")) return "";
    if (!existed) return "a document that never existed";
    if (seen.warns_of("history is damaged")) return "";
    if (!seen.quarantine.empty()) return "";  // the end of the history, or the state file, is there
    silent_ = without_evidence(seen);
    return silent_ ? "" : "an older document without a word";
  }

  // Bytes that are no longer in their place are in quarantine, once each.
  std::string what_is_kept(const Seen& seen) {
    std::vector<std::string> kept = seen.quarantine;
    std::sort(kept.begin(), kept.end());
    if (std::adjacent_find(kept.begin(), kept.end()) != kept.end()) return "put aside twice";
    const std::string& before = damaged(history_name);
    std::size_t same = 0;
    while (same < before.size() && same < seen.history.size() && before[same] == seen.history[same]) ++same;
    const bool torn = same < before.size();
    const bool found = std::any_of(kept.begin(), kept.end(), [&](const std::string& bytes) {
      return before.ends_with(bytes) && before.size() - bytes.size() <= same;
    });
    if (torn && !found) return "a part of the history is gone";
    // What was missing cannot be put aside.
    if (seen.last_command() != "session.recovered" || !files_.at(state_name)) return "";
    return std::count(kept.begin(), kept.end(), damaged(state_name)) == 1
               ? ""
               : "the state file was not put aside";
  }

  std::string what_is_said(const Seen& seen) {
    if (seen.refused()) {
      const json::value& data = seen.reply.at("error").at("data");
      if (data.at("level") != 3 || !data.at("files").is_array()) return "level 3 without its files";
      return text_of(seen.reply.at("error").at("message")).find("could not be automatically recovered") !=
                     std::string::npos
                 ? ""
                 : "level 3 without its message";
    }
    if (!whole_history() || damaged(state_name) == healthy_.states.back()) return "";
    return what_is_said_of_the_state(seen);
  }

  // The history is whole: the state file alone decides.
  std::string what_is_said_of_the_state(const Seen& seen) {
    const std::string& bytes = damaged(state_name);
    const bool older =
        std::find(healthy_.states.begin(), healthy_.states.end(), bytes) != healthy_.states.end();
    const bool behind = !files_.at(state_name) || older || healthy_.states.back().starts_with(bytes);
    const bool more = seen.history.size() > damaged(history_name).size();
    if (behind) return more || !seen.quarantine.empty() ? "a file that is merely behind is reported" : "";
    if (!more) return "a damaged state file without a line";
    const std::vector<std::string> lines = lines_of(seen.history);
    const HistoryLine line = read_history_line(lines.back().substr(0, lines.back().size() - 1)).line;
    if (line.command == "external.edit") return parse_json(bytes) ? "" : "an edit that cannot be read";
    if (line.command != "session.recovered") return "the wrong line: " + line.command;
    const json::object& report = line.arguments.as_object();
    const bool right = report.at("level") == 1 && report.at("source") == "history" &&
                       report.at("lost") == "nothing" &&
                       text_of(report.at("message")).find("quarantine/session.json.") != std::string::npos;
    return right ? "" : "the wrong report: " + to_json_text(report);
  }

  // A session that is not read-only takes the next change.
  std::string go_on(SimEnv& disk, const Seen& seen) {
    Sessions s(forward(disk));
    const std::string outcome = s.update("demo", R"({"next":1})");
    if (seen.refused()) return outcome == "damaged" ? "" : "the change after it: " + outcome;
    if (seen.warns_of("history is damaged"))
      return outcome == "read_only" ? "" : "a damaged history is changed";
    if (outcome != "ok") return "the change after it: " + outcome;
    return s.document("demo").at("metadata").at("next") == 1 ? "" : "the change after it is not there";
  }

  const Healthy& healthy_;
  Files files_;
  const Case& one_;
  bool silent_ = false;
};

}  // namespace

TEST_CASE("every kind of damage to every file, alone and together") {
  const Healthy healthy;
  const Cases cases = all_cases(healthy);
  const char* wanted = std::getenv("SESSIOND_DAMAGE");
  const bool all = wanted != nullptr && std::string(wanted) == "all";
  const std::size_t stride = all ? 1 : test::scaled(7, 97);
  std::size_t tried = 0;
  std::size_t silent = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 20; i += stride, ++tried) {
    Judge judge(healthy, cases[i]);
    const std::string why = judge.judge();
    CHECK_MESSAGE(why.empty(), cases[i].name << ": " << why);
    wrong += !why.empty();
    silent += judge.silent();
  }
  MESSAGE(tried << " of " << cases.size() << " damaged sessions; in " << silent
                << " whole lines and every trace of them were gone");
}

}  // namespace sessiond
