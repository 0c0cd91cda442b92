#include "core/token/table_writer.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/error.hpp"
#include "core/token/slot_key.hpp"
#include "core/token/table_format.hpp"

namespace ai::token {
namespace {

constexpr std::uint32_t kNoSlot = 0;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidParameter, "cannot make a token table: " + message);
}

/// Appends a section to the file and returns where it starts.
std::uint64_t Append(std::string& file, const void* data, std::size_t size) {
  file.resize((file.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
  const std::uint64_t at = file.size();
  file.append(static_cast<const char*>(data), size);
  return at;
}

template <typename T>
std::uint64_t Append(std::string& file, const std::vector<T>& elements) {
  return Append(file, elements.data(), elements.size() * sizeof(T));
}

template <std::size_t kSize>
void SetField(char (&field)[kSize], std::string_view value) {
  if (value.size() > kSize) {
    Refuse("\"" + std::string(value) + "\" is too long");
  }
  value.copy(field, kSize);
}

/// Half of the slots stay empty at least, so that a search for what is not there is short.
std::uint32_t SlotBits(std::size_t token_count) {
  std::uint32_t bits = 1;
  while ((std::size_t{1} << bits) < 2 * token_count) {
    ++bits;
  }
  return bits;
}

std::vector<Slot> MakeSlots(const std::vector<std::string>& tokens, std::uint32_t slot_bits) {
  std::vector<Slot> slots(std::size_t{1} << slot_bits, Slot{0, 0, kNoSlot});
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const std::string& bytes = tokens[id];
    const std::uint64_t key = SlotKey(bytes);
    std::size_t at = HashBits(key, slot_bits);
    for (; slots[at].length != kNoSlot; at = (at + 1) & mask) {
      if (tokens[slots[at].id] == bytes) {
        Refuse("tokens " + std::to_string(slots[at].id) + " and " + std::to_string(id) +
               " are the same");
      }
    }
    slots[at] = {key, id, static_cast<std::uint32_t>(bytes.size())};
  }
  return slots;
}

std::vector<std::uint64_t> MakeFilter(const std::vector<std::string>& tokens,
                                      std::uint32_t slot_bits) {
  const std::uint32_t bits = slot_bits + kFilterBits;
  std::vector<std::uint64_t> filter((std::size_t{1} << bits) / 64);
  for (const std::string& bytes : tokens) {
    const std::size_t hash = HashBits(SlotKey(bytes), bits);
    filter[hash / 64] |= std::uint64_t{1} << (hash % 64);
  }
  return filter;
}

std::vector<TokenId> MakeBytePairs(const std::vector<std::string>& tokens) {
  std::vector<TokenId> pairs(kBytePairs, kNoToken);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string& bytes = tokens[id];
    if (bytes.size() == 2) {
      pairs[static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1])] =
          static_cast<TokenId>(id);
    }
  }
  return pairs;
}

void CheckTokens(const std::vector<std::string>& tokens) {
  std::size_t single_bytes = 0;
  for (const std::string& token : tokens) {
    if (token.empty()) {
      Refuse("a token is empty");
    }
    single_bytes += token.size() == 1 ? 1 : 0;
  }
  // MakeSlots makes sure that no token is there twice.
  if (single_bytes != 256) {
    Refuse("not every single byte is a token");
  }
}

void AppendVocabulary(std::string& file, TableHeader& header, const TableSource& source) {
  CheckTokens(source.tokens);
  header.token_count = static_cast<std::uint32_t>(source.tokens.size());
  header.slot_bits = SlotBits(source.tokens.size());
  header.slots_at = Append(file, MakeSlots(source.tokens, header.slot_bits));
  header.filter_at = Append(file, MakeFilter(source.tokens, header.slot_bits));
  header.byte_pairs_at = Append(file, MakeBytePairs(source.tokens));
  std::vector<std::uint32_t> offsets = {0};
  std::string bytes;
  for (const std::string& token : source.tokens) {
    bytes += token;
    offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    header.longest_token = std::max(header.longest_token, static_cast<std::uint32_t>(token.size()));
  }
  header.offsets_at = Append(file, offsets);
  header.bytes_at = Append(file, bytes.data(), bytes.size());
}

void AppendSpecials(std::string& file, TableHeader& header, const TableSource& source) {
  std::vector<SpecialToken> specials;
  for (const NamedToken& token : source.specials) {
    if (token.id < static_cast<TokenId>(source.tokens.size()) || token.text.empty()) {
      Refuse("special token " + std::to_string(token.id) + " is no special token");
    }
    SpecialToken special = {};
    special.id = static_cast<std::uint32_t>(token.id);
    special.length = static_cast<std::uint32_t>(token.text.size());
    SetField(special.bytes, token.text);
    specials.push_back(special);
  }
  header.special_count = static_cast<std::uint32_t>(specials.size());
  header.specials_at = Append(file, specials);
}

/// Blocks of code points that look the same, as most do, share a row.
void AppendClasses(std::string& file, TableHeader& header, const TableSource& source) {
  if (source.classes.size() != kClassBlocks * kClassBlockSize) {
    Refuse("it needs the classes of all code points");
  }
  std::map<std::vector<std::uint8_t>, std::uint16_t> known;
  std::vector<std::uint16_t> index;
  std::vector<std::uint8_t> rows;
  for (auto at = source.classes.begin(); at != source.classes.end(); at += kClassBlockSize) {
    const std::vector<std::uint8_t> row(at, at + kClassBlockSize);
    const auto [entry, is_new] = known.emplace(row, static_cast<std::uint16_t>(known.size()));
    if (is_new) {
      rows.insert(rows.end(), row.begin(), row.end());
    }
    index.push_back(entry->second);
  }
  header.class_row_count = static_cast<std::uint32_t>(known.size());
  header.class_index_at = Append(file, index);
  header.class_rows_at = Append(file, rows);
}

}  // namespace

std::string PackTable(const TableSource& source) {
  TableHeader header = {};
  std::memcpy(header.magic, kTableMagic, sizeof(kTableMagic));
  header.byte_order = kByteOrderMark;
  header.version = kTableVersion;
  header.split_rule = static_cast<std::uint32_t>(source.split_rule);
  SetField(header.name, source.name);
  SetField(header.source, source.source);

  std::string file(sizeof(TableHeader), '\0');
  AppendVocabulary(file, header, source);
  AppendSpecials(file, header, source);
  AppendClasses(file, header, source);

  header.file_size = file.size();
  header.body_checksum = Checksum(std::string_view(file).substr(sizeof(TableHeader)));
  std::memcpy(file.data(), &header, sizeof(header));
  header.header_checksum =
      Checksum(std::string_view(file).substr(0, offsetof(TableHeader, header_checksum)));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace ai::token
