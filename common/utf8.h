// UTF-8: validity and length in code points. Lengths in every limit of the specs count code points.
#pragma once

#include <cstddef>
#include <string_view>

namespace sessiond {

// True when `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

// The offset of the first byte that is not part of well-formed UTF-8, or text.size().
std::size_t utf8_valid_prefix(std::string_view text);

// Precondition: is_utf8(text).
std::size_t code_points(std::string_view text);

// The first `count` code points of `text`. Precondition: is_utf8(text).
std::string_view code_point_prefix(std::string_view text, std::size_t count);

}  // namespace sessiond
