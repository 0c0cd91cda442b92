// All statements that a worker runs for a vectorizer: one type for each, which builds its text,
// binds its parameters and reads its columns.
#pragma once

#include "worker/statements/claiming.hpp"
#include "worker/statements/ending.hpp"
#include "worker/statements/loading.hpp"
#include "worker/statements/storing.hpp"

namespace ai::worker {

/// For a table as destination.
struct TableStatements {
  TableStatements(const StatementTexts& texts, const VectorTypes& types)
      : load_chunk_hashes(texts),
        load_vectors_of_rows(texts),
        load_vectors_of_texts(texts),
        add_chunks(texts, types, WriteChunks::Mode::kAdd),
        replace_chunks(texts, types, WriteChunks::Mode::kReplace),
        trim_chunks(texts) {}

  LoadChunkHashes load_chunk_hashes;
  LoadVectorsOfRows load_vectors_of_rows;
  LoadVectorsOfTexts load_vectors_of_texts;
  WriteChunks add_chunks;
  WriteChunks replace_chunks;
  TrimChunks trim_chunks;
};

/// For a column of the source.
struct ColumnStatements {
  ColumnStatements(const StatementTexts& texts, const VectorTypes& types)
      : lock_source_rows(texts), update_column(texts, types) {}

  LockSourceRows lock_source_rows;
  UpdateColumn update_column;
};

struct VectorizerStatements {
  VectorizerStatements(const StatementTexts& texts, const VectorTypes& types)
      : claim_changes(texts),
        claim_retries(texts),
        claim_suspects(texts),
        load_rows(texts),
        find_alive(texts),
        find_held(texts),
        complete(texts),
        release(texts),
        release_all(texts),
        retry(texts),
        dead_letter(texts) {
    if (texts.names.embedding_column.empty()) {
      table.emplace(texts, types);
    } else {
      column.emplace(texts, types);
    }
  }

  ClaimChanges claim_changes;
  ClaimRetries claim_retries;
  ClaimSuspects claim_suspects;
  LoadRows load_rows;
  FindAlive find_alive;
  FindHeld find_held;
  CompleteRows complete;
  ReleaseRows release;
  ReleaseAllRows release_all;
  RetryRows retry;
  DeadLetterRows dead_letter;
  std::optional<TableStatements> table;
  std::optional<ColumnStatements> column;
};

}  // namespace ai::worker
