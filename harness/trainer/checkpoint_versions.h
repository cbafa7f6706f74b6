// The contents that files had in a recording, so that a resumed run's reads
// tell which checkpoint it resumed from.
#ifndef GAUNTLET_HARNESS_TRAINER_CHECKPOINT_VERSIONS_H_
#define GAUNTLET_HARNESS_TRAINER_CHECKPOINT_VERSIONS_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chaos/trace/operation_log.h"
#include "engine/digest.h"
#include "engine/status.h"
#include "harness/trainer/crash_trial.h"
#include "harness/trainer/trial.h"

namespace gauntlet {

// Files of the watched directories and the digests of their contents
// (ContentDigests, chaos/crash/content_digests.h).
using FileContents = std::map<FileRead, Digest>;

// Of all files below the directories. Errors: those of reading them.
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

  // What a run read that started with these contents: the newest version among
  // them, and its files, newest first. Contents that no file had in the
  // recording, between two changes apart, count as not read. nullopt: it read
  // checkpoint files, but only such ones.
  std::optional<CheckpointVersion> VersionOf(
      const std::vector<FileRead>& reads, const FileContents& contents) const;

  // A checkpoint file that the run made though it was there, whole and never to
  // change again, and a later one had been begun, or the recording was over;
  // empty: there is none. Counted are files with a name for each version.
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
  // Of files of a series, such as ckpt-1, ckpt-2: the last contents, and from
  // which operation on the program was done with them.
  struct Finished {
    Digest content;
    uint64_t from = 0;
  };
  std::map<FileRead, Finished> finished_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_CHECKPOINT_VERSIONS_H_
