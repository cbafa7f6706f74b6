#include "chaos/trace/log/file_operation.h"

#include <array>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::array<std::string_view, 27> kKindNames = {
    "create",     "write",        "truncate",       "allocate",
    "punch_hole", "zero_range",   "collapse_range", "insert_range",
    "rename",     "exchange",     "link",           "symlink",
    "unlink",     "mkdir",        "rmdir",          "enter",
    "leave",      "chmod",        "set_times",      "sync",
    "sync_data",  "sync_range",   "sync_directory", "sync_file_system",
    "map_shared", "open_to_read", "close"};
static_assert(kKindNames.size() == static_cast<size_t>(kLastOperationKind) + 1);

std::string PathText(const FileName& name) {
  return name.path.empty() ? "a file without a name" : name.path;
}

std::string RangeText(uint64_t offset, uint64_t length) {
  return fmt::format("[{}, {})", offset, offset + length);
}

std::string EffectText(const FileOperation& op) {
  const std::string path = PathText(op.name);
  const std::string to = PathText(op.to);
  switch (op.kind) {
    case OperationKind::kWrite:
      return fmt::format(
          "write {} of {}{}",
          RangeText(op.offset,
                    op.bytes.length > 0 ? op.bytes.length : op.length),
          path, op.by_mapping ? ", by a shared mapping" : "");
    case OperationKind::kTruncate:
      return fmt::format("truncate {} to {} bytes", path, op.length);
    case OperationKind::kAllocate:
    case OperationKind::kPunchHole:
    case OperationKind::kZeroRange:
    case OperationKind::kCollapseRange:
    case OperationKind::kInsertRange:
      return fmt::format("{} {} of {}", OperationKindName(op.kind),
                         RangeText(op.offset, op.length), path);
    case OperationKind::kRename:
      return fmt::format("rename {} to {}", path, to);
    case OperationKind::kExchange:
      return fmt::format("exchange {} and {}", path, to);
    case OperationKind::kLink:
      return fmt::format("link {} as {}", path, to);
    case OperationKind::kSymlink:
      return fmt::format("symlink {} to {}", path, op.target);
    case OperationKind::kSetMode:
      return fmt::format("chmod {} to {:04o}", path, op.mode);
    case OperationKind::kEnter:
      return fmt::format("{} enters with {} bytes", path, op.length);
    case OperationKind::kLeave:
      return fmt::format("{} leaves", path);
    case OperationKind::kSyncFileSystem:
      return "sync all files";
    default:
      return fmt::format("{} {}", OperationKindName(op.kind), path);
  }
}

}  // namespace

std::string_view OperationKindName(OperationKind kind) {
  const auto index = static_cast<size_t>(kind);
  CHECK(index < kKindNames.size(), "an operation has one of the kinds");
  return kKindNames[index];
}

std::optional<OperationKind> ParseOperationKind(std::string_view name) {
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<OperationKind>(i);
  }
  return std::nullopt;
}

bool IsCrashPoint(OperationKind kind) {
  return kind != OperationKind::kOpenToRead && kind != OperationKind::kClose;
}

bool IsOwnCrashPoint(const FileOperation& operation) {
  return !operation.implied && IsCrashPoint(operation.kind);
}

std::string DescribeFileOperation(const FileOperation& operation) {
  const std::string effect = EffectText(operation);
  if (operation.rank == kUnknownRank) return effect;
  return fmt::format("rank {}: {}", operation.rank, effect);
}

}  // namespace gauntlet
