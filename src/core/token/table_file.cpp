#include "core/token/table_file.hpp"

#include <cstring>
#include <limits>
#include <system_error>

#include "core/error.hpp"

namespace ai::token {
namespace {

constexpr const char* kHint =
    "Run \"make token-tables\" in the source directory of the extension, "
    "or install a file made by the same version of it.";

[[noreturn]] void Refuse(const std::string& path, const char* problem, const std::string& detail) {
  throw Error(ErrorCode::kMissingResource, "token table \"" + path + "\" " + problem, detail,
              kHint);
}

MappedFile Map(const std::string& path) {
  try {
    return MappedFile(path);
  } catch (const std::system_error& error) {
    const bool missing = error.code() == std::errc::no_such_file_or_directory;
    Refuse(path, missing ? "is not installed" : "cannot be read",
           "The operating system says: " + error.code().message() + ".");
  }
}

TableHeader ReadHeader(const std::string& path, std::string_view bytes) {
  TableHeader header = {};
  if (bytes.size() < sizeof(header)) {
    Refuse(path, "is damaged",
           "The file has " + std::to_string(bytes.size()) + " bytes, fewer than its header needs.");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kTableMagic, sizeof(kTableMagic)) != 0) {
    Refuse(path, "is something else",
           "A token table begins with \"" + std::string(kTableMagic, sizeof(kTableMagic)) + "\".");
  }
  if (header.byte_order != kByteOrderMark) {
    Refuse(path, "is for another kind of machine", "Its numbers are in the other byte order.");
  }
  if (header.version != kTableVersion) {
    Refuse(path, "has an unknown format",
           "The file is of version " + std::to_string(header.version) + ", expected version " +
               std::to_string(kTableVersion) + ".");
  }
  return header;
}

/// A list of `count` elements of `size` bytes lies between the header and the end of the file.
bool Fits(const TableHeader& header, std::uint64_t at, std::uint64_t count, std::uint64_t size) {
  return at >= sizeof(TableHeader) && at % kSectionAlignment == 0 && at <= header.file_size &&
         count <= (header.file_size - at) / size;
}

/// The checksums vouch for what is inside the sections; this is about where they are.
bool IsSane(const TableHeader& header) {
  if (header.split_rule != static_cast<std::uint32_t>(SplitRule::kCl100k) &&
      header.split_rule != static_cast<std::uint32_t>(SplitRule::kO200k)) {
    return false;
  }
  if (header.slot_bits < 1 || header.slot_bits > 30 || header.class_row_count == 0 ||
      header.token_count >= (std::uint64_t{1} << header.slot_bits)) {
    return false;
  }
  const std::uint64_t slots = std::uint64_t{1} << header.slot_bits;
  return Fits(header, header.slots_at, slots, sizeof(Slot)) &&
         Fits(header, header.filter_at, (slots << kFilterBits) / 64, sizeof(std::uint64_t)) &&
         Fits(header, header.byte_pairs_at, kBytePairs, sizeof(TokenId)) &&
         Fits(header, header.offsets_at, std::uint64_t{header.token_count} + 1, 4) &&
         Fits(header, header.bytes_at, 0, 1) &&
         Fits(header, header.specials_at, header.special_count, sizeof(SpecialToken)) &&
         Fits(header, header.class_index_at, kClassBlocks, sizeof(std::uint16_t)) &&
         Fits(header, header.class_rows_at, header.class_row_count, kClassBlockSize);
}

/// A fixed-size field that is padded with zeros.
template <std::size_t kSize>
std::string_view Field(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

}  // namespace

TableFile::TableFile(const std::string& path)
    : file_(Map(path)), header_(ReadHeader(path, file_.bytes())) {
  const std::string_view bytes = file_.bytes();
  if (bytes.size() != header_.file_size) {
    Refuse(path, "is damaged",
           "The file has " + std::to_string(bytes.size()) + " bytes, its header says " +
               std::to_string(header_.file_size) + ".");
  }
  const std::size_t checked = offsetof(TableHeader, header_checksum);
  if (Checksum(bytes.substr(0, checked)) != header_.header_checksum ||
      Checksum(bytes.substr(sizeof(TableHeader))) != header_.body_checksum || !IsSane(header_)) {
    Refuse(path, "is damaged", "Its contents do not match its checksum.");
  }
}

template <typename T>
const T* TableFile::Section(std::uint64_t at) const {
  return reinterpret_cast<const T*>(file_.bytes().data() + at);
}

std::string_view TableFile::name() const {
  return Field(header_.name);
}

std::string_view TableFile::source() const {
  return Field(header_.source);
}

Vocabulary::Parts TableFile::vocabulary() const {
  const std::size_t slots = std::size_t{1} << header_.slot_bits;
  return {{Section<Slot>(header_.slots_at), slots},
          {Section<std::uint64_t>(header_.filter_at), (slots << kFilterBits) / 64},
          {Section<TokenId>(header_.byte_pairs_at), kBytePairs},
          {Section<std::uint32_t>(header_.offsets_at), std::size_t{header_.token_count} + 1},
          Section<char>(header_.bytes_at),
          {Section<SpecialToken>(header_.specials_at), header_.special_count},
          header_.slot_bits,
          header_.longest_token};
}

ClassTable TableFile::classes() const {
  return {Section<std::uint16_t>(header_.class_index_at),
          Section<std::uint8_t>(header_.class_rows_at)};
}

}  // namespace ai::token
