// See reader.hpp. rapidjson walks the grammar and decodes strings; encoding, depth, numbers and the
// end of the text are checked here.
#include "core/json/reader.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "core/json/number.hpp"
#include "core/json/rapidjson.hpp"
#include "core/text/utf8.hpp"

namespace ai::json {
namespace {

constexpr std::size_t kHardMaxBytes = std::size_t{1} << 31;  // rapidjson counts in 32 bits

// Numbers as strings, because rapidjson's own conversion is not safe on every input.
constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

[[noreturn]] void ThrowInvalid(std::size_t offset, const std::string& what) {
  throw Error(ErrorCode::kInvalidText,
              "invalid JSON at byte " + std::to_string(offset) + ": " + what);
}

const char* Explain(rapidjson::ParseErrorCode code) {
  using namespace rapidjson;  // NOLINT(google-build-using-namespace): only enumerators below
  switch (code) {
    case kParseErrorDocumentEmpty:
      return "expected a value";
    case kParseErrorDocumentRootNotSingular:
      return "expected the end of the text";
    case kParseErrorValueInvalid:
      return "invalid value";
    case kParseErrorObjectMissName:
      return "expected a key in double quotes";
    case kParseErrorObjectMissColon:
      return "expected \":\" after a key";
    case kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected \",\" or \"}\" in an object";
    case kParseErrorArrayMissCommaOrSquareBracket:
      return "expected \",\" or \"]\" in an array";
    case kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after \"\\u\"";
    case kParseErrorStringUnicodeSurrogateInvalid:
      return "half of a surrogate pair in a string";
    case kParseErrorStringEscapeInvalid:
      return "invalid escape or control character in a string";
    case kParseErrorStringMissQuotationMark:
      return "string without an end";
    case kParseErrorNumberTooBig:
      return "number too large";
    case kParseErrorNumberMissFraction:
      return "expected a digit after the decimal point";
    case kParseErrorNumberMissExponent:
      return "expected a digit in the exponent";
    default:
      return "syntax error";
  }
}

const char* SkipWhitespace(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
    ++at;
  }
  return at;
}

/// The handler that rapidjson sees; the names of its members are those that rapidjson asks for.
class Adapter {
 public:
  Adapter(rapidjson::MemoryStream& stream, Handler& handler, std::size_t max_depth)
      : stream_(stream), handler_(handler), max_depth_(max_depth) {}

  bool Null() {
    handler_.OnNull();
    return true;
  }

  bool Bool(bool value) {
    handler_.OnBool(value);
    return true;
  }

  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const ScannedNumber scanned = ScanNumber(text, text + length);
    if (scanned.outcome != NumberOutcome::kOk || scanned.end != text + length) {
      ThrowInvalid(stream_.Tell() - length, Explain(rapidjson::kParseErrorNumberTooBig));
    }
    Deliver(scanned.number);
    return true;
  }

  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    handler_.OnString(Checked(text, length));
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    handler_.OnKey(Checked(text, length));
    return true;
  }

  bool StartObject() {
    Descend();
    handler_.OnObjectBegin();
    return true;
  }

  bool EndObject(rapidjson::SizeType /*members*/) {
    --depth_;
    handler_.OnObjectEnd();
    return true;
  }

  bool StartArray() {
    Descend();
    handler_.OnArrayBegin();
    ReadNumbers();
    return true;
  }

  bool EndArray(rapidjson::SizeType /*elements*/) {
    --depth_;
    handler_.OnArrayEnd();
    return true;
  }

  // Never called with kFlags, but instantiated.
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Uint64(std::uint64_t value) { return Double(static_cast<double>(value)); }
  bool Int64(std::int64_t value) {
    handler_.OnInteger(value);
    return true;
  }
  bool Double(double value) {
    handler_.OnDouble(value);
    return true;
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

  /// rapidjson turns a lone low surrogate (\uDC00) into bytes that are not UTF-8.
  std::string_view Checked(const char* text, rapidjson::SizeType length) const {
    const std::string_view decoded(text, length);
    if (!utf8::IsValid(decoded)) {
      ThrowInvalid(stream_.Tell(),
                   std::string(Explain(rapidjson::kParseErrorStringUnicodeSurrogateInvalid)) +
                       " that ends here");
    }
    return decoded;
  }

  void Deliver(const Number& number) {
    if (number.is_integer) {
      handler_.OnInteger(number.integer);
    } else {
      handler_.OnDouble(number.real);
    }
  }

  /// Reads the numbers that an array starts with, past rapidjson, at about half the cost.
  ///
  /// INVARIANT: the parser is about to take the character that the stream stands on, the '[', and
  /// then to look for the first element or the ']'. So the stream may be moved to the comma before
  /// a later element if that element is a number: the parser then takes the comma for the bracket
  /// and sees the rest of the array. Hence a number is delivered only when another one follows, the
  /// last is always left to the parser, and every mistake too.
  void ReadNumbers() {
    const char* const end = stream_.end_;
    ScannedNumber last = ScanNumber(SkipWhitespace(stream_.src_ + 1, end), end);
    while (last.outcome == NumberOutcome::kOk) {
      const char* const comma = SkipWhitespace(last.end, end);
      if (comma == end || *comma != ',') {
        return;
      }
      const ScannedNumber next = ScanNumber(SkipWhitespace(comma + 1, end), end);
      if (next.outcome != NumberOutcome::kOk) {
        return;
      }
      Deliver(last.number);
      stream_.src_ = comma;
      last = next;
    }
  }

  rapidjson::MemoryStream& stream_;
  Handler& handler_;
  std::size_t max_depth_;
  std::size_t depth_ = 0;
};

}  // namespace

void Read(std::string_view text, Handler& handler, const Limits& limits) {
  const std::size_t max_bytes = std::min(limits.max_bytes, kHardMaxBytes);
  if (text.size() > max_bytes) {
    throw Error(ErrorCode::kLimitExceeded,
                "JSON text of " + std::to_string(text.size()) + " bytes is too large",
                "The limit is " + std::to_string(max_bytes) + " bytes.");
  }
  if (const std::size_t valid = utf8::ValidPrefix(text); valid != text.size()) {
    ThrowInvalid(valid, "not valid UTF-8");
  }
  rapidjson::MemoryStream stream(text.data(), text.size());
  Adapter adapter(stream, handler, limits.max_depth);
  RapidReader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, adapter);
  if (result.IsError()) {
    ThrowInvalid(result.Offset(), Explain(result.Code()));
  }
  // rapidjson takes a zero byte for the end of the text.
  if (stream.Tell() != text.size()) {
    ThrowInvalid(stream.Tell(), Explain(rapidjson::kParseErrorDocumentRootNotSingular));
  }
}

}  // namespace ai::json
