// Tests of the two encodings with their real tables. The expected tokens are those of tiktoken
// 0.14.0.
//
// The tables are not part of the source. Where they are not installed (scripts/token-tables
// build/share, or AI_TOKEN_TABLES for another directory) these tests have nothing to test; with
// AI_REQUIRE_TOKEN_TABLES set that is a failure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/token/encoding.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/token_tables.hpp"

using ai::token::Encoding;
using ai::token::EncodingName;
using ai::token::TokenId;
using Ids = std::vector<TokenId>;
using std::string_view_literals::operator""sv;

namespace {

struct Case {
  std::string_view text;
  Ids cl100k;
  Ids o200k;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"hello world", {15339, 1917}, {24912, 2375}},
      {"The quick brown fox jumps over the lazy dog.",
       {791, 4062, 14198, 39935, 35308, 927, 279, 16053, 5679, 13},
       {976, 4853, 19705, 68347, 65613, 1072, 290, 29082, 6446, 13}},
      {"I'll say it's what they've done; WE'RE DON'T.",
       {40, 3358, 2019, 433, 596, 1148, 814, 3077, 2884, 26, 20255, 95253, 45373, 17773, 13},
       {67504, 2891, 4275, 1412, 51676, 4167, 26, 26919, 6, 1099, 153384, 13}},
      {"it'\u017F a long s", {275, 6, 129, 123, 264, 1317, 274}, {278, 6, 70067, 261, 1701, 265}},
      {"camelCase, snake_case and SCREAMING_CASE: HTTPServer2",
       {94421, 4301, 11, 26332, 19640, 323, 7683, 16294, 1753, 29640, 25, 10339, 5592, 17},
       {178067, 6187, 11, 46964, 43667, 326, 15580, 32924, 2694, 66492, 25, 21929, 6444, 17}},
      {"1234567890 3.14159 1,000,000",
       {4513, 10961, 16474, 15, 220, 18, 13, 9335, 2946, 220, 16, 11, 931, 11, 931},
       {7633, 19354, 29338, 15, 220, 18, 13, 16926, 4621, 220, 16, 11, 1302, 11, 1302}},
      {"def f(x):\n    return x ** 2\n\n\n# done\t!\r\n",
       {755, 282, 2120, 997, 262, 471, 865, 3146, 220, 17, 1432, 2, 2884, 197, 46726},
       {1314, 285, 4061, 1883, 271, 622, 1215, 6240, 220, 17, 2499, 2, 4167, 197, 99074}},
      {"   leading and trailing   ", {256, 6522, 323, 28848, 262}, {256, 8117, 326, 57985, 271}},
      {"a\n \n\n  b \n  ", {64, 198, 4815, 220, 293, 720, 256}, {64, 126470, 220, 287, 793, 256}},
      {"Größe, naïve café, Ångström",
       {6600, 80040, 11, 95980, 588, 53050, 11, 80352, 983, 496, 86684},
       {3193, 52715, 11, 153475, 737, 30469, 11, 49805, 892, 162823}},
      {"Привет, как дела?",
       {54745, 28089, 8341, 11, 52770, 95369, 1506, 30},
       {23881, 131903, 11, 6220, 78857, 30}},
      {"你好，世界！今天天气很好。",
       {57668, 53901, 3922, 3574, 244, 98220, 6447, 37271, 36827, 36827, 30320, 242, 17599, 230,
        53901, 1811},
       {177519, 979, 28428, 3393, 10941, 1487, 25896, 148483, 788}},
      {"こんにちは世界、カタカナ",
       {90115, 3574, 244, 98220, 5486, 71493, 47307, 71493, 96452},
       {95839, 28428, 1395, 14214, 12288, 14214, 27354}},
      {"안녕하세요 세계",
       {31495, 230, 75265, 243, 92245, 28867, 116, 22783, 226},
       {14307, 171731, 75755}},
      {"\u0645\u0631\u062D\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
       {10386, 11318, 30925, 22071, 5821, 28946, 32482, 24102, 32482, 10386},
       {158894, 26537, 101462, 12773}},
      {"नमस\u094Dत\u0947 द\u0941न\u093Fय\u093E",
       {61196, 88344, 79468, 31584, 97, 35470, 15272, 99, 73753, 61196, 43411, 107, 24810},
       {998, 1637, 14681, 628, 64593}},
      {"\u05E9\u05DC\u05D5\u05DD \u05E2\u05D5\u05DC\u05DD",
       {59511, 50391, 37769, 251, 17732, 95, 37769, 250, 147, 251},
       {106154, 143896}},
      {"สว\u0E31สด\u0E35ชาวโลก",
       {36748, 38313, 24152, 36748, 38133, 29419, 49220, 21437, 38313, 8321, 224, 32882, 26265},
       {4406, 187986, 21883, 2293, 8247, 17359, 93469}},
      {"e\u0301 A\u0301BC \u0301ABC",
       {68, 54939, 362, 54939, 5002, 220, 54939, 26484},
       {68, 13430, 355, 13430, 7551, 220, 13430, 44197}},
      {"\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 "
       "\U0001F3F3\uFE0F\u200D\U0001F308 \U0001F44D\U0001F3FD \U0001F1E9\U0001F1EA ❤\uFE0F",
       {9468, 239,  102, 378, 235,   9468, 239, 102,   378, 235, 9468,  239,  100, 378,
        235,  9468, 239, 99,  11410, 237,  111, 31643, 378, 235, 9468,  234,  230, 62904,
        235,  9468, 237, 121, 11410, 229,  102, 9468,  229, 103, 71570, 31643},
       {28823, 102,   2524, 28823, 102, 2524,   28823, 100, 2524,   28823, 99,    9552, 237,
        111,   15148, 2524, 64364, 230, 160433, 52622, 121, 173468, 102,   55506, 103,  122205}},
      {"\U0001F600\U0001F600\U0001F600\U0001F600",
       {76460, 222, 76460, 222, 76460, 222, 76460, 222},
       {84083, 84083, 84083, 84083}},
      {"日ABC日ABCd ǅabc",
       {9080, 26484, 9080, 26484, 67, 220, 131, 227, 13997},
       {2292, 44197, 2292, 44197, 67, 220, 131, 227, 26682}},
      {"https://example.com/a/b?c=d&e=f#g",
       {2485, 1129, 8858, 916, 14520, 3554, 30, 66, 26477, 69170, 18603, 47252},
       {4172, 1684, 18582, 1136, 23839, 7611, 30, 66, 56413, 63734, 40464, 178782}},
      {"{\"a\": [1, 2.5e-3, null]}",
       {5018, 64, 794, 510, 16, 11, 220, 17, 13, 20, 68, 12, 18, 11, 854, 14316},
       {10848, 64, 1243, 723, 16, 11, 220, 17, 13, 20, 68, 12, 18, 11, 1256, 28000}},
      {"<|endoftext|> <|fim_prefix|>",
       {27, 91, 8862, 728, 428, 91, 29, 83739, 69, 318, 14301, 91, 29},
       {27, 91, 419, 1440, 919, 91, 29, 464, 91, 103473, 33197, 91, 29}},
      {"////\n//\n/", {60967, 2341, 14}, {1426, 3914, 198, 14}},
      {"\302\240\u3000\u2028x\302\205",
       {4194, 23249, 378, 101, 87, 126, 227},
       {5310, 1397, 51008, 87, 126, 227}},
      {"\U00010400\U00010428\U0001D49C Ⅷ ½ \u0663",
       {172, 238, 238, 222, 172, 238, 238, 101, 57352, 240, 250, 220, 71567, 100, 220, 27154, 220,
        149, 96},
       {172, 238, 238, 222, 172, 238, 238, 101, 43120, 240, 250, 220, 25371, 100, 220, 27124, 220,
        81473}},
      {"\U0001E900\U0001E922 \U00010D50\U00010D70",
       {172, 252, 97, 222, 172, 252, 97, 95, 220, 172, 238, 113, 238, 172, 238, 113, 108},
       {172, 252, 97, 222, 172, 252, 97, 95, 220, 172, 238, 113, 238, 172, 238, 113, 108}},
      {"a\u200Bb\uFEFFc", {64, 16067, 65, 3305, 66}, {64, 3310, 65, 5574, 66}},
      {"________________", {7841}, {10673}},
      {"\000\001\177"sv, {188, 189, 221}, {188, 189, 221}},
  };
  return cases;
}

/// The table, or null where it may be missing and is.
std::shared_ptr<const Encoding> Open(EncodingName name) {
  auto encoding = ai::test::OpenInstalled(name);
  if (encoding == nullptr) {
    WARN("the token tables are not in " << ai::test::TableDirectory() << ": nothing was tested");
    REQUIRE_FALSE(ai::test::TablesAreRequired());
  }
  return encoding;
}

Ids Encode(const Encoding& encoding, std::string_view text) {
  Ids ids;
  encoding.Encode(text, ids);
  CHECK(encoding.Count(text) == ids.size());
  return ids;
}

/// Texts of the cases in an order that a generator of random numbers gives.
std::string MixedText() {
  std::string text;
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += Cases()[(state >> 33) % Cases().size()].text;
  }
  return text;
}

std::uint64_t Hash(const Ids& ids) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const TokenId id : ids) {
    hash = (hash ^ static_cast<std::uint64_t>(id)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

TEST_CASE("cl100k_base has the tokens of tiktoken", "[token][tables]") {
  const auto encoding = Open(EncodingName::kCl100kBase);
  if (encoding == nullptr) {
    return;
  }
  CHECK(encoding->name() == "cl100k_base");
  CHECK(encoding->source() == "gpt-tokenizer 4.0.0, Unicode 16.0.0");
  for (const Case& c : Cases()) {
    CAPTURE(c.text);
    CHECK(Encode(*encoding, c.text) == c.cl100k);
    CHECK(encoding->Decode(c.cl100k) == c.text);
  }
  const std::string mixed = MixedText();
  REQUIRE(mixed.size() == 520062);
  const Ids ids = Encode(*encoding, mixed);
  CHECK(ids.size() == 217324);
  CHECK(Hash(ids) == 0x7BF81C35DA861A8EU);
  CHECK(encoding->Decode(Ids{100257, 100276}) == "<|endoftext|><|endofprompt|>");
  CHECK_THROWS_AS(encoding->Decode(Ids{100256}), ai::Error);
}

TEST_CASE("o200k_base has the tokens of tiktoken", "[token][tables]") {
  const auto encoding = Open(EncodingName::kO200kBase);
  if (encoding == nullptr) {
    return;
  }
  CHECK(encoding->name() == "o200k_base");
  for (const Case& c : Cases()) {
    CAPTURE(c.text);
    CHECK(Encode(*encoding, c.text) == c.o200k);
    CHECK(encoding->Decode(c.o200k) == c.text);
  }
  const Ids ids = Encode(*encoding, MixedText());
  CHECK(ids.size() == 173041);
  CHECK(Hash(ids) == 0xCAEF7B2C5D5459CAU);
  CHECK(encoding->Decode(Ids{199999, 200018}) == "<|endoftext|><|endofprompt|>");
  CHECK_THROWS_AS(encoding->Decode(Ids{199998}), ai::Error);
}

TEST_CASE("long runs have the tokens of tiktoken", "[token][tables]") {
  const auto cl100k = Open(EncodingName::kCl100kBase);
  const auto o200k = Open(EncodingName::kO200kBase);
  if (cl100k == nullptr || o200k == nullptr) {
    return;
  }
  const std::size_t size = 200'000;
  CHECK(cl100k->Count(std::string(size, 'a')) == 25'000);
  CHECK(o200k->Count(std::string(size, 'a')) == 25'000);
  CHECK(cl100k->Count(std::string(size, '=')) == 3'125);
  CHECK(cl100k->Count(std::string(size, '1')) == 66'667);
  CHECK(cl100k->Truncate(std::string(size, 'a'), 10) == std::string(80, 'a'));
}
