#include "worker/statements/names.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/text/fill.hpp"
#include "pg/guard.hpp"

namespace ai::worker {
namespace {

/// The results of of(column) for each column of the key, joined.
template <typename Of>
std::string Join(const std::vector<KeyColumn>& key, std::string_view separator, const Of& of) {
  std::string list;
  for (const KeyColumn& column : key) {
    list += list.empty() ? std::string_view() : separator;
    list += of(column);
  }
  return list;
}

std::string InRow(const KeyColumn& column, std::string_view row) {
  return std::string(row) + "." +
         (row == "s"   ? column.source
          : row == "t" ? column.target
                       : column.queue);
}

}  // namespace

VectorTypes::VectorTypes(Oid vector)
    : element(vector), array(pg::Call([vector] { return get_array_type(vector); })) {}

std::string StatementTexts::Fill(std::string_view text, Values values) const {
  std::string filled = text::Fill(text, [&](std::string_view name) {
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return value != values.end() ? value->second : ValueOf(name);
  });
  if (kept_ != nullptr) {
    kept_->push_back(filled);
  }
  return filled;
}

std::string StatementTexts::ValueOf(std::string_view name) const {
  const std::pair<std::string_view, const std::string&> plain[] = {
      {"source", names.source}, {"target", names.target}, {"queue", names.queue},
      {"work", names.work},     {"failed", names.failed}, {"vector", names.vector}};
  for (const auto& [known, value] : plain) {
    if (known == name) {
      return value;
    }
  }
  if (name == "key") {
    return Join(names.key, ", ", [](const KeyColumn& column) { return column.queue; });
  }
  if (name == "target key") {
    return Join(names.key, ", ", [](const KeyColumn& column) { return column.target; });
  }
  constexpr std::string_view kKeyOf = "key of ";
  if (name.starts_with(kKeyOf)) {
    return Join(names.key, ", ",
                [&](const KeyColumn& column) { return InRow(column, name.substr(kKeyOf.size())); });
  }
  constexpr std::string_view kMatches = " matches ";
  if (const std::size_t at = name.find(kMatches); at != std::string_view::npos) {
    return Join(names.key, " AND ", [&](const KeyColumn& column) {
      return InRow(column, name.substr(0, at)) + " " + column.equals + " " +
             InRow(column, name.substr(at + kMatches.size()));
    });
  }
  throw Error(ErrorCode::kInternal, "unknown placeholder {" + std::string(name) + "}");
}

}  // namespace ai::worker
