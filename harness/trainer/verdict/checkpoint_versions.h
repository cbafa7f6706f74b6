// The contents that files had in a recording, so that a resumed run's reads
// tell which checkpoint it resumed from.
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
#include "harness/trainer/run/trial.h"

namespace gauntlet {

// Files of the watched directories and the digests of their contents
// (ContentDigests, chaos/crash/content_digests.h).
using FileContents = std::map<FileRead, Digest>;

// Digests all files below the directories. Errors: those of reading them.
Result<FileContents> ContentsOf(
    const std::vector<std::filesystem::path>& directories);

// Paths of files of the first watched directory that were only ever appended
// to, in at least two separate runs of writes: logs.
std::set<std::string> GrowingFiles(const OperationLog& log);

class CheckpointVersions {
 public:
  // Files of the first watched directory: those that match a pattern of
  // fnmatch(3), or, without patterns, all but those that only grow while other
  // files change, as logs do. kDataLoss: that of the log.
  // kInvalidArgument: the patterns match no file.
  static Result<CheckpointVersions> Of(
      const OperationLog& log, const std::vector<std::string>& patterns);

  // The last operation of each version of a file, ascending.
  std::vector<uint64_t> Ends() const;

  // The newest version that a run read which started with these contents; its
  // files are the newest first. Contents that the recording never had whole
  // are skipped. nullopt: the run read only such contents.
  std::optional<CheckpointVersion> VersionOf(
      const std::vector<FileRead>& reads, const FileContents& contents) const;

  // A finished checkpoint file that the run wrote again; empty: there is none.
  // A file is finished once the program has begun the next of its series, or
  // has ended. Series with a file for each version count (ckpt-1, ckpt-2).
  // `operation`: so many operations had happened.
  std::string MadeAgain(const std::vector<FileRead>& made,
                        const FileContents& contents, uint64_t operation) const;

 private:
  struct Version {
    uint64_t operation = 0;
    uint64_t begin = 0;
  };
  bool IsCheckpoint(const FileRead& file) const;
  void FindFinished(uint64_t operations);

  std::vector<std::string> patterns_;
  std::map<FileRead, std::map<Digest, Version>> versions_;
  // State of a file of a series, such as ckpt-1, ckpt-2: its last contents, and
  // the operation from which on the program was done with it.
  struct Finished {
    Digest content;
    uint64_t from = 0;
  };
  std::map<FileRead, Finished> finished_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_VERDICT_CHECKPOINT_VERSIONS_H_
