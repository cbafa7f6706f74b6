// Contents of files during a recording. They show from which checkpoint a run
// resumed, given the files that it read.
#ifndef GAUNTLET_HARNESS_TRAINER_VERDICT_CHECKPOINT_VERSIONS_H_
#define GAUNTLET_HARNESS_TRAINER_VERDICT_CHECKPOINT_VERSIONS_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chaos/trace/log/operation_log.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

// Digests of the contents of files in the watched directories (ContentDigests,
// chaos/crash/content_digests.h).
using FileContents = std::map<FileRead, Digest>;

// Returns the digests of all files below the directories. Errors: those of
// reading them.
Result<FileContents> ContentsOf(
    const std::vector<std::filesystem::path>& directories);

// Returns the paths of logs: files in the first watched directory that were
// only appended to, in at least two bursts with changes of other files in
// between.
std::set<std::string> GrowingFiles(const OperationLog& log);

class CheckpointVersions {
 public:
  // Covers files of the first watched directory that match a pattern of
  // fnmatch(3). Without patterns, covers all files except logs, which only grow
  // while other files change. kDataLoss: the log is damaged. kInvalidArgument:
  // the patterns match no file.
  static Result<CheckpointVersions> Of(
      const OperationLog& log, const std::vector<std::string>& patterns);

  // Returns the last operations of all versions of checkpoint files, ascending.
  std::vector<uint64_t> Ends() const;

  // Returns the newest version among the files that a run read. `contents`: the
  // contents of the files at the start of the run. The version's files are
  // ordered newest first. Skips contents that the recording never completed;
  // returns nullopt if the run read only such contents.
  std::optional<CheckpointVersion> VersionOf(
      const std::vector<FileRead>& reads, const FileContents& contents) const;

  // Returns those of the files that a run wrote (`made`) that were complete
  // checkpoints when it started. `contents`: the contents of the files at its
  // start. Only files of a series count. A series, such as ckpt-1, ckpt-2, has
  // one file for each version; a file is complete once the recorded program has
  // begun the next one of the series, or has ended.
  std::vector<RemadeFile> MadeAgain(const std::vector<FileRead>& made,
                                    const FileContents& contents) const;

  // Returns the newest complete file among `contents` that belongs to the
  // series of the file `path`; "" if there is none.
  std::string NewestOfSeries(const std::string& path,
                             const FileContents& contents) const;

 private:
  struct Version {
    uint64_t operation = 0;
    uint64_t begin = 0;
  };
  bool IsCheckpoint(const FileRead& file) const;
  void FindFinished(uint64_t operations);

  std::vector<std::string> patterns_;
  std::map<FileRead, std::map<Digest, Version>> versions_;
  // A file of a series, such as ckpt-1, ckpt-2: its last contents, and the
  // operation after which it was finished.
  struct Finished {
    Digest content;
    uint64_t from = 0;
  };
  std::map<FileRead, Finished> finished_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CHECKPOINT_VERSIONS_H_
