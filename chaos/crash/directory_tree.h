// The watched directories of a log in memory: names, files, links, modes,
// times, and contents as pieces of the log's bytes.
#ifndef GAUNTLET_CHAOS_CRASH_DIRECTORY_TREE_H_
#define GAUNTLET_CHAOS_CRASH_DIRECTORY_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "chaos/crash/file_content.h"
#include "chaos/trace/log/file_operation.h"
#include "engine/status.h"

namespace gauntlet {

// Number of the file in the log; that of watched directory i is WatchedRoot(i).
using NodeId = uint64_t;
constexpr NodeId WatchedRoot(uint32_t directory) {
  return UINT64_MAX - directory;
}

enum class NodeKind : uint8_t { kFile, kDirectory, kSymlink };

// A file, directory or symbolic link, whatever its names.
struct TreeNode {
  NodeKind kind = NodeKind::kFile;
  uint32_t mode = 0;
  int64_t access_time = 0;                     // nanoseconds since 1970
  int64_t modification_time = 0;               // nanoseconds since 1970
  std::string target;                          // of a symbolic link
  std::shared_ptr<const FileContent> content;  // of a file; never null
};

// One name of a node. It keeps its number when it is renamed, so that a rename
// moves it from where it is, also if an earlier rename of it was lost.
struct TreeLink {
  uint64_t number = 0;
  NodeId node = 0;
};

struct TreePlace {
  NodeId directory = 0;
  std::string name;
  auto operator<=>(const TreePlace&) const = default;
};

// An operation with the nodes and names that it is about.
struct ResolvedOperation {
  size_t index = 0;  // in the log
  NodeId node = 0;
  int64_t time = 0;                 // nanoseconds since 1970
  std::optional<TreePlace> from;    // where a link is taken away
  std::optional<TreePlace> to;      // where one is put
  uint64_t link = 0;                // that is moved, made or removed
  std::optional<TreeLink> swapped;  // kExchange: the one at `to`
  std::optional<NodeId> replaced;   // another node that was at `to`
  // The directory's own time stays: it came from outside with what is in it.
  bool keeps_directory_time = false;
};

class DirectoryTree {
 public:
  using Links = std::map<std::string, TreeLink, std::less<>>;

  // Empty watched directories.
  explicit DirectoryTree(size_t directories);

  // Finds the nodes and names of the operation in this tree, before it is done.
  // kDataLoss, in one line: a name or file that is not there.
  Result<ResolvedOperation> Resolve(const FileOperation& operation,
                                    size_t index) const;

  // The three parts of an operation's effect. All do nothing where there is
  // nothing to do.
  void MakeNode(const FileOperation& op, const ResolvedOperation& resolved);
  void ChangeNames(const ResolvedOperation& resolved);
  void ChangeNode(const FileOperation& op, const ResolvedOperation& resolved);

  // Adds a node of another tree. REQUIRES: it is no directory with names.
  void CopyNode(NodeId number, const TreeNode& node);
  // Takes away the node if it has no name. True if it did.
  bool ForgetUnnamed(NodeId node);

  const std::map<NodeId, TreeNode>& nodes() const { return nodes_; }
  // nullptr: there is none.
  TreeNode* Find(NodeId node);
  const TreeNode* Find(NodeId node) const;
  // By name; empty for a directory that is not there.
  const Links& LinksIn(NodeId directory) const;

 private:
  Result<TreePlace> PlaceOf(const FileName& name) const;
  std::optional<TreeLink> LinkAt(const TreePlace& place) const;
  void Put(const TreePlace& place, const TreeLink& link,
           const ResolvedOperation& by);
  void Take(const TreeLink& link, const TreePlace& place,
            const ResolvedOperation& by);

  std::map<NodeId, TreeNode> nodes_;
  std::map<NodeId, Links> links_;         // of directories
  std::map<uint64_t, TreePlace> places_;  // of links
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_DIRECTORY_TREE_H_
