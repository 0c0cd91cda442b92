#include "core/policy/content_hash.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "core/error.hpp"

namespace ai::policy {

struct TextHasher::State {
  std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> kind{EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                       EVP_MD_free};
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

TextHasher::TextHasher() : state_(std::make_unique<State>()) {}
TextHasher::~TextHasher() = default;

ContentHash TextHasher::operator()(std::initializer_list<std::string_view> parts) const {
  EVP_MD_CTX* context = state_->context.get();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  bool good = context != nullptr && state_->kind != nullptr &&
              EVP_DigestInit_ex(context, state_->kind.get(), nullptr) == 1;
  for (const std::string_view part : parts) {
    good = good && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
  }
  if (!good || EVP_DigestFinal_ex(context, digest.data(), nullptr) != 1) {
    throw Error(ErrorCode::kInternal, "SHA-256 is not available");
  }
  ContentHash hash;
  std::copy_n(digest.begin(), hash.size(), hash.begin());
  return hash;
}

// The length of the seed comes first, so that the end of a seed cannot be mistaken for the start of
// a text.
ContentHasher::ContentHasher(std::string_view seed)
    : prefix_(std::to_string(seed.size()) + ":" + std::string(seed)) {}

}  // namespace ai::policy
