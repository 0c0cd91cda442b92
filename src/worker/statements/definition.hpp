// A vectorizer as defined in the catalog.
#pragma once

#include "core/json/document.hpp"
#include "pg/spi.hpp"
#include "worker/statements/names.hpp"

namespace ai::worker {

struct VectorizerDefinition {
  std::string name;
  json::Document config;
  Oid owner = InvalidOid;  // of the source
  Oid source = InvalidOid;
  Oid target = InvalidOid;  // none, if the destination is a column of the source
  Oid queue = InvalidOid;
  Oid work = InvalidOid;
  int max_attempts = 0;
  std::vector<std::string> columns = {};  // of the source, that the template uses
  VectorizerNames names = {};
};

/// Nothing if there is no such vectorizer. Throws ai::Error if its configuration is invalid.
std::optional<VectorizerDefinition> LoadDefinition(pg::Spi& spi, std::int32_t id);

}  // namespace ai::worker
