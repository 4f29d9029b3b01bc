// Random sequences of commands: whatever was accepted leaves a valid document, whatever was refused leaves
// it as it was.
#include <random>

#include "daemon/kinds/workflow_view.h"
#include "tests/kinds/workflow_support.h"

namespace sessiond {
namespace {

using namespace workflow_test;

constexpr int sequences = 2'000, commands_each = 30;

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) {
    options_ = {.total = pick(1, 9), .start = pick(0, 1)};
    document_ = created(options_);
  }

  // One random command at a time that stands still or moves on; true when it was accepted.
  bool step() {
    now_ += pick(0, 3) == 0 ? 0 : static_cast<double>(pick(1, 120));
    const std::int64_t current = int_or(document_, "current_phase", 0);
    const std::int64_t near = current + pick(-1, 1);
    switch (pick(0, 11)) {
      case 0:
      case 1:
      case 2:
        return take(complete(document_, current, now_));
      case 3:
        return take(complete(document_, current, now_, false));
      case 4:
        return take(complete(document_, near, now_, pick(0, 1) == 0));
      case 5:
        return take(retry(document_, pick(0, 2) == 0 ? near : current, now_, pick(0, 1) == 0));
      case 6:
        return take(roll_back(document_, pick(-1, 9), now_));
      case 7:
        return take(record(document_, "error", now_));
      case 8:
        return take(pause(document_, now_, pick(0, 4) == 0 ? "whim" : "user_request"));
      case 9:
        return take(resume(document_, now_));
      case 10:
        return take(
            update(document_, pick(0, 1) == 0 ? R"({"metadata":{"k":1}})" : R"({"current_phase":9})", now_));
      default:
        return pick(0, 9) == 0 ? take(abort(document_, now_)) : take(finish(document_, now_));
    }
  }

  // What must hold after every accepted command.
  std::string broken() const {
    for (const std::string& rule : rules_of(document_)) return rule;
    const std::int64_t current = int_or(document_, "current_phase", -1);
    if (current < options_.start || current >= options_.start + options_.total) return "current_phase";
    const workflow::Metrics numbers = workflow::metrics(workflow::View(document_), minute(now_));
    if (numbers.avg_phase_duration.value_or(0) < 0 || numbers.time_in_phase.value_or(0) < 0)
      return "negative time";
    return "";
  }
  bool changed_by_refusal() const { return changed_by_refusal_; }
  const Document& document() const { return document_; }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool take(auto result) {
    if (result.ok()) {
      document_ = std::move(result->document);
      before_ = to_json_text(document_);
      return true;
    }
    changed_by_refusal_ = changed_by_refusal_ || (!before_.empty() && before_ != to_json_text(document_));
    return false;
  }

  std::mt19937 random_;
  Options options_;
  Document document_;
  std::string before_;  // the document as text when it last changed
  double now_ = 0;
  bool changed_by_refusal_ = false;
};

TEST_CASE("random walks keep every rule") {
  int accepted = 0, refused = 0, completed = 0;
  for (unsigned seed = 1; seed <= sequences; ++seed) {
    Walk walk(seed);
    for (int i = 0; i < commands_each; ++i) {
      const bool ok = walk.step();
      ++(ok ? accepted : refused);
      const std::string broken = ok ? walk.broken() : "";
      if (!broken.empty() || walk.changed_by_refusal()) {
        CAPTURE(seed);
        CAPTURE(i);
        FAIL(broken << " in " << to_json_text(walk.document()));
      }
    }
    completed += workflow_kind().summary(walk.document(), minute(0)).status == "completed";
  }
  MESSAGE(accepted << " accepted, " << refused << " refused, " << completed << " of " << sequences
                   << " completed");
  CHECK(accepted > sequences * commands_each / 5);
  CHECK(refused > sequences * commands_each / 10);
  CHECK(completed > sequences / 20);
}

}  // namespace
}  // namespace sessiond
