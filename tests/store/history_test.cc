// Lines of the history and the file of them: spelling, reading from the end, bisection, and what is torn and
// what is damage.
#include <doctest/doctest.h>

#include <cstdio>
#include <random>

#include "common/json.h"
#include "common/json_patch.h"
#include "daemon/store/history_file.h"
#include "daemon/store/layout.h"
#include "tests/support/sim_env.h"

namespace sessiond {
namespace {

std::string_view without_newline(const std::string& line) {
  return std::string_view(line).substr(0, line.size() - 1);
}

std::string random_text(std::mt19937_64& random, std::size_t max) {
  static const std::vector<std::string> pieces{"a", "Z",  "0",           " ",          "\"",   "\\",
                                               "/", "\n", "\t",          "\r",         "\x01", "ä",
                                               "€", "𝄞",  "{\"seq\":1}", ",\"crc\":\""};
  std::string text;
  for (std::size_t i = random() % (max + 1); i > 0; --i) text += pieces[random() % pieces.size()];
  return text;
}

json::value random_value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random());
    case 3:
      return static_cast<double>(static_cast<std::int64_t>(random())) / 1024.0;
    case 4:
      return json::value(json::string_view(random_text(random, 12)));
    case 5:
      return json::array();
    case 6: {
      json::array items;
      for (std::size_t i = random() % 4; i > 0; --i) items.push_back(random_value(random, depth - 1));
      return items;
    }
    default: {
      json::object members;
      for (std::size_t i = random() % 4; i > 0; --i)
        members[random_text(random, 5)] = random_value(random, depth - 1);
      return members;
    }
  }
}

std::optional<std::string> maybe_text(std::mt19937_64& random) {
  if (random() % 2 == 0) return std::nullopt;
  return random_text(random, 10);
}

HistoryLine random_line(std::mt19937_64& random) {
  HistoryLine line;
  line.timestamp = random_text(random, 8);
  line.command = random_text(random, 8);
  line.arguments = random_value(random, 3);
  line.model = maybe_text(random);
  line.agent = maybe_text(random);
  line.task_id = maybe_text(random);
  line.success = random() % 2 == 0;
  line.duration_ms = static_cast<std::int64_t>(random() >> 1);
  line.error = maybe_text(random);
  line.seq = static_cast<std::int64_t>(random() >> 1) | 1;
  line.revision = static_cast<std::int64_t>(random() >> 1);
  line.base = static_cast<std::int64_t>(random() >> 1);
  line.batch_at = static_cast<std::int64_t>(random() >> 1);
  for (std::size_t i = random() % 3; i > 0; --i) line.changes.push_back(random_value(random, 2));
  for (std::size_t i = random() % 3; i > 0; --i) line.files[random_text(random, 5)] = random_text(random, 5);
  for (std::size_t i = random() % 3; i > 0; --i) line.artifacts.push_back(random_value(random, 2));
  for (std::size_t i = random() % 3; i > 0; --i) line.meta[random_text(random, 5)] = random_value(random, 2);
  line.idempotency_key = maybe_text(random);
  if (line.idempotency_key) line.reply = to_json_text(json::object{{"a", random_value(random, 2)}});
  if (random() % 2 == 0) line.document = json::object{{"d", random_value(random, 3)}};
  return line;
}

void check_same(const HistoryLine& a, const HistoryLine& b) {
  CHECK(a.timestamp == b.timestamp);
  CHECK(a.command == b.command);
  CHECK(a.arguments == b.arguments);
  CHECK(a.model == b.model);
  CHECK(a.agent == b.agent);
  CHECK(a.task_id == b.task_id);
  CHECK(a.success == b.success);
  CHECK(a.duration_ms == b.duration_ms);
  CHECK(a.error == b.error);
  CHECK(a.seq == b.seq);
  CHECK(a.revision == b.revision);
  CHECK(a.base == b.base);
  CHECK(a.batch_at == b.batch_at);
  CHECK(a.changes == b.changes);
  CHECK(a.files == b.files);
  CHECK(a.artifacts == b.artifacts);
  CHECK(a.meta == b.meta);
  CHECK(a.idempotency_key == b.idempotency_key);
  CHECK(a.reply == b.reply);
  CHECK(a.document == b.document);
}

// A history with all that occurs in one: failures, foreign and blank lines, several lines in one write.
struct Written {
  std::vector<std::string> lines;           // with newlines, foreign ones included
  std::vector<HistoryLine> ours;            // parallel to seq - 1
  std::vector<std::string> document_after;  // parallel to seq - 1
  std::vector<std::string> of_revision;     // document, parallel to revision - 1
  std::vector<bool> is_ours;                // parallel to lines
  std::string bytes() const {
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  }
};

Written write_history(std::int64_t count, std::uint64_t seed, bool foreign, std::int64_t document_every,
                      int batch_max = 3) {
  std::mt19937_64 random(seed);
  Written written;
  json::object document;
  HistoryLine last;
  std::int64_t length = 0;
  std::int64_t batch_at = 0;
  int left_in_batch = 0;
  const auto put = [&](std::string line, bool ours) {
    length += static_cast<std::int64_t>(line.size());
    written.lines.push_back(std::move(line));
    written.is_ours.push_back(ours);
  };
  for (std::int64_t seq = 1; seq <= count; ++seq) {
    if (left_in_batch == 0) {
      if (foreign && random() % 4 == 0)
        put(R"({"tool":"other","note":")" + std::string(random() % 90, 'x') + "\"}\n", false);
      if (foreign && random() % 16 == 0) put("\n", false);
      batch_at = length;
      left_in_batch = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(batch_max));
    }
    --left_in_batch;
    HistoryLine line;
    line.timestamp = "2026-01-17T14:30:00.000Z";
    line.command = "session.update";
    line.success = seq == 1 || random() % 5 != 0;
    line.seq = seq;
    line.batch_at = batch_at;
    line.base = last.base;
    line.revision = last.revision + (line.success ? 1 : 0);
    if (line.success) {
      json::object after = document;
      after["n"] = line.revision;
      after["text"] = std::string(random() % 60, 'y');
      line.changes = json_diff(document, after);
      document = std::move(after);
    }
    if (seq == 1 || seq - last.base >= document_every) {
      line.document = document;
      line.base = seq;
    }
    put(build_history_line(line), true);
    written.document_after.push_back(to_json_text(document));
    if (line.success) written.of_revision.push_back(to_json_text(document));
    written.ours.push_back(line);
    last = line;
  }
  return written;
}

class OnDisk {
 public:
  explicit OnDisk(std::string_view bytes) : root_(sim_, *sim_.open_root("/")) {
    Handle file = *sim_.create(root_.get(), std::string(layout::history));
    REQUIRE(write_all(sim_, file, 0, bytes).ok());
    length_ = static_cast<std::int64_t>(bytes.size());
    history_ = std::make_unique<HistoryFile>(sim_, Open(sim_, file));
  }
  const HistoryFile& history() const { return *history_; }
  std::int64_t length() const { return length_; }
  HistoryTail tail() const {
    Result<HistoryTail> tail = history_->read_tail();
    REQUIRE(tail.ok());
    return std::move(*tail);
  }

 private:
  SimEnv sim_;
  Open root_;
  std::int64_t length_ = 0;
  std::unique_ptr<HistoryFile> history_;
};

// Of `written`, the whole lines within the first `size` bytes: how long they are, and how many are ours. A
// last line without its newline is whole.
struct Whole {
  std::size_t length = 0;
  std::int64_t ours = 0;
};
Whole whole_within(const Written& written, std::size_t size) {
  Whole whole;
  std::size_t at = 0;
  for (std::size_t i = 0; i < written.lines.size(); ++i) {
    const std::size_t end = at + written.lines[i].size();
    if (end - 1 > size || at == size) break;
    whole.length = std::min(end, size);
    if (written.is_ours[i]) ++whole.ours;
    at = end;
  }
  return whole;
}

void check_tail(const HistoryTail& tail, const Written& written, const Whole& whole) {
  CHECK(tail.damage == "");
  CHECK(tail.good_length == static_cast<std::int64_t>(whole.length));
  CHECK(tail.last.has_value() == (whole.ours > 0));
  if (whole.ours == 0 || !tail.last) return;
  CHECK(tail.last->seq == whole.ours);
  REQUIRE(tail.document);
  CHECK(to_json_text(*tail.document) == written.document_after[static_cast<std::size_t>(whole.ours) - 1]);
  CHECK(tail.recent.front().seq == written.ours[static_cast<std::size_t>(whole.ours) - 1].base);
}

}  // namespace

TEST_CASE("a line is read back as it was written") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3'000; ++i) {
    const HistoryLine line = random_line(random);
    const std::string text = build_history_line(line);
    REQUIRE(text.ends_with("\n"));
    REQUIRE(text.find('\n') == text.size() - 1);
    const ReadLine read = read_history_line(without_newline(text));
    REQUIRE(read.state == LineState::ours);
    check_same(line, read.line);
    REQUIRE(build_history_line(read.line) == text);
  }
}

TEST_CASE("every bit of a line counts, and every cut shows") {
  std::mt19937_64 random(2);
  std::size_t tried = 0;
  for (int i = 0; i < 12; ++i) {
    const std::string text = build_history_line(random_line(random));
    const std::string line(without_newline(text));
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit, ++tried) {
        std::string flipped = line;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        REQUIRE(read_history_line(flipped).state == LineState::bad);
      }
      if (at > 0) REQUIRE(read_history_line(line.substr(0, at)).state == LineState::bad);
    }
  }
  std::printf("store.history: %zu flipped bits\n", tried);
}

TEST_CASE("foreign lines") {
  for (const char* text :
       {R"({})", R"({"a":1})", R"( {"command":"x","status":"success"} )", "", "  \t", "\r"})
    CHECK(read_history_line(text).state == LineState::foreign);
  for (const char* text :
       {"x", "[]", "1", "null", R"({"seq":1})", R"({"crc":"00000000"})", R"({"a":1)", R"({"a":1}{})"})
    CHECK(read_history_line(text).state == LineState::bad);
}

TEST_CASE("a revision is found in a history of any length") {
  std::vector<std::int64_t> counts{255, 256, 257, 258, 511, 513, 1000, 3000};
  for (std::int64_t count = 1; count <= 40; ++count) counts.push_back(count);
  std::size_t tried = 0;
  for (const std::int64_t count : counts) {
    const Written written = write_history(count, static_cast<std::uint64_t>(count), true, 32);
    const OnDisk disk(written.bytes());
    check_tail(disk.tail(), written, {written.bytes().size(), count});
    const auto revisions = static_cast<std::int64_t>(written.of_revision.size());
    const std::int64_t stride = std::max<std::int64_t>(1, revisions / 60);
    for (std::int64_t revision = 1; revision <= revisions; revision += stride, ++tried) {
      const auto at = disk.history().at_revision(revision, disk.length());
      REQUIRE(at.ok());
      CHECK(at->line.revision == revision);
      CHECK(at->line.success);
      CHECK(to_json_text(at->document) == written.of_revision[static_cast<std::size_t>(revision) - 1]);
    }
    for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, revisions + 1}) {
      const auto at = disk.history().at_revision(none, disk.length());
      REQUIRE(!at.ok());
      CHECK(at.error().code == ErrorCode::not_found);
    }
    for (std::int64_t seq = 1; seq <= count; seq += std::max<std::int64_t>(1, count / 60), ++tried) {
      const auto lines = disk.history().lines_from(seq, 1'000'000, disk.length());
      REQUIRE(lines.ok());
      REQUIRE(!lines->empty());
      std::int64_t expected = seq;
      for (const std::string& line : *lines)
        if (const ReadLine read = read_history_line(line); read.state == LineState::ours)
          REQUIRE(read.line.seq == expected++);
      CHECK(expected == count + 1);
    }
    CHECK(disk.history().lines_from(count + 1, 10, disk.length())->empty());
  }
  std::printf("store.history: %zu lookups in %zu histories\n", tried, counts.size());
}

TEST_CASE("a history cut at any length, also zero-filled") {
  std::size_t tried = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Written written = write_history(10, seed, seed % 2 == 0, 4);
    const std::string all = written.bytes();
    for (std::size_t size = 0; size <= all.size(); ++size) {
      const Whole whole = whole_within(written, size);
      const HistoryTail cut = OnDisk(all.substr(0, size)).tail();
      check_tail(cut, written, whole);
      CHECK(cut.torn == all.substr(whole.length, size - whole.length));
      CHECK(cut.needs_newline == (whole.length > 0 && all[whole.length - 1] != '\n'));
      for (const std::size_t zeros : {1, 64, 5'000}) {
        const HistoryTail filled = OnDisk(all.substr(0, size) + std::string(zeros, '\0')).tail();
        check_tail(filled, written, whole);
        CHECK(filled.torn.size() == size - whole.length + zeros);
        ++tried;
      }
      ++tried;
    }
  }
  std::printf("store.history: %zu cut and zero-filled histories\n", tried);
}

TEST_CASE("blocks of the last write may be missing in any order, of earlier ones not") {
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    // In every other history a line with the whole document stands inside the last write, or may.
    const Written written = write_history(9, seed, false, seed % 2 == 0 ? 2 : 100);
    const std::string all = written.bytes();
    const auto last_batch = static_cast<std::size_t>(written.ours.back().batch_at);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 200; ++i, ++tried) {
      std::string torn = all;
      std::size_t first_hole = all.size();
      for (std::size_t at = last_batch; at < all.size(); at = (at / 64 + 1) * 64) {
        if (random() % 3 != 0) continue;
        const std::size_t end = std::min((at / 64 + 1) * 64, all.size());
        torn.replace(at, end - at, end - at, '\0');
        first_hole = std::min(first_hole, at);
      }
      check_tail(OnDisk(torn).tail(), written, whole_within(written, first_hole));
    }
    // Without the newline before it, a last write of one line hides in the bad line: that looks like a tear.
    for (std::size_t at = 0; seed % 2 == 1 && at + 64 < last_batch; at += 64, ++tried) {
      std::string rotten = all;
      rotten.replace(at, 64, 64, '\0');
      const HistoryTail tail = OnDisk(rotten).tail();
      CHECK(tail.damage != "");
      CHECK(tail.torn == "");
      CHECK(tail.good_length <= static_cast<std::int64_t>(at));
    }
  }
  std::printf("store.history: %zu histories with missing blocks\n", tried);
}

// Found by the crash test: reading stopped at the document in line 2 and never saw that line 1 was torn.
TEST_CASE("a whole document inside a torn write does not hide what is torn before it") {
  std::string all;
  for (std::int64_t seq = 1; seq <= 4; ++seq) {
    HistoryLine line;
    line.timestamp = "2026-01-17T14:30:00.000Z";
    line.command = "session.update";
    line.seq = line.revision = seq;
    line.base = seq < 3 ? 1 : 3;
    line.batch_at = seq == 1 ? 0 : static_cast<std::int64_t>(all.find('\n')) + 1;
    if (seq == 1 || seq == 3) line.document.emplace();
    all += build_history_line(line);
  }
  const std::size_t second = all.find('\n') + 1;
  all.replace(second + 30, 20, 20, '\0');
  const HistoryTail tail = OnDisk(all).tail();
  CHECK(tail.damage == "");
  CHECK(tail.good_length == static_cast<std::int64_t>(second));
  CHECK(tail.torn == all.substr(second));
  REQUIRE(tail.last);
  CHECK(tail.last->seq == 1);
}

TEST_CASE("lines removed, doubled, swapped are damage, and no revision is ever wrong") {
  std::size_t tried = 0;
  const auto check_damaged = [&](const std::vector<std::string>& lines, const Written& written,
                                 std::int64_t whole_until) {
    std::string bytes;
    for (const std::string& line : lines) bytes += line;
    const OnDisk disk(bytes);
    const HistoryTail tail = disk.tail();
    CHECK(tail.damage != "");
    CHECK(tail.torn == "");
    if (tail.last) CHECK(tail.last->seq <= whole_until);
    if (tail.last)
      CHECK(to_json_text(*tail.document) ==
            written.document_after[static_cast<std::size_t>(tail.last->seq) - 1]);
    for (std::size_t r = 0; r < written.of_revision.size(); ++r)
      if (const auto at = disk.history().at_revision(static_cast<std::int64_t>(r) + 1, disk.length());
          at.ok())
        CHECK(to_json_text(at->document) == written.of_revision[r]);
    ++tried;
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Written written = write_history(12, seed, false, 100, 1);
    for (std::size_t i = 0; i < written.lines.size(); ++i) {
      const auto until = static_cast<std::int64_t>(i);
      std::vector<std::string> lines = written.lines;
      lines.insert(lines.begin() + until, written.lines[i]);
      // What stands before the line with the whole document is not looked at.
      if (i > 0) check_damaged(lines, written, until + 1);
      if (i + 1 == written.lines.size()) continue;
      lines = written.lines;
      lines.erase(lines.begin() + until);
      check_damaged(lines, written, until);
      lines = written.lines;
      std::swap(lines[i], lines[i + 1]);
      check_damaged(lines, written, until + 1);
    }
  }
  std::printf("store.history: %zu histories with lines out of order\n", tried);
}

}  // namespace sessiond
