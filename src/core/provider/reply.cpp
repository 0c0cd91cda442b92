// See reply.hpp.
#include "core/provider/reply.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json/visitor.hpp"
#include "core/provider/base64.hpp"

namespace ai::provider {
namespace {

/// Thrown by the collector to end the reading; never leaves this file.
class Refusal final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string Number(std::size_t number) {
  return std::to_string(number);
}

/// False if one of the values is NaN or infinite: those whose exponent is all ones, so that one
/// more carries into the sign. Two at a time, and no branch in the loop.
bool AllFinite(const float* values, std::size_t count) {
  constexpr std::uint64_t kSigns = 0x80000000'80000000;
  constexpr std::uint64_t kOneMore = 0x00800000'00800000;
  std::uint64_t carries = 0;
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) {
    std::uint64_t pair;
    std::memcpy(&pair, values + i, sizeof pair);
    carries |= (pair & ~kSigns) + kOneMore;
  }
  return (carries & kSigns) == 0 && (i == count || std::isfinite(values[i]));
}

class Collector final : public json::Visitor {
 public:
  Collector(const ReplyShape& shape, const ReplyExpectation& expected, Embeddings& embeddings)
      : shape_(shape), expected_(expected), out_(embeddings), dimensions_(expected.dimensions) {}

  void OnNull(std::string_view path) override { OnOther(path, "null"); }
  void OnBool(std::string_view path, bool /*value*/) override { OnOther(path, "a boolean"); }

  void OnInteger(std::string_view path, std::int64_t value) override {
    if (in_vector_) {
      AddValue(static_cast<double>(value));
    } else if (!path.empty() && path == shape_.index) {
      SetIndex(value);
    } else if (!path.empty() && path == shape_.tokens) {
      out_.input_tokens = std::max<std::int64_t>(value, 0);
    } else {
      OnOther(path, "a number");
    }
  }

  void OnDouble(std::string_view path, double value) override {
    in_vector_ ? AddValue(value) : OnOther(path, "a number");
  }

  void OnString(std::string_view path, std::string_view value) override {
    if (!in_vector_ && shape_.base64 && path == shape_.vector) {
      BeginVector();
      AddBase64(value);
      EndVector();
    } else {
      OnOther(path, "a string");
    }
  }

  void OnArrayBegin(std::string_view path) override {
    if (!in_vector_ && path == shape_.vector) {
      BeginVector();
      in_vector_ = true;
    } else {
      OnOther(path, "an array");
    }
  }

  void OnArrayEnd(std::string_view /*path*/) override {
    if (in_vector_) {
      in_vector_ = false;
      EndVector();
    }
  }

  void OnObjectBegin(std::string_view path) override {
    if (IsItem(path)) {
      has_vector_ = has_index_ = false;
    } else {
      OnOther(path, "an object");
    }
  }

  void OnObjectEnd(std::string_view path) override {
    if (IsItem(path)) {
      EndItem();
    }
  }

  /// After the last event.
  void Finish() {
    if (found_ != expected_.count) {
      throw Refusal{"has " + Number(found_) + (found_ == 1 ? " embedding" : " embeddings") +
                    " instead of " + Number(expected_.count)};
    }
    out_.dimensions = dimensions_;
    if (!std::is_sorted(order_.begin(), order_.end())) {
      PutInOrder();
    }
  }

 private:
  bool IsItem(std::string_view path) const {
    return !in_vector_ && !path.empty() && path == shape_.item;
  }

  /// Names the place in the reply, from 0 like the indexes of the providers.
  [[noreturn]] void Refuse(const std::string& what) const {
    throw Refusal{"has an embedding at place " + Number(found_) + " " + what};
  }

  /// A value that is not what should be at its place, unless nobody cares about that place.
  void OnOther(std::string_view path, const char* what) const {
    if (in_vector_) {
      Refuse(std::string("with ") + what + " among its numbers");
    }
    if (path.empty()) {
      return;
    }
    if (path == shape_.vector) {
      Refuse(std::string("that is ") + what);
    }
    if (path == shape_.item) {
      Refuse(std::string("that is ") + what + ", not an object");
    }
    if (path == shape_.index) {
      Refuse(std::string("whose index is ") + what);
    }
  }

  void BeginVector() {
    if (found_ == expected_.count) {
      throw Refusal{"has more than " + Number(expected_.count) + " embeddings"};
    }
    if (has_vector_) {
      Refuse("that is there twice");
    }
    start_ = out_.values.size();
  }

  /// How many values the vector may have.
  std::size_t MaxDimensions() const { return dimensions_ == 0 ? kMaxDimensions : dimensions_; }

  void AddValue(double value) {
    if (out_.values.size() - start_ == MaxDimensions()) {
      Refuse("of more than " + Number(MaxDimensions()) + " dimensions");
    }
    out_.values.push_back(static_cast<float>(value));
  }

  void AddBase64(std::string_view text) {
    // Four characters are three bytes; with one group to spare.
    if (text.size() / 4 * 3 > MaxDimensions() * sizeof(float) + 3) {
      Refuse("of more than " + Number(MaxDimensions()) + " dimensions");
    }
    switch (DecodeFloats(text, out_.values)) {
      case Base64Outcome::kOk:
        return;
      case Base64Outcome::kInvalid:
        Refuse("that is not valid base64");
      case Base64Outcome::kPartialFloat:
        Refuse("whose base64 does not end with a whole number");
    }
  }

  void EndVector() {
    const std::size_t size = out_.values.size() - start_;
    if (size == 0) {
      Refuse("without values");
    }
    if (size != (dimensions_ == 0 ? size : dimensions_)) {
      Refuse("of " + Number(size) + " dimensions instead of " + Number(dimensions_));
    }
    if (size > kMaxDimensions) {
      Refuse("of more than " + Number(kMaxDimensions) + " dimensions");
    }
    if (!AllFinite(out_.values.data() + start_, size)) {
      Refuse("with a value that is not a finite number");
    }
    // It has no direction: a search by angle would never find it.
    const auto first = out_.values.begin() + static_cast<std::ptrdiff_t>(start_);
    if (std::all_of(first, out_.values.end(), [](float value) { return value == 0; })) {
      Refuse("with zeros only");
    }
    dimensions_ = size;
    has_vector_ = true;
    if (shape_.item.empty()) {
      EndItem();
    }
  }

  void SetIndex(std::int64_t index) {
    if (index < 0 || static_cast<std::uint64_t>(index) >= expected_.count) {
      Refuse("whose index " + std::to_string(index) + " is not below " + Number(expected_.count));
    }
    index_ = static_cast<std::size_t>(index);
    has_index_ = true;
  }

  void EndItem() {
    if (!has_vector_) {
      throw Refusal{"has no embedding at place " + Number(found_)};
    }
    if (!shape_.index.empty()) {
      TakeIndex();
    }
    ++found_;
    has_vector_ = has_index_ = false;
  }

  void TakeIndex() {
    if (!has_index_) {
      Refuse("without an index");
    }
    seen_.resize(expected_.count);
    if (seen_[index_]) {
      Refuse("whose index " + Number(index_) + " was there before");
    }
    seen_[index_] = true;
    order_.push_back(index_);
  }

  void PutInOrder() {
    std::vector<float> sorted(out_.values.size());
    for (std::size_t place = 0; place < order_.size(); ++place) {
      std::copy_n(out_.values.begin() + static_cast<std::ptrdiff_t>(place * dimensions_),
                  dimensions_,
                  sorted.begin() + static_cast<std::ptrdiff_t>(order_[place] * dimensions_));
    }
    out_.values.swap(sorted);
  }

  const ReplyShape& shape_;
  const ReplyExpectation& expected_;
  Embeddings& out_;
  std::size_t dimensions_;  // of all vectors, 0 before the first if any will do
  std::size_t found_ = 0;   // vectors that are complete
  std::size_t start_ = 0;   // of the current vector among the values
  std::size_t index_ = 0;   // of the current item, if has_index_
  bool in_vector_ = false;
  bool has_vector_ = false;
  bool has_index_ = false;
  std::vector<bool> seen_;          // which indexes came
  std::vector<std::size_t> order_;  // the index of each vector
};

/// So that values grow once; never beyond what a body of that size can hold.
void Reserve(std::string_view body, const ReplyExpectation& expected, Embeddings& embeddings) {
  constexpr std::size_t kLeastBytesPerValue = 2;  // a digit and a comma
  embeddings.values.reserve(
      std::min(expected.count * expected.dimensions, body.size() / kLeastBytesPerValue));
}

}  // namespace

std::optional<std::string> ReadReply(std::string& body, const ReplyShape& shape,
                                     const ReplyExpectation& expected, Embeddings& embeddings) {
  embeddings.Clear();
  Reserve(body, expected, embeddings);
  const bool is_empty = body.empty();
  std::string problem;
  try {
    Collector collector(shape, expected, embeddings);
    json::Visit(body, collector);
    collector.Finish();
    return std::nullopt;
  } catch (const Refusal& refusal) {
    problem = refusal.what();
  } catch (const Error& error) {
    problem = is_empty ? "is empty" : std::string("cannot be read: ") + error.what();
  }
  embeddings.Clear();
  return problem;
}

}  // namespace ai::provider
