// items.cpp: which vectors a reply lists, and how each is written.
#include "mock/items.hpp"

#include <algorithm>
#include <limits>

#include "mock/base64.hpp"
#include "mock/vectors.hpp"

namespace ai::mock {

namespace {

constexpr std::string_view kExtraText = "a text nobody asked for";
constexpr size_t kBadIndexOffset = 1'000'000;

bool ConcernsOneVector(BodyFault fault) {
  switch (fault) {
    case BodyFault::kNullItem:
    case BodyFault::kNullValue:
    case BodyFault::kStringValue:
    case BodyFault::kNan:
    case BodyFault::kInfinity:
    case BodyFault::kZeroVector:
    case BodyFault::kBadBase64:
      return true;
    default:
      return false;
  }
}

// What stands in place of a component of a spoiled vector.
std::string_view SpoiledComponent(BodyFault fault) {
  switch (fault) {
    case BodyFault::kNullValue:
      return "null";
    case BodyFault::kStringValue:
      return R"("0.25")";
    case BodyFault::kNan:
      return "NaN";
    case BodyFault::kInfinity:
      return "1e999";
    default:
      return {};
  }
}

void SpoilList(Plan& plan, BodyFault fault, size_t dimensions) {
  std::vector<Item>& items = plan.items;
  switch (fault) {
    case BodyFault::kMissingItem:
      items.pop_back();
      return;
    case BodyFault::kExtraItem:
      items.push_back({kExtraText, items.size(), dimensions, BodyFault::kNone});
      return;
    case BodyFault::kEmptyList:
      items.clear();
      return;
    case BodyFault::kWrongOrder:
      std::reverse(items.begin(), items.end());
      return;
    case BodyFault::kDuplicateIndex:
      std::for_each(items.begin(), items.end(), [](Item& item) { item.index = 0; });
      return;
    case BodyFault::kBadIndex:
      items.back().index += kBadIndexOffset;
      return;
    default:
      return;
  }
}

}  // namespace

Plan MakePlan(const std::vector<std::string>& texts, size_t dimensions, BodyFault fault,
              size_t wrong_dimensions) {
  Plan plan;
  const size_t wrong = wrong_dimensions > 0 ? wrong_dimensions
                       : dimensions > 1     ? dimensions - 1
                                            : dimensions + 1;
  const size_t given = fault == BodyFault::kWrongDimensions ? wrong : dimensions;
  for (const std::string& text : texts) {
    plan.items.push_back({text, plan.items.size(), given, BodyFault::kNone});
  }
  plan.with_index = fault != BodyFault::kNoIndex;
  plan.with_embeddings = fault != BodyFault::kNoEmbeddings;
  plan.with_usage = fault != BodyFault::kNoUsage;
  if (plan.items.empty()) {
    return plan;
  }
  if (fault == BodyFault::kUnevenDimensions) {
    plan.items.back().dimensions = wrong;
  } else if (ConcernsOneVector(fault)) {
    plan.items.back().fault = fault;
  } else {
    SpoilList(plan, fault, dimensions);
  }
  return plan;
}

void VectorWriter::Fill(const Item& item) {
  FillVector(item.text, item.dimensions, components_);
  if (item.fault == BodyFault::kZeroVector) {
    std::fill(components_.begin(), components_.end(), 0);
  }
}

void VectorWriter::AppendFloats(std::string& out, const Item& item) {
  if (item.fault == BodyFault::kNullItem) {
    out += "null";
    return;
  }
  Fill(item);
  const std::string_view spoiled = SpoiledComponent(item.fault);
  const size_t spoiled_at = spoiled.empty() ? components_.size() : components_.size() / 2;
  const size_t start = out.size();
  // Room for the longest vector with brackets, commas and what is spoiled; cut to size below.
  out.resize(start + 2 + components_.size() * (kLongestComponent + 1) + spoiled.size());
  char* at = out.data() + start;
  *at++ = '[';
  for (size_t i = 0; i < components_.size(); ++i) {
    at = i == spoiled_at ? std::copy(spoiled.begin(), spoiled.end(), at)
                         : WriteComponent(at, components_[i]);
    *at++ = ',';
  }
  at[-1] = ']';
  out.resize(static_cast<size_t>(at - out.data()));
}

void VectorWriter::AppendBase64(std::string& out, const Item& item) {
  if (item.fault == BodyFault::kNullItem || item.fault == BodyFault::kNullValue) {
    out += "null";
    return;
  }
  Fill(item);
  floats_.resize(components_.size());
  std::transform(components_.begin(), components_.end(), floats_.begin(), ToFloat);
  if (item.fault == BodyFault::kNan) {
    floats_[floats_.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  } else if (item.fault == BodyFault::kInfinity) {
    floats_[floats_.size() / 2] = std::numeric_limits<float>::infinity();
  }
  out += '"';
  mock::AppendBase64(out, floats_);
  if (item.fault == BodyFault::kBadBase64 || item.fault == BodyFault::kStringValue) {
    out.insert(out.size() - 2, "*?");
  }
  out += '"';
}

}  // namespace ai::mock
