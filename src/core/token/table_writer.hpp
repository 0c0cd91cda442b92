// Makes packed token tables (see table_format.hpp). The result depends on its input alone, so the
// same sources give the same file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/token/encoding_name.hpp"
#include "core/token/split.hpp"

namespace ai::token {

struct TableSource {
  std::string name;    // of the encoding, at most 16 bytes
  std::string source;  // what it is made from, for people, at most 64 bytes
  SplitRule split_rule;
  std::vector<std::string> tokens;    // by rank; every single byte must be one of them
  std::vector<NamedToken> specials;   // ids beyond the ranks
  std::vector<std::uint8_t> classes;  // of every code point, as ParseClassRanges returns
};

/// The bytes of the packed file. Throws Error(kInvalidParameter) if the source is not what it must
/// be.
std::string PackTable(const TableSource& source);

}  // namespace ai::token
