// Scenario files on disk.
#ifndef GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_
#define GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Returns the given files, and every *.yaml in and below the given folders,
// sorted by path and without duplicates. Folders of stored runs below the given
// ones are left out. kNotFound: a path does not exist.
Result<std::vector<std::string>> FindScenarioFiles(
    Storage& storage, const std::vector<std::string>& paths);

// Returns "PATH: no such scenario KIND; did you mean NEAR?", without the
// question if no existing path is near. `kind`: "file" or "file or folder".
std::string NoSuchScenario(const std::string& path, std::string_view kind);

// Returns "no file that ends in .yaml or .yml in a, b".
std::string NoScenarioFileIn(const std::vector<std::string>& paths);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SCENARIO_SCENARIO_FILES_H_
