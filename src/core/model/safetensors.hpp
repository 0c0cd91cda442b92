// The weights of a model in a safetensors file: a JSON header and the bytes of all tensors. Takes
// 16 and 32-bit floats. Whatever the file says is checked before it is used.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/file/mapped_file.hpp"
#include "core/model/model_writer.hpp"

namespace ai::model {

class Safetensors final : public TensorSource {
 public:
  /// Throws std::system_error if the file cannot be read, Error(kInvalidText) if it is none.
  explicit Safetensors(const std::string& path);

  /// Finds names with "bert." before them too, as checkpoints have them that do more than embed.
  void Read(const std::string& name, std::size_t rows, std::size_t columns,
            std::span<float> out) const override;

  bool Has(const std::string& name) const { return Find(name) != nullptr; }

 private:
  enum class Type { kFloat, kHalf, kBrainFloat, kOther };
  struct Tensor {
    Type type;
    std::vector<std::size_t> shape;
    std::string_view bytes;
  };

  static Type ParseType(std::string_view name);
  const Tensor* Find(const std::string& name) const;
  void ParseHeader(std::string_view header, std::string_view data);

  MappedFile file_;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace ai::model
