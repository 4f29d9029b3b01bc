// SHA-256 and base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sessiond {

// Sixty-four lowercase hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

std::string to_base64(std::string_view bytes);
// White space is skipped; nothing else may be foreign.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sessiond
