// provider.hpp: what one provider's API looks like: how its requests are read, how it answers and
// how it complains. Knows nothing of sockets, rules and counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mock/call.hpp"
#include "mock/errors.hpp"
#include "mock/http_message.hpp"
#include "mock/items.hpp"
#include "mock/json.hpp"
#include "mock/models.hpp"
#include "mock/reply.hpp"
#include "mock/settings.hpp"

namespace ai::mock {

class Provider {
 public:
  virtual ~Provider() = default;

  virtual Vendor vendor() const = 0;

  /// Reads a request; what is wrong with it becomes the call's refusal, and as much as can be read
  /// is read all the same.
  Call Read(const Request& request, Operation operation, const Settings& settings) const;

  virtual Reply Answer(const Call& call, const Plan& plan, const Settings& settings) const = 0;

  /// An error as this provider words it; an empty message takes the usual one of the kind.
  virtual Reply Complain(ErrorKind kind, int status, const Call& call, std::string_view message,
                         std::string_view param) const = 0;

  /// The headers that every reply of this provider has.
  virtual void AddHeaders(Reply& reply, const Call& call) const;

 protected:
  virtual void ReadBody(const JsonValue& body, const Settings& settings, Call& call) const = 0;
  virtual void RefuseBody(const Request& request, std::string_view why, Call& call) const = 0;

  /// Reads a text, or an array of texts, and counts their tokens; false for anything else.
  static bool ReadTexts(const JsonValue& value, Call& call);
  static void AddText(std::string text, Call& call);

  /// Finds the model and sets its dimensions, or refuses.
  std::optional<Model> ReadModel(const JsonValue& body, const Settings& settings, Call& call) const;

  /// Refuses texts over the limits of the settings.
  static void CheckTokens(const Settings& settings, Call& call);
};

/// An identifier that no other reply has.
uint64_t NextId();
std::string NextUuid();

const Provider& OpenAi();
const Provider& Ollama();
const Provider& Voyage();
const Provider& Cohere();

}  // namespace ai::mock
