// Compares two values of one name bit by bit.
#ifndef GAUNTLET_HARNESS_RESULTS_TENSOR_COMPARISON_H_
#define GAUNTLET_HARNESS_RESULTS_TENSOR_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>

#include "engine/status.h"
#include "harness/record/result/difference.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

// The first difference between the lines of two texts.
struct DifferingLine {
  uint64_t number = 0;     // from 1
  std::string found;       // the part of the line around the first difference
  std::string expected;    // the same part
  uint64_t differing = 0;  // number of lines at which both texts differ
  uint64_t found_lines = 0;
  uint64_t expected_lines = 0;
};

// A difference between two values of one name. `tensor` has the first element
// that differs; for a text, it has the part of the text to show instead of an
// index.
struct ResultDifference {
  std::string file;  // its path below the folder
  DifferingTensor tensor;
  // Lengths of two texts or byte strings; 0 for other types.
  uint64_t found_bytes = 0;
  uint64_t expected_bytes = 0;
  // First differing line, if both values are whole text files of at most 1 MiB
  // and one of their lines differs; else nullopt.
  std::optional<DifferingLine> line = std::nullopt;
  // Largest distance between two differing elements, in ulps, NaN excepted.
  // nullopt for types without ulps (UlpsBetween).
  std::optional<uint64_t> largest_ulps;
};

// Returns nullopt if type, shape and bits are equal. Reads both values in
// pieces. kDataLoss: the bytes of one value cannot be read.
Result<std::optional<ResultDifference>> CompareResultTensors(
    const ResultTensor& found, const ResultTensor& expected);

// A tensor that only one of the results has.
ResultDifference MissingTensor(const std::string& name);
ResultDifference UnexpectedTensor(const std::string& name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_TENSOR_COMPARISON_H_
