// Compares the result files of two runs of a training program, tensor by
// tensor, and says what differs first.
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
  // Files that only the expected or only the found result has.
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  // The first differences in the order of files and tensors.
  std::vector<ResultDifference> differences;
  uint64_t differing = 0;  // tensors; at least as many as are described
  // Compared, of the expected result.
  uint64_t files = 0;
  uint64_t tensors = 0;
  uint64_t bytes = 0;
  // One line each: files compared as bytes, and why.
  std::vector<std::string> notes;

  bool IsEqual() const {
    return missing.empty() && unexpected.empty() && differing == 0;
  }
};

// Times, modes, owners, links' ends outside, empty directories, and the
// metadata of archives do not count. Errors are those of reading a disk or of
// folders that are not there; a damaged file is compared as bytes.
Result<ResultComparison> CompareResults(const std::string& found_folder,
                                        const std::string& expected_folder,
                                        const ResultChoice& choice);

// Equal for two folders iff CompareResults finds no difference. It takes in, of
// each file in the order of names: name, format, and of each value name, type,
// shape, count of bytes and bytes.
Result<Digest> DigestOfResult(const std::string& folder,
                              const ResultChoice& choice);

// The differences for people, one line each:
//   final.safetensors: tensor `fc.weight`, element [3,5]: 0.25 (0x3e800000)
//   instead of 0.5 (0x3f000000); 17 of 640 elements differ, by at most 8388608
//   ulp
// The last line counts those that are not described.
std::vector<std::string> DescribeDifferences(
    const ResultComparison& comparison);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_COMPARISON_H_
