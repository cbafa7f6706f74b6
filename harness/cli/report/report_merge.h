// `gauntlet report --merge`: shards of a suite become one run.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_REPORT_MERGE_H_
#define GAUNTLET_HARNESS_CLI_REPORT_REPORT_MERGE_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/cli/flags/commands.h"
#include "harness/cli/run_folders/stored_runs.h"

namespace gauntlet {

struct MergedRun {
  StoredRun run;
  // Entries of command.runs that are copies of a run listed before them. They
  // are not merged, so that each run counts once.
  std::vector<std::string> copies;
};

// Merges command.runs into a run in command.out_directory: copies the cases'
// folders, and writes result.json, junit.xml, report.html and summary.md. On an
// error the folder is empty or was not made.
Result<MergedRun> MergeRuns(const ReportCommand& command);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_REPORT_MERGE_H_
