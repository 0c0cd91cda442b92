#include "pg/token_tables.hpp"

#include <unistd.h>

#include "core/token/encoding_length.hpp"
#include "core/token/estimate.hpp"
#include "pg/guard.hpp"

namespace ai::pg {

namespace {

constexpr std::size_t kEncodingCount = 2;

/// Stands in for an encoding whose table is not installed.
class EstimatedLength final : public text::LengthFunction {
 public:
  std::size_t Measure(std::string_view text) const override { return token::EstimateTokens(text); }
  std::size_t FitPrefix(std::string_view text, std::size_t limit) const override {
    return token::TruncateEstimated(text, limit).size();
  }
};

/// What this process has opened. Made at first use and kept for the life of the process.
std::array<std::shared_ptr<const token::Encoding>, kEncodingCount>& OpenEncodings() {
  static auto* open = new std::array<std::shared_ptr<const token::Encoding>, kEncodingCount>();
  return *open;
}

}  // namespace

std::string TokenTableDirectory() {
  char share[MAXPGPATH];
  get_share_path(my_exec_path, share);
  return std::string(share) + "/ai";
}

token::EncodingName EncodingOf(std::string_view encoding_or_model) {
  if (const auto name = token::ParseEncodingName(encoding_or_model)) {
    return *name;
  }
  if (const auto name = token::EncodingForModel(encoding_or_model)) {
    return *name;
  }
  throw ai::Error(ErrorCode::kInvalidParameter,
                  "\"" + std::string(encoding_or_model) +
                      "\" is not a known encoding or OpenAI "
                      "model",
                  {}, "Use \"cl100k_base\", \"o200k_base\" or the name of an OpenAI model.");
}

std::shared_ptr<const token::Encoding> FindEncoding(token::EncodingName name) {
  auto& open = OpenEncodings().at(static_cast<std::size_t>(name));
  if (open == nullptr) {
    const std::string path = token::TablePath(TokenTableDirectory(), name);
    if (access(path.c_str(), F_OK) != 0) {
      return nullptr;
    }
    open = token::Encoding::Open(path);
  }
  return open;
}

std::shared_ptr<const token::Encoding> FindModelEncoding(std::string_view model) {
  const auto name = token::EncodingForModel(model);
  return name ? FindEncoding(*name) : nullptr;
}

std::shared_ptr<const token::Encoding> RequireEncoding(token::EncodingName name) {
  if (auto encoding = FindEncoding(name)) {
    return encoding;
  }
  return token::Encoding::Open(token::TablePath(TokenTableDirectory(), name));
}

std::shared_ptr<const text::LengthFunction> TokenLength(std::string_view encoding_or_model) {
  if (auto encoding = FindEncoding(EncodingOf(encoding_or_model))) {
    return std::make_shared<token::EncodingLength>(std::move(encoding), ServeInterrupts);
  }
  return std::make_shared<EstimatedLength>();
}

}  // namespace ai::pg
