#include "daemon/session/state_text.h"

#include "common/json.h"
#include "common/yaml.h"
#include "common/yaml_writer.h"

namespace sessiond {
namespace {

const json::value& part_of(const Document& document, std::string_view member) {
  static const json::value none;
  const json::value* part = document.if_contains(member);
  return part == nullptr ? none : *part;
}

// A whole document is an object, a part of one any value; making a value of an object would copy it.
template <class Part>
std::string print_state(const StateFile& file, const Part& part) {
  return file.format == FileFormat::json ? to_pretty_json(part) + '\n' : to_yaml_text(part);
}

}  // namespace

std::vector<StateBytes> render_state(const Kind& kind, const Document& document) {
  std::vector<StateBytes> out;
  for (const StateFile& file : kind.files) {
    out.push_back({std::string(file.name), file.member.empty()
                                               ? print_state(file, document)
                                               : print_state(file, part_of(document, file.member))});
  }
  return out;
}

Result<json::value> parse_state(const StateFile& file, std::string_view bytes) {
  return file.format == FileFormat::json ? parse_json(bytes) : parse_yaml(bytes);
}

std::vector<std::string> state_names(const Kind& kind) {
  std::vector<std::string> names;
  for (const StateFile& file : kind.files) names.emplace_back(file.name);
  return names;
}

}  // namespace sessiond
