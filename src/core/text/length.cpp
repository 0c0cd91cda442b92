// See length.hpp. The search for the longest prefix that fits.
#include "core/text/length.hpp"

#include <algorithm>

#include "core/text/code_points.hpp"

namespace ai::text {
namespace {

/// Bytes per unit before anything was measured: about what English has per token.
constexpr double kFirstBytesPerUnit = 4.0;

/// More bytes than any text has, and still exact as a double.
constexpr double kManyBytes = 1e15;

/// Where the limit should be if text went on as its first `bytes`, that measure `length`.
std::size_t Extrapolate(std::size_t bytes, std::size_t length, std::size_t limit) {
  const double per_unit =
      length == 0 ? kFirstBytesPerUnit : static_cast<double>(bytes) / static_cast<double>(length);
  return static_cast<std::size_t>(std::min(per_unit * static_cast<double>(limit), kManyBytes));
}

}  // namespace

std::size_t LengthFunction::MeasureUpTo(std::string_view text, std::size_t /*limit*/) const {
  return Measure(text);
}

std::size_t LengthFunction::FitPrefix(std::string_view text, std::size_t limit) const {
  // INVARIANT: the prefix of `fits` bytes measures at most limit, the one of `over` bytes more;
  // over beyond the text means that nothing too long has been seen.
  std::size_t fits = 0;
  std::size_t over = text.size() + 1;
  std::size_t guess = Extrapolate(0, 0, limit);
  for (bool halve = false; fits < text.size(); halve = !halve) {
    const std::size_t least = NextCodePoint(text, fits);
    if (least >= over) {
      break;
    }
    guess = std::max(least, FloorToCodePoint(text, std::min(guess, over - 1)));
    const std::size_t length = Measure(text.substr(0, guess));
    (length <= limit ? fits : over) = guess;
    // Every second step halves what is left, so that an uneven text costs no more than twice the
    // steps of a binary search; without an upper bound the guess at least doubles.
    if (over > text.size()) {
      guess = std::max(Extrapolate(guess, length, limit), 2 * fits);
    } else {
      guess = halve ? fits + (over - fits) / 2 : Extrapolate(guess, length, limit);
    }
  }
  return fits;
}

}  // namespace ai::text
