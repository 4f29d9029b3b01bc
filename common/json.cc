#include "common/json.h"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <cassert>
#include <charconv>
#include <cmath>

#include "common/limits.h"
#include "common/text.h"

namespace sessiond {
namespace {

// Builds the value in place, container by container. A pointer to an open container stays valid: its parent
// cannot grow before it is closed.
class TreeHandler {
 public:
  explicit TreeHandler(json::storage_ptr storage) : storage_(std::move(storage)), root_(nullptr, storage_) {}

  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  using error_code = boost::system::error_code;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& ec) { return open(json::value(json::object_kind, storage_), ec); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_begin(error_code& ec) { return open(json::value(json::array_kind, storage_), ec); }
  bool on_array_end(std::size_t, error_code&) { return close(); }

  bool on_key_part(json::string_view part, std::size_t, error_code&) { return append(key_, part); }
  bool on_key(json::string_view part, std::size_t, error_code&) { return append(key_, part); }
  bool on_string_part(json::string_view part, std::size_t, error_code&) { return append(text_, part); }
  bool on_string(json::string_view part, std::size_t, error_code& ec) {
    if (text_.empty()) return add(json::value(part, storage_), ec) != nullptr;
    text_.append(part.data(), part.size());
    const bool added = add(json::value(text_, storage_), ec) != nullptr;
    text_.clear();
    return added;
  }

  bool on_number_part(json::string_view part, error_code&) { return append(text_, part); }
  bool on_int64(std::int64_t number, json::string_view, error_code& ec) {
    text_.clear();
    return add(json::value(number, storage_), ec) != nullptr;
  }
  bool on_uint64(std::uint64_t number, json::string_view, error_code& ec) {
    text_.clear();
    return add(json::value(number, storage_), ec) != nullptr;
  }
  // Boost's own conversion is off by one unit for many doubles and turns 1e309 into infinity: the text
  // decides.
  bool on_double(double, json::string_view part, error_code& ec) {
    text_.append(part.data(), part.size());
    if (text_.find_first_of(".eE") == std::string::npos)
      return fail("the integer " + printable(text_, 40) + " does not fit 64 bits", ec);
    double number = 0;
    const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (status != std::errc() || end != text_.data() + text_.size() || !std::isfinite(number))
      return fail("the number " + printable(text_, 40) + " is out of range", ec);
    text_.clear();
    return add(json::value(number, storage_), ec) != nullptr;
  }
  bool on_bool(bool b, error_code& ec) { return add(json::value(b, storage_), ec) != nullptr; }
  bool on_null(error_code& ec) { return add(json::value(nullptr, storage_), ec) != nullptr; }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  json::value take() { return std::move(root_); }
  const std::string& reason() const { return reason_; }

 private:
  static bool append(std::string& out, json::string_view part) {
    out.append(part.data(), part.size());
    return true;
  }

  bool fail(std::string reason, error_code& ec) {
    reason_ = std::move(reason);
    ec = json::error::not_number;  // any error stops the parser; reason_ is what is reported
    return false;
  }

  json::value* add(json::value&& value, error_code& ec) {
    if (depth_ == 0) {
      root_ = std::move(value);
      return &root_;
    }
    json::value& parent = *open_[depth_ - 1];
    if (json::array* array = parent.if_array()) return &array->emplace_back(std::move(value));
    const auto [position, inserted] = parent.get_object().emplace(key_, std::move(value));
    if (!inserted) {
      fail("the name " + quoted(key_) + " stands twice in one object", ec);
      return nullptr;
    }
    key_.clear();
    return &position->value();
  }

  bool open(json::value&& container, error_code& ec) {
    json::value* added = add(std::move(container), ec);
    if (added == nullptr) return false;
    assert(depth_ < open_.size());  // the parser refuses deeper nesting before it calls us
    open_[depth_++] = added;
    // A request has four members, which would move each time one is added. Only the outermost object: many
    // small ones inside a hostile text must not cost more than they hold.
    if (depth_ == 1 && added->is_object()) added->get_object().reserve(4);
    return true;
  }

  bool close() {
    --depth_;
    return true;
  }

  json::storage_ptr storage_;
  json::value root_;
  std::array<json::value*, json_depth_max> open_;  // of which depth_ are in use
  std::size_t depth_ = 0;
  std::string key_;
  std::string text_;  // the parts of a string or number so far
  std::string reason_;
};

}  // namespace

Result<json::value> parse_json(std::string_view text, json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = json_depth_max;
  json::basic_parser<TreeHandler> parser(options, std::move(storage));
  boost::system::error_code ec;
  std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = json::error::extra_data;
  if (!ec) return parser.handler().take();
  std::string reason = parser.handler().reason();
  if (reason.empty())
    reason = ec == json::error::too_deep ? "nested deeper than " + std::to_string(json_depth_max) + " levels"
                                         : std::string(ec.message());
  return Error(ErrorCode::parse_error, "not valid JSON at byte " + std::to_string(used) + ": " + reason)
      .with("offset", used);
}

std::string_view type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "a whole number";
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "unknown";
}

}  // namespace sessiond
