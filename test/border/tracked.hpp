// An object whose destruction can be checked from SQL.
#pragma once

#include <memory>
#include <vector>

namespace border {

/// How many Tracked objects live in this process. A destructor that an ereport skipped is missed
/// here for ever.
inline int live_objects = 0;

/// Holds memory, touched so that it counts as resident, to make a skipped destructor show.
class Tracked {
 public:
  explicit Tracked(std::size_t bytes) : memory_(bytes, 1) { ++live_objects; }
  ~Tracked() { --live_objects; }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

 private:
  std::vector<char> memory_;
};

}  // namespace border
