#include "chaos/crash/log_walk.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

Status Misfit(const CrashState& state, std::string_view why) {
  return InvalidArgument(
      fmt::format("{}: {}: the state is of another log, record it again",
                  CrashStateId(state), why));
}

bool IsLost(const CrashState& state, const ResolvedOperation& change) {
  const uint64_t number = change.index + 1;
  return (state.lost_from > 0 && number >= state.lost_from) ||
         std::ranges::binary_search(state.lost, number);
}

}  // namespace

LogWalk::LogWalk(const OperationLog& log)
    : log_(&log),
      now_(log.list().directories.size()),
      ext4_(DurabilityProfile::kExt4, log),
      weak_(DurabilityProfile::kWeak, log) {}

const UnsyncedChanges& LogWalk::unsynced(DurabilityProfile profile) const {
  return profile == DurabilityProfile::kExt4 ? ext4_ : weak_;
}

Status LogWalk::AdvanceTo(uint64_t position) {
  while (position_ < position) {
    const Status status = AdvanceOne();
    if (!status.ok()) {
      return DataLoss(
          fmt::format("operation {} ({}): {}: record again", position_ + 1,
                      DescribeFileOperation(log_->operations()[position_]),
                      status.message()));
    }
  }
  return OkStatus();
}

Status LogWalk::AdvanceOne() {
  const FileOperation& op = log_->operations()[position_];
  ASSIGN_OR_RETURN(ResolvedOperation resolved, now_.Resolve(op, position_));
  resolved.time = log_->list().start_time + op.time.count();
  now_.MakeNode(op, resolved);
  now_.ChangeNames(resolved);
  now_.ChangeNode(op, resolved);
  ext4_.Add(resolved, now_);
  weak_.Add(resolved, now_);
  ++position_;
  return OkStatus();
}

Result<DirectoryTree> LogWalk::TreeOf(const CrashState& state) const {
  if (state.operations != position_) {
    return Misfit(state, fmt::format("the log has {} operations",
                                     log_->operations().size()));
  }
  switch (state.kind) {
    case CrashStateKind::kKill:
      return now_;
    case CrashStateKind::kTornWrite:
      return TornTree(state);
    case CrashStateKind::kPowerLoss:
      break;
  }
  return PowerLossTree(state);
}

Result<DirectoryTree> LogWalk::TornTree(const CrashState& state) const {
  const auto& operations = log_->operations();
  if (position_ == operations.size() ||
      operations[position_].kind != OperationKind::kWrite ||
      operations[position_].bytes.length <= state.torn_bytes) {
    return Misfit(state, fmt::format("no write of more than {} bytes follows",
                                     state.torn_bytes));
  }
  FileOperation torn = operations[position_];
  torn.bytes.length = state.torn_bytes;
  ASSIGN_OR_RETURN(ResolvedOperation resolved, now_.Resolve(torn, position_));
  resolved.time = log_->list().start_time + torn.time.count();
  DirectoryTree tree = now_;
  tree.ChangeNode(torn, resolved);
  return tree;
}

Result<DirectoryTree> LogWalk::PowerLossTree(const CrashState& state) const {
  const UnsyncedChanges& changes = unsynced(state.profile);
  std::vector<bool> kept;
  size_t singly_lost = 0;
  for (const ResolvedOperation& change : changes.names()) {
    kept.push_back(!IsLost(state, change));
    singly_lost +=
        std::ranges::binary_search(state.lost, change.index + 1) ? 1 : 0;
  }
  if (singly_lost < state.lost.size())
    return Misfit(state, "a change that it loses is not pending");
  if (state.profile == DurabilityProfile::kExt4 && !state.lost.empty())
    return Misfit(state, "ext4 loses changes from one on only");
  const auto survivors = changes.With(kept);
  if (!survivors) return Misfit(state, "a file's changes do not fit");
  for (const FileOutcome& file : state.files) {
    const auto pending = survivors->files.find(file.file);
    if (pending == survivors->files.end()) {
      return Misfit(state,
                    fmt::format("file {} has no unsynced data", file.file));
    }
    if (!pending->second.Allows(file)) {
      return Misfit(state, fmt::format("file {} cannot be left so", file.file));
    }
  }
  return TreeWith(*survivors, state.other_files, state.files);
}

DirectoryTree TreeWith(const UnsyncedChanges::Survivors& survivors,
                       UnsyncedData other_files,
                       const std::vector<FileOutcome>& files) {
  DirectoryTree tree = survivors.tree;
  const auto set = [&](const PendingContent& pending,
                       const FileOutcome& outcome) {
    TreeNode& node = *tree.Find(outcome.file);
    node.content = pending.Compose(outcome);
    node.modification_time = pending.TimeOf(outcome);
  };
  for (const auto& [number, pending] : survivors.files) {
    set(pending, other_files == UnsyncedData::kKept ? pending.Kept(number)
                                                    : pending.Lost(number));
  }
  for (const FileOutcome& file : files)
    set(survivors.files.at(file.file), file);
  return tree;
}

uint64_t CountInitialOperations(const OperationLog& log) {
  const auto& operations = log.operations();
  const auto first = std::ranges::find_if(
      operations, [](const FileOperation& op) { return op.call != 0; });
  return static_cast<uint64_t>(first - operations.begin());
}

bool IsCut(const OperationLog& log, uint64_t operations) {
  const uint64_t first = CountInitialOperations(log);
  if (operations <= first) return operations == first;
  const FileOperation& last = log.operations()[operations - 1];
  if (!IsCrashPoint(last.kind)) return false;
  if (operations == log.operations().size()) return true;
  return log.operations()[operations].call != last.call ||
         last.kind == OperationKind::kWrite;
}

}  // namespace gauntlet
