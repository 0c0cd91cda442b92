// Packed models that are damaged, cut short or of another kind: an error, never a crash.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/encoder.hpp"
#include "core/model/model.hpp"
#include "core/token/table_format.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/model_fixture.hpp"
#include "unit/token_fixture.hpp"

using ai::Error;
using ai::ErrorCode;
using ai::model::Model;
using ai::model::ModelHeader;
using ai::model::PackedModel;
using ai::test::IsError;

namespace {

/// The detail of the error that opening these bytes gives.
std::string DetailOf(const std::string& bytes) {
  try {
    PackedModel::Own(bytes, "here");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kMissingResource);
    CHECK(error.hint().find("make model") != std::string::npos);
    return std::string(error.what()) + ": " + error.detail();
  }
  return "no error";
}

/// The same model with another header, whose checksum is right.
template <typename Change>
std::string WithHeader(std::string bytes, const Change& change) {
  ModelHeader header = {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.header_checksum = ai::token::Checksum(
      std::string_view(bytes).substr(0, offsetof(ModelHeader, header_checksum)));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

/// Opens the bytes and computes with them. Returns whether they could be opened.
bool Use(const std::string& bytes) {
  try {
    const auto model = ai::test::OwnModel(bytes);
    const std::vector<std::string_view> texts = {"the unbelievable cat [SEP] \u4E2D dog"};
    std::vector<float> out(model->dimensions());
    ai::model::Encoder(model).Encode(texts, out);
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kMissingResource);
    return false;
  }
}

}  // namespace

TEST_CASE("a packed model says what it is", "[model]") {
  const ai::test::TemporaryFile file(ai::test::PackTiny());
  const auto model = Model::Open(file.path());
  CHECK(model->name() == "tiny");
  CHECK(model->source() == "made by a test");
  CHECK(model->notice() == "No rights reserved.");
  CHECK(model->dimensions() == 32);
  CHECK(model->max_tokens() == 16);
  CHECK(model->packed().WeightsAreIntact());
  CHECK(model->Prefix(ai::model::Purpose::kQuery).empty());
}

TEST_CASE("a missing model is an error that says how to get it", "[model]") {
  try {
    Model::Open("/nowhere/all-MiniLM-L6-v2.model");
    FAIL("opened");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kMissingResource);
    CHECK(error.what() ==
          std::string("model \"/nowhere/all-MiniLM-L6-v2.model\" is not installed"));
    CHECK(error.detail() == "The operating system says: No such file or directory.");
    CHECK_THAT(error.hint(), ai::test::StartsWith("Run \"make model\""));
  }
  CHECK_THROWS_MATCHES(Model::Open("/dev/null"), Error,
                       IsError(ErrorCode::kMissingResource, "cannot be read"));
}

TEST_CASE("what is no packed model is refused", "[model]") {
  const std::string good = ai::test::PackTiny();
  CHECK(DetailOf(good) == "no error");
  CHECK(DetailOf("") ==
        "model \"here\" is damaged: The file has 0 bytes, fewer than its header needs.");
  CHECK(DetailOf("some other file") ==
        "model \"here\" is something else: A packed model begins with \"AIMODELS\".");
  CHECK(DetailOf(good + "x") == "model \"here\" is damaged: The file has " +
                                    std::to_string(good.size() + 1) + " bytes, its header says " +
                                    std::to_string(good.size()) + ".");
  CHECK(DetailOf(WithHeader(good, [](ModelHeader& header) { header.version = 7; })) ==
        "model \"here\" has an unknown format: The file is of version 7, expected version 1.");
  CHECK(DetailOf(WithHeader(good, [](ModelHeader& header) { header.byte_order = 0x04030201; })) ==
        "model \"here\" is for another kind of machine: Its numbers are in the other byte order.");
  CHECK(DetailOf(WithHeader(good, [](ModelHeader& header) { header.shape.heads = 3; })) ==
        "model \"here\" is damaged: In its header, the attention heads are not a multiple of 16 "
        "wide.");
  CHECK(DetailOf(WithHeader(good, [](ModelHeader& header) { header.shape.layers = 3; })) ==
        "model \"here\" is damaged: Its size does not fit the sizes in its header.");
  CHECK(DetailOf(WithHeader(good, [](ModelHeader& header) { header.end_token = 40; })) ==
        "model \"here\" is damaged: In its header, a special token is not in the vocabulary.");
  std::string flipped = good;
  flipped[sizeof(ModelHeader) + 100] ^= 1;
  CHECK(DetailOf(flipped) ==
        "model \"here\" is damaged: Its vocabulary does not match its checksum.");
  flipped = good;
  flipped[30] ^= 1;
  CHECK(DetailOf(flipped) == "model \"here\" is damaged: Its header does not match its checksum.");
}

TEST_CASE("a model cut short anywhere is refused", "[model]") {
  const std::string good = ai::test::PackTiny();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    try {
      PackedModel::Own(good.substr(0, size), "here");
    } catch (const Error& error) {
      refused += error.code() == ErrorCode::kMissingResource ? 1 : 0;
    }
  }
  CHECK(refused == good.size());
}

TEST_CASE("a header that lies, with a good checksum, does no harm", "[model]") {
  const std::string good = ai::test::PackTiny();
  REQUIRE(Use(good));
  for (std::size_t at = offsetof(ModelHeader, file_size); at < sizeof(ModelHeader); at += 4) {
    for (const std::uint32_t value : {0U, 1U, 2U, 31U, 64U, 65536U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
      CAPTURE(at, value);
      REQUIRE_NOTHROW(Use(WithHeader(good, [&](ModelHeader& header) {
        std::memcpy(reinterpret_cast<char*>(&header) + at, &value, sizeof(value));
      })));
    }
  }
}

TEST_CASE("a vocabulary that lies, with a good checksum, does no harm", "[model]") {
  const std::string good = ai::test::PackTiny();
  ModelHeader header = {};
  std::memcpy(&header, good.data(), sizeof(header));
  const ai::model::Layout layout = LayOut(header);
  for (std::size_t at = layout.words; at + 4 <= layout.bytes; at += 4) {
    for (const std::uint32_t value : {0U, 5U, 0xFFFFFFFFU}) {
      std::string bytes = good;
      std::memcpy(bytes.data() + at, &value, sizeof(value));
      const std::uint64_t sum = ai::token::Checksum(
          std::string_view(bytes).substr(sizeof(header), layout.token_embeddings - sizeof(header)));
      CAPTURE(at, value);
      REQUIRE_NOTHROW(Use(WithHeader(bytes, [&](ModelHeader& h) { h.vocabulary_checksum = sum; })));
    }
  }
}

TEST_CASE("damaged weights are noticed when asked, and never give a vector", "[model]") {
  ai::test::RandomTensors tensors(7);
  std::string bytes = PackModel(ai::test::TinySource(), tensors);
  ModelHeader header = {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  const ai::model::Layout layout = LayOut(header);
  // A position embedding that is not a number.
  std::memset(bytes.data() + layout.position_embeddings, 0xFF, 4);
  const auto model = ai::test::OwnModel(bytes);
  CHECK_FALSE(model->packed().WeightsAreIntact());
  const std::vector<std::string_view> texts = {"cat"};
  std::vector<float> out(32);
  CHECK_THROWS_MATCHES(ai::model::Encoder(model).Encode(texts, out), Error,
                       IsError(ErrorCode::kMissingResource, "model \"tiny\" gives no numbers"));
}

TEST_CASE("parts that do not fit are not packed", "[model]") {
  const auto message = [](const ai::model::ModelSource& source) -> std::string {
    try {
      ai::test::PackTiny(source);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  ai::model::ModelSource source = ai::test::TinySource();
  source.tokens.pop_back();
  CHECK(message(source) == "cannot pack the model: it has 39 tokens, not 40");
  source = ai::test::TinySource();
  source.tokens[6] = "the";
  CHECK(message(source) == "cannot pack the model: tokens 5 and 6 are the same");
  source = ai::test::TinySource();
  source.name = std::string(65, 'x');
  CHECK(message(source) ==
        "cannot pack the model: \"" + source.name + "\" is longer than 64 bytes");
  source = ai::test::TinySource();
  source.shape.hidden = 24;
  CHECK(message(source) ==
        "cannot pack the model: the hidden size is not a multiple of 16 up to 4096");
  source = ai::test::TinySource();
  source.rules.specials.assign(17, 0);
  CHECK(message(source) == "cannot pack the model: it has more than 16 special tokens");

  ai::test::RandomTensors tensors(7);
  tensors.Set("encoder.layer.1.output.dense.weight", std::vector<float>(32 * 48, 1e5F));
  CHECK_THROWS_MATCHES(PackModel(ai::test::TinySource(), tensors), Error,
                       IsError(ErrorCode::kNotSupported,
                               "\"encoder.layer.1.output.dense\" has a weight that is too great"));
}
