// The layout of a packed token table: one file per encoding, used in place where it is mapped, with
// nothing to parse and nothing private to a process.
//
//   TableHeader | slots | filter | byte pairs | offsets | bytes of all tokens | special tokens |
//   class index | class rows
//
// Every section starts on a multiple of 16 bytes. Numbers are in the byte order of the machine that
// packed the file; the header says so, and another machine refuses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace ai::token {

inline constexpr char kTableMagic[8] = {'A', 'I', 'T', 'O', 'K', 'E', 'N', 'S'};
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
/// Goes up with every change to this file; scripts/token-tables reads it from here.
inline constexpr std::uint32_t kTableVersion = 1;
inline constexpr std::size_t kSectionAlignment = 16;

struct TableHeader {
  char magic[8];
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint64_t file_size;
  std::uint64_t body_checksum;  // of everything after the header
  char name[16];                // of the encoding, padded with zeros
  char source[64];              // what it was made from, for people; padded with zeros
  std::uint32_t split_rule;     // SplitRule
  std::uint32_t token_count;    // without the special ones; ids are 0 to token_count - 1
  std::uint32_t special_count;
  std::uint32_t longest_token;  // in bytes
  std::uint32_t slot_bits;      // there are 2^slot_bits slots
  std::uint32_t class_row_count;
  std::uint64_t slots_at;  // offsets of the sections from the start of the file
  std::uint64_t filter_at;
  std::uint64_t byte_pairs_at;
  std::uint64_t offsets_at;
  std::uint64_t bytes_at;
  std::uint64_t specials_at;
  std::uint64_t class_index_at;
  std::uint64_t class_rows_at;
  std::uint64_t header_checksum;  // of everything before it
};

/// A place of the hash table from bytes to id. Empty if length is 0. A token of up to 8 bytes is
/// its own key, so that the usual look-up touches one cache line; a longer one is found by a hash.
struct Slot {
  std::uint64_t key;
  std::uint32_t id;
  std::uint32_t length;
};

/// A bit for each of 2^(slot_bits + kFilterBits) hashes: zero if no token has it. Most look-ups
/// while merging are for what is no token; the filter answers them out of memory small enough to
/// stay cached.
inline constexpr std::uint32_t kFilterBits = 2;
/// The token of each two bytes, or kNoToken: where the merging of a piece begins.
inline constexpr std::size_t kBytePairs = 65536;

struct SpecialToken {
  std::uint32_t id;
  std::uint32_t length;
  char bytes[24];
};

static_assert(std::is_trivially_copyable_v<TableHeader> && sizeof(TableHeader) == 208);
static_assert(std::is_trivially_copyable_v<Slot> && sizeof(Slot) == 16);
static_assert(std::is_trivially_copyable_v<SpecialToken> && sizeof(SpecialToken) == 32);

/// The checksum of header and body. Guards against damage, not against malice.
std::uint64_t Checksum(std::string_view bytes);

}  // namespace ai::token
