// Counts, encodes and decodes text as an OpenAI model does: byte-level byte-pair encoding with the
// ranks of cl100k_base or o200k_base, token for token the same as tiktoken's encode_ordinary.
//
// Special tokens such as <|endoftext|> are ordinary characters in a text, so that no user can
// smuggle one in; decoding knows them. Nothing here talks to a provider, and no table is ever
// fetched.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/interrupt.hpp"
#include "core/token/table_file.hpp"
#include "core/token/token_id.hpp"

namespace ai::token {

/// An open table. Immutable: any number of threads may use one. Texts may be of any size and need
/// not be valid UTF-8; time is linear in the text for all practical purposes, working memory
/// bounded (Encode's result apart).
class Encoding {
 public:
  /// Maps the packed table at path; throws Error(kMissingResource) if there is no good one.
  static std::shared_ptr<const Encoding> Open(const std::string& path);

  explicit Encoding(const std::string& path);
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  /// "cl100k_base" or "o200k_base".
  std::string_view name() const { return table_.name(); }
  /// What the table was made from, for people to read.
  std::string_view source() const { return table_.source(); }

  std::size_t Count(std::string_view text, InterruptCheck pending = nullptr) const;

  /// The number of tokens if it is at most limit, else limit + 1; reads no more text than it needs
  /// to know that.
  std::size_t CountUpTo(std::string_view text, std::size_t limit,
                        InterruptCheck pending = nullptr) const;

  /// Appends the tokens of text to ids.
  void Encode(std::string_view text, std::vector<TokenId>& ids,
              InterruptCheck pending = nullptr) const;

  /// The bytes that the tokens stand for, which need not be UTF-8: a character may be several
  /// tokens. Throws Error(kInvalidParameter) at an id that the encoding does not have.
  std::string DecodeBytes(std::span<const TokenId> ids) const;

  /// The same as text: what is not UTF-8 becomes U+FFFD, one for each maximal ill-formed sequence,
  /// as the Unicode standard recommends and Python's errors="replace" does.
  std::string Decode(std::span<const TokenId> ids) const;

  /// A prefix of text that has at most max_tokens tokens of its own and ends on a character
  /// boundary: the text of its first max_tokens tokens, less the last ones where they would split a
  /// character. If such a prefix, cut from what follows, should split into more tokens (rare, but
  /// possible), it is truncated once more.
  std::string_view Truncate(std::string_view text, std::size_t max_tokens,
                            InterruptCheck pending = nullptr) const;

 private:
  template <typename Consume>
  void ForEachToken(std::string_view text, InterruptCheck pending, Consume consume) const;
  template <typename Consume>
  bool MergePiece(std::string_view piece, InterruptCheck pending, Consume& consume) const;
  std::size_t PrefixEnd(std::string_view text, std::size_t max_tokens,
                        InterruptCheck pending) const;

  TableFile table_;
  CharClasses classes_;
  Vocabulary vocabulary_;
};

}  // namespace ai::token
