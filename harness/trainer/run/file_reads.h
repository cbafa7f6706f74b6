// Reports which files of some directories programs read, by inotify(7). It
// covers reads from any process or namespace and does not slow readers down.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_FILE_READS_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_FILE_READS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

struct FileReads {
  std::vector<FileRead> files;  // without duplicates, ordered by first read
  // Files that were created, moved to or changed, in directories that existed
  // at the start.
  std::vector<FileRead> made;
  bool is_complete = true;  // false: the kernel dropped events
};

class FileReadWatch {
 public:
  // Watches all directories that now exist below `directories`. Errors: those
  // of inotify_init(2), inotify_add_watch(2), and of listing.
  static Result<std::unique_ptr<FileReadWatch>> Start(
      const std::vector<std::string>& directories);
  ~FileReadWatch();
  FileReadWatch(const FileReadWatch&) = delete;
  FileReadWatch& operator=(const FileReadWatch&) = delete;

  // Ends the watch. `files` excludes files that were created, replaced or
  // changed between its start and their first read.
  FileReads Stop();

 private:
  FileReadWatch(Descriptor events, Descriptor stop);
  Status Add(const FileRead& directory, const std::string& path);
  void Collect();
  void TakeEvents();

  Descriptor events_;
  Descriptor stop_;                 // an eventfd
  std::map<int, FileRead> places_;  // directories, by watch descriptor
  FileReads reads_;
  // Files in reads_, paired with true if in `files`, or false if in `made`.
  std::set<std::pair<bool, FileRead>> known_;
  std::thread collector_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_FILE_READS_H_
