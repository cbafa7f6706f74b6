// Where the files of a job that was trained once lie now.
#ifndef GAUNTLET_HARNESS_CLI_DATA_PLACE_H_
#define GAUNTLET_HARNESS_CLI_DATA_PLACE_H_

#include <string>

namespace gauntlet {

// Each empty: where they lay as it was trained.
struct DataPlace {
  std::string directory;
  std::string validation_directory;  // of validation files that lie apart
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_DATA_PLACE_H_
