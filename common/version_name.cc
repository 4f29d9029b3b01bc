#include "common/version_name.h"

#include <charconv>

namespace sessiond {
namespace {

// Where the extension starts, the dot included; the end when there is none.
std::size_t extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name.size() : dot;
}

}  // namespace

std::string version_name(std::string_view file, int version) {
  const std::size_t dot = extension(file);
  return std::string(file.substr(0, dot)) + ".v" + std::to_string(version) + std::string(file.substr(dot));
}

std::optional<int> version_of(std::string_view file, std::string_view name) {
  const std::size_t dot = extension(file);
  const std::string before = std::string(file.substr(0, dot)) + ".v";
  const std::string_view after = file.substr(dot);
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size())
    return std::nullopt;
  const std::string_view digits = name.substr(before.size(), name.size() - before.size() - after.size());
  int version = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (status != std::errc() || end != digits.data() + digits.size() || version < 1) return std::nullopt;
  return version;
}

}  // namespace sessiond
