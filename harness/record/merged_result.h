// One result of several runs: the shards of a suite.
#ifndef GAUNTLET_HARNESS_RECORD_MERGED_RESULT_H_
#define GAUNTLET_HARNESS_RECORD_MERGED_RESULT_H_

#include <string>
#include <vector>

#include "harness/record/parsed.h"
#include "harness/record/result.h"

namespace gauntlet {

struct ResultPart {
  RunResult result;
  std::string name;  // for errors: where it was read
};

// Returns the cases of all parts, in their order, with times and counts added
// up, as run `run`. A part that equals an earlier one but for the places of its
// files counts once. An error names two parts: they have a case in common, or
// are of different builds or seeds; or it names a part with a world that there
// is not. REQUIRES: at least one part.
Parsed<RunResult> MergeResults(const std::vector<ResultPart>& parts,
                               const std::string& run);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_MERGED_RESULT_H_
