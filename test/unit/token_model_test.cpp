// Tests of core/token/encoding_name and estimate: what is known without any table.
#include <string>

#include "core/token/encoding_name.hpp"
#include "core/token/estimate.hpp"
#include "unit/catch_bridge.hpp"

using ai::token::EncodingForModel;
using ai::token::EncodingName;
using ai::token::EstimateTokens;
using ai::token::TruncateEstimated;

TEST_CASE("models have encodings", "[token]") {
  for (const char* model :
       {"text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002", "gpt-4",
        "gpt-4-0314", "gpt-4-turbo", "gpt-4-32k", "gpt-3.5", "gpt-3.5-turbo", "gpt-3.5-turbo-16k",
        "gpt-35-turbo", "gpt-35-turbo-16k", "davinci-002", "babbage-002", "ft:gpt-4",
        "ft:gpt-3.5-turbo-0613:org::id", "ft:davinci-002:org", "openai/text-embedding-3-small"}) {
    CAPTURE(model);
    CHECK(EncodingForModel(model) == EncodingName::kCl100kBase);
  }
  for (const char* model : {"gpt-4o",
                            "gpt-4o-mini",
                            "gpt-4o-2024-05-13",
                            "chatgpt-4o-latest",
                            "gpt-4.1",
                            "gpt-4.1-nano",
                            "gpt-4.5-preview",
                            "gpt-5",
                            "gpt-5-mini",
                            "gpt-5.1",
                            "gpt-oss-120b",
                            "o1",
                            "o1-mini",
                            "o1-preview",
                            "o3",
                            "o3-mini",
                            "o4-mini",
                            "o4-mini-high",
                            "ft:gpt-4o",
                            "ft:gpt-4o-mini-2024-07-18:org::id",
                            "openai/gpt-4o"}) {
    CAPTURE(model);
    CHECK(EncodingForModel(model) == EncodingName::kO200kBase);
  }
}

TEST_CASE("other models have none that is known", "[token]") {
  for (const char* model : {"",
                            "gpt",
                            "gpt-",
                            "gpt-2",
                            "gpt2",
                            "gpt-40",
                            "GPT-4",
                            "o10",
                            "o2",
                            "o4",
                            "text-embedding-3",
                            "text-embedding-004",
                            "text-davinci-003",
                            "davinci",
                            "all-MiniLM-L6-v2",
                            "voyage-3",
                            "nomic-embed-text",
                            "openai/",
                            "ft:",
                            "x-gpt-4",
                            "cl100k_base",
                            "text-embedding-ada-0021"}) {
    CAPTURE(model);
    CHECK_FALSE(EncodingForModel(model));
  }
}

TEST_CASE("encodings have names and places", "[token]") {
  using ai::token::ParseEncodingName;
  CHECK(ParseEncodingName("cl100k_base") == EncodingName::kCl100kBase);
  CHECK(ParseEncodingName("o200k_base") == EncodingName::kO200kBase);
  CHECK_FALSE(ParseEncodingName("p50k_base"));
  CHECK_FALSE(ParseEncodingName(""));
  for (const EncodingName name : {EncodingName::kCl100kBase, EncodingName::kO200kBase}) {
    CHECK(ai::token::FactsOf(name).name == name);
    CHECK(ParseEncodingName(ai::token::FactsOf(name).text) == name);
  }
  CHECK(ai::token::TablePath("/share", EncodingName::kO200kBase) == "/share/o200k_base.tokens");
}

TEST_CASE("an estimate is a quarter of the bytes, rounded up", "[token]") {
  CHECK(EstimateTokens("") == 0);
  CHECK(EstimateTokens("a") == 1);
  CHECK(EstimateTokens("abcd") == 1);
  CHECK(EstimateTokens("abcde") == 2);
  CHECK(EstimateTokens(std::string(4000, 'x')) == 1000);
}

TEST_CASE("truncation by estimate", "[token]") {
  CHECK(TruncateEstimated("abcdefgh", 0) == "");
  CHECK(TruncateEstimated("abcdefgh", 1) == "abcd");
  CHECK(TruncateEstimated("abcdefgh", 2) == "abcdefgh");
  CHECK(TruncateEstimated("abcdefgh", static_cast<std::size_t>(-1)) == "abcdefgh");
  CHECK(TruncateEstimated("abc\u00E4defgh", 1) == "abc");
}
