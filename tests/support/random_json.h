// Random values from a seed, for tests of what holds for every value.
#pragma once

#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace sessiond {

namespace json = boost::json;

class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : bits_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return bits_() % limit; }

  // Any bit pattern that is a finite number.
  double real() {
    for (;;)
      if (const double number = std::bit_cast<double>(bits_()); std::isfinite(number)) return number;
  }

  // Control characters, quotes, letters of one to four bytes.
  std::string text() {
    static constexpr const char* pieces[] = {"a", "\"", "\\", "\n", "\t",   "\x01", "\x1f", "\x7f",
                                             "/", "é",  "€",  "😀",  "日本", " ",    "{}",   "\\u0041"};
    std::string out;
    for (std::uint64_t left = below(8); left > 0; --left) out += pieces[below(std::size(pieces))];
    if (below(16) == 0) out += '\0';
    return out;
  }

  json::value value(std::size_t depth) {
    switch (below(depth == 0 ? 6 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(bits_());
      case 3:
        return bits_() | (std::uint64_t(1) << 63);  // needs 64 bits: smaller ones are read back as int64
      case 4:
        return real();
      case 5:
        return json::value(text());
      case 6: {
        json::array out;
        for (std::uint64_t left = below(6); left > 0; --left) out.push_back(value(depth - 1));
        return out;
      }
      default: {
        json::object out;
        for (std::uint64_t left = below(6); left > 0; --left) out[text()] = value(depth - 1);
        return out;
      }
    }
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace sessiond
