// The folder of a benchmark's trials.
#ifndef GAUNTLET_HARNESS_CLI_TRIALS_FOLDER_H_
#define GAUNTLET_HARNESS_CLI_TRIALS_FOLDER_H_

#include <filesystem>
#include <memory>
#include <utility>

#include "engine/real/descriptor.h"
#include "engine/status.h"
#include "harness/run/temporary_directory.h"

namespace gauntlet {

// Removed with all that is in it. One that a killed benchmark left behind is
// removed by the next in the same parent: a benchmark that runs holds a lock on
// its folder.
class TrialsFolder {
 public:
  // Makes the parent if need be. kInvalidArgument: it cannot be made.
  static Result<std::unique_ptr<TrialsFolder>> Make(
      const std::filesystem::path& parent);

  // What killed benchmarks left in that folder, as Make does.
  static void RemoveLeftBehind(const std::filesystem::path& parent);

  std::filesystem::path path() const { return folder_->path(); }

 private:
  TrialsFolder(std::unique_ptr<TemporaryDirectory> folder, Descriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  const std::unique_ptr<TemporaryDirectory> folder_;
  const Descriptor lock_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TRIALS_FOLDER_H_
