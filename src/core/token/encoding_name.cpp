#include "core/token/encoding_name.hpp"

#include <array>

namespace ai::token {
namespace {

constexpr std::array<NamedToken, 5> kCl100kSpecials = {{
    {"<|endoftext|>", 100257},
    {"<|fim_prefix|>", 100258},
    {"<|fim_middle|>", 100259},
    {"<|fim_suffix|>", 100260},
    {"<|endofprompt|>", 100276},
}};

constexpr std::array<NamedToken, 2> kO200kSpecials = {{
    {"<|endoftext|>", 199999},
    {"<|endofprompt|>", 200018},
}};

constexpr std::array<EncodingFacts, 2> kEncodings = {{
    {EncodingName::kCl100kBase, "cl100k_base", SplitRule::kCl100k, kCl100kSpecials},
    {EncodingName::kO200kBase, "o200k_base", SplitRule::kO200k, kO200kSpecials},
}};

struct Family {
  std::string_view name;
  EncodingName encoding;
};

// The first match wins, so the particular stands before the general. gpt-oss has more special
// tokens than o200k_base, but the same tokens for text.
constexpr std::array<Family, 15> kFamilies = {{
    {"text-embedding-3-", EncodingName::kCl100kBase},
    {"text-embedding-ada-002", EncodingName::kCl100kBase},
    {"gpt-5", EncodingName::kO200kBase},
    {"gpt-4o", EncodingName::kO200kBase},
    {"gpt-4.", EncodingName::kO200kBase},
    {"gpt-4", EncodingName::kCl100kBase},
    {"gpt-3.5", EncodingName::kCl100kBase},
    {"gpt-35-turbo", EncodingName::kCl100kBase},
    {"gpt-oss-", EncodingName::kO200kBase},
    {"chatgpt-4o-", EncodingName::kO200kBase},
    {"o1", EncodingName::kO200kBase},
    {"o3", EncodingName::kO200kBase},
    {"o4-mini", EncodingName::kO200kBase},
    {"davinci-002", EncodingName::kCl100kBase},
    {"babbage-002", EncodingName::kCl100kBase},
}};

bool RemovePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

/// True if a model's name begins with that of the family and, unless this ends in a separator, goes
/// on with one: o1, o1-mini and gpt-5.1 are members, o10 is not.
bool IsMember(std::string_view model, std::string_view family) {
  if (!RemovePrefix(model, family)) {
    return false;
  }
  constexpr std::string_view kSeparators = "-.:";
  return model.empty() || kSeparators.find(family.back()) != std::string_view::npos ||
         kSeparators.find(model.front()) != std::string_view::npos;
}

}  // namespace

const EncodingFacts& FactsOf(EncodingName name) {
  return kEncodings[static_cast<std::size_t>(name)];
}

std::optional<EncodingName> ParseEncodingName(std::string_view text) {
  for (const EncodingFacts& facts : kEncodings) {
    if (facts.text == text) {
      return facts.name;
    }
  }
  return std::nullopt;
}

std::optional<EncodingName> EncodingForModel(std::string_view model) {
  RemovePrefix(model, "openai/");
  RemovePrefix(model, "ft:");
  for (const Family& family : kFamilies) {
    if (IsMember(model, family.name)) {
      return family.encoding;
    }
  }
  return std::nullopt;
}

std::string TablePath(std::string_view directory, EncodingName name) {
  return std::string(directory) + "/" + std::string(FactsOf(name).text) + ".tokens";
}

}  // namespace ai::token
