// Tests of core/result and core/failure.
#include "core/result.hpp"

#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "unit/catch_bridge.hpp"

using ai::ErrorCode;
using ai::Failure;
using ai::FailureClass;
using ai::Result;
using ai::test::IsError;

namespace {

Result<std::string> Half(int n) {
  if (n % 2 != 0) {
    return Failure{FailureClass::kSuspect, "odd number", 422};
  }
  return std::to_string(n / 2);
}

Result<void> Check(bool ok) {
  if (!ok) {
    return Failure{FailureClass::kDeferred, "later"};
  }
  return {};
}

constexpr FailureClass kAll[] = {FailureClass::kDeferred,     FailureClass::kTransient,
                                 FailureClass::kSuspect,      FailureClass::kConfiguration,
                                 FailureClass::kInvalidReply, FailureClass::kReclaimed,
                                 FailureClass::kExhausted};

}  // namespace

TEST_CASE("a result holds a value or a failure", "[result]") {
  const Result<std::string> good = Half(8);
  REQUIRE(good.ok());
  REQUIRE(static_cast<bool>(good));
  REQUIRE(good.value() == "4");
  REQUIRE(good->size() == 1);
  REQUIRE_THROWS_MATCHES(good.failure(), ai::Error, IsError(ErrorCode::kInternal));

  const Result<std::string> bad = Half(7);
  REQUIRE_FALSE(bad.ok());
  REQUIRE(bad.failure().failure_class == FailureClass::kSuspect);
  REQUIRE(bad.failure().http_status == 422);
  REQUIRE_FALSE(bad.failure().retry_after.has_value());
  REQUIRE_THROWS_MATCHES(bad.value(), ai::Error, IsError(ErrorCode::kInternal, "odd number"));
  REQUIRE_THROWS_MATCHES(bad->size(), ai::Error, IsError(ErrorCode::kInternal, "odd number"));
}

TEST_CASE("a result of nothing holds at most a failure", "[result]") {
  REQUIRE(Check(true).ok());
  REQUIRE_THROWS_MATCHES(Check(true).failure(), ai::Error, IsError(ErrorCode::kInternal));
  const Result<void> bad = Check(false);
  REQUIRE_FALSE(bad.ok());
  REQUIRE(bad.failure().message == "later");
}

TEST_CASE("a value can be moved through a result", "[result]") {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  *result.value() += 1;
  const std::unique_ptr<int> taken = std::move(result).value();
  REQUIRE(*taken == 8);
}

TEST_CASE("every class of failure has a name of its own and a sentence", "[result]") {
  std::set<std::string_view> names;
  for (const FailureClass c : kAll) {
    INFO(ai::Name(c));
    names.insert(ai::Name(c));
    CHECK(ai::ParseFailureClass(ai::Name(c)) == c);
    CHECK(ai::Describe(c).back() == '.');
  }
  REQUIRE(names.size() == std::size(kAll));
  REQUIRE_FALSE(ai::ParseFailureClass("").has_value());
  REQUIRE_FALSE(ai::ParseFailureClass("Deferred").has_value());
}
