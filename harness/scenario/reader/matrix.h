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
  YamlNode document;  // with the values set, without `matrix`
};

// Returns the combinations in the order of the file; the last axis varies
// fastest. Without a matrix, returns the document alone. After an error in the
// matrix, returns none.
std::vector<Combination> ExpandMatrix(const YamlNode& document,
                                      Diagnostics& diagnostics);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_SCENARIO_READER_MATRIX_H_
