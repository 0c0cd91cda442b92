// See reader.hpp. rapidjson parses everything but numbers, see number.hpp; what rapidjson would
// accept and we do not is refused here.
#include "core/json/reader.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/json/number.hpp"
#include "core/json/rapidjson.hpp"
#include "core/utf8.hpp"

namespace ai::json {
namespace {

using rapidjson::ParseErrorCode;
using rapidjson::SizeType;
using Stream = rapidjson::InsituStringStream;

constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag;
constexpr std::size_t kHardMaxBytes = std::size_t{1} << 31;  // rapidjson counts in 32 bits
constexpr std::size_t kUnicodeEscape = 6;                    // the length of \u0041
constexpr const char* kHalfPair = "half of a surrogate pair in a string";
constexpr const char* kBadEscape = "invalid escape or control character in a string";

[[noreturn]] void ThrowInvalid(std::size_t offset, const char* what) {
  throw Error(ErrorCode::kInvalidText,
              "invalid JSON at byte " + std::to_string(offset) + ": " + what);
}

/// rapidjson accepts the second half of a surrogate pair without the first.
struct Encoding : rapidjson::UTF8<> {
  static void Encode(Stream& stream, unsigned code_point) {
    if (code_point >= 0xDC00 && code_point <= 0xDFFF) {
      ThrowInvalid(stream.Tell() - kUnicodeEscape, kHalfPair);
    }
    UTF8<>::Encode(stream, code_point);
  }
};

using Grammar = rapidjson::GenericReader<Encoding, rapidjson::UTF8<>, Allocator>;

/// Adapts a Handler to rapidjson. Only exceptions stop the reading, never a result.
class Bridge {
 public:
  Bridge(Stream& stream, Handler& handler, std::size_t max_depth)
      : stream_(stream), handler_(handler), max_depth_(max_depth) {}

  bool Null() { return handler_.OnNull(), true; }
  bool Bool(bool value) { return handler_.OnBool(value), true; }
  bool String(const char* text, SizeType size, bool /*copy*/) {
    return handler_.OnString({text, size}), true;
  }
  bool Key(const char* text, SizeType size, bool /*copy*/) {
    return handler_.OnKey({text, size}), true;
  }
  bool StartObject() { return Descend(), handler_.OnObjectBegin(), true; }
  bool EndObject(SizeType members) { return --depth_, handler_.OnObjectEnd(members), true; }
  bool StartArray() { return Descend(), handler_.OnArrayBegin(), true; }
  bool EndArray(SizeType elements) { return --depth_, handler_.OnArrayEnd(elements), true; }

  void Number(const Number& number) {
    number.is_integer ? handler_.OnInteger(number.integer) : handler_.OnDouble(number.real);
  }

 private:
  void Descend() {
    if (depth_ == max_depth_) {
      throw Error(ErrorCode::kLimitExceeded,
                  "JSON is nested too deeply at byte " + std::to_string(stream_.Tell()),
                  "The limit is " + std::to_string(max_depth_) + " levels.");
    }
    ++depth_;
  }

  Stream& stream_;
  Handler& handler_;
  std::size_t max_depth_;
  std::size_t depth_ = 0;
};

}  // namespace

/// Replaces rapidjson's, which does not round correctly and has undefined behaviour.
template <>
template <>
void Grammar::ParseNumber<kFlags, Stream, Bridge>(Stream& stream, Bridge& bridge) {
  const ScannedNumber scanned = ScanNumber(stream.src_);
  const std::ptrdiff_t offset = scanned.end - stream.head_;
  if (scanned.problem != nullptr) {
    ThrowInvalid(static_cast<std::size_t>(offset), scanned.problem);
  }
  stream.src_ = stream.head_ + offset;
  bridge.Number(scanned.number);
}

namespace {

const char* Describe(ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return "expected a value";
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "expected the end of the text";
    case rapidjson::kParseErrorObjectMissName:
      return "expected a key in double quotes";
    case rapidjson::kParseErrorObjectMissColon:
      return "expected \":\" after a key";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected \",\" or \"}\" in an object";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected \",\" or \"]\" in an array";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after \"\\u\"";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return kHalfPair;
    case rapidjson::kParseErrorStringEscapeInvalid:
      return kBadEscape;
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "string without an end";
    default:
      return "invalid value";
  }
}

/// rapidjson's SSE2 code overlooks 0x1A to 0x1F in strings. They are valid nowhere in JSON, so the
/// first one is replaced by a control character that it refuses.
void ExposeControl(std::string& text) {
  constexpr std::size_t kBlock = 512;
  const auto above = [](char c) { return static_cast<unsigned char>(c - 0x1A); };
  char* at = text.data();
  char* const end = at + text.size();
  for (; static_cast<std::size_t>(end - at) >= kBlock; at += kBlock) {
    unsigned char least = 0xFF;
    for (std::size_t i = 0; i < kBlock; ++i) {
      least = std::min(least, above(at[i]));
    }
    if (least < 6) {
      break;
    }
  }
  at = std::find_if(at, end, [&](char c) { return above(c) < 6; });
  if (at != end) {
    *at = '\x01';
  }
}

}  // namespace

void CheckSize(std::size_t bytes, const Limits& limits) {
  const std::size_t max_bytes = std::min(limits.max_bytes, kHardMaxBytes);
  if (bytes > max_bytes) {
    throw Error(ErrorCode::kLimitExceeded,
                "JSON text of " + std::to_string(bytes) + " bytes is too large",
                "The limit is " + std::to_string(max_bytes) + " bytes.");
  }
}

void Read(std::string& text, Handler& handler, const Limits& limits) {
  const std::size_t size = text.size();
  CheckSize(size, limits);
  if (const std::size_t valid = utf8::ValidPrefix(text); valid != size) {
    ThrowInvalid(valid, "not valid UTF-8");
  }
  ExposeControl(text);
  text.append(kPadding, '\0');
  Stream stream(text.data());
  Bridge bridge(stream, handler, limits.max_depth);
  const rapidjson::ParseResult result = Grammar().Parse<kFlags>(stream, bridge);
  if (result.IsError()) {
    const bool is_nul =
        result.Code() == rapidjson::kParseErrorStringMissQuotationMark && result.Offset() < size;
    ThrowInvalid(result.Offset(), is_nul ? kBadEscape : Describe(result.Code()));
  }
  if (stream.Tell() != size) {  // rapidjson stops at a NUL
    ThrowInvalid(stream.Tell(), Describe(rapidjson::kParseErrorDocumentRootNotSingular));
  }
}

}  // namespace ai::json
