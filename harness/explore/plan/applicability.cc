#include "harness/explore/plan/applicability.h"

namespace gauntlet {

bool IsAtWrite(Point point) {
  return InfoOf(point).next == StorageOperation::kWrite;
}

bool Applies(FaultKind kind, Point point) {
  const StorageOperation next = InfoOf(point).next;
  if (InfoOf(kind).effects.damages_file) {
    return next == StorageOperation::kWrite || next == StorageOperation::kRead;
  }
  switch (kind) {
    case FaultKind::kTornWrite:
    case FaultKind::kShortWrite:
      return next == StorageOperation::kWrite;
    case FaultKind::kFsyncFails:
      return next == StorageOperation::kSync ||
             next == StorageOperation::kSyncDirectory;
    default:
      return true;
  }
}

}  // namespace gauntlet
