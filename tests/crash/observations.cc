#include "tests/crash/observations.h"

#include <algorithm>
#include <map>
#include <set>

namespace sessiond::test {
namespace {

std::string about(const Observation& one) {
  return std::string(one.kind == Observation::Kind::write ? "write" : "read") + " of " +
         std::to_string(one.value) + " at revision " + std::to_string(one.revision);
}

// Revisions by real time: what ended before another began must not be newer than it.
std::string check_order(std::vector<const Observation*> seen) {
  std::sort(seen.begin(), seen.end(), [](auto* a, auto* b) { return a->began < b->began; });
  std::vector<const Observation*> by_end = seen;
  std::sort(by_end.begin(), by_end.end(), [](auto* a, auto* b) { return a->ended < b->ended; });
  std::size_t next = 0;
  const Observation* newest = nullptr;
  for (const Observation* one : seen) {
    for (; next < by_end.size() && by_end[next]->ended < one->began; ++next)
      if (newest == nullptr || by_end[next]->revision > newest->revision) newest = by_end[next];
    if (newest == nullptr) continue;
    const bool stale = one->kind == Observation::Kind::write ? one->revision <= newest->revision
                                                             : one->revision < newest->revision;
    if (stale) return about(*one) + " began after " + about(*newest) + " had ended";
  }
  return "";
}

}  // namespace

std::string contradiction(const std::vector<Observation>& seen) {
  std::map<std::int64_t, const Observation*> writes;
  std::set<std::int64_t> unanswered;
  std::vector<const Observation*> answered;
  for (const Observation& one : seen) {
    if (one.revision == 0) {
      if (one.kind == Observation::Kind::write) unanswered.insert(one.value);
      continue;
    }
    answered.push_back(&one);
    if (one.kind != Observation::Kind::write) continue;
    if (const auto [at, fresh] = writes.emplace(one.revision, &one); !fresh)
      return about(one) + " has the same revision as " + about(*at->second);
    if (one.if_revision && one.revision != *one.if_revision + 1)
      return about(one) + " was accepted on top of revision " + std::to_string(*one.if_revision);
  }
  std::map<std::int64_t, std::int64_t> values;  // of revisions that only reads and unanswered writes tell of
  std::set<std::int64_t> used;
  for (const Observation* one : answered) {
    if (one->kind != Observation::Kind::read) continue;
    if (const auto write = writes.find(one->revision); write != writes.end()) {
      if (write->second->value != one->value)
        return about(*one) + ", but there is a " + about(*write->second);
      if (one->ended < write->second->began) return about(*one) + " ended before its write began";
      continue;
    }
    if (one->value != 0 && !unanswered.contains(one->value))
      return about(*one) + ", which nobody wrote there";
    const auto [at, fresh] = values.emplace(one->revision, one->value);
    if (at->second != one->value)
      return about(*one) + ", read as " + std::to_string(at->second) + " elsewhere";
    if (fresh && one->value != 0 && !used.insert(one->value).second)
      return about(*one) + ", which is at two revisions";
  }
  return check_order(std::move(answered));
}

}  // namespace sessiond::test
