// Small functions on text for messages: nearest name, quoting, shortening, and making foreign bytes harmless.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sessiond {

// The candidate most like `name` if it is near enough to be a slip of the keyboard.
std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> candidates);

// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

// `text` with control characters, quotes, backslashes and invalid UTF-8 escaped, at most `max` code points
// and then "...". Safe to put into a log line or a message: one line, valid UTF-8, no terminal sequences.
std::string printable(std::string_view text, std::size_t max = 80);

// printable() in double quotes.
std::string quoted(std::string_view text, std::size_t max = 80);

// `text` as it is but for control characters other than newline and tab, and invalid UTF-8, which are
// escaped. For what a person reads on a terminal: nothing in it can move the cursor.
std::string for_terminal(std::string_view text);

// `text` on one line, as it is but for control characters and runs of white space, which become one space; at
// most `max` code points and then "...". For texts that people read, where escapes would be in the way.
std::string one_line(std::string_view text, std::size_t max = 200);

std::string join(std::span<const std::string_view> parts, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

std::string_view trim(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace sessiond
