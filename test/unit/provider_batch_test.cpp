// Tests of core/provider/batch and the limits of each provider.
#include "core/provider/batch.hpp"

#include <string>
#include <string_view>

#include "unit/catch_bridge.hpp"
#include "unit/provider_fixture.hpp"
#include "unit/token_fixture.hpp"

using ai::provider::Batch;
using ai::provider::Limits;
using ai::provider::Prepare;
using ai::provider::Prepared;
using ai::test::TestProvider;

namespace {

Prepared Text(std::string_view text, std::size_t tokens) {
  return {text, tokens, false};
}

}  // namespace

TEST_CASE("a batch is full by items, tokens or bytes", "[provider]") {
  Batch batch({.max_items = 3, .max_tokens = 10, .max_bytes = 20});
  CHECK(batch.items() == 0);
  CHECK_FALSE(batch.full());
  batch.Add(Text("12345", 4));
  CHECK(batch.Fits(Text("12345", 6)));
  CHECK_FALSE(batch.Fits(Text("12345", 7)));
  CHECK(batch.Fits(Text("123456789012345", 1)));
  CHECK_FALSE(batch.Fits(Text("1234567890123456", 1)));
  batch.Add(Text("12345", 2));
  batch.Add(Text("12345", 2));
  CHECK_FALSE(batch.Fits(Text("", 0)));
  CHECK(batch.full());
  CHECK(batch.items() == 3);
  CHECK(batch.tokens() == 8);
  CHECK(batch.bytes() == 15);
  batch.Clear();
  CHECK(batch.items() + batch.tokens() + batch.bytes() == 0);
  CHECK(batch.Fits(Text("12345", 7)));
}

TEST_CASE("a text that is too large alone gets a batch of its own", "[provider]") {
  Batch batch({.max_items = 3, .max_tokens = 10, .max_bytes = 20});
  const std::string large(100, 'x');
  CHECK(batch.Fits(Text(large, 50)));
  batch.Add(Text(large, 50));
  CHECK(batch.full());
  CHECK_FALSE(batch.Fits(Text("x", 1)));
  CHECK_FALSE(batch.Fits(Text("", 0)));
}

TEST_CASE("without a limit on tokens they do not count", "[provider]") {
  Batch batch({.max_items = 1000});
  batch.Add(Text("x", 1'000'000'000));
  CHECK(batch.Fits(Text("x", 1'000'000'000)));
  CHECK_FALSE(batch.full());
}

TEST_CASE("a text is cut at a token boundary", "[provider]") {
  const auto encoding = ai::test::SmallEncoding(ai::token::SplitRule::kCl100k, {"ab", "abab"});
  const Limits limits{.max_items = 1, .max_input_tokens = 3};
  const Prepared whole = Prepare("abababab ", limits, encoding.get());
  CHECK(whole.text == "abababab ");
  CHECK(whole.tokens == 3);
  CHECK_FALSE(whole.truncated);
  const Prepared cut = Prepare("ababababab xyz", limits, encoding.get());
  CHECK(cut.truncated);
  CHECK(cut.tokens <= 3);
  CHECK(cut.tokens == encoding->Count(cut.text));
  CHECK(std::string_view("ababababab xyz").starts_with(cut.text));
  CHECK(cut.text.size() > 4);
  const Prepared unlimited = Prepare("ababababab xyz", {.max_items = 1}, encoding.get());
  CHECK_FALSE(unlimited.truncated);
  CHECK(unlimited.tokens == encoding->Count("ababababab xyz"));
}

TEST_CASE("without a table tokens are estimated", "[provider]") {
  const Limits limits{.max_items = 1, .max_input_tokens = 2};
  const Prepared whole = Prepare("12345678", limits, nullptr);
  CHECK(whole.text == "12345678");
  CHECK(whole.tokens == 2);
  CHECK_FALSE(whole.truncated);
  const Prepared cut = Prepare("1234567\xC3\xA9", limits, nullptr);
  CHECK(cut.text == "1234567");
  CHECK(cut.tokens == 2);
  CHECK(cut.truncated);
  CHECK_FALSE(Prepare(std::string(1000, 'x'), {.max_items = 1}, nullptr).truncated);
}

TEST_CASE("preparing can be interrupted", "[provider]") {
  const auto encoding = ai::test::SmallEncoding(ai::token::SplitRule::kCl100k, {});
  const std::string text(std::size_t{10} << 20, 'x');
  CHECK_THROWS_MATCHES(Prepare(text, {.max_items = 1}, encoding.get(), [] { return true; }),
                       ai::Error, ai::test::IsError(ai::ErrorCode::kCancelled));
}

TEST_CASE("each provider has its limits", "[provider]") {
  const auto limits = [](std::string_view implementation, const std::string& model) {
    return TestProvider(implementation, R"("model":")" + model + "\"")->limits();
  };
  const Limits openai = limits("openai", "text-embedding-3-small");
  CHECK(openai.max_items == 2048);
  CHECK(openai.max_tokens == 300'000);
  CHECK(openai.max_input_tokens == 8191);
  CHECK(limits("voyageai", "voyage-3.5-lite").max_tokens == 800'000);
  CHECK(limits("voyageai", "voyage-3.5").max_tokens == 256'000);
  CHECK(limits("voyageai", "voyage-3-large").max_tokens == 96'000);
  CHECK(limits("voyageai", "voyage-3-large").max_items == 1000);
  CHECK(limits("voyageai", "voyage-2").max_items == 128);
  CHECK(limits("voyageai", "voyage-99").max_tokens == 96'000);
  CHECK(limits("cohere", "embed-v4.0").max_items == 96);
  CHECK(limits("ollama", "m").max_items == 2048);
  const auto config = ai::json::Document::Parse(R"({"implementation":"ollama","model":"m"})");
  CHECK(ai::provider::MakeProvider(config.root(), {.ollama_max_chunks_per_batch = 7})
            ->limits()
            .max_items == 7);
}
