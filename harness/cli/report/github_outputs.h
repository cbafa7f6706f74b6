// Summary and annotations of a GitHub Actions step.
#ifndef GAUNTLET_HARNESS_CLI_REPORT_GITHUB_OUTPUTS_H_
#define GAUNTLET_HARNESS_CLI_REPORT_GITHUB_OUTPUTS_H_

#include <filesystem>
#include <string>

#include "engine/cli/terminal/console.h"
#include "engine/status.h"
#include "harness/record/result/result.h"

namespace gauntlet {

// Environment of a GitHub Actions step.
struct GithubStep {
  std::string summary_file;  // GITHUB_STEP_SUMMARY; "": not in GitHub Actions
  std::string workspace;     // GITHUB_WORKSPACE; "": not in GitHub Actions
};
GithubStep GithubStepOfEnvironment();

// Appends the summary of the run to that of the step, and prints an annotation
// for each failure. Keeps the step summary below 1 MiB, since GitHub drops a
// larger one. Without a summary file, prints a note and returns OK.
Status PostToGithub(const RunResult& result, const GithubStep& step,
                    Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_REPORT_GITHUB_OUTPUTS_H_
