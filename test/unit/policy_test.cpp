// How long to wait after failures, and what tells texts apart: pauses, hashes.
#include "core/policy/backoff.hpp"
#include "core/policy/content_hash.hpp"
#include "unit/catch_bridge.hpp"
#include "unit/fakes/fake_random.hpp"

using ai::policy::Backoff;
using ai::policy::ContentHasher;
using ai::test::ScriptedRandom;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("pauses double up to a limit, each a little different", "[policy]") {
  const Backoff backoff{seconds(1), seconds(10)};
  ScriptedRandom middle({0.5, 0.5, 0.5, 0.5, 0.5});
  CHECK(backoff.After(1, middle) == seconds(1));
  CHECK(backoff.After(2, middle) == seconds(2));
  CHECK(backoff.After(4, middle) == seconds(8));
  CHECK(backoff.After(5, middle) == seconds(10));
  CHECK(backoff.After(1000, middle) == seconds(10));
  ScriptedRandom lowest({0.0});
  CHECK(backoff.After(1, lowest) == milliseconds(750));
}

TEST_CASE("a hash depends on the text and on what makes its vector", "[policy]") {
  const ContentHasher hash("openai\nsmall\n8");
  CHECK(hash("a text") == ContentHasher("openai\nsmall\n8")("a text"));
  CHECK(hash("a text") != hash("another"));
  CHECK(hash("a text") != ContentHasher("openai\nsmall\n9")("a text"));
  CHECK(ContentHasher("ab")("c") != ContentHasher("a")("bc"));
  CHECK(hash("") != hash(std::string_view("\0", 1)));
}
