// One oracle vector: a document, the parameters of a splitter, and the chunks or the error that the
// reference gave. Decides what is skipped, runs our splitter and compares chunks, offsets and
// errors. What the reference logs, and start_index, which it derives from the chunks, have no
// counterpart in our splitters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.hpp"

namespace ai::vectors {

/// Whether a line is about a splitter at all; other kinds of vectors live in the same directory.
bool IsSplitterCase(json::Value line);

/// Why a case is not for us, if so.
std::optional<std::string> SkipReason(json::Value line);

/// What is wrong, or nothing if our splitter does what the reference did.
/// Throws Error if the case itself cannot be understood.
std::optional<std::string> Check(json::Value line);

}  // namespace ai::vectors
