// items.hpp: which vectors a reply lists, and how each is written. Where the vectors are wrong on
// purpose, they become so here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mock/body_fault.hpp"

namespace ai::mock {

struct Item {
  std::string_view text;
  size_t index = 0;
  size_t dimensions = 0;
  BodyFault fault = BodyFault::kNone;  // of this vector
};

/// What a provider puts into the body of an answer.
struct Plan {
  std::vector<Item> items;
  bool with_index = true;
  bool with_embeddings = true;
  bool with_usage = true;
};

/// The plan for texts that must outlive it. `wrong_dimensions` is what kWrongDimensions and
/// kUnevenDimensions give; 0 gives one less than asked for (or one more, for vectors of one).
Plan MakePlan(const std::vector<std::string>& texts, size_t dimensions, BodyFault fault,
              size_t wrong_dimensions);

/// Writes vectors as JSON; keeps its buffers from one to the next.
class VectorWriter {
 public:
  void AppendFloats(std::string& out, const Item& item);
  void AppendBase64(std::string& out, const Item& item);

 private:
  void Fill(const Item& item);

  std::vector<int32_t> components_;
  std::vector<float> floats_;
};

}  // namespace ai::mock
