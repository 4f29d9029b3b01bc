// Registry::list: filters, order and pages.
#include <algorithm>
#include <charconv>

#include "common/text.h"
#include "daemon/session/registry.h"

namespace sessiond {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         }) != text.end();
}

// The key by which sessions are ordered, newest first for times; equal keys are ordered by root and id.
std::int64_t time_key(const SessionBrief& brief, std::string_view sort) {
  const TimePoint time = sort == "created"    ? brief.created_at
                         : sort == "activity" ? brief.last_activity
                                              : brief.updated_at;
  return -time.time_since_epoch().count();
}

struct Ordered {
  std::int64_t key;
  std::string_view root;
  std::string_view id;
  const void* entry;

  friend bool operator<(const Ordered& a, const Ordered& b) {
    return std::tie(a.key, a.root, a.id) < std::tie(b.key, b.root, b.id);
  }
};

// "KEY root/id" of the last session of the page before.
struct Cursor {
  std::int64_t key = 0;
  std::string root;
  std::string id;
};

std::optional<Cursor> read_cursor(std::string_view text) {
  Cursor cursor;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), cursor.key);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::size_t slash = rest.find('/');
  if (status != std::errc() || !rest.starts_with(':') || slash == std::string_view::npos) return std::nullopt;
  cursor.root = rest.substr(1, slash - 1);
  cursor.id = rest.substr(slash + 1);
  return cursor;
}

}  // namespace

Status check_cursor(const std::string& cursor) {
  if (read_cursor(cursor)) return {};
  return Error(ErrorCode::invalid_params,
               "params.cursor: expected what an earlier page gave as next_cursor, got " + quoted(cursor))
      .with("field", "params.cursor");
}

ListPage Registry::list(const ListFilter& filter, const Viewer& viewer) const {
  const std::lock_guard lock(mutex_);
  const std::string sort = filter.sort.value_or("updated");
  const auto matches = [&](const Entry& entry) {
    const SessionBrief& brief = entry.brief;
    if (!visible(entry, viewer)) return false;
    if (filter.kind && entry.root->kind->name != *filter.kind) return false;
    if (filter.root && entry.root->name != *filter.root) return false;
    if (filter.status && *filter.status != (entry.archived ? "archived" : brief.status)) return false;
    if (filter.project && brief.project != *filter.project) return false;
    if (filter.updated_since && brief.updated_at < *filter.updated_since) return false;
    return !filter.text || contains_ignoring_case(brief.title, *filter.text) ||
           contains_ignoring_case(entry.id, *filter.text) ||
           contains_ignoring_case(brief.project, *filter.text);
  };
  std::vector<Ordered> found;
  for (const auto& [key, entry] : entries_)
    if (matches(*entry))
      found.push_back(
          {sort == "id" ? 0 : time_key(entry->brief, sort), entry->root->name, entry->id, entry.get()});
  ListPage page;
  page.total = found.size();
  if (filter.cursor) {
    if (const std::optional<Cursor> after = read_cursor(*filter.cursor)) {
      const Ordered last{after->key, after->root, after->id, nullptr};
      std::erase_if(found, [&](const Ordered& one) { return !(last < one); });
    }
  }
  const std::size_t count = std::min(filter.limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = *static_cast<const Entry*>(found[i].entry);
    page.sessions.push_back(
        {entry.id, entry.root->name, std::string(entry.root->kind->name), entry.brief, entry.archived});
  }
  if (count < found.size() && count > 0) {
    const Ordered& last = found[count - 1];
    page.next_cursor = std::to_string(last.key) + ":" + std::string(last.root) + "/" + std::string(last.id);
  }
  return page;
}

}  // namespace sessiond
