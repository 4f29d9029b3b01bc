// Bytes of a small session flipped and its files cut: what is served is a document that existed, or an error
// that says so, and the daemon goes on.
#include "tests/session/session_support.h"

namespace sessiond {

TEST_CASE("every byte flipped and every length cut, in steps") {
  Sessions made;
  made.create("demo", 3);
  std::vector<json::value> known{made.document("demo")};
  for (int i = 0; i < 2; ++i) {
    made.complete("demo", i);
    known.push_back(made.document("demo"));
  }
  made.pool.wait_idle();
  std::size_t tried = 0;
  std::size_t refused = 0;
  for (const std::string name : {"history.jsonl", "session.json"}) {
    const std::string good = read_text(made.dir("demo") / name);
    for (std::size_t at = 0; at < good.size(); at += test::scaled(5, 101)) {
      for (const bool cut : {false, true}) {
        TempDir place;
        fs::create_directories(place.path() + "/roots");
        fs::copy(made.state_dir + "/roots", place.path() + "/roots", fs::copy_options::recursive);
        std::string bad = cut ? good.substr(0, at) : good;
        if (!cut) bad[at] = static_cast<char>(bad[at] ^ 1);
        write_text(fs::path(place.path()) / "roots/workflow/demo" / name, bad);
        Sessions s(place.path());
        const json::object reply = s.call("session.get", Sessions::of("demo"));
        ++tried;
        CAPTURE(name);
        CAPTURE(at);
        CAPTURE(cut);
        if (reply.contains("error")) {
          ++refused;
          continue;
        }
        const json::value& document = reply.at("result").at("document");
        const bool existed = std::find(known.begin(), known.end(), document) != known.end();
        // A flipped byte of the state file may leave a valid edit, which is accepted as a revision.
        const bool accepted = !cut && name == "session.json" && s.last_command("demo") == "external.edit";
        CHECK((existed || accepted));
      }
    }
  }
  MESSAGE(tried << " damaged sessions, " << refused << " answered with an error");
}

}  // namespace sessiond
