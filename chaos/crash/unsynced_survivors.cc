// Computes the contents that files may have after a power loss, for one choice
// of surviving changes of names.
#include <algorithm>
#include <set>
#include <utility>

#include "chaos/crash/unsynced_changes.h"

namespace gauntlet {
namespace {

using Ranges = std::vector<BlockRange>;

// Returns all blocks that contain any of the bytes.
BlockRange BlocksAround(uint64_t begin, uint64_t end) {
  return {.first = begin / kCrashBlockBytes,
          .last = (end + kCrashBlockBytes - 1) / kCrashBlockBytes};
}

// Returns the blocks of `ranges` that are not in `taken`. REQUIRES: both are
// normalised.
Ranges Without(const Ranges& ranges, const Ranges& taken) {
  Ranges left;
  for (BlockRange rest : ranges) {
    for (const BlockRange& one : taken) {
      if (one.last <= rest.first || one.first >= rest.last) continue;
      if (rest.first < one.first)
        left.push_back({.first = rest.first, .last = one.first});
      rest.first = std::min(one.last, rest.last);
    }
    if (rest.first < rest.last) left.push_back(rest);
  }
  return left;
}

// Returns the blocks that consist of zeros only: holes, and allocated space
// without bytes.
Ranges HolesOf(const FileContent& content) {
  Ranges holes;
  uint64_t at = 0;
  for (const ContentPiece& piece : content.pieces()) {
    const uint64_t end = at + piece.length;
    if (piece.is_zeros()) {
      const uint64_t first = BlocksAround(0, at).last;
      const uint64_t last = end == content.size() ? BlocksAround(0, end).last
                                                  : end / kCrashBlockBytes;
      if (first < last) holes.push_back({.first = first, .last = last});
    }
    at = end;
  }
  return holes;
}

std::set<NodeId> Reachable(const DirectoryTree& tree, size_t directories) {
  std::vector<NodeId> queue;
  for (size_t i = 0; i < directories; ++i)
    queue.push_back(WatchedRoot(static_cast<uint32_t>(i)));
  std::set<NodeId> found(queue.begin(), queue.end());
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const auto& [name, link] : tree.LinksIn(queue[i])) {
      if (found.insert(link.node).second) queue.push_back(link.node);
    }
  }
  return found;
}

bool HasChoice(const PendingContent& pending) {
  return pending.CountOutcomes() > 1;
}

}  // namespace

std::optional<UnsyncedChanges::Survivors> UnsyncedChanges::With(
    const std::vector<bool>& kept) const {
  Survivors survivors = {.tree = durable_, .files = {}};
  uint64_t journal = committed_;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!kept[i]) continue;
    ++journal;
    survivors.tree.ChangeNames(names_[i]);
    const FileOperation& op = OperationAt(names_[i].index);
    if (!ChangesContent(op.kind)) survivors.tree.ChangeNode(op, names_[i]);
  }
  const auto reachable =
      Reachable(survivors.tree, log_.list().directories.size());
  for (const auto& [number, file] : files_) {
    if (file.changes.empty() || !reachable.contains(number)) continue;
    TreeNode& node = *survivors.tree.Find(number);
    auto pending =
        is_ext4() ? PendingExt4(node, file, journal) : PendingWeak(node, file);
    if (!pending) return std::nullopt;
    node.content = pending->old;
    node.modification_time = pending->old_time;
    if (HasChoice(*pending))
      survivors.files.emplace(number, *std::move(pending));
  }
  return survivors;
}

// Sets both times of `pending` to the modification time that a kSetTimes gave
// the file, if it came after the last write and survives. The file then has
// that time even if the written bytes are lost.
void UnsyncedChanges::SetPendingTimes(PendingContent& pending,
                                      const UnsyncedFile& file,
                                      uint64_t kept) const {
  if (!file.times_set || *file.times_set < pending.last_operation) return;
  if (is_ext4() && file.times_journal > kept) return;
  pending.now_time = OperationAt(*file.times_set).modification_time;
  pending.old_time = pending.now_time;
}

PendingContent UnsyncedChanges::PendingOf(const TreeNode& durable,
                                          const UnsyncedFile& file) {
  return {.old = durable.content,
          .now = file.now,
          .old_time = durable.modification_time,
          .now_time = file.changes.back().time,
          .last_operation = file.changes.back().operation};
}

std::optional<PendingContent> UnsyncedChanges::PendingExt4(
    const TreeNode& durable, const UnsyncedFile& file, uint64_t kept) const {
  using Kind = DataChange::Kind;
  PendingContent pending = PendingOf(durable, file);
  bool is_reshaped = false;
  size_t first = 0;
  for (size_t i = 0; i < file.changes.size(); ++i) {
    const DataChange& change = file.changes[i];
    if (change.kind == Kind::kWrite) continue;
    if (change.journal <= kept) {
      first = i + 1;
      pending.old = change.after;
      pending.old_time = change.time;
      is_reshaped = is_reshaped || change.kind == Kind::kReshape;
    } else if (change.kind == Kind::kReshape) {
      if (is_reshaped) return std::nullopt;
      pending.now = pending.old;
      pending.now_time = pending.old_time;
      first = file.changes.size();
      break;
    }
  }
  SplitExt4(pending, std::span(file.changes).subspan(first), kept);
  SetPendingTimes(pending, file, kept);
  return pending;
}

void UnsyncedChanges::SplitExt4(PendingContent& pending,
                                std::span<const DataChange> changes,
                                uint64_t kept) const {
  const uint64_t durable = pending.old->size();
  const uint64_t size = pending.now->size();
  uint64_t limit = size;  // bytes from here on are lost
  Ranges overwritten;
  Ranges too_early;
  for (const DataChange& change : changes) {
    if (change.kind != DataChange::Kind::kWrite) continue;
    const bool is_early = change.journal > kept;
    if (is_early && change.end > durable)
      limit = std::min(limit, std::max(durable, change.begin));
    if (change.begin >= durable) continue;
    const BlockRange blocks =
        BlocksAround(change.begin, std::min(change.end, durable));
    overwritten.push_back(blocks);
    if (is_early) too_early.push_back(blocks);
  }
  pending.appends_whole = true;
  pending.sizes = {durable};
  if (limit == size && size > durable) pending.sizes.push_back(size);
  pending.low = durable;
  pending.high = limit == size ? size : limit + 1;
  pending.kept_size =
      limit == size
          ? size
          : std::max(durable, limit / kCrashBlockBytes * kCrashBlockBytes);
  Normalise(overwritten);
  Normalise(too_early);
  const Ranges holes = HolesOf(*pending.old);
  pending.torn = Without(overwritten, holes);
  const Ranges filled = Without(overwritten, pending.torn);
  pending.whole = Without(filled, too_early);
  pending.stale = Without(filled, pending.whole);
}

PendingContent UnsyncedChanges::PendingWeak(const TreeNode& durable,
                                            const UnsyncedFile& file) const {
  PendingContent pending = PendingOf(durable, file);
  const uint64_t before = pending.old->size();
  const uint64_t size = pending.now->size();
  pending.low = std::min({before, file.smallest_size, size});
  pending.high = std::max(before, size);
  pending.kept_size = size;
  const std::set<uint64_t> sizes = {pending.low, before, size, pending.high};
  pending.sizes.assign(sizes.begin(), sizes.end());
  for (const DataChange& change : file.changes)
    pending.torn.push_back(BlocksAround(change.begin, change.end));
  Normalise(pending.torn);
  SetPendingTimes(pending, file, 0);
  return pending;
}

}  // namespace gauntlet
