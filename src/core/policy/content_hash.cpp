#include "core/policy/content_hash.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "core/error.hpp"

namespace ai::policy {

// The length of the seed comes first, so that no end of a seed can pass for the start of a text.
ContentHasher::ContentHasher(std::string_view seed)
    : prefix_(std::to_string(seed.size()) + ":" + std::string(seed)) {}

ContentHash ContentHasher::operator()(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), prefix_.data(), prefix_.size()) != 1 ||
      EVP_DigestUpdate(context.get(), text.data(), text.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) {
    throw Error(ErrorCode::kInternal, "SHA-256 is not available");
  }
  ContentHash hash;
  std::copy_n(digest.begin(), hash.size(), hash.begin());
  return hash;
}

}  // namespace ai::policy
