// File contents of a log as files: written into files of crash states, fast.
//
// A content that is asked for again is kept in a folder, and from then on is
// cloned (FICLONE) where the file system can, else copied by the kernel, or
// given a hard link.
#ifndef GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_
#define GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "chaos/crash/content_digests.h"
#include "chaos/crash/directory_tree.h"

namespace gauntlet {

class ContentStore {
 public:
  // The folder exists; several stores of one log may share it. At most
  // `limit` bytes are kept by this store. The log outlives this.
  ContentStore(const OperationLog& log, std::string folder, uint64_t limit);

  // Writes the content into an empty file.
  Status WriteTo(const FileContent& content, int file);
  // Gives a file with the content, the mode and the time of modification one
  // more name, in the directory. False if it is cheaper to write it.
  Result<bool> LinkTo(const FileContent& content, const TreeNode& node,
                      int directory, const std::string& name);

 private:
  // True if a file of the folder now has the content.
  Result<bool> Keep(const FileContent& content, const std::string& name,
                    const TreeNode* like);
  Status Assemble(const FileContent& content, int file);
  std::string PathOf(const std::string& name) const;

  const OperationLog& log_;
  const std::string folder_;
  const uint64_t limit_;
  uint64_t kept_bytes_ = 0;
  ContentDigests digests_;
  std::map<std::string, uint64_t> wanted_;  // by name in the folder: how often
  std::set<std::string> kept_;
  bool can_clone_ = true;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_
