// A model as it is published: a directory with config.json, model.safetensors and tokenizer.json or
// vocab.txt, and where they are wanted 1_Pooling/config.json (mean or first token),
// sentence_bert_config.json (the longest text) and config_sentence_transformers.json (prefixes).
// What is in these three may be in config.json as well; the files go before it.
#pragma once

#include <string>

namespace ai::model {

struct DirectoryPacking {
  std::string name = {};    // empty: the name of the directory
  std::string source = {};  // a few words for people
  std::string notice = {};  // of the license
};

/// The bytes of the packed model. Throws Error naming the directory, with the file and what is
/// wrong with it as detail: kMissingResource if a file is not there, kInvalidText if it cannot be
/// understood, kNotSupported if the model is of another kind.
std::string PackDirectory(const std::string& directory, const DirectoryPacking& packing = {});

}  // namespace ai::model
