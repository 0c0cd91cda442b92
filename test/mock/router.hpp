// router.hpp: from a request to what is answered: finds the provider, asks the rules, the keys and
// the limits, and has the provider write the reply.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "mock/context.hpp"
#include "mock/http_message.hpp"
#include "mock/provider.hpp"
#include "mock/reply.hpp"
#include "mock/rules.hpp"

namespace ai::mock {

/// A request to a provider from its arrival to its reply.
struct Exchange {
  Call call;
  Verdict verdict;
  std::optional<Refusal> refusal;  // by the key or the limits; the provider's own is in the call
  std::shared_ptr<const Settings> settings;
  ReplyTo to;
  uint64_t epoch = 0;  // of the counters (see Stats)

  /// What a rule says about the delivery, or the plain one.
  const Delivery& delivery() const;
};

/// Reads the request, counts it and decides what becomes of it. Writes nothing yet: a request that
/// waits or hangs holds no reply in memory.
Exchange Admit(Request request, Context& context);

/// Writes the reply.
Reply WriteReply(const Exchange& exchange);

/// The reply to what was no HTTP request.
Reply WriteBadRequest(int status, const std::string& why);

}  // namespace ai::mock
