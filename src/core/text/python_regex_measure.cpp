// Both measures are sums and products over the tree, saturating so that nothing overflows.
#include "core/text/python_regex_measure.hpp"

#include <algorithm>
#include <variant>

namespace ai::text::python_regex {
namespace {

std::uint32_t Sum(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, kUnlimited));
}

std::uint32_t Product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} * b, kUnlimited));
}

Width WidthOf(const Sequence& sequence);

struct WidthVisitor {
  Width operator()(const Literal&) const { return {1, 1}; }
  Width operator()(const AnyCharacter&) const { return {1, 1}; }
  Width operator()(const CharacterClass&) const { return {1, 1}; }
  Width operator()(const Anchor&) const { return {0, 0}; }
  Width operator()(const LookAround&) const { return {0, 0}; }
  Width operator()(const BackReference& reference) const { return reference.width; }
  Width operator()(const Group& group) const { return MeasureWidth(group.branches); }
  Width operator()(const Conditional& conditional) const {
    Width width = MeasureWidth(conditional.branches);
    if (conditional.branches.size() == 1) {
      width.min = 0;
    }
    return width;
  }
  Width operator()(const Repeat& repeat) const {
    const Width body = WidthOf(repeat.body);
    return {Product(body.min, repeat.min), Product(body.max, repeat.max)};
  }
};

Width WidthOf(const Sequence& sequence) {
  Width width;
  for (const Node& node : sequence) {
    const Width part = std::visit(WidthVisitor{}, node.value);
    width = {Sum(width.min, part.min), Sum(width.max, part.max)};
  }
  return width;
}

std::uint64_t Saturate(std::uint64_t value) {
  return std::min(value, kUnboundedSteps);
}

// steps: the work to go through all the ways in which a part can match at one place;
// ways: how many there are, which is how often the part after it may be tried.
// INVARIANT: both are at most kUnboundedSteps, so that a product of two fits, and ways is not 0.
struct Effort {
  std::uint64_t steps = 0;
  std::uint64_t ways = 1;
};

constexpr Effort kUnbounded{kUnboundedSteps, kUnboundedSteps};

Effort EffortOf(const Sequence& sequence, bool ends_pattern);

Effort EffortOf(const Branches& branches, bool ends_pattern) {
  Effort total{1, 0};
  for (const Sequence& branch : branches) {
    const Effort effort = EffortOf(branch, ends_pattern);
    total = {Saturate(total.steps + effort.steps), Saturate(total.ways + effort.ways)};
  }
  return total;
}

Effort EffortOf(const Repeat& repeat, bool ends_pattern) {
  const Effort body = EffortOf(repeat.body, false);
  // At the end of the pattern only the failure to reach the minimum makes work for nothing.
  const std::uint64_t rounds = ends_pattern ? std::uint64_t{repeat.min} + 1 : repeat.max;
  if ((repeat.max == kUnlimited && !ends_pattern) || body.steps >= kUnboundedSteps) {
    return kUnbounded;
  }
  Effort total{1, 1};
  if (body.ways == 1) {
    total = {Saturate(1 + rounds * body.steps), rounds + 1};
  } else {
    // The ways at least double each round, so that this ends soon whatever the count is.
    std::uint64_t ways = 1;
    for (std::uint64_t round = 0; round < rounds && total.steps < kUnboundedSteps; ++round) {
      total.steps = Saturate(total.steps + ways * body.steps);
      ways = Saturate(ways * body.ways);
      total.ways = Saturate(total.ways + ways);
    }
  }
  if (repeat.mode == Repeat::Mode::kPossessive) {
    total.ways = 1;
  }
  return total;
}

struct EffortVisitor {
  bool ends_pattern;

  Effort operator()(const Literal&) const { return {1, 1}; }
  Effort operator()(const AnyCharacter&) const { return {1, 1}; }
  Effort operator()(const CharacterClass&) const { return {1, 1}; }
  Effort operator()(const Anchor&) const { return {4, 1}; }
  Effort operator()(const BackReference& reference) const {
    return reference.width.max == kUnlimited ? kUnbounded : Effort{reference.width.max + 1ULL, 1};
  }
  Effort operator()(const LookAround& look) const { return {EffortOf(look.branches, false).steps}; }
  Effort operator()(const Conditional& conditional) const {
    return EffortOf(conditional.branches, ends_pattern);
  }
  Effort operator()(const Group& group) const {
    const Effort effort = EffortOf(group.branches, ends_pattern);
    return group.atomic ? Effort{effort.steps} : effort;
  }
  Effort operator()(const Repeat& repeat) const { return EffortOf(repeat, ends_pattern); }
};

Effort EffortOf(const Sequence& sequence, bool ends_pattern) {
  Effort total;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const bool last = i + 1 == sequence.size();
    const Effort effort = std::visit(EffortVisitor{ends_pattern && last}, sequence[i].value);
    total = {Saturate(total.steps + total.ways * effort.steps), Saturate(total.ways * effort.ways)};
  }
  return total;
}

}  // namespace

Width MeasureWidth(const Branches& branches) {
  Width width{kUnlimited, 0};
  for (const Sequence& branch : branches) {
    const Width part = WidthOf(branch);
    width = {std::min(width.min, part.min), std::max(width.max, part.max)};
  }
  return width;
}

std::uint64_t MeasureAttempt(const Branches& branches) {
  return EffortOf(branches, true).steps;
}

}  // namespace ai::text::python_regex
