// The end of an interrupted exploration: states what is stored, and the command
// that resumes it.
#ifndef GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_INTERRUPTION_H_
#define GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_INTERRUPTION_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/cli/flags/commands.h"
#include "harness/explore/campaign/campaign.h"

namespace gauntlet {

// Returns a shell command. In modes mixed and random, the command resumes at
// the first case that has not run, with the same --out and the rest of --cases.
// If the exploration was interrupted, the command also has the rest of --time.
// In other modes, the command restarts the exploration.
std::string CommandToResume(const ExploreCommand& command, uint64_t seed,
                            const CampaignReport& report);

struct StoredExploration {
  size_t findings = 0;  // those with a file in the directory
  std::filesystem::path directory;
  std::filesystem::path report;  // empty: not written
};

// Returns "interrupted after 1,204 cases: 1 finding stored in …; resume with:
// gauntlet explore … --first-case 1204". `cases` is "1,204 cases".
std::string RenderInterruption(const std::string& cases,
                               const StoredExploration& stored,
                               const std::string& how_to_go_on);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_EXPLORE_EXPLORE_INTERRUPTION_H_
