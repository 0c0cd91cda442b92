// Tests of the embedded model with its real weights. The tokens are those of the reference
// tokenizer (tokenizers 0.23), the numbers those of another engine (candle) with the same weights.
//
// The model is not part of the source. Where it is not installed (scripts/model build/share, or
// AI_MODEL for another file) these tests have nothing to test; with AI_REQUIRE_MODEL set that is a
// failure.
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/encoder.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/model_file.hpp"

using ai::model::Encoder;
using ai::model::Model;
using ai::model::TokenId;

namespace {

struct Case {
  std::string_view text;
  std::vector<TokenId> ids;
  std::array<float, 8> start;  // of the vector
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"How do I reset my password?",
       {101, 2129, 2079, 1045, 25141, 2026, 20786, 1029, 102},
       {0.0068714F, -0.0630474F, -0.0720466F, -0.0324623F, -0.0427479F, 0.0704264F, 0.0090188F,
        0.0154352F}},
      {"Database indexes speed up queries.",
       {101, 7809, 5950, 2229, 3177, 2039, 10861, 5134, 1012, 102},
       {0.0278938F, -0.0173384F, -0.0237236F, 0.0754621F, -0.0251971F, -0.0185799F, 0.0700109F,
        -0.0508472F}},
      {"Soccer is Brazil's favourite sport.",
       {101, 4715, 2003, 4380, 1005, 1055, 8837, 4368, 1012, 102},
       {-0.0136419F, -0.0018148F, -0.0141685F, -0.0224825F, 0.0447229F, 0.0743253F, 0.0899594F,
        0.0111395F}},
      {"\u6771\u4EAC\u306F\u65E5\u672C\u306E\u9996\u90FD\u3067\u3059\u3002",
       {101, 1879, 1755, 1672, 1864, 1876, 1671, 100, 1961, 1665, 30184, 1636, 102},
       {0.1191442F, 0.0873956F, 0.0848793F, -0.0243162F, -0.0423616F, 0.035093F, 0.0821668F,
        -0.0010963F}},
      {"don't can't won't it's",
       {101, 2123, 1005, 1056, 2064, 1005, 1056, 2180, 1005, 1056, 2009, 1005, 1055, 102},
       {-0.0860057F, -0.0025739F, 0.0002995F, -0.0666891F, 0.0156509F, 0.0139837F, 0.089367F,
        -0.0385258F}},
      {"e\u0301 vs \u00E9",
       {101, 1041, 5443, 1041, 102},
       {0.0084369F, 0.1173417F, 0.0581624F, 0.0123878F, -0.0073687F, 0.0246152F, 0.1138542F,
        0.0565939F}},
      {"zero\u200Bwidth and soft\u00ADhyphen",
       {101, 5717, 9148, 11927, 2232, 1998, 3730, 10536, 8458, 2368, 102},
       {0.0665736F, -0.0543587F, 0.0506501F, 0.0278701F, 0.002583F, -0.0213654F, 0.0255126F,
        0.0530264F}},
      {"[CLS] literal special [SEP] tokens [MASK] [UNK]",
       {101, 101, 18204, 2569, 102, 19204, 2015, 103, 100, 102},
       {-0.0793175F, -0.0033639F, 0.1055512F, 0.0443816F, -0.0557994F, 0.0521345F, 0.1071663F,
        -0.0027042F}},
  };
  return cases;
}

/// The model, or null where it may be missing and is.
std::shared_ptr<const Model> Open() {
  auto model = ai::test::OpenInstalledModel();
  if (model == nullptr) {
    WARN("the model is not in " << ai::test::ModelPath() << ": nothing was tested");
    REQUIRE_FALSE(ai::test::ModelIsRequired());
  }
  return model;
}

double Dot(const float* a, const float* b, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += double{a[i]} * b[i];
  }
  return sum;
}

}  // namespace

TEST_CASE("all-MiniLM-L6-v2 is what it should be", "[model][weights]") {
  const auto model = Open();
  if (model == nullptr) {
    return;
  }
  CHECK(model->name() == "all-MiniLM-L6-v2");
  CHECK(model->dimensions() == 384);
  CHECK(model->max_tokens() == 256);
  CHECK(model->notice().find("Apache License") != std::string_view::npos);
  CHECK(model->packed().WeightsAreIntact());
}

TEST_CASE("all-MiniLM-L6-v2 has the tokens of the reference", "[model][weights]") {
  const auto model = Open();
  if (model == nullptr) {
    return;
  }
  for (const Case& c : Cases()) {
    CAPTURE(c.text);
    CHECK(model->Tokenize(c.text) == c.ids);
  }
  std::string text;
  for (int i = 0; i < 255; ++i) {
    text += "word ";
  }
  CHECK(model->CountTokens(text) == 257);
  CHECK(model->Tokenize(text).size() == 256);
}

TEST_CASE("all-MiniLM-L6-v2 has the vectors of the reference", "[model][weights]") {
  const auto model = Open();
  if (model == nullptr) {
    return;
  }
  std::vector<std::string_view> texts;
  for (const Case& c : Cases()) {
    texts.push_back(c.text);
  }
  std::vector<float> out(texts.size() * model->dimensions());
  Encoder(model).Encode(texts, out);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i]);
    const float* const vector = out.data() + i * model->dimensions();
    CHECK(std::fabs(Dot(vector, vector, model->dimensions()) - 1) < 1e-5);
    for (std::size_t k = 0; k < 8; ++k) {
      CHECK(std::fabs(vector[k] - Cases()[i].start[k]) < 1e-5);
    }
  }
}

TEST_CASE("all-MiniLM-L6-v2 knows what belongs together", "[model][weights]") {
  const auto model = Open();
  if (model == nullptr) {
    return;
  }
  const std::vector<std::string_view> texts = {"He plays the guitar in a band.",
                                               "She is a violinist in the orchestra.",
                                               "Quarterly revenue rose by twelve percent."};
  std::vector<float> out(texts.size() * 384);
  Encoder(model).Encode(texts, out);
  CHECK(Dot(out.data(), out.data() + 384, 384) > 0.3);
  CHECK(Dot(out.data(), out.data() + 768, 384) < 0.1);
}
