// Random documents and what random mistakes make of them: each either parses or throws ai::Error,
// the DOM and the reader agree about which, and what parses can be written and read again.
// rapidjson in its slow and strict settings, with its own numbers and UTF-8 check, sees the same in
// each.
#include <rapidjson/encodedstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "core/utf8.hpp"
#include "unit/catch_bridge.hpp"

using ai::json::Document;
using ai::json::Limits;
using ai::json::Writer;

namespace {

constexpr Limits kLimits{1 << 20, 12};

/// What broken senders and attackers would put in.
constexpr std::string_view kTokens[] = {"[",
                                        "]",
                                        "{",
                                        "}",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\\u",
                                        "\\ud800",
                                        "\\udc00",
                                        "\\u0000",
                                        "null",
                                        "-",
                                        "0",
                                        "1e",
                                        "e-2147483648",
                                        "1e-2147483639",
                                        "0.000000000000000000001",
                                        ".",
                                        "9999999999",
                                        "[[[[[[[[",
                                        "{\"a\":",
                                        "\n",
                                        "\x7f",
                                        "\xC3",
                                        "\xED\xA0\x80",
                                        "Infinity",
                                        "00",
                                        "1e308",
                                        "0e999"};

class Fuzzer {
 public:
  explicit Fuzzer(std::uint32_t seed) : random_(seed) {}

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::string DocumentText() {
    std::string out;
    Writer writer(out);
    WriteValue(writer, 0);
    return out;
  }

  /// Changes a few places.
  void Mutate(std::string& text) {
    for (std::uint32_t i = Below(4); i > 0 && !text.empty(); --i) {
      const std::size_t at = Below(static_cast<std::uint32_t>(text.size()));
      switch (Below(6)) {
        case 0:
          text[at] = static_cast<char>(Below(256));
          break;
        case 1:
          text.erase(at, 1 + Below(4));
          break;
        case 2:
          text.insert(at, Token());
          break;
        case 3:
          text.resize(at);
          break;
        case 4:
          text.insert(at, text.substr(at, Below(40)));
          break;
        default:
          text.replace(at, 1, Token());
      }
    }
  }

 private:
  std::string Token() { return std::string(kTokens[Below(std::size(kTokens))]); }

  std::string Text() {
    std::string out;
    for (std::uint32_t i = Below(12); i > 0; --i) {
      ai::utf8::Append(out, Below(4) != 0 ? Below(128) : Below(0x110000));
    }
    return out;
  }

  void WriteValue(Writer& writer, int depth) {
    switch (Below(depth < 6 ? 9 : 6)) {
      case 0:
        writer.Null();
        break;
      case 1:
        writer.Bool(Below(2) == 0);
        break;
      case 2:
        writer.Integer(static_cast<std::int64_t>(random_() >> Below(64)));
        break;
      case 3:
      case 4:
        writer.Double((static_cast<double>(random_()) - 0x1p63) * (Below(2) == 0 ? 1e-19 : 1e288));
        break;
      case 5:
        writer.String(Text());
        break;
      case 6:
      case 7:
        WriteArray(writer, depth);
        break;
      default:
        WriteObject(writer, depth);
    }
  }

  void WriteArray(Writer& writer, int depth) {
    writer.BeginArray();
    for (std::uint32_t i = Below(8); i > 0; --i) {
      WriteValue(writer, depth + 1);
    }
    writer.EndArray();
  }

  void WriteObject(Writer& writer, int depth) {
    writer.BeginObject();
    for (std::uint32_t i = Below(5); i > 0; --i) {
      writer.Key(Text());
      WriteValue(writer, depth + 1);
    }
    writer.EndObject();
  }

  std::mt19937_64 random_;
};

std::string Rewritten(const std::string& text) {
  std::string out;
  Writer(out).Copy(Document::Parse(text, kLimits).root());
  return out;
}

bool Reads(std::string text) {
  try {
    ai::json::Handler ignore;
    ai::json::Read(text, ignore, kLimits);
    return true;
  } catch (const ai::Error&) {
    return false;
  }
}

/// What a reader reports, as text. Only that a number is there, not which: how numbers are rounded
/// is compared with strtod in json_number_test.cpp.
class Trace {
 public:
  void Add(char what, std::string_view text = {}) {
    events_ += what;
    events_ += std::to_string(text.size());
    events_ += text;
  }
  const std::string& events() const { return events_; }

 private:
  std::string events_;
};

class OurTrace final : public ai::json::Handler, public Trace {
 public:
  void OnNull() override { Add('n'); }
  void OnBool(bool value) override { Add(value ? 't' : 'f'); }
  void OnDouble(double /*value*/) override { Add('#'); }
  void OnString(std::string_view value) override { Add('s', value); }
  void OnObjectBegin() override { Add('{'); }
  void OnKey(std::string_view key) override { Add('k', key); }
  void OnObjectEnd(std::uint32_t /*members*/) override { Add('}'); }
  void OnArrayBegin() override { Add('['); }
  void OnArrayEnd(std::uint32_t /*elements*/) override { Add(']'); }
};

class ReferenceTrace final : public Trace {
 public:
  bool Null() { return Note('n'); }
  bool Bool(bool value) { return Note(value ? 't' : 'f'); }
  bool Int(int) { return Note('#'); }
  bool Uint(unsigned) { return Note('#'); }
  bool Int64(std::int64_t) { return Note('#'); }
  bool Uint64(std::uint64_t) { return Note('#'); }
  /// It lets numbers through that are too large; we refuse them.
  bool Double(double value) { return std::isfinite(value) && Note('#'); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool) { return Note('s', {text, size}); }
  bool StartObject() { return Note('{'); }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return Note('k', {text, size}); }
  bool EndObject(rapidjson::SizeType) { return Note('}'); }
  bool StartArray() { return Note('['); }
  bool EndArray(rapidjson::SizeType) { return Note(']'); }

 private:
  bool Note(char what, std::string_view text = {}) {
    Add(what, text);
    return true;
  }
};

/// Empty if it is refused.
std::string OurEvents(std::string text) {
  try {
    OurTrace trace;
    ai::json::Read(text, trace);
    return trace.events();
  } catch (const ai::Error&) {
    return {};
  }
}

/// Empty if it is refused.
std::string ReferenceEvents(const std::string& text) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream memory(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(memory);
  ReferenceTrace trace;
  return rapidjson::Reader().Parse<kFlags>(stream, trace) ? trace.events() : std::string();
}

}  // namespace

TEST_CASE("random documents survive writing and reading", "[json][fuzz]") {
  Fuzzer fuzzer(1);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = fuzzer.DocumentText();
    if (Rewritten(text) != text) {
      FAIL("round " << round << ": " << text << "\nbecame " << Rewritten(text));
    }
  }
}

TEST_CASE("mutated documents parse or throw, never more", "[json][fuzz]") {
  Fuzzer fuzzer(2);
  int parsed = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = fuzzer.DocumentText();
    fuzzer.Mutate(text);
    INFO("round " << round << ": " << text);
    try {
      const std::string once = Rewritten(text);
      ++parsed;
      if (Rewritten(once) != once || !Reads(text)) {
        FAIL("is not stable: " << once);
      }
    } catch (const ai::Error& error) {
      ++refused;
      if (error.code() == ai::ErrorCode::kInternal || Reads(text)) {
        FAIL("wrong error: " << error.what());
      }
    }
  }
  // Both sides must have been exercised, or the fuzzer is broken.
  CHECK(parsed > 3000);
  CHECK(refused > 3000);
}

TEST_CASE("another reader sees the same in mutated documents", "[json][fuzz]") {
  Fuzzer fuzzer(3);
  int parsed = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = fuzzer.DocumentText();
    fuzzer.Mutate(text);
    // A zero byte is its end of a text, it takes half a character, and its arithmetic has no room
    // for some exponents.
    if (text.find('\0') != std::string::npos || text.find("\\ud") != std::string::npos ||
        text.find("-21474836") != std::string::npos) {
      continue;
    }
    const std::string events = OurEvents(text);
    ++(events.empty() ? refused : parsed);
    if (events != ReferenceEvents(text)) {
      FAIL("round " << round << ": " << text << "\nours: " << events
                    << "\nthe other's: " << ReferenceEvents(text));
    }
  }
  CHECK(parsed > 3000);
  CHECK(refused > 3000);
}

TEST_CASE("every prefix of a document but the whole is refused", "[json][fuzz]") {
  const std::string text = R"({"a":[1.5,-2e3,"\u00e9\n"],"b":{"c":[true,false,null]},"d":"x"})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    if (Reads(text.substr(0, length))) {
      FAIL("accepted: " << text.substr(0, length));
    }
  }
  REQUIRE(Reads(text));
}
