#include "daemon/store/history_line.h"

#include <boost/crc.hpp>
#include <charconv>
#include <cstdio>

#include "common/json.h"
#include "common/text.h"

namespace sessiond {
namespace {

using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

constexpr std::string_view crc_start = R"(,"crc":")";
constexpr std::size_t crc_digits = 8;
constexpr std::size_t crc_length = crc_start.size() + crc_digits + 2;  // with the quote and the brace

std::string crc_text(std::string_view bytes) {
  Crc32c crc;
  crc.process_bytes(bytes.data(), bytes.size());
  char digits[crc_digits + 1];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(crc.checksum()));
  return digits;
}

class LineWriter {
 public:
  void text(std::string_view name, std::string_view value) {
    begin(name);
    print_json_string(out_, value);
  }
  void text_or_null(std::string_view name, const std::optional<std::string>& value) {
    begin(name);
    if (value)
      print_json_string(out_, *value);
    else
      out_ += "null";
  }
  void number(std::string_view name, std::int64_t value) {
    begin(name);
    out_ += std::to_string(value);
  }
  template <class Value>
  void value(std::string_view name, const Value& v) {
    begin(name);
    print_json(out_, v);
  }
  void raw(std::string_view name, std::string_view json_text) {
    begin(name);
    out_ += json_text;
  }
  std::string finish() {
    const std::string crc = crc_text(out_);
    (((out_ += crc_start) += crc) += "\"}") += '\n';
    return std::move(out_);
  }

 private:
  void begin(std::string_view name) {
    out_ += out_.empty() ? '{' : ',';
    ((out_ += '"') += name) += "\":";
  }
  std::string out_;
};

// Typed members; a member of the wrong type makes the whole line bad.
class LineReader {
 public:
  explicit LineReader(json::object& object) : object_(object) {}
  bool good() const { return good_; }

  std::string text(std::string_view name) {
    const json::value* value = object_.if_contains(name);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    good_ = false;
    return {};
  }
  std::optional<std::string> text_or_null(std::string_view name) {
    const json::value* value = object_.if_contains(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return text(name);
  }
  std::int64_t number(std::string_view name) {
    const json::value* value = object_.if_contains(name);
    if (value != nullptr && value->is_int64()) return value->get_int64();
    good_ = false;
    return 0;
  }
  json::value take(std::string_view name) {
    json::value* value = object_.if_contains(name);
    return value == nullptr ? json::value() : std::move(*value);
  }
  json::object take_object(std::string_view name) {
    json::value value = take(name);
    if (value.is_object()) return std::move(value.get_object());
    if (!value.is_null()) good_ = false;
    return {};
  }
  std::optional<json::object> take_object_or_none(std::string_view name) {
    json::value value = take(name);
    if (!value.is_object()) return std::nullopt;
    return std::move(value.get_object());
  }
  std::map<std::string, std::string> take_texts(std::string_view name) {
    std::map<std::string, std::string> out;
    for (const auto& [member, value] : take_object(name))
      if (value.is_string()) out[std::string(member)] = std::string(value.get_string());
    return out;
  }
  std::optional<std::string> take_printed(std::string_view name) {
    const json::value value = take(name);
    return value.is_null() ? std::nullopt : std::optional(to_json_text(value));
  }
  json::array take_array(std::string_view name) {
    json::value value = take(name);
    if (value.is_array()) return std::move(value.get_array());
    if (!value.is_null()) good_ = false;
    return {};
  }

 private:
  json::object& object_;
  bool good_ = true;
};

bool checksum_right(std::string_view text) {
  if (text.size() < crc_length) return false;
  const std::string_view body = text.substr(0, text.size() - crc_length);
  const std::string_view end = text.substr(body.size());
  return end.starts_with(crc_start) && end.ends_with("\"}") &&
         end.substr(crc_start.size(), crc_digits) == crc_text(body);
}

// Made in one piece, so that every value stays in the memory that it was read into.
HistoryLine decode(LineReader& in) {
  return {.timestamp = in.text("timestamp"),
          .command = in.text("command"),
          .arguments = in.take("arguments"),
          .model = in.text_or_null("model"),
          .agent = in.text_or_null("agent"),
          .task_id = in.text_or_null("task_id"),
          .success = in.text("status") == "success",
          .duration_ms = in.number("duration_ms"),
          .error = in.text_or_null("error"),
          .seq = in.number("seq"),
          .revision = in.number("revision"),
          .base = in.number("base"),
          .batch_at = in.number("batch_at"),
          .changes = in.take_array("changes"),
          .files = in.take_texts("files"),
          .artifacts = in.take_array("artifacts"),
          .meta = in.take_object("meta"),
          .idempotency_key = in.text_or_null("idempotency_key"),
          .reply = in.take_printed("reply"),
          .document = in.take_object_or_none("document")};
}

}  // namespace

std::string build_history_line(const HistoryLine& line) {
  LineWriter out;
  out.text("timestamp", line.timestamp);
  out.text("command", line.command);
  out.value("arguments", line.arguments);
  out.text_or_null("model", line.model);
  out.text_or_null("agent", line.agent);
  out.text_or_null("task_id", line.task_id);
  out.text("status", line.success ? "success" : "failure");
  out.number("duration_ms", line.duration_ms);
  if (line.error) out.text("error", *line.error);
  out.number("seq", line.seq);
  out.number("revision", line.revision);
  out.number("base", line.base);
  out.number("batch_at", line.batch_at);
  if (!line.changes.empty()) out.value("changes", line.changes);
  if (!line.files.empty()) {
    json::object files;
    for (const auto& [name, hash] : line.files) files[name] = hash;
    out.value("files", files);
  }
  if (!line.artifacts.empty()) out.value("artifacts", line.artifacts);
  if (!line.meta.empty()) out.value("meta", line.meta);
  if (line.idempotency_key) out.text("idempotency_key", *line.idempotency_key);
  if (line.reply) out.raw("reply", *line.reply);
  if (line.document) out.value("document", *line.document);
  return out.finish();
}

ReadLine read_history_line(std::string_view text, json::storage_ptr storage) {
  ReadLine result;
  if (trim(text).empty()) {  // a blank line carries nothing, but is no damage
    result.state = LineState::foreign;
    return result;
  }
  Result<json::value> parsed = parse_json(text, std::move(storage));
  if (!parsed || !parsed->is_object()) {
    result.why = "not a JSON object";
    return result;
  }
  json::object& object = parsed->get_object();
  if (!object.contains("crc") && !object.contains("seq")) {
    result.state = LineState::foreign;
    result.foreign = std::move(*parsed);
    return result;
  }
  if (!checksum_right(text)) {
    result.why = "the checksum is wrong";
    return result;
  }
  LineReader in(object);
  ReadLine ours{.state = LineState::ours, .line = decode(in), .foreign = {}, .why = {}};
  if (in.good() && ours.line.seq >= 1) return ours;
  result.why = "a member is missing or of the wrong type";
  return result;
}

}  // namespace sessiond
