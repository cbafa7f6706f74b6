// Scenario files on disk.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_

#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// The files themselves, and every *.yaml in and below the folders, in order of
// path and each once. kNotFound for a path that is not there.
Result<std::vector<std::string>> FindScenarioFiles(
    Storage& storage, const std::vector<std::string>& paths);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_
