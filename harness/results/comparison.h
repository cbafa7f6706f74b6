// Compares the result files of two runs of a training program, tensor by
// tensor, and describes the first differences.
#ifndef GAUNTLET_HARNESS_RESULTS_COMPARISON_H_
#define GAUNTLET_HARNESS_RESULTS_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/digest.h"
#include "engine/status.h"
#include "harness/results/result_file.h"
#include "harness/results/tensor_comparison.h"

namespace gauntlet {

struct ResultComparison {
  // Files that only the expected, or only the found, result has.
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  // The first differences, sorted by file, then by tensor.
  std::vector<ResultDifference> differences;
  uint64_t differing = 0;  // tensors; `differences` may describe fewer
  // Number of compared files, tensors and bytes, counted in the expected
  // result.
  uint64_t files = 0;
  uint64_t tensors = 0;
  uint64_t bytes = 0;
  // One line for each file that was compared as bytes, with the reason.
  std::vector<std::string> notes;

  bool IsEqual() const {
    return missing.empty() && unexpected.empty() && differing == 0;
  }
};

// Compares the chosen files of two folders. Ignores times, modes, owners, empty
// directories, the metadata of archives, and files outside the folders, even if
// links lead to them. Errors: the disk cannot be read, or a folder does not
// exist. A damaged file is compared as bytes.
Result<ResultComparison> CompareResults(const std::string& found_folder,
                                        const std::string& expected_folder,
                                        const ResultChoice& choice);

// Returns equal digests for two folders iff CompareResults finds no difference.
// The digest is over each file, in the order of names: its name, its format,
// and for each value the name, type, shape, number of bytes, and bytes.
Result<Digest> DigestOfResult(const std::string& folder,
                              const ResultChoice& choice);

// Describes the differences for people, one line each:
//   final.safetensors: tensor `fc.weight`, element [3,5]: 0.25 (0x3e800000)
//   instead of 0.5 (0x3f000000); 17 of 640 elements differ, by at most 8388608
//   ulp
// The last line counts the differences that are not described.
std::vector<std::string> DescribeDifferences(
    const ResultComparison& comparison);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_COMPARISON_H_
