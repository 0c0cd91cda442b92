// How fast tokens are counted in generated English, on one thread, how long opening a table takes,
// and that no input makes counting worse than linear. Needs the real tables (make token-tables).
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/english.hpp"
#include "core/token/encoding.hpp"
#include "core/token/encoding_name.hpp"
#include "unit/token_tables.hpp"

namespace {

using ai::bench::BestSeconds;
using ai::bench::kMega;
using ai::token::Encoding;
using ai::token::EncodingName;

constexpr std::size_t kDocument = 10'000'000;
constexpr std::size_t kSmall = 500'000;
constexpr std::size_t kGrowth = 4;
constexpr std::size_t kRuns = 7;

/// Results of the measured calls end here, so that no call is dropped as useless.
std::size_t total_tokens = 0;

struct Repeated {
  const char* name;
  const char* unit;
};

/// Texts that make byte-pair encoding quadratic where it is written without care.
constexpr Repeated kRepeated[] = {
    {"the letter a", "a"},      {"spaces", " "},       {"one emoji", "\U0001F600"},
    {"line feeds", "\n"},       {"equals signs", "="}, {"aB", "aB"},
    {"an ideograph", "\u4E00"}, {"digits", "7"},       {"accented capitals", "A\u0301B"},
};

std::string Repeat(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += unit;
  }
  return text;
}

double CountSeconds(const Encoding& encoding, const std::string& text, std::size_t runs) {
  return BestSeconds(runs, [&] { total_tokens += encoding.Count(text); });
}

void Measure(ai::bench::Report& report, EncodingName encoding_name, const std::string& english) {
  const std::string path = ai::token::TablePath(ai::test::TableDirectory(), encoding_name);
  const auto encoding = Encoding::Open(path);
  const std::string name(encoding->name());
  const auto rate = [&](const std::string& what, double goal, const auto& body) {
    report.Rate(name + ", " + what, static_cast<double>(kDocument) / BestSeconds(kRuns, body),
                goal * kMega);
  };
  rate("counting", 40, [&] { total_tokens += encoding->Count(english); });
  rate("encoding", 0, [&] {
    std::vector<ai::token::TokenId> ids;
    encoding->Encode(english, ids);
    total_tokens += ids.size();
  });
  rate("truncating to half", 0,
       [&] { total_tokens += encoding->Truncate(english, kDocument / 9).size(); });
  const double open = BestSeconds(kRuns, [&] { total_tokens += Encoding(path).name().size(); });
  report.AtMost(name + ", opening", open * 1e3, "ms", 5);

  for (const Repeated& repeated : kRepeated) {
    const std::string small = Repeat(repeated.unit, kSmall);
    const std::string large = Repeat(repeated.unit, kSmall * kGrowth);
    const double small_seconds = CountSeconds(*encoding, small, 3);
    const double large_seconds = CountSeconds(*encoding, large, 3);
    report.Rate(name + ", " + repeated.name, static_cast<double>(large.size()) / large_seconds, 0);
    // Twice what linear would be: that leaves room for noise and is far from quadratic.
    report.AtMost(name + ", " + repeated.name + ", 4 times the text", large_seconds / small_seconds,
                  "times", 2 * kGrowth);
  }
}

}  // namespace

int main() {
  const std::vector<EncodingName> names = {EncodingName::kCl100kBase, EncodingName::kO200kBase};
  for (const EncodingName name : names) {
    if (ai::test::OpenInstalled(name) == nullptr) {
      std::printf("the token tables are not in %s: run \"make token-tables\"\n",
                  ai::test::TableDirectory().c_str());
      return 1;
    }
  }
  const std::string english = ai::bench::English().Generate(kDocument);
  ai::bench::Report report(ai::bench::MemcpyRate(english, kRuns));
  for (const EncodingName name : names) {
    Measure(report, name, english);
  }
  report.AtMost("memory", static_cast<double>(ai::bench::PeakKilobytes()) / 1e3, "MB", 100);
  std::printf("%zu tokens in all\n", total_tokens);
  return report.status();
}
