// Merges the results of several runs, such as the shards of a suite.
#ifndef GAUNTLET_HARNESS_RECORD_RESULT_MERGED_RESULT_H_
#define GAUNTLET_HARNESS_RECORD_RESULT_MERGED_RESULT_H_

#include <string>
#include <vector>

#include "harness/record/parsed.h"
#include "harness/record/result/result.h"

namespace gauntlet {

struct ResultPart {
  RunResult result;
  std::string name;  // for errors: the file it was read from
};

// Joins the cases of all parts, in order, into a run named `run`, and adds up
// times and counts. Copies of one part, which differ in paths only, count once.
// Fails if two parts share a case or differ in build or seed; the error names
// the parts. REQUIRES: at least one part.
Parsed<RunResult> MergeResults(const std::vector<ResultPart>& parts,
                               const std::string& run);

// Returns the names of the parts that are copies of earlier ones.
std::vector<std::string> CopiesAmong(const std::vector<ResultPart>& parts);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RESULT_MERGED_RESULT_H_
