#include "chaos/crash/crash_description.h"

#include <algorithm>

#include "chaos/crash/log_walk.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostLines = 20;

std::string PointText(const OperationLog& log, const CrashState& state) {
  const auto& operations = log.operations();
  if (state.kind == CrashStateKind::kTornWrite) {
    const FileOperation& torn = operations[state.operations];
    return fmt::format("killed in {}: the first {} of {} bytes are there",
                       DescribeFileOperation(torn), state.torn_bytes,
                       torn.bytes.length);
  }
  const std::string what =
      state.kind == CrashStateKind::kKill
          ? "killed"
          : fmt::format("power loss ({})", ProfileName(state.profile));
  if (state.operations <= CountInitialOperations(log))
    return what + " before the first operation";
  return fmt::format("{} after {}", what,
                     DescribeFileOperation(operations[state.operations - 1]));
}

// Returns how many bytes of `wanted`, written at offset `begin`, are still at
// their places in the content. Bytes are compared by their offset in the log.
uint64_t CountSurviving(const FileContent& content, uint64_t begin,
                        const ByteExtent& wanted) {
  uint64_t count = 0;
  uint64_t at = begin;
  for (const ContentPiece& piece :
       content.Slice(begin, begin + wanted.length)) {
    const uint64_t here = wanted.offset + (at - begin);
    if (!piece.is_zeros() && piece.source == here) count += piece.length;
    at += piece.length;
  }
  return count;
}

// Returns "rename a.tmp to a (operation 3)". `number`: in the log, from 1.
std::string OperationText(const FileOperation& operation, uint64_t number) {
  return fmt::format("{} (operation {})", DescribeFileOperation(operation),
                     number);
}

// Returns a line about the bytes of the write that are lost; "" if there are
// none. Bytes that later operations had overwritten do not count.
std::string LostText(const FileOperation& write, uint64_t number,
                     const FileContent& left, const FileContent& now) {
  const uint64_t wanted = CountSurviving(now, write.offset, write.bytes);
  const uint64_t there = CountSurviving(left, write.offset, write.bytes);
  if (there >= wanted) return "";
  const std::string text = OperationText(write, number);
  if (there == 0) return text + ": lost";
  return fmt::format("{}: {} of {} bytes there", text, there, wanted);
}

}  // namespace

Result<CrashStateText> DescribeCrashState(const OperationLog& log,
                                          const CrashState& state) {
  LogWalk walk(log);
  RETURN_IF_ERROR(walk.AdvanceTo(
      std::min<uint64_t>(state.operations, log.operations().size())));
  ASSIGN_OR_RETURN(const DirectoryTree tree, walk.TreeOf(state));
  CrashStateText text = {.point = PointText(log, state)};
  if (state.kind != CrashStateKind::kPowerLoss) return text;
  const auto is_lost = [&](uint64_t number) {
    return (state.lost_from > 0 && number >= state.lost_from) ||
           std::ranges::binary_search(state.lost, number);
  };
  std::vector<bool> is_pending(state.operations);
  for (const ResolvedOperation& change : walk.unsynced(state.profile).names()) {
    is_pending[change.index] = true;
  }
  for (uint64_t i = 0; i < state.operations; ++i) {
    const FileOperation& op = log.operations()[i];
    std::string line;
    if (is_pending[i] && is_lost(i + 1)) {
      line = OperationText(op, i + 1) + ": lost";
    } else if (op.kind == OperationKind::kWrite ||
               op.kind == OperationKind::kEnter) {
      const TreeNode* const left = tree.Find(op.file);
      const TreeNode* const now = walk.now().Find(op.file);
      if (left != nullptr && left->content != nullptr && now != nullptr)
        line = LostText(op, i + 1, *left->content, *now->content);
    }
    if (line.empty()) continue;
    text.lost.push_back(std::move(line));
    text.lost_files.insert(op.name);
  }
  if (text.lost.size() > kMostLines) {
    const size_t more = text.lost.size() - (kMostLines - 1);
    text.lost.resize(kMostLines - 1);
    text.lost.push_back(fmt::format("and {} more", more));
  }
  return text;
}

}  // namespace gauntlet
