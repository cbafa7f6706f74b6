// Files of a run: its result and reports, and traces of its failed cases.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_RUN_REPORT_H_
#define GAUNTLET_HARNESS_CLI_REPORT_RUN_REPORT_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Returns the command that runs the same cases again.
std::string CommandOf(const RunCommand& command);

// Writes timeline.json.gz into the folder of a failed case and stores its path
// in the result. Leaves out a trace that cannot be written.
void AddTrace(CaseResult& one);

// Returns the contents of report.html. The cases have their records in their
// directories.
std::string RenderReport(const RunResult& result);

// Writes result.json, junit.xml, report.html and summary.md of a run.
Status WriteRunFiles(const RunResult& result,
                     const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_RUN_REPORT_H_
