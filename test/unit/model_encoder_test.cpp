// The encoder with a tiny model, against the plain computation of model_reference.hpp.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/encoder.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/model_fixture.hpp"
#include "unit/model_reference.hpp"

using ai::Error;
using ai::ErrorCode;
using ai::model::Encoder;
using ai::model::Model;
using ai::test::IsError;

namespace {

int interrupt_countdown = 0;

bool Interrupt() {
  return --interrupt_countdown < 0;
}

struct Fixture {
  explicit Fixture(const ai::model::ModelSource& model_source = ai::test::TinySource())
      : source(model_source),
        tensors(7),
        model(ai::test::OwnModel(PackModel(source, tensors))),
        reference(source.shape, source.epsilon, tensors) {}

  double WorstDifference(std::string_view text, const float* vector,
                         const std::string& prefix = {}) const {
    const std::vector<double> expected =
        reference.Encode(model->Tokenize(prefix + std::string(text)));
    double worst = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      worst = std::max(worst, std::fabs(expected[k] - vector[k]));
    }
    return worst;
  }

  ai::model::ModelSource source;
  ai::test::RandomTensors tensors;
  std::shared_ptr<const Model> model;
  ai::test::ReferenceEncoder reference;
};

std::string RandomText(std::mt19937& random, std::size_t words) {
  static const std::vector<std::string> vocabulary = {"the", "cat", "sat",  "on", "unbelievable",
                                                      "mat", ".",   "dogs", "a",  "bab"};
  std::string text;
  for (std::size_t i = 0; i < words; ++i) {
    text += vocabulary[random() % vocabulary.size()] + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("vectors are those of a plain computation, with every kernel", "[model]") {
  const Fixture fixture;
  const std::vector<std::string_view> texts = {"", "the cat sat on the mat", "unbelievable",
                                               "cat cat cat cat cat cat cat cat cat cat cat"};
  for (const ai::model::Kernels* const kernels : ai::model::RunnableKernels()) {
    CAPTURE(kernels->name);
    std::vector<float> out(texts.size() * 32);
    Encoder encoder(fixture.model, *kernels);
    encoder.Encode(texts, out);
    CHECK(encoder.truncated().empty());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(fixture.WorstDifference(texts[i], out.data() + i * 32) < 1e-5);
    }
  }
}

TEST_CASE("the first token's vector, where a model wants that", "[model]") {
  ai::model::ModelSource source = ai::test::TinySource();
  source.shape.pooling = ai::model::Pooling::kFirst;
  const Fixture fixture(source);
  const std::vector<std::string_view> texts = {"the cat sat"};
  std::vector<float> out(32);
  Encoder(fixture.model).Encode(texts, out);
  CHECK(fixture.WorstDifference(texts[0], out.data()) < 1e-5);
}

TEST_CASE("a text has the same vector in any company", "[model]") {
  const Fixture fixture;
  std::mt19937 random(3);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 200; ++i) {
    texts.push_back(RandomText(random, random() % 20));
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<float> out(views.size() * 32);
  Encoder encoder(fixture.model);
  encoder.Encode(views, out);
  std::vector<std::size_t> truncated;
  std::size_t tokens = 0;
  double worst = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    worst = std::max(worst, fixture.WorstDifference(views[i], out.data() + i * 32));
    const std::size_t count = fixture.model->CountTokens(views[i]);
    tokens += std::min(count, fixture.model->max_tokens());
    if (count > fixture.model->max_tokens()) {
      truncated.push_back(i);
    }
  }
  CHECK(encoder.tokens() == tokens);
  CHECK(worst < 1e-5);
  CHECK_FALSE(truncated.empty());
  CHECK(std::vector(encoder.truncated().begin(), encoder.truncated().end()) == truncated);
}

TEST_CASE("a batch can be computed in steps", "[model]") {
  const Fixture fixture;
  // So slow that each step ends after one unit of work.
  ai::model::Kernels slow = ai::model::kPlainKernels;
  slow.operations_per_millisecond = 1;
  const std::vector<std::string_view> texts(100, "the cat sat on the mat");
  std::vector<float> out(texts.size() * 32);
  Encoder encoder(fixture.model, slow);
  CHECK(encoder.Step());
  encoder.Start(texts, out);
  std::size_t steps = 1;
  while (!encoder.Step()) {
    ++steps;
  }
  // 4 groups of 256 tokens or fewer, each gathered, pooled, and in 2 layers projected and fed in
  // 4 blocks or fewer and attended text by text.
  CHECK(steps > 200);
  CHECK(encoder.Step());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(fixture.WorstDifference(texts[i], out.data() + i * 32) < 1e-5);
  }
  encoder.Start({}, {});
  CHECK(encoder.Step());
}

TEST_CASE("what a batch has not begun with can be left out", "[model]") {
  const Fixture fixture;
  ai::model::Kernels slow = ai::model::kPlainKernels;
  slow.operations_per_millisecond = 1;
  const std::vector<std::string_view> texts(100, "the cat sat on the mat");
  std::vector<float> out(texts.size() * 32, 2);
  Encoder encoder(fixture.model, slow);
  encoder.Start(texts, out);
  CHECK(encoder.DropUnstarted() == 0);
  CHECK(encoder.Step());
  encoder.Start(texts, out);
  REQUIRE_FALSE(encoder.Step());
  const std::size_t begun = encoder.DropUnstarted();
  REQUIRE(begun > 0);
  REQUIRE(begun < texts.size());
  while (!encoder.Step()) {
  }
  CHECK(fixture.WorstDifference(texts[0], &out[(begun - 1) * 32]) < 1e-5);
  CHECK(out[begun * 32] == 2);
}

TEST_CASE("an interrupt ends a batch, and the encoder can be used again", "[model]") {
  const Fixture fixture;
  const std::vector<std::string_view> texts(50, "the cat sat on the mat");
  std::vector<float> out(texts.size() * 32);
  Encoder encoder(fixture.model);
  interrupt_countdown = 1'000'000;
  encoder.Encode(texts, out, Interrupt);
  const int checks = 1'000'000 - interrupt_countdown;
  CHECK(checks > 100);
  for (int after = 0; after < checks; after += 7) {
    interrupt_countdown = after;
    CHECK_THROWS_MATCHES(encoder.Encode(texts, out, Interrupt), Error,
                         IsError(ErrorCode::kCancelled, "canceling on request"));
  }
  encoder.Encode(texts, out);
  CHECK(fixture.WorstDifference(texts[49], out.data() + 49 * 32) < 1e-5);
}

TEST_CASE("a model may want words before a query or a passage", "[model]") {
  ai::model::ModelSource source = ai::test::TinySource();
  source.query_prefix = "query: ";
  source.passage_prefix = "the ";
  const Fixture fixture(source);
  CHECK(fixture.model->Prefix(ai::model::Purpose::kPassage) == "the ");
  const std::vector<std::string_view> texts = {"cat sat"};
  std::vector<float> out(32);
  Encoder encoder(fixture.model);
  encoder.Encode(texts, out, nullptr, ai::model::Purpose::kQuery);
  CHECK(fixture.WorstDifference(texts[0], out.data(), "query: ") < 1e-5);
  encoder.Encode(texts, out, nullptr, ai::model::Purpose::kPassage);
  CHECK(fixture.WorstDifference(texts[0], out.data(), "the ") < 1e-5);
  encoder.Encode(texts, out);
  CHECK(fixture.WorstDifference(texts[0], out.data()) < 1e-5);
}

TEST_CASE("room for the vectors must fit", "[model]") {
  const Fixture fixture;
  const std::vector<std::string_view> texts = {"cat"};
  std::vector<float> out(31);
  CHECK_THROWS_MATCHES(
      Encoder(fixture.model).Encode(texts, out), Error,
      IsError(ErrorCode::kInternal, "there is no room for 1 vectors of 32 dimensions"));
}
