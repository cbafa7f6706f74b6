// What GitHub Actions takes from a step: its summary and its annotations.
#ifndef GAUNTLET_HARNESS_CLI_GITHUB_OUTPUTS_H_
#define GAUNTLET_HARNESS_CLI_GITHUB_OUTPUTS_H_

#include <filesystem>
#include <string>

#include "engine/status.h"
#include "harness/cli/console.h"
#include "harness/record/result.h"

namespace gauntlet {

// What GitHub tells a step.
struct GithubStep {
  std::string summary_file;  // GITHUB_STEP_SUMMARY; "": not in GitHub Actions
  std::string workspace;     // GITHUB_WORKSPACE; "": likewise
};
GithubStep GithubStepOfEnvironment();

// Appends the summary of the run to the step's, and prints annotations of its
// failures. A step's summary stays below 1 MiB: GitHub drops a larger one. A
// summary that has nowhere to go is a note, not an error.
Status PostToGithub(const RunResult& result, const GithubStep& step,
                    Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_GITHUB_OUTPUTS_H_
