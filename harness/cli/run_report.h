// report.html of a run, and traces of its failed cases.
#ifndef GAUNTLET_HARNESS_CLI_RUN_REPORT_H_
#define GAUNTLET_HARNESS_CLI_RUN_REPORT_H_

#include <filesystem>

#include "engine/status.h"
#include "harness/cli/commands.h"
#include "harness/record/result.h"

namespace gauntlet {

inline constexpr std::string_view kReportFileName = "report.html";

// Returns the command that runs the same cases again.
std::string CommandOf(const RunCommand& command);

// Writes timeline.json.gz into the folder of a case that failed and names it in
// the result. A trace that cannot be written is left out.
void AddTrace(CaseResult& one);

// Writes it into the run's folder, from the result and the records of its
// cases, which are in their folders there.
Status WriteReport(const RunCommand& command, const RunResult& result,
                   const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RUN_REPORT_H_
