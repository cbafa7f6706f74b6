// The matrix of a scenario: one document for each combination of its values.
#ifndef GAUNTLET_HARNESS_SCENARIO_READER_MATRIX_H_
#define GAUNTLET_HARNESS_SCENARIO_READER_MATRIX_H_

#include <string>
#include <vector>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/format/yaml_tree.h"

namespace gauntlet {

inline constexpr size_t kMaxCases = 1000;

struct Combination {
  std::string label;  // "[workers=2,mode=sync]"; "" without a matrix
  YamlNode document;  // with the values in place, without `matrix`
};

// In the order of the file, the last axis fastest. Without a matrix it is the
// document alone. An error in the matrix gives no combination.
std::vector<Combination> ExpandMatrix(const YamlNode& document,
                                      Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_MATRIX_H_
