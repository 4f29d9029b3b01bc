#include "common/json_patch.h"

#include <charconv>
#include <vector>

#include "common/json_edit.h"
#include "common/text.h"

namespace sessiond {
namespace {

// An integer and a double are different here even when they count the same: a patch must bring back what was.
bool identical(const json::value& a, const json::value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_object()) {
    const json::object& left = a.get_object();
    const json::object& right = b.get_object();
    if (left.size() != right.size()) return false;
    for (const auto& [name, value] : left) {
      const json::value* other = right.if_contains(name);
      if (other == nullptr || !identical(value, *other)) return false;
    }
    return true;
  }
  if (a.is_array()) {
    const json::array& left = a.get_array();
    const json::array& right = b.get_array();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), identical);
  }
  return a == b;
}

class Differ {
 public:
  void compare_objects(const json::object& from, const json::object& to) {
    for (const auto& [name, value] : from)
      if (!to.contains(name)) below(name, [&] { operation("remove", nullptr); });
    for (const json::key_value_pair& member : to) {
      const json::value* before = from.if_contains(member.key());
      below(member.key(), [&] {
        if (before == nullptr)
          operation("add", &member.value());
        else
          compare(*before, member.value());
      });
    }
  }

  void compare(const json::value& from, const json::value& to) {
    if (from.is_object() && to.is_object()) return compare_objects(from.get_object(), to.get_object());
    if (from.is_array() && to.is_array()) return compare_arrays(from.get_array(), to.get_array());
    if (!identical(from, to)) operation("replace", &to);
  }

  json::array take() { return std::move(operations_); }

 private:
  void compare_arrays(const json::array& from, const json::array& to) {
    std::size_t head = 0;
    while (head < from.size() && head < to.size() && identical(from[head], to[head])) ++head;
    std::size_t tail = 0;
    while (tail < from.size() - head && tail < to.size() - head &&
           identical(from[from.size() - 1 - tail], to[to.size() - 1 - tail]))
      ++tail;
    const std::size_t old_middle = from.size() - head - tail;
    const std::size_t new_middle = to.size() - head - tail;
    const std::size_t both = std::min(old_middle, new_middle);
    for (std::size_t i = head; i < head + both; ++i)
      below(std::to_string(i), [&] { compare(from[i], to[i]); });
    for (std::size_t i = head + old_middle; i-- > head + both;)
      below(std::to_string(i), [&] { operation("remove", nullptr); });
    for (std::size_t i = head + both; i < head + new_middle; ++i)
      below(std::to_string(i), [&] { operation("add", &to[i]); });
  }

  template <class Body>
  void below(std::string_view name, Body body) {
    const std::size_t length = path_.size();
    path_ += '/';
    path_ += pointer_escaped(name);
    body();
    path_.resize(length);
  }

  void operation(std::string_view name, const json::value* value) {
    json::object out{{"op", name}, {"path", path_}};
    if (value != nullptr) out["value"] = *value;
    operations_.emplace_back(std::move(out));
  }

  std::string path_;
  json::array operations_;
};

Error bad_patch(std::string_view path, std::string_view why) {
  return Error(ErrorCode::damaged, "cannot apply a change at " + quoted(path) + ": " + std::string(why));
}

std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && token[i + 1] == '1')
      out += '/';
    else if (escape && token[i + 1] == '0')
      out += '~';
    else {
      out += token[i];
      continue;
    }
    ++i;
  }
  return out;
}

std::optional<std::size_t> index_of(std::string_view token, std::size_t size) {
  if (token == "-") return size;
  std::size_t index = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (status != std::errc() || end != token.data() + token.size() || index > size) return std::nullopt;
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  return index;
}

// The value that holds what `path` names, and the last token.
struct Place {
  json::value* parent;
  std::string token;
};

Result<Place> locate(json::value& root, std::string_view path) {
  json::value* at = &root;
  std::string_view rest = path;
  for (;;) {
    if (rest.empty() || rest.front() != '/') return bad_patch(path, "not a JSON pointer");
    rest.remove_prefix(1);
    const std::size_t slash = rest.find('/');
    std::string token = unescape(rest.substr(0, slash));
    if (slash == std::string_view::npos) return Place{at, std::move(token)};
    rest.remove_prefix(slash);
    if (json::object* object = at->if_object()) {
      at = object->if_contains(token);
    } else if (json::array* array = at->if_array()) {
      const auto index = index_of(token, array->size());
      at = index && *index < array->size() ? &(*array)[*index] : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) return bad_patch(path, "there is nothing at " + quoted(token));
  }
}

Status apply_to_object(json::object& object, std::string_view op, const Place& place,
                       const json::value* value, std::string_view path) {
  json::value* member = object.if_contains(place.token);
  if (op == "add") {
    object[place.token] = *value;
    return {};
  }
  if (member == nullptr) return bad_patch(path, "there is no such member");
  if (op == "replace") {
    *member = *value;
  } else if (op == "remove") {
    // stable_erase keeps the order of the members that stay.
    object.stable_erase(object.find(place.token));
  } else if (!identical(*member, *value)) {
    return bad_patch(path, "the test failed");
  }
  return {};
}

Status apply_to_array(json::array& array, std::string_view op, const Place& place, const json::value* value,
                      std::string_view path) {
  const auto index = index_of(place.token, array.size());
  if (!index || (op != "add" && *index >= array.size())) return bad_patch(path, "there is no such item");
  const auto position = array.begin() + static_cast<std::ptrdiff_t>(*index);
  if (op == "add")
    array.insert(position, *value);
  else if (op == "replace")
    *position = *value;
  else if (op == "remove")
    array.erase(position);
  else if (!identical(*position, *value))
    return bad_patch(path, "the test failed");
  return {};
}

std::string_view text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

Status apply_one(json::value& root, const json::object& operation) {
  const std::string_view op = text_of(operation, "op");
  const std::string_view path = text_of(operation, "path");
  const json::value* value = operation.if_contains("value");
  if (op != "add" && op != "remove" && op != "replace" && op != "test")
    return bad_patch(path, "unknown operation " + quoted(op));
  if (op != "remove" && value == nullptr) return bad_patch(path, "the value is missing");
  if (path.empty()) {
    if (op == "remove") return bad_patch(path, "the whole cannot be removed");
    if (op == "test") return identical(root, *value) ? Status() : bad_patch(path, "the test failed");
    root = *value;
    return {};
  }
  SESSIOND_ASSIGN(const Place place, locate(root, path));
  if (json::object* object = place.parent->if_object())
    return apply_to_object(*object, op, place, value, path);
  if (json::array* array = place.parent->if_array()) return apply_to_array(*array, op, place, value, path);
  return bad_patch(path, "its parent is no container");
}

}  // namespace

json::array json_diff(const json::value& from, const json::value& to) {
  Differ differ;
  differ.compare(from, to);
  return differ.take();
}

json::array json_diff(const json::object& from, const json::object& to) {
  Differ differ;
  differ.compare_objects(from, to);
  return differ.take();
}

Status apply_json_patch(json::object& object, const json::array& operations) {
  json::value value(std::move(object));
  Status applied = apply_json_patch(value, operations);
  if (applied && !value.is_object()) applied = bad_patch("", "the whole would be no object");
  if (value.is_object()) object = std::move(value.get_object());
  return applied;
}

Status apply_json_patch(json::value& value, const json::array& operations) {
  for (const json::value& operation : operations) {
    if (!operation.is_object()) return bad_patch("", "an operation is no object");
    SESSIOND_TRY(apply_one(value, operation.get_object()));
  }
  return {};
}

}  // namespace sessiond
