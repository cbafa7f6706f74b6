#include "harness/trainer/run/temporary_files.h"

#include <vector>

#include "chaos/crash/directory_tree.h"
#include "harness/trainer/run/trainer_runs.h"

namespace gauntlet {
namespace {

// Finds the files that are not temporary: those that are in TMPDIR after the
// last operation, and those that are below {out} at some time.
class LastingFiles {
 public:
  explicit LastingFiles(const OperationLog& log)
      : tree_(log.list().directories.size()) {}

  // Returns the file of the operation.
  Result<NodeId> Add(const FileOperation& op, size_t index) {
    ASSIGN_OR_RETURN(const ResolvedOperation resolved,
                     tree_.Resolve(op, index));
    tree_.MakeNode(op, resolved);
    tree_.ChangeNames(resolved);
    // Adds each file that is moved into {out} or out of it, or that gets a
    // second name while one of the two names is in {out}.
    const bool has_two_names = !op.to.path.empty();
    if (has_two_names && (op.name.directory == TrainerRuns::kOut ||
                          op.to.directory == TrainerRuns::kOut)) {
      AddAllIn(resolved.node);
      if (resolved.swapped) AddAllIn(resolved.swapped->node);
    }
    return resolved.node;
  }

  // Adds the files that are in the directory after the last operation. Returns
  // true iff there are any.
  bool AddLeftIn(NodeId directory) {
    bool has_file = false;
    for (const auto& [name, link] : tree_.LinksIn(directory)) {
      const TreeNode* const node = tree_.Find(link.node);
      const bool is_directory =
          node != nullptr && node->kind == NodeKind::kDirectory;
      if (is_directory && !AddLeftIn(link.node)) continue;
      lasting_.insert(link.node);
      has_file = true;
    }
    return has_file;
  }

  bool Contains(NodeId node) const { return lasting_.contains(node); }

 private:
  void AddAllIn(NodeId node) {
    lasting_.insert(node);
    for (const auto& [name, link] : tree_.LinksIn(node)) AddAllIn(link.node);
  }

  DirectoryTree tree_;
  std::set<NodeId> lasting_;
};

bool IsInTemporary(const FileOperation& op) {
  return op.kind != OperationKind::kSyncFileSystem &&
         op.name.directory == TrainerRuns::kTemporary &&
         (op.to.path.empty() || op.to.directory == TrainerRuns::kTemporary);
}

}  // namespace

Result<std::set<uint64_t>> OperationsOnTemporaryFiles(const OperationLog& log) {
  std::set<uint64_t> temporary;
  const NodeId root = WatchedRoot(TrainerRuns::kTemporary);
  if (log.list().directories.size() <= TrainerRuns::kTemporary)
    return temporary;
  LastingFiles files(log);
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < log.operations().size(); ++i) {
    ASSIGN_OR_RETURN(const NodeId node, files.Add(log.operations()[i], i));
    nodes.push_back(node);
  }
  files.AddLeftIn(root);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool is_temporary = IsInTemporary(log.operations()[i]) &&
                              nodes[i] != root && !files.Contains(nodes[i]);
    if (is_temporary) temporary.insert(i + 1);
  }
  return temporary;
}

}  // namespace gauntlet
