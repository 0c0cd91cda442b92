// See visitor.hpp.
#include "core/json/visitor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/json/reader.hpp"

namespace ai::json {
namespace {

class Tracker final : public Handler {
 public:
  explicit Tracker(Visitor& visitor) : visitor_(visitor) {}

  void OnNull() override { visitor_.OnNull(path_); }
  void OnBool(bool value) override { visitor_.OnBool(path_, value); }
  void OnInteger(std::int64_t value) override { visitor_.OnInteger(path_, value); }
  void OnDouble(double value) override { visitor_.OnDouble(path_, value); }
  void OnString(std::string_view value) override { visitor_.OnString(path_, value); }

  void OnObjectBegin() override {
    visitor_.OnObjectBegin(path_);
    lengths_.push_back(path_.size());
  }

  void OnKey(std::string_view key) override {
    path_.resize(lengths_.back());
    if (!path_.empty()) {
      path_.push_back('.');
    }
    const std::size_t start = path_.size();
    path_.append(key);
    const auto is_structure = [](char c) { return c == '.' || c == '[' || c == ']'; };
    std::replace_if(path_.begin() + static_cast<std::ptrdiff_t>(start), path_.end(), is_structure,
                    '?');
  }

  void OnObjectEnd(std::uint32_t /*members*/) override {
    Leave();
    visitor_.OnObjectEnd(path_);
  }

  void OnArrayBegin() override {
    visitor_.OnArrayBegin(path_);
    lengths_.push_back(path_.size());
    path_.append("[]");
  }

  void OnArrayEnd(std::uint32_t /*elements*/) override {
    Leave();
    visitor_.OnArrayEnd(path_);
  }

 private:
  void Leave() {
    path_.resize(lengths_.back());
    lengths_.pop_back();
  }

  Visitor& visitor_;
  std::string path_;
  std::vector<std::size_t> lengths_;  // of the paths of the containers that are open
};

}  // namespace

void Visit(std::string& text, Visitor& visitor, const Limits& limits) {
  Tracker tracker(visitor);
  Read(text, tracker, limits);
}

}  // namespace ai::json
