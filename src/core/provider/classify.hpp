// Which class an error of a provider is of, from its status, its own code, then its words. Unknown
// errors are transient.
#pragma once

#include <string_view>

#include "core/failure.hpp"
#include "core/provider/complaint.hpp"

namespace ai::provider {

FailureClass Classify(int status, const Complaint& complaint);

}  // namespace ai::provider
