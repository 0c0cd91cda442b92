// The token tables that are installed beside the extension, opened when first needed. A process
// maps each table once; all processes share the memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/text/length.hpp"
#include "core/token/encoding.hpp"
#include "core/token/encoding_name.hpp"

namespace ai::pg {

/// Where the tables are expected: the directory `ai` below the server's share directory.
std::string TokenTableDirectory();

/// The encoding of a name or of a model. Throws ai::Error for a name that is neither.
token::EncodingName EncodingOf(std::string_view encoding_or_model);

/// Null if its table is not installed. Throws ai::Error if it is there and damaged.
std::shared_ptr<const token::Encoding> FindEncoding(token::EncodingName name);

/// The encoding that a model counts in; null if that is not known or its table is not installed.
std::shared_ptr<const token::Encoding> FindModelEncoding(std::string_view model);

/// The same; throws ai::Error naming the missing file and how to get it.
std::shared_ptr<const token::Encoding> RequireEncoding(token::EncodingName name);

/// Measures in the tokens of an encoding or a model; estimates where the table is not installed.
std::shared_ptr<const text::LengthFunction> TokenLength(std::string_view encoding_or_model);

}  // namespace ai::pg
