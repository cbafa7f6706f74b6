// The watched directories of a log, as a tree in memory: names, files, links,
// modes and times. The contents of files are references to the log's bytes.
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

// Number of a file in the log; watched directory i has the number
// WatchedRoot(i).
using NodeId = uint64_t;
constexpr NodeId WatchedRoot(uint32_t directory) {
  return UINT64_MAX - directory;
}

enum class NodeKind : uint8_t { kFile, kDirectory, kSymlink };

// A file, directory or symbolic link, independent of its names.
struct TreeNode {
  NodeKind kind = NodeKind::kFile;
  uint32_t mode = 0;
  int64_t access_time = 0;                     // nanoseconds since 1970
  int64_t modification_time = 0;               // nanoseconds since 1970
  std::string target;                          // of a symbolic link
  std::shared_ptr<const FileContent> content;  // of a file; never null
};

// One name of a node. A link keeps its number across renames. So if an earlier
// rename was lost, a later one still finds the link, and moves it from where it
// is.
struct TreeLink {
  uint64_t number = 0;
  NodeId node = 0;
};

struct TreePlace {
  NodeId directory = 0;
  std::string name;
  auto operator<=>(const TreePlace&) const = default;
};

// An operation with the nodes and names that it concerns.
struct ResolvedOperation {
  size_t index = 0;  // in the log
  NodeId node = 0;
  int64_t time = 0;                 // nanoseconds since 1970
  std::optional<TreePlace> from;    // from which a link is removed
  std::optional<TreePlace> to;      // to which a link is added
  uint64_t link = 0;                // number of the link moved, made or removed
  std::optional<TreeLink> swapped;  // kExchange: the link at `to`
  std::optional<NodeId> replaced;   // another node that was at `to`
  // True if the operation does not set the directory's modification time,
  // because the file came from elsewhere together with that directory.
  bool keeps_directory_time = false;
};

class DirectoryTree {
 public:
  using Links = std::map<std::string, TreeLink, std::less<>>;

  // Creates empty watched directories.
  explicit DirectoryTree(size_t directories);

  // Finds the nodes and names of the operation in this tree, before the
  // operation takes effect. kDataLoss, one line: a name or file that does not
  // exist.
  Result<ResolvedOperation> Resolve(const FileOperation& operation,
                                    size_t index) const;

  // Each of these functions performs one part of an operation's effect, and
  // does nothing if the operation has no such part.
  void MakeNode(const FileOperation& op, const ResolvedOperation& resolved);
  void ChangeNames(const ResolvedOperation& resolved);
  void ChangeNode(const FileOperation& op, const ResolvedOperation& resolved);

  // Adds a node of another tree. REQUIRES: the node is not a directory that has
  // entries.
  void CopyNode(NodeId number, const TreeNode& node);
  // Removes the node if it has no name. Returns true if it was removed.
  bool ForgetUnnamed(NodeId node);

  const std::map<NodeId, TreeNode>& nodes() const { return nodes_; }
  // Returns nullptr if the tree has no such node.
  TreeNode* Find(NodeId node);
  const TreeNode* Find(NodeId node) const;
  // Returns links by name; empty if the directory does not exist.
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
