// How fast replies are taken apart, on one thread: 100 vectors of 1,536 dimensions, as each
// provider writes them. The rate is that of the body's bytes, everything included: UTF-8, JSON,
// base64 or decimal numbers, indexes, finite values.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "core/json/document.hpp"
#include "core/provider/registry.hpp"

namespace {

using ai::bench::kMega;

constexpr std::size_t kTexts = 100;
constexpr std::size_t kDimensions = 1536;
constexpr std::size_t kRuns = 51;

std::vector<float> Values() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.03F);
  std::vector<float> values(kTexts * kDimensions);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

void AppendBase64(std::string& out, std::span<const float> values) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static_assert(kDimensions % 3 == 0);
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size_bytes(); i += 3) {
    const unsigned bits = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
    for (const int shift : {18, 12, 6, 0}) {
      out += kAlphabet[bits >> shift & 63];
    }
  }
}

/// As floats have to be written to be read back, or as the doubles that OpenAI writes.
template <typename T>
void AppendNumbers(std::string& out, std::span<const float> values) {
  out += '[';
  for (const float value : values) {
    std::array<char, 32> buffer;
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<T>(value));
    out.append(out.back() == '[' ? "" : ",").append(buffer.data(), end);
  }
  out += ']';
}

using Append = std::function<void(std::string&, std::span<const float>)>;

std::string Vectors(const std::string& before, const std::string& after, const Append& append) {
  const std::vector<float> values = Values();
  std::string out;
  for (std::size_t i = 0; i < kTexts; ++i) {
    out += i == 0 ? "" : ",";
    out += before;
    append(out, std::span(values).subspan(i * kDimensions, kDimensions));
    out += after.empty() ? "" : after + std::to_string(i) + "}";
  }
  return out;
}

std::string OpenAiReply(const Append& append, const std::string& quote) {
  return R"({"object":"list","data":[)" +
         Vectors(R"({"object":"embedding","embedding":)" + quote, quote + R"(,"index":)", append) +
         R"(],"model":"m","usage":{"prompt_tokens":800,"total_tokens":800}})";
}

double Rate(const char* implementation, const std::string& body) {
  const ai::json::Document config = ai::json::Document::Parse(
      R"({"model":"m","dimensions":1536,"implementation":")" + std::string(implementation) + "\"}");
  const auto provider = ai::provider::MakeProvider(config.root());
  const ai::provider::Endpoint endpoint{"https://api.example.com/v1"};
  ai::http::Response response{.status = 200};
  ai::provider::Embeddings embeddings;
  double seconds = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kRuns; ++i) {
    response.body = body;  // which Parse destroys
    seconds = std::min(
        seconds, ai::bench::Seconds([&] {
          if (!provider->Parse(response, endpoint, kTexts, ai::WallTime(), embeddings).ok()) {
            std::puts("the reply was refused");
            std::exit(1);
          }
        }));
  }
  return static_cast<double>(body.size()) / seconds;
}

}  // namespace

int main() {
  const std::string base64 = OpenAiReply(AppendBase64, "\"");
  const std::string floats = OpenAiReply(AppendNumbers<float>, "");
  const std::string doubles = OpenAiReply(AppendNumbers<double>, "");
  const std::string bare = Vectors("", "", AppendNumbers<float>);
  ai::bench::Report report(ai::bench::MemcpyRate(doubles, kRuns));
  report.Rate("OpenAI, base64", Rate("openai", base64), 1000 * kMega);
  report.Rate("Voyage, base64", Rate("voyageai", base64), 1000 * kMega);
  report.Rate("OpenAI, numbers of 32 bits", Rate("openai", floats), 200 * kMega);
  report.Rate("OpenAI, numbers of 64 bits", Rate("openai", doubles), 200 * kMega);
  report.Rate("Ollama", Rate("ollama", R"({"model":"m","embeddings":[)" + bare + "]}"),
              200 * kMega);
  report.Rate("Cohere", Rate("cohere", R"({"id":"1","embeddings":{"float":[)" + bare + "]}}"),
              200 * kMega);
  return report.status();
}
