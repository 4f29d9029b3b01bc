// What shares one write: lines and state files of several commands, and a command that spoils it.
#include "daemon/session/batch.h"

#include "daemon/kinds/kinds.h"
#include "daemon/store/history_line.h"
#include "tests/session/session_support.h"

namespace sessiond {
namespace {

using Apply = std::function<Result<Outcome>(const Document&, const Moment&)>;

// Batches on top of a new workflow session, and the commands in them.
struct Batches {
  Sessions sessions;
  SessionPlace place;
  std::shared_ptr<const Snapshot> before;
  std::map<std::string, std::string> replies;
  std::deque<Command> commands;

  Batches() {
    sessions.create("demo");
    sessions.document("demo");  // loads it
    const std::shared_ptr<Session> session = *sessions.registry.find("demo", {});
    place = session->place();
    before = session->snapshot();
  }

  Batch batch() const {
    return Batch(place, before, before->history_length, before->last_stamp, replies,
                 [](std::vector<FileOp>&, const std::vector<FileOp>&) { return Status(); });
  }
  Command& command(Apply apply) {
    Command& out = commands.emplace_back();
    out.name = "test";
    out.apply = std::move(apply);
    return out;
  }
  // Sets one member of the metadata.
  Command& sets(const std::string& name, std::string value) {
    return command([=](const Document& document, const Moment&) -> Result<Outcome> {
      Outcome outcome{.document = document, .files = {}, .write_reply = {}};
      outcome.document["metadata"].as_object()[name] = value;
      outcome.write_reply = [](const Envelope& envelope, std::string& out) {
        out = std::to_string(envelope.revision);
      };
      return outcome;
    });
  }
};

std::vector<HistoryLine> read_lines(const std::string& text) {
  std::vector<HistoryLine> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(read_history_line(line).line);
  return out;
}

const json::object& metadata_of(Batch& batch) { return batch.state().document.at("metadata").as_object(); }

}  // namespace

TEST_CASE("batch: one state file for all, and the last line knows it") {
  Batches with;
  Batch batch = with.batch();
  batch.add(with.sets("a", "1"));
  batch.add(with.sets("b", "2"));
  REQUIRE(batch.finish().ok());
  const std::vector<HistoryLine> lines = read_lines(batch.lines());
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].files.empty());
  REQUIRE(batch.state_files().size() == 1);
  CHECK(lines[1].files.at("session.json") == state_hash(batch.state_files().front().bytes));
  CHECK(*batch.answers()[0].reply == "2");
  CHECK(*batch.answers()[1].reply == "3");
  CHECK(batch.state().revision == 3);
  CHECK(metadata_of(batch).at("b") == "2");
}

TEST_CASE("batch: a command that throws leaves the others and the document as they are") {
  Batches with;
  Batch batch = with.batch();
  batch.add(with.sets("a", "1"));
  Command& late = with.command([&](const Document& document, const Moment&) -> Result<Outcome> {
    Outcome outcome{.document = document, .files = {}, .write_reply = {}};
    outcome.document["metadata"].as_object()["spoilt"] = true;
    outcome.write_reply = [](const Envelope&, std::string&) { throw std::runtime_error("no reply"); };
    return outcome;
  });
  batch.add(late);
  batch.add(with.sets("b", "2"));
  REQUIRE(batch.finish().ok());
  const std::vector<HistoryLine> lines = read_lines(batch.lines());
  REQUIRE(lines.size() == 3);
  CHECK_FALSE(lines[1].success);
  CHECK(lines[1].revision == 2);
  CHECK_FALSE(batch.answers()[1].reply.ok());
  CHECK(*batch.answers()[2].reply == "3");
  CHECK_FALSE(metadata_of(batch).contains("spoilt"));
  CHECK(metadata_of(batch).at("a") == "1");
  CHECK(metadata_of(batch).at("b") == "2");
}

TEST_CASE("batch: a state file over the limit refuses the command that made it so, and no other") {
  Batches with;
  const std::string large(SessionStore::state_bytes_max, 'x');
  Batch both = with.batch();
  both.add(with.sets("a", "1"));
  both.add(with.sets("large", large));
  CHECK(both.finish().error().code == ErrorCode::limit_exceeded);

  Batch alone = with.batch();
  alone.add(with.sets("large", large));
  REQUIRE(alone.finish().ok());
  CHECK_FALSE(alone.changed());
  CHECK(alone.answers()[0].reply.error().code == ErrorCode::limit_exceeded);
  CHECK_FALSE(metadata_of(alone).contains("large"));
  const std::vector<HistoryLine> lines = read_lines(alone.lines());
  REQUIRE(lines.size() == 1);
  CHECK_FALSE(lines[0].success);
  CHECK(lines[0].revision == 1);
  CHECK(alone.state_files().empty());
}

}  // namespace sessiond
