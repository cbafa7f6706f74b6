// Logs that the processes of a case left in its folder.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_CASE_LOGS_H_
#define GAUNTLET_HARNESS_CLI_REPORT_CASE_LOGS_H_

#include <vector>

#include "harness/record/result/result.h"
#include "reports/html/log_tails.h"

namespace gauntlet {

// Returns the ends of the logs: those of launchers, then those of workers,
// ordered by number and incarnation. Empty if the case was simulated, or its
// folder was not kept.
std::vector<LogTail> LogsOf(const CaseResult& result);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_CASE_LOGS_H_
