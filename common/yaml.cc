#include "common/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <sstream>
#include <vector>

#include "common/limits.h"
#include "common/text.h"
#include "common/utf8.h"

namespace sessiond {
namespace {

// Thrown inside the events to stop yaml-cpp; caught in parse_yaml.
struct Refused {
  std::string reason;
  int line;
};

bool one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (text == name) return true;
  return false;
}

template <class Number>
bool whole(std::string_view text, Number& number, int base = 10) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return status == std::errc() && end == text.data() + text.size() && !text.empty();
}

// True for [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - start;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const std::size_t before = digits();
  std::size_t after = 0;
  if (i < text.size() && text[i] == '.') {
    ++i;
    after = digits();
  }
  if (before + after == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

// The scalar that starts with 0x or 0o.
json::value prefixed_scalar(const std::string& text, int line) {
  const int base = text[1] == 'x' ? 16 : 8;
  const std::string_view digits = std::string_view(text).substr(2);
  const std::string_view allowed = base == 16 ? "0123456789abcdefABCDEF" : "01234567";
  if (digits.empty() || digits.find_first_not_of(allowed) != std::string_view::npos) return json::value(text);
  std::int64_t number = 0;
  if (whole(digits, number, base)) return number;
  std::uint64_t large = 0;
  if (whole(digits, large, base)) return large;
  throw Refused{"the integer " + printable(text, 40) + " does not fit 64 bits", line};
}

json::value plain_scalar(const std::string& text, int line) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (one_of(text, {"true", "True", "TRUE"})) return true;
  if (one_of(text, {"false", "False", "FALSE"})) return false;
  std::string_view digits = text;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t number = 0;
  if (whole(digits, number)) return number;
  std::uint64_t large = 0;
  if (whole(digits, large)) return large;
  if (text.starts_with("0x") || text.starts_with("0o")) return prefixed_scalar(text, line);
  if (!looks_like_float(text)) {
    if (one_of(text, {".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", "+.inf", "+.Inf", "+.INF", ".nan",
                      ".NaN", ".NAN"}))
      throw Refused{"the number " + text + " is not finite", line};
    return json::value(text);
  }
  double real = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (status != std::errc() || end != digits.data() + digits.size() || !std::isfinite(real))
    throw Refused{"the number " + printable(text, 40) + " is out of range", line};
  if (digits.find_first_of(".eE") == std::string_view::npos)
    throw Refused{"the integer " + printable(text, 40) + " does not fit 64 bits", line};
  return real;
}

class TreeEvents final : public YAML::EventHandler {
 public:
  explicit TreeEvents(LineMap* lines) : lines_(lines) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refused{"a second document follows", at(mark)};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    // yaml-cpp does not tell how it was written, so it cannot become a name.
    if (wants_key()) throw Refused{"a key must not be null", at(mark)};
    scalar(mark, anchor, "?", "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{"aliases are not accepted", at(mark)};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    scalar(mark, anchor, tag, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(mark, json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    open(mark, json::object());
  }
  void OnMapEnd() override { close(); }

  json::value take() { return std::move(root_); }

 private:
  struct Open {
    json::value* container;
    std::string pointer;
    std::string key;
    bool has_key = false;
  };

  static int at(const YAML::Mark& mark) { return mark.line + 1; }

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{"anchors are not accepted", at(mark)};
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{"tags are not accepted", at(mark)};
    if (++nodes_ > yaml_nodes_max)
      throw Refused{"more than " + std::to_string(yaml_nodes_max) + " values", at(mark)};
  }

  bool wants_key() const {
    return !open_.empty() && open_.back().container->is_object() && !open_.back().has_key;
  }

  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag,
              const std::string& value) {
    check(mark, tag, anchor);
    if (!wants_key()) {
      add(mark, tag == "!" ? json::value(value) : plain_scalar(value, at(mark)));
      return;
    }
    Open& map = open_.back();
    if (map.container->get_object().contains(value))
      throw Refused{"the key " + quoted(value) + " stands twice", at(mark)};
    map.key = value;
    map.has_key = true;
    note(mark, map.pointer + "/" + value);
  }

  void note(const YAML::Mark& mark, const std::string& pointer) {
    if (lines_ != nullptr) lines_->emplace(pointer, at(mark));
  }

  json::value* add(const YAML::Mark& mark, json::value&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Open& parent = open_.back();
    if (json::array* array = parent.container->if_array()) {
      note(mark, parent.pointer + "/" + std::to_string(array->size()));
      return &array->emplace_back(std::move(value));
    }
    parent.has_key = false;
    return &parent.container->get_object().emplace(parent.key, std::move(value)).first->value();
  }

  void open(const YAML::Mark& mark, json::value&& container) {
    if (wants_key()) throw Refused{"a key must be a scalar", at(mark)};
    if (open_.size() >= json_depth_max)
      throw Refused{"nested deeper than " + std::to_string(json_depth_max) + " levels", at(mark)};
    std::string pointer;
    if (!open_.empty()) {
      const Open& parent = open_.back();
      pointer =
          parent.pointer + "/" +
          (parent.container->is_array() ? std::to_string(parent.container->get_array().size()) : parent.key);
    }
    json::value* added = add(mark, std::move(container));
    open_.push_back(Open{added, std::move(pointer), {}, false});
  }

  void close() { open_.pop_back(); }

  LineMap* lines_;
  json::value root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  std::size_t documents_ = 0;
};

Error refusal(const std::string& reason, int line) {
  return Error(ErrorCode::parse_error, "not valid YAML at line " + std::to_string(line) + ": " + reason)
      .with("line", line);
}

// yaml-cpp's scanner recurses per flow bracket before any event is seen: bound it on the text.
// The offset of the bracket that is one too many, or npos.
std::size_t excess_bracket(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ']' || text[i] == '}') && depth > 0) --depth;
    if (depth > 4'096) return i;
  }
  return std::string_view::npos;
}

Error refusal_at(const std::string& reason, std::string_view text, std::size_t offset) {
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  return refusal(reason, static_cast<int>(lines) + 1);
}

}  // namespace

Result<json::value> parse_yaml(std::string_view text, LineMap* lines) {
  if (const std::size_t valid = utf8_valid_prefix(text); valid != text.size())
    return refusal_at("the text is not UTF-8", text, valid);
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return refusal_at("the text holds a zero byte", text, zero);
  if (const std::size_t bracket = excess_bracket(text); bracket != std::string_view::npos)
    return refusal_at("too many brackets", text, bracket);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    TreeEvents events(lines);
    if (!parser.HandleNextDocument(events)) return json::value(nullptr);
    parser.HandleNextDocument(events);  // refuses a second one
    return events.take();
  } catch (const Refused& refused) {
    return refusal(refused.reason, refused.line);
  } catch (const YAML::Exception& error) {
    return refusal(error.msg, error.mark.line + 1);
  }
}

}  // namespace sessiond
