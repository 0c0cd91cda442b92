// call.hpp: a request as its provider understands it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mock/errors.hpp"
#include "mock/rate_limit.hpp"

namespace ai::mock {

class Provider;

enum class Operation { kEmbed, kEmbedOne, kListModels, kShowModel };

/// What the provider itself has against a request, rules aside.
struct Refusal {
  ErrorKind kind;
  std::string message;  // empty takes the usual message of the kind
  std::string param;
};

/// A request as its provider understands it.
struct Call {
  const Provider* provider = nullptr;
  Operation operation = Operation::kEmbed;
  std::string model;
  std::vector<std::string> texts;
  size_t dimensions = 0;
  bool as_floats = true;
  bool as_base64 = false;
  bool truncates = false;  // texts over the context are cut rather than refused
  uint64_t tokens = 0;
  std::optional<Refusal> refusal;
  QuotaState quota;

  /// The first refusal stays: a provider names the first thing it finds.
  void Refuse(ErrorKind kind, std::string message = {}, std::string param = {});
};

}  // namespace ai::mock
