#include "chaos/crash/unsynced_changes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/check.h"

namespace gauntlet {
namespace {

bool IsReshape(OperationKind kind) {
  return ChangesContent(kind) && kind != OperationKind::kWrite;
}

bool IsAttribute(OperationKind kind) {
  return kind == OperationKind::kSetMode || kind == OperationKind::kSetTimes;
}

// Returns true if the sync began after the operation had ended, or belongs to
// the same call.
bool Covers(const FileOperation& sync, const FileOperation& op) {
  return op.end < sync.begin || op.call == sync.call;
}

}  // namespace

UnsyncedChanges::UnsyncedChanges(DurabilityProfile profile,
                                 const OperationLog& log)
    : profile_(profile), log_(log), durable_(log.list().directories.size()) {
  CHECK(profile == DurabilityProfile::kExt4 ||
            profile == DurabilityProfile::kWeak,
        "other profiles have no rules for a log");
}

void UnsyncedChanges::Add(const ResolvedOperation& resolved,
                          const DirectoryTree& now) {
  const FileOperation& op = OperationAt(resolved.index);
  const bool is_new = durable_.Find(resolved.node) == nullptr;
  durable_.MakeNode(op, resolved);
  if (!HasNode(resolved, now)) return;
  if (resolved.from || resolved.to) AddName(resolved);
  if (op.kind == OperationKind::kEnter && is_new && !is_ext4()) {
    durable_.Find(resolved.node)->content =
        std::make_shared<const FileContent>();
    AddData(resolved, *now.Find(resolved.node));
  } else if (ChangesContent(op.kind)) {
    const TreeNode* const node = now.Find(resolved.node);
    if (node != nullptr && node->content != nullptr) AddData(resolved, *node);
  } else if (IsAttribute(op.kind)) {
    if (is_ext4()) {
      names_.push_back(resolved);
    } else {
      durable_.ChangeNode(op, resolved);
    }
    if (op.kind == OperationKind::kSetTimes) {
      files_[resolved.node].times_set = resolved.index;
      files_[resolved.node].times_journal = JournalLength();
    }
  } else if (op.kind == OperationKind::kClose) {
    const auto file = files_.find(resolved.node);
    if (is_ext4() && file != files_.end() &&
        std::exchange(file->second.was_emptied, false)) {
      AddFlush(resolved.node, JournalLength() + 1);
    }
  } else {
    Sync(op, resolved.node);
  }
}

// Returns true if the operation concerns all files or the durable tree has its
// file. If the operation gives a removed file a name again, first adds the file
// to that tree. So returns false only for a removed file that the program
// accesses by a descriptor.
bool UnsyncedChanges::HasNode(const ResolvedOperation& resolved,
                              const DirectoryTree& now) {
  const FileOperation& op = OperationAt(resolved.index);
  if (op.kind == OperationKind::kSyncFileSystem ||
      durable_.Find(resolved.node) != nullptr) {
    return true;
  }
  const TreeNode* const node = now.Find(resolved.node);
  if (!resolved.to || node == nullptr) return false;
  // The file was removed here, but a name outside of the watched directories
  // was left, and now the file is moved or linked back.
  durable_.CopyNode(resolved.node, *node);
  return true;
}

void UnsyncedChanges::AddName(const ResolvedOperation& resolved) {
  names_.push_back(resolved);
  const OperationKind kind = OperationAt(resolved.index).kind;
  const TreeNode* const replaced =
      resolved.replaced ? durable_.Find(*resolved.replaced) : nullptr;
  if (is_ext4() && kind == OperationKind::kRename && replaced != nullptr &&
      replaced->kind == NodeKind::kFile) {
    AddFlush(resolved.node, JournalLength());
  }
}

void UnsyncedChanges::AddFlush(NodeId node, uint64_t journal) {
  const auto file = files_.find(node);
  if (file == files_.end() || file->second.changes.empty()) return;
  const DataChange& last = file->second.changes.back();
  file->second.changes.push_back({.kind = DataChange::Kind::kFlush,
                                  .operation = last.operation,
                                  .time = last.time,
                                  .journal = journal,
                                  .after = file->second.now});
}

void UnsyncedChanges::AddData(const ResolvedOperation& resolved,
                              const TreeNode& node) {
  const FileOperation& op = OperationAt(resolved.index);
  UnsyncedFile& file = files_[resolved.node];
  const auto& durable = durable_.Find(resolved.node)->content;
  if (file.now == nullptr) file.now = durable;
  if (file.changes.empty()) file.smallest_size = durable->size();
  const uint64_t old_size = file.now->size();
  file.now = node.content;
  file.smallest_size = std::min(file.smallest_size, file.now->size());
  if (op.kind == OperationKind::kTruncate && op.length == 0)
    file.was_emptied = true;
  DataChange change = {.operation = resolved.index,
                       .time = resolved.time,
                       .begin = op.offset,
                       .end = op.offset + op.bytes.length,
                       .journal = JournalLength()};
  if (IsReshape(op.kind)) {
    change.begin = std::min(op.length, old_size);
    change.end = old_size;
    change.after = file.now;
    if (is_ext4()) {
      names_.push_back(resolved);
      change.kind = DataChange::Kind::kReshape;
      change.journal = JournalLength();
    }
  } else if (op.by_mapping) {
    // The operation contains the bytes of the whole file, so any old bytes
    // after them were cut off.
    change.end = std::max(change.end, old_size);
  }
  file.changes.push_back(std::move(change));
  if (IsReshape(op.kind) && op.kind != OperationKind::kTruncate && !is_ext4())
    MakeDurable(resolved.node, file.changes.size());
}

void UnsyncedChanges::Sync(const FileOperation& sync, NodeId node) {
  const bool is_all = sync.kind == OperationKind::kSyncFileSystem;
  const bool is_directory = sync.kind == OperationKind::kSyncDirectory;
  const bool is_file = sync.kind == OperationKind::kSyncFile ||
                       sync.kind == OperationKind::kSyncData;
  if (!is_all && !is_directory && !is_file) return;
  std::vector<bool> chosen(names_.size());
  if (is_ext4() || is_all) {
    for (size_t i = 0; i < names_.size(); ++i)
      chosen[i] = Covers(sync, OperationAt(names_[i].index));
    // Entries after the first one that the sync does not cover stay pending:
    // the journal is written in order.
    if (is_ext4()) {
      std::fill(std::find(chosen.begin(), chosen.end(), false), chosen.end(),
                false);
    }
  } else if (is_directory) {
    chosen = ChangesBehind(node, sync);
  }
  Commit(chosen);
  if (is_file) SyncData(node, sync);
  if (!is_all) return;
  std::vector<NodeId> all;
  for (const auto& [number, file] : files_) all.push_back(number);
  for (const NodeId number : all) SyncData(number, sync);
}

std::vector<bool> UnsyncedChanges::ChangesBehind(
    NodeId directory, const FileOperation& sync) const {
  std::vector<bool> chosen(names_.size());
  std::set<TreePlace> used;
  for (size_t i = names_.size(); i-- > 0;) {
    const ResolvedOperation& change = names_[i];
    const auto is_used = [&](const std::optional<TreePlace>& place) {
      return place && (place->directory == directory || used.contains(*place));
    };
    chosen[i] = Covers(sync, OperationAt(change.index)) &&
                (is_used(change.from) || is_used(change.to));
    if (!chosen[i]) continue;
    if (change.from) used.insert(*change.from);
    if (change.to) used.insert(*change.to);
  }
  return chosen;
}

void UnsyncedChanges::Commit(const std::vector<bool>& chosen) {
  std::vector<ResolvedOperation> left;
  std::set<NodeId> unnamed;
  for (size_t i = 0; i < names_.size(); ++i) {
    const ResolvedOperation& change = names_[i];
    if (!chosen[i]) {
      left.push_back(change);
      continue;
    }
    ++committed_;
    durable_.ChangeNames(change);
    const FileOperation& op = OperationAt(change.index);
    if (IsAttribute(op.kind)) durable_.ChangeNode(op, change);
    if (change.from && !change.to) unnamed.insert(change.node);
    if (change.replaced) unnamed.insert(*change.replaced);
  }
  names_ = std::move(left);
  for (const ResolvedOperation& change : names_) {
    unnamed.erase(change.node);
    if (change.swapped) unnamed.erase(change.swapped->node);
  }
  for (const NodeId node : unnamed) {
    if (durable_.ForgetUnnamed(node)) files_.erase(node);
  }
  if (!is_ext4()) return;
  for (const auto& [node, file] : files_) {
    size_t count = 0;
    for (size_t i = 0; i < file.changes.size(); ++i) {
      if (file.changes[i].kind != DataChange::Kind::kWrite &&
          file.changes[i].journal <= committed_) {
        count = i + 1;
      }
    }
    MakeDurable(node, count);
  }
}

void UnsyncedChanges::SyncData(NodeId node, const FileOperation& sync) {
  const auto file = files_.find(node);
  if (file == files_.end()) return;
  const std::vector<DataChange>& changes = file->second.changes;
  size_t count = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (Covers(sync, OperationAt(changes[i].operation))) count = i + 1;
  }
  MakeDurable(node, count);
}

void UnsyncedChanges::MakeDurable(NodeId node, size_t count) {
  TreeNode* const durable = durable_.Find(node);
  if (count == 0 || durable == nullptr) return;
  UnsyncedFile& file = files_[node];
  const auto end = file.changes.begin() + static_cast<ptrdiff_t>(count);
  if (end == file.changes.end()) {
    durable->content = file.now;
  } else {
    FileContent content = *durable->content;
    for (auto change = file.changes.begin(); change != end; ++change) {
      if (change->after != nullptr) {
        content = *change->after;
      } else {
        content.Apply(OperationAt(change->operation));
      }
    }
    durable->content = std::make_shared<const FileContent>(std::move(content));
  }
  const size_t last = std::prev(end)->operation;
  if (!file.times_set || *file.times_set < last)
    durable->modification_time = std::prev(end)->time;
  file.changes.erase(file.changes.begin(), end);
  file.smallest_size = std::min(durable->content->size(), file.now->size());
}

}  // namespace gauntlet
