#include "core/token/encoding.hpp"

#include <array>

#include "core/error.hpp"
#include "core/token/long_merge.hpp"
#include "core/token/short_merge.hpp"
#include "core/token/split.hpp"
#include "core/token/utf8_repair.hpp"

namespace ai::token {
namespace {

/// How much text is encoded between two looks at the interrupt: about a millisecond's worth.
constexpr std::size_t kInterruptBytes = 65536;

/// A token can stand for a hundred bytes, so a list of ids that fits in memory may be a text that
/// does not. No SQL value is longer than this, even with every byte replaced by the three of
/// U+FFFD.
constexpr std::size_t kMaxDecodedBytes = (std::size_t{1} << 30) / 3;

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::shared_ptr<const Encoding> Encoding::Open(const std::string& path) {
  return std::make_shared<const Encoding>(path);
}

Encoding::Encoding(const std::string& path)
    : table_(path), classes_(table_.classes()), vocabulary_(table_.vocabulary()) {}

/// Calls consume(tokens) with spans of the tokens of text, in order, until it returns false.
template <typename Consume>
void Encoding::ForEachToken(std::string_view text, InterruptCheck pending, Consume consume) const {
  const Splitter splitter(table_.split_rule(), classes_, text, pending);
  std::size_t next_check = kInterruptBytes;
  for (std::size_t pos = 0; pos < text.size();) {
    const std::size_t end = splitter.PieceEnd(pos);
    const std::string_view piece = text.substr(pos, end - pos);
    const Token whole = {vocabulary_.Find(piece), static_cast<std::uint32_t>(piece.size())};
    const bool go_on =
        whole.id != kNoToken ? consume(std::span(&whole, 1)) : MergePiece(piece, pending, consume);
    if (!go_on) {
      return;
    }
    pos = end;
    if (pos >= next_check) {
      CheckInterrupt(pending);
      next_check = pos + kInterruptBytes;
    }
  }
}

template <typename Consume>
bool Encoding::MergePiece(std::string_view piece, InterruptCheck pending, Consume& consume) const {
  if (piece.size() <= kShortPiece) {
    std::array<Token, kShortPiece> tokens;
    const std::size_t count = MergeShort(vocabulary_, piece, tokens.data());
    return consume(std::span<const Token>(tokens.data(), count));
  }
  LongMerge merge(vocabulary_, piece, pending);
  for (;;) {
    const std::vector<Token>& tokens = merge.Next();
    if (tokens.empty()) {
      return true;
    }
    if (!consume(std::span<const Token>(tokens))) {
      return false;
    }
  }
}

std::size_t Encoding::Count(std::string_view text, InterruptCheck pending) const {
  std::size_t count = 0;
  ForEachToken(text, pending, [&count](std::span<const Token> tokens) {
    count += tokens.size();
    return true;
  });
  return count;
}

std::size_t Encoding::CountUpTo(std::string_view text, std::size_t limit,
                                InterruptCheck pending) const {
  std::size_t left = limit;
  bool over = false;
  ForEachToken(text, pending, [&left, &over](std::span<const Token> tokens) {
    over = tokens.size() > left;
    left -= over ? 0 : tokens.size();
    return !over;
  });
  return over ? limit + 1 : limit - left;
}

void Encoding::Encode(std::string_view text, std::vector<TokenId>& ids,
                      InterruptCheck pending) const {
  ForEachToken(text, pending, [&ids](std::span<const Token> tokens) {
    for (const Token token : tokens) {
      ids.push_back(token.id);
    }
    return true;
  });
}

std::string Encoding::DecodeBytes(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) {
    const std::string_view token = vocabulary_.Bytes(id);
    if (token.empty()) {
      throw Error(ErrorCode::kInvalidParameter, "token " + std::to_string(id) +
                                                    " does not exist in encoding \"" +
                                                    std::string(name()) + "\"");
    }
    if (bytes.size() + token.size() > kMaxDecodedBytes) {
      throw Error(ErrorCode::kLimitExceeded,
                  "the text of " + std::to_string(ids.size()) + " tokens is too long",
                  "The limit is " + std::to_string(kMaxDecodedBytes) + " bytes.");
    }
    bytes += token;
  }
  return bytes;
}

std::string Encoding::Decode(std::span<const TokenId> ids) const {
  return RepairUtf8(DecodeBytes(ids));
}

/// The end of the longest run of the first max_tokens tokens that ends on a character boundary.
std::size_t Encoding::PrefixEnd(std::string_view text, std::size_t max_tokens,
                                InterruptCheck pending) const {
  std::size_t left = max_tokens;
  std::size_t end = 0;
  std::size_t boundary = 0;
  ForEachToken(text, pending, [&](std::span<const Token> tokens) {
    for (const Token token : tokens) {
      if (left == 0) {
        return false;
      }
      --left;
      end += token.length;
      if (end == text.size() || !IsContinuation(text[end])) {
        boundary = end;
      }
    }
    return true;
  });
  return boundary;
}

std::string_view Encoding::Truncate(std::string_view text, std::size_t max_tokens,
                                    InterruptCheck pending) const {
  for (;;) {
    const std::size_t end = PrefixEnd(text, max_tokens, pending);
    if (end == text.size()) {
      return text;
    }
    text = text.substr(0, end);
  }
}

}  // namespace ai::token
