#include "core/model/safetensors.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/error.hpp"
#include "core/json/document.hpp"
#include "core/model/half.hpp"

namespace ai::model {
namespace {

constexpr std::size_t kLengthBytes = 8;

[[noreturn]] void Refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidText, message);
}

/// The length of the header is in little-endian order, as all numbers in the file.
std::uint64_t HeaderLength(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

std::size_t AsSize(json::Value value) {
  const std::int64_t number = value.AsInteger();
  if (number < 0) {
    Refuse("\"" + value.Path() + "\" is negative");
  }
  return static_cast<std::size_t>(number);
}

/// Nothing is larger than the file, so a product that goes beyond is a mistake.
std::size_t CheckedProduct(std::size_t a, std::size_t b, std::size_t most,
                           const std::string& name) {
  if (b != 0 && a > most / b) {
    Refuse("tensor \"" + name + "\" is larger than the file");
  }
  return a * b;
}

std::uint32_t Load(const char* from, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(from[i]);
  }
  return value;
}

std::string Describe(std::span<const std::size_t> shape) {
  std::string text;
  for (const std::size_t size : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

}  // namespace

Safetensors::Safetensors(const std::string& path) : file_(path) {
  const std::string_view bytes = file_.bytes();
  if (bytes.size() < kLengthBytes || HeaderLength(bytes) > bytes.size() - kLengthBytes) {
    Refuse("this is no safetensors file, or the end of it is missing");
  }
  const auto length = static_cast<std::size_t>(HeaderLength(bytes));
  ParseHeader(bytes.substr(kLengthBytes, length), bytes.substr(kLengthBytes + length));
}

Safetensors::Type Safetensors::ParseType(std::string_view name) {
  if (name == "F32") {
    return Type::kFloat;
  }
  if (name == "F16") {
    return Type::kHalf;
  }
  return name == "BF16" ? Type::kBrainFloat : Type::kOther;
}

void Safetensors::ParseHeader(std::string_view header, std::string_view data) {
  const json::Document document = json::Document::Parse(header);
  for (const json::Member member : document.root().members()) {
    const std::string name(member.key);
    if (name == "__metadata__") {
      continue;
    }
    Tensor tensor = {ParseType(member.value.GetString("dtype")), {}, {}};
    if (tensor.type == Type::kOther) {
      continue;  // such as position numbers, which nobody needs
    }
    std::size_t size = tensor.type == Type::kFloat ? 4 : 2;
    for (const json::Value dimension : member.value.At("shape").items()) {
      tensor.shape.push_back(AsSize(dimension));
      size = CheckedProduct(size, tensor.shape.back(), data.size(), name);
    }
    std::vector<std::size_t> range;
    for (const json::Value offset : member.value.At("data_offsets").items()) {
      range.push_back(AsSize(offset));
    }
    if (range.size() != 2 || range[0] > range[1] || range[1] > data.size() ||
        range[1] - range[0] != size) {
      Refuse("tensor \"" + name + "\" does not lie in the file, or the end of it is missing");
    }
    tensor.bytes = data.substr(range[0], size);
    tensors_.emplace(name, std::move(tensor));
  }
}

const Safetensors::Tensor* Safetensors::Find(const std::string& name) const {
  for (const char* const prefix : {"", "bert."}) {
    const auto found = tensors_.find(prefix + name);
    if (found != tensors_.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void Safetensors::Read(const std::string& name, std::size_t rows, std::size_t columns,
                       std::span<float> out) const {
  const Tensor* const tensor = Find(name);
  if (tensor == nullptr) {
    Refuse("there is no tensor \"" + name + "\" of 16 or 32-bit floats");
  }
  const std::vector<std::size_t> expected =
      rows == 1 ? std::vector{columns} : std::vector{rows, columns};
  const bool is_row = rows == 1 && tensor->shape == std::vector{rows, columns};
  if (tensor->shape != expected && !is_row) {
    Refuse("tensor \"" + name + "\" is " + Describe(tensor->shape) + ", expected " +
           Describe(expected));
  }
  const std::size_t size = tensor->type == Type::kFloat ? 4 : 2;
  const char* from = tensor->bytes.data();
  for (float& value : out) {
    const std::uint32_t bits = Load(from, size);
    from += size;
    if (tensor->type == Type::kHalf) {
      value = FromHalf(static_cast<std::uint16_t>(bits));
    } else {
      value = std::bit_cast<float>(tensor->type == Type::kFloat ? bits : bits << 16);
    }
  }
}

}  // namespace ai::model
