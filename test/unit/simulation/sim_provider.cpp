#include "unit/simulation/sim_provider.hpp"

#include <cstdio>

#include "core/json/document.hpp"

namespace ai::simulation {
namespace {

struct Text {
  QueueId queue = 0;
  Key key = 0;
  int version = 0;
  unsigned chunk = 0;
};

Text Parse(std::string_view text) {
  Text parsed;
  std::sscanf(std::string(text).c_str(), "q%d k%u v%d c%u", &parsed.queue, &parsed.key,
              &parsed.version, &parsed.chunk);
  return parsed;
}

/// What the texts of a request do to a provider that is well.
Poison WorstOf(World& world, std::span<const Text> texts) {
  for (const Text& text : texts) {
    const SimQueue* queue = world.Find(text.queue);
    if (queue == nullptr) {
      continue;
    }
    const auto row = queue->source.find(text.key);
    if (row != queue->source.end() && row->second.version == text.version &&
        (row->second.poison == Poison::kRefused || row->second.poison == Poison::kFails ||
         row->second.poison == Poison::kGarbage)) {
      return row->second.poison;
    }
  }
  return Poison::kNone;
}

std::string Vectors(std::span<const Text> texts, bool mixed, bool one_less, bool nan) {
  std::string body = R"({"object": "list", "data": [)";
  for (std::size_t i = 0; i + (one_less ? 1 : 0) < texts.size(); ++i) {
    const Text& text = texts[mixed ? texts.size() - 1 - i : i];
    body += (i == 0 ? "" : ", ") + std::string(R"({"object": "embedding", "index": )") +
            std::to_string(i) + R"(, "embedding": [)" + (nan ? "NaN" : std::to_string(text.queue)) +
            ", " + std::to_string(text.key * 4 + text.chunk) + ", " + std::to_string(text.version) +
            "]}";
  }
  return body + R"(], "model": "simulated", "usage": {"prompt_tokens": 1, "total_tokens": 1}})";
}

}  // namespace

std::array<float, kDimensions> VectorFor(std::string_view text) {
  const Text parsed = Parse(text);
  return {static_cast<float>(parsed.queue), static_cast<float>(parsed.key * 4 + parsed.chunk),
          static_cast<float>(parsed.version)};
}

test::Scene Answer(World& world, const WorkerState& worker, const http::Request& request) {
  const auto number = static_cast<std::size_t>(request.url[request.url.find("provider") + 8] - '0');
  SimProvider& provider = world.providers[number];
  const json::Document document = json::Document::Parse(request.body);
  std::vector<Text> texts;
  for (const json::Value& text : document.root().At("input").items()) {
    texts.push_back(Parse(text.AsString()));
  }
  const milliseconds latency(1 + world.random.Below(200));
  world.Note("worker " + std::to_string(worker.lease) + " asks provider " + std::to_string(number) +
             " for " + std::to_string(texts.size()) + " texts, the first of key " +
             std::to_string(texts.front().key) + " of queue " +
             std::to_string(texts.front().queue));
  Mood mood = provider.until > world.now() ? provider.mood : Mood::kWell;
  if (mood == Mood::kFlaky) {
    mood = world.Chance(0.5) ? static_cast<Mood>(world.random.Below(kMoods)) : Mood::kWell;
  }
  switch (mood) {
    case Mood::kDown:
      world.Count("provider down");
      return test::Reply(500, R"({"error": {"message": "down"}})", latency);
    case Mood::kUnreachable:
      world.Count("provider unreachable");
      return test::ConnectionFailure(latency);
    case Mood::kHangs:
      world.Count("provider hangs");
      return test::Hang();
    case Mood::kRefuses: {
      world.Count("429");
      const bool is_error = worker.defect == Defect::kChargeOn429;
      http::Headers headers;
      if (world.Chance(0.5)) {
        headers.Add("retry-after", std::to_string(1 + world.random.Below(20)));
      }
      return test::Reply(is_error ? 400 : 429, R"({"error": {"message": "slow down"}})", latency,
                         headers);
    }
    case Mood::kGarbage:
      world.Count("garbage");
      return test::Reply(200, "<html>", latency);
    case Mood::kShort:
      world.Count("missing vector");
      return test::Reply(200, Vectors(texts, false, true, false), latency);
    case Mood::kNotFinite:
      world.Count("NaN");
      return test::Reply(200, Vectors(texts, false, false, true), latency);
    case Mood::kNoKey:
      world.Count("401");
      return test::Reply(401, R"({"error": {"message": "no such key"}})", latency);
    default:
      break;
  }
  const milliseconds time = mood == Mood::kSlow ? latency * 50 : latency;
  switch (WorstOf(world, texts)) {
    case Poison::kRefused:
      world.Count("refused text");
      return test::Reply(400, R"({"error": {"message": "no such text"}})", time);
    case Poison::kFails:
      world.Count("text that a provider fails by");
      return test::Reply(500, R"({"error": {"message": "failed"}})", time);
    case Poison::kGarbage:
      world.Count("text with a bad reply");
      return test::Reply(200, "{}", time);
    default:
      world.Count("request answered");
      return test::Reply(200, Vectors(texts, worker.defect == Defect::kMixedVectors, false, false),
                         time);
  }
}

}  // namespace ai::simulation
