// result.json, schema gauntlet.result/v2: one JSON object, indented.
#ifndef GAUNTLET_HARNESS_RECORD_RESULT_RESULT_FILE_H_
#define GAUNTLET_HARNESS_RECORD_RESULT_RESULT_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/record/parsed.h"
#include "harness/record/result/difference.h"
#include "harness/record/result/result.h"

namespace gauntlet {

std::string ResultToJson(const RunResult& result);
// Returns the JSON array that a result file has as `differences` of a case.
std::string DifferencesToJson(const std::vector<StateDifference>& differences);
// Reads a result file. Error messages call it `name`. Counts that differ from
// the cases in the file are an error, and so is a case without a name or with a
// world other than real and sim.
Parsed<RunResult> ReadResult(std::string_view text, std::string_view name);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_RESULT_RESULT_FILE_H_
