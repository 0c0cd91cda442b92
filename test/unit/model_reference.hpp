// The encoder of BERT written down plainly, in double precision and in the order of the paper: what
// the fast one is compared with.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model_writer.hpp"
#include "unit/model_fixture.hpp"

namespace ai::test {

class ReferenceEncoder {
 public:
  using Rows = std::vector<std::vector<double>>;

  ReferenceEncoder(const model::Shape& shape, double epsilon, const RandomTensors& tensors)
      : shape_(shape), epsilon_(epsilon), tensors_(tensors) {}

  std::vector<double> Encode(std::span<const model::TokenId> ids) const {
    Rows rows = Embed(ids);
    for (std::size_t layer = 0; layer < shape_.layers; ++layer) {
      const std::string name = "encoder.layer." + std::to_string(layer) + ".";
      const Rows attended = Multiply(Attend(rows, name), name + "attention.output.dense");
      Normalize(Add(rows, attended), name + "attention.output.LayerNorm");
      Rows up = Multiply(rows, name + "intermediate.dense");
      for (std::vector<double>& row : up) {
        for (double& x : row) {
          x = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        }
      }
      Normalize(Add(rows, Multiply(up, name + "output.dense")), name + "output.LayerNorm");
    }
    return Pool(rows);
  }

 private:
  Rows Embed(std::span<const model::TokenId> ids) const {
    const std::vector<float>& words = tensors_.Get("embeddings.word_embeddings.weight");
    const std::vector<float>& places = tensors_.Get("embeddings.position_embeddings.weight");
    const std::vector<float>& types = tensors_.Get("embeddings.token_type_embeddings.weight");
    Rows rows;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::vector<double> row;
      for (std::size_t k = 0; k < shape_.hidden; ++k) {
        row.push_back(double{words[ids[i] * shape_.hidden + k]} + places[i * shape_.hidden + k] +
                      types[k]);
      }
      rows.push_back(std::move(row));
    }
    Normalize(rows, "embeddings.LayerNorm");
    return rows;
  }

  Rows Multiply(const Rows& in, const std::string& name) const {
    const std::vector<float>& weights = tensors_.Get(name + ".weight");
    const std::vector<float>& bias = tensors_.Get(name + ".bias");
    Rows out;
    for (const std::vector<double>& row : in) {
      std::vector<double> sums(bias.begin(), bias.end());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        for (std::size_t k = 0; k < row.size(); ++k) {
          sums[i] += weights[i * row.size() + k] * row[k];
        }
      }
      out.push_back(std::move(sums));
    }
    return out;
  }

  Rows Attend(const Rows& rows, const std::string& name) const {
    const Rows queries = Multiply(rows, name + "attention.self.query");
    const Rows keys = Multiply(rows, name + "attention.self.key");
    const Rows values = Multiply(rows, name + "attention.self.value");
    const std::size_t width = shape_.hidden / shape_.heads;
    Rows out(rows.size(), std::vector<double>(shape_.hidden));
    for (std::size_t at = 0; at < shape_.hidden; at += width) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<double> shares;
        double sum = 0;
        for (const std::vector<double>& key : keys) {
          double score = 0;
          for (std::size_t k = at; k < at + width; ++k) {
            score += queries[i][k] * key[k];
          }
          shares.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
          sum += shares.back();
        }
        for (std::size_t j = 0; j < rows.size(); ++j) {
          for (std::size_t k = at; k < at + width; ++k) {
            out[i][k] += shares[j] / sum * values[j][k];
          }
        }
      }
    }
    return out;
  }

  static Rows& Add(Rows& rows, const Rows& more) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        rows[i][k] += more[i][k];
      }
    }
    return rows;
  }

  void Normalize(Rows& rows, const std::string& name) const {
    const std::vector<float>& weight = tensors_.Get(name + ".weight");
    const std::vector<float>& bias = tensors_.Get(name + ".bias");
    for (std::vector<double>& row : rows) {
      double mean = 0;
      double squares = 0;
      for (const double x : row) {
        mean += x / static_cast<double>(row.size());
      }
      for (const double x : row) {
        squares += (x - mean) * (x - mean) / static_cast<double>(row.size());
      }
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = (row[k] - mean) / std::sqrt(squares + epsilon_) * weight[k] + bias[k];
      }
    }
  }

  std::vector<double> Pool(const Rows& rows) const {
    std::vector<double> sum = rows.front();
    for (std::size_t i = 1; i < rows.size() && shape_.pooling == model::Pooling::kMean; ++i) {
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += rows[i][k];
      }
    }
    double squares = 0;
    for (const double x : sum) {
      squares += x * x;
    }
    for (double& x : sum) {
      x /= std::sqrt(squares);
    }
    return sum;
  }

  model::Shape shape_;
  double epsilon_;
  const RandomTensors& tensors_;
};

}  // namespace ai::test
