// Writes file contents of a log into files of crash states, fast.
//
// The second request for a content stores it as a file in a folder. From then
// on, WriteTo clones this file (FICLONE) or, if the file system cannot clone,
// copies it. LinkTo makes a hard link to it.
#ifndef GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_
#define GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "chaos/crash/content_digests.h"
#include "chaos/crash/directory_tree.h"

namespace gauntlet {

// Gives an open file or directory the mode and times of the node. Returns false
// and sets errno if the system refuses.
bool SetModeAndTimes(int file, const TreeNode& node);

class ContentStore {
 public:
  // The folder must exist; several stores of one log may share it. This store
  // keeps at most `limit` bytes. The log must outlive this.
  ContentStore(const OperationLog& log, std::string folder, uint64_t limit);

  // Writes the content into an empty file.
  Status WriteTo(const FileContent& content, int file);
  // Creates `name` in the directory as a hard link to a stored file that has
  // this content, mode and modification time. Returns false, without a link, if
  // there is no such stored file or linking fails. The caller must then write
  // the file.
  Result<bool> LinkTo(const FileContent& content, const TreeNode& node,
                      int directory, const std::string& name);

 private:
  // Stores a content as file `name` of the folder when it is requested for the
  // second time, if the limit allows it. Returns true if the file is stored.
  // `like`: mode and times for the file; may be null.
  Result<bool> Keep(const FileContent& content, const std::string& name,
                    const TreeNode* like);
  Status Assemble(const FileContent& content, int file);
  std::string PathOf(const std::string& name) const;

  const OperationLog& log_;
  const std::string folder_;
  const uint64_t limit_;
  uint64_t kept_bytes_ = 0;
  ContentDigests digests_;
  std::map<std::string, uint64_t> wanted_;  // requests, by name
  std::set<std::string> kept_;
  bool can_clone_ = true;
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_CONTENT_STORE_H_
