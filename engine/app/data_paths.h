// Current location of the data files of a job that was trained earlier.
#ifndef GAUNTLET_ENGINE_APP_DATA_PATHS_H_
#define GAUNTLET_ENGINE_APP_DATA_PATHS_H_

#include <string>

namespace gauntlet {

// Empty paths: the files are read from the paths that the job states.
struct DataPaths {
  std::string directory;
  std::string validation_directory;  // --validation
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_DATA_PATHS_H_
