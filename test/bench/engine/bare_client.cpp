#include "bench/engine/bare_client.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/http/curl_transport.hpp"
#include "core/json/document.hpp"
#include "core/provider/registry.hpp"

namespace ai::bench {
namespace {

/// Rows in the format of COPY ... (FORMAT binary).
class BinaryRows {
 public:
  BinaryRows() : data_("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19) {}

  void Add(std::int64_t key, const std::string& text, std::span<const float> vector) {
    Number<std::int16_t>(4);
    Number<std::int32_t>(8);
    Number(key);
    Number<std::int32_t>(4);
    Number<std::int32_t>(0);
    Number(static_cast<std::int32_t>(text.size()));
    data_ += text;
    Number(static_cast<std::int32_t>(4 + vector.size_bytes()));
    Number(static_cast<std::int16_t>(vector.size()));
    Number<std::int16_t>(0);
    for (const float value : vector) {
      Number(std::bit_cast<std::int32_t>(value));
    }
  }

  const std::string& Finish() {
    Number<std::int16_t>(-1);
    return data_;
  }

 private:
  template <typename T>
  void Number(T value) {
    for (int shift = (sizeof(T) - 1) * 8; shift >= 0; shift -= 8) {
      data_ += static_cast<char>(value >> shift);
    }
  }

  std::string data_;
};

struct Part {
  std::size_t first;
  std::size_t count;
};

http::Request RequestFor(const provider::Provider& provider, const provider::Endpoint& endpoint,
                         const std::vector<std::string>& texts, const Part& part) {
  const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(part.first);
  const std::vector<std::string_view> views(begin, begin + static_cast<std::ptrdiff_t>(part.count));
  return provider.Build(views, endpoint);
}

}  // namespace

void RunBareClient(Database& database, const BareRun& run, const std::vector<std::string>& texts) {
  const std::string dimensions = std::to_string(run.dimensions);
  const auto config = json::Document::Parse(R"({"implementation": "openai", "model": "mock-)" +
                                            dimensions + R"(", "dimensions": )" + dimensions + "}");
  const auto provider = provider::MakeProvider(config.root());
  const provider::Endpoint endpoint{run.base_url, {}};
  http::TransportOptions options;
  options.allowed_hosts = http::HostList::Parse("127.0.0.1");
  http::CurlTransport transport(std::move(options));
  const std::string copy =
      "COPY " + run.table + " (id, chunk_seq, chunk, embedding) FROM STDIN (FORMAT binary)";
  std::unordered_map<std::uint64_t, Part> parts;
  provider::Embeddings embeddings;
  std::size_t sent = 0;
  for (std::size_t stored = 0; stored < texts.size();) {
    while (sent < texts.size() && parts.size() < run.in_flight) {
      const Part part{sent, std::min(run.batch_size, texts.size() - sent)};
      const auto id = transport.Submit(RequestFor(*provider, endpoint, texts, part));
      parts.emplace(static_cast<std::uint64_t>(id), part);
      sent += part.count;
    }
    transport.Poll(std::chrono::seconds(1));
    for (http::Completion& completion : transport.Collect()) {
      const Part part = parts.extract(static_cast<std::uint64_t>(completion.id)).mapped();
      http::Response& response = completion.result.value();
      if (!provider->Parse(response, endpoint, part.count, WallTime(), embeddings)) {
        throw std::runtime_error("the mock provider gave no vectors");
      }
      BinaryRows rows;
      for (std::size_t i = 0; i < part.count; ++i) {
        rows.Add(static_cast<std::int64_t>(part.first + i + 1), texts[part.first + i],
                 embeddings[i]);
      }
      transport.Recycle(std::move(response.body));
      database.Copy(copy, rows.Finish());
      stored += part.count;
    }
  }
}

}  // namespace ai::bench
