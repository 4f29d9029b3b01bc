#include "common/digest.h"

#include <sodium.h>

namespace sessiond {

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  char text[crypto_hash_sha256_BYTES * 2 + 1];
  sodium_bin2hex(text, sizeof text, digest, sizeof digest);
  return text;
}

std::string to_base64(std::string_view bytes) {
  std::string out(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // the terminating zero
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out(text.size(), '\0');
  std::size_t length = 0;
  const char* end = nullptr;
  const int status = sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()), out.size(), text.data(),
                                       text.size(), "\r\n ", &length, &end, sodium_base64_VARIANT_ORIGINAL);
  if (status != 0 || end != text.data() + text.size()) return std::nullopt;
  out.resize(length);
  return out;
}

}  // namespace sessiond
