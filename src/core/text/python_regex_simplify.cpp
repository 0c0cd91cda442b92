// One visit of the tree that changes it in place.
#include "core/text/python_regex_simplify.hpp"

#include <utility>
#include <variant>

namespace ai::text::python_regex {
namespace {

class Simplifier {
 public:
  explicit Simplifier(const std::vector<bool>& referenced) : numbers_(referenced.size(), 0) {
    std::size_t last = 0;
    for (std::size_t group = 0; group < referenced.size(); ++group) {
      if (referenced[group]) {
        numbers_[group] = ++last;
      }
    }
  }

  void Visit(Branches& branches) {
    for (Sequence& branch : branches) {
      Visit(branch);
    }
  }

  void operator()(Literal&) {}
  void operator()(AnyCharacter&) {}
  void operator()(CharacterClass&) {}
  void operator()(Anchor&) {}
  void operator()(BackReference& reference) { reference.group = numbers_[reference.group]; }
  void operator()(LookAround& look) { Visit(look.branches); }

  void operator()(Group& group) {
    group.capture = numbers_[group.capture];
    Visit(group.branches);
  }

  void operator()(Conditional& conditional) {
    conditional.group = numbers_[conditional.group];
    Visit(conditional.branches);
  }

  void operator()(Repeat& repeat) {
    Visit(repeat.body);
    while (IsWrappedCharacter(repeat.body.front())) {
      Sequence inner = std::move(std::get<Group>(repeat.body.front().value).branches.front());
      repeat.body = std::move(inner);
    }
  }

 private:
  void Visit(Sequence& sequence) {
    for (Node& node : sequence) {
      std::visit(*this, node.value);
    }
  }

  static bool IsWrappedCharacter(const Node& node) {
    const auto* group = std::get_if<Group>(&node.value);
    if (group == nullptr || group->capture != 0 || group->branches.size() != 1 ||
        group->branches.front().size() != 1) {
      return false;
    }
    const Node& inner = group->branches.front().front();
    return IsSingleCharacter(inner) || IsWrappedCharacter(inner);
  }

  std::vector<std::size_t> numbers_;  // by Python's number; 0 for those that are not referred to
};

}  // namespace

void Simplify(Tree& tree) {
  Simplifier(tree.referenced).Visit(tree.branches);
}

}  // namespace ai::text::python_regex
