#include "core/model/wordpiece.hpp"

#include <algorithm>
#include <utility>

#include "core/utf8.hpp"

namespace ai::model {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters; the reference has the same limit
constexpr std::size_t kCharacterBytes = 4;
constexpr std::size_t kInterruptBytes = 65536;

bool IsCharacterStart(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Small, and inlined where a string's append would not be.
std::size_t Write(char32_t character, char* to) {
  if (character < 0x80) {
    to[0] = static_cast<char>(character);
    return 1;
  }
  std::string encoded;  // never more than what a string holds without allocation
  utf8::Append(encoded, character);
  return encoded.copy(to, kCharacterBytes);
}

}  // namespace

/// One pass over a text: collects a word, cuts it up when it ends.
class WordPiece::Walk {
 public:
  /// Tokens go to ids, or are only counted if that is null. Stops when there are more than limit.
  Walk(const WordPiece& tokenizer, std::size_t limit, std::vector<TokenId>* ids,
       InterruptCheck pending)
      : tokenizer_(tokenizer), limit_(limit), ids_(ids), pending_(pending) {}

  void Take(std::string_view text) {
    std::size_t next_check = kInterruptBytes;
    for (std::size_t at = 0; at < text.size() && count_ <= limit_;) {
      if (at >= next_check) {
        CheckInterrupt(pending_);
        next_check = at + kInterruptBytes;
      }
      if (tokenizer_.starts_special_[static_cast<unsigned char>(text[at])]) {
        const TokenId special = tokenizer_.SpecialAt(text.substr(at));
        if (special != kNoToken) {
          EndWord();
          Emit(special);
          at += tokenizer_.vocabulary_.Text(special).size();
          continue;
        }
      }
      const utf8::Decoded decoded = utf8::DecodeAt(text, at);
      at += decoded.length;
      TakeCharacter(decoded.code_point);
    }
  }

  void EndWord() {
    if (characters_ > 0) {
      CutWord();
      characters_ = 0;
      size_ = 0;
    }
  }

  std::size_t count() const { return count_; }

 private:
  void TakeCharacter(char32_t character) {
    const std::uint8_t traits = TraitsOf(character);
    if ((traits & kSpaceTrait) != 0) {
      EndWord();
      return;
    }
    if ((traits & kRemovedTrait) != 0) {
      return;
    }
    const bool alone = tokenizer_.rules_.space_ideographs && (traits & kIdeographTrait) != 0;
    if (alone) {
      EndWord();
    }
    const Folded folded = Fold(character, tokenizer_.rules_.folding);
    for (std::size_t i = 0; i < folded.count; ++i) {
      Append(folded.characters[i]);
    }
    if (alone) {
      EndWord();
    }
  }

  void Append(char32_t character) {
    const bool alone = (TraitsOf(character) & kPunctuationTrait) != 0;
    if (alone) {
      EndWord();
    }
    // What goes beyond the longest word is counted, not kept.
    if (characters_ < kLongestWord) {
      size_ += Write(character, word_.data() + size_);
    }
    characters_ = std::min(characters_ + 1, kLongestWord + 1);
    if (alone) {
      EndWord();
    }
  }

  /// The longest token at the start of rest, and how long it is; kNoToken if there is none.
  std::pair<TokenId, std::size_t> LongestPiece(std::string_view rest, bool first) const {
    std::size_t length = std::min(rest.size(), tokenizer_.longest_);
    for (; length > 0; --length) {
      if (length < rest.size() && !IsCharacterStart(rest[length])) {
        continue;
      }
      const std::string_view piece = rest.substr(0, length);
      const TokenId id = first ? tokenizer_.vocabulary_.FindWord(piece)
                               : tokenizer_.vocabulary_.FindContinuation(piece);
      if (id != kNoToken) {
        return {id, length};
      }
    }
    return {kNoToken, 0};
  }

  void CutWord() {
    std::size_t pieces = 0;
    std::string_view rest(word_.data(), size_);
    for (; characters_ <= kLongestWord && !rest.empty(); ++pieces) {
      const auto [id, length] = LongestPiece(rest, pieces == 0);
      if (id == kNoToken) {
        break;
      }
      pieces_[pieces] = id;
      rest.remove_prefix(length);
    }
    if (!rest.empty()) {
      Emit(tokenizer_.rules_.unknown);
      return;
    }
    for (std::size_t i = 0; i < pieces; ++i) {
      Emit(pieces_[i]);
    }
  }

  void Emit(TokenId id) {
    if (count_ < limit_ && ids_ != nullptr) {
      ids_->push_back(id);
    }
    ++count_;
  }

  const WordPiece& tokenizer_;
  std::size_t limit_;
  std::vector<TokenId>* ids_;
  InterruptCheck pending_;
  std::size_t count_ = 0;
  std::size_t characters_ = 0;  // of the word so far; one more than the limit stands for any number
  std::size_t size_ = 0;        // of the word in bytes
  std::array<char, kLongestWord * kCharacterBytes> word_;
  std::array<TokenId, kLongestWord> pieces_;
};

WordPiece::WordPiece(const Vocabulary& vocabulary, TokenizerRules rules)
    : vocabulary_(vocabulary), rules_(std::move(rules)) {
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    longest_ = std::max(longest_, vocabulary_.Text(id).size());
  }
  for (const TokenId id : rules_.specials) {
    starts_special_[static_cast<unsigned char>(vocabulary_.Text(id).front())] = true;
  }
}

/// The longest special token that text begins with.
TokenId WordPiece::SpecialAt(std::string_view text) const {
  TokenId longest = kNoToken;
  for (const TokenId id : rules_.specials) {
    const std::string_view special = vocabulary_.Text(id);
    if (text.starts_with(special) &&
        (longest == kNoToken || special.size() > vocabulary_.Text(longest).size())) {
      longest = id;
    }
  }
  return longest;
}

bool WordPiece::Tokenize(std::string_view prefix, std::string_view text, std::size_t limit,
                         std::vector<TokenId>& ids, InterruptCheck pending) const {
  const std::size_t inner_limit = limit - 2;
  ids.push_back(rules_.start);
  Walk walk(*this, inner_limit, &ids, pending);
  walk.Take(prefix);
  walk.Take(text);
  walk.EndWord();
  ids.push_back(rules_.end);
  return walk.count() > inner_limit;
}

std::size_t WordPiece::Count(std::string_view text, InterruptCheck pending) const {
  Walk walk(*this, static_cast<std::size_t>(-1), nullptr, pending);
  walk.Take(text);
  walk.EndWord();
  return walk.count() + 2;
}

}  // namespace ai::model
