// The folder of a benchmark's trials.
#ifndef GAUNTLET_HARNESS_CLI_BENCH_TRIALS_FOLDER_H_
#define GAUNTLET_HARNESS_CLI_BENCH_TRIALS_FOLDER_H_

#include <filesystem>
#include <memory>
#include <utility>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "harness/run/files/temporary_directory.h"

namespace gauntlet {

// A folder that is deleted with its contents by the destructor. The folder is
// locked while the benchmark runs. The next benchmark in the same parent
// deletes folders that are not locked.
class TrialsFolder {
 public:
  // Creates a folder in `parent`, an absolute path. Creates `parent` and its
  // parents if they are missing; the destructor removes those of them that are
  // empty, as Make itself does after an error. kInvalidArgument: `parent`
  // cannot be created.
  static Result<std::unique_ptr<TrialsFolder>> Make(
      const std::filesystem::path& parent);
  ~TrialsFolder();
  TrialsFolder(const TrialsFolder&) = delete;
  TrialsFolder& operator=(const TrialsFolder&) = delete;

  // Deletes the folders of trials in `parent` whose benchmarks were killed.
  static void RemoveLeftBehind(const std::filesystem::path& parent);

  std::filesystem::path path() const { return folder_->path(); }

 private:
  TrialsFolder(std::unique_ptr<TemporaryDirectory> folder, Descriptor lock,
               std::filesystem::path created)
      : folder_(std::move(folder)),
        lock_(std::move(lock)),
        created_(std::move(created)) {}

  std::unique_ptr<TemporaryDirectory> folder_;
  const Descriptor lock_;
  // Topmost folder that Make created; empty: the parent existed.
  const std::filesystem::path created_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_BENCH_TRIALS_FOLDER_H_
