#include "harness/explore/fitting_points.h"

#include "chaos/inject/injector.h"

namespace gauntlet {

bool IsAtWrite(Point point) {
  return AnnouncedBy(point) == StorageOperation::kWrite;
}

bool MeansSomething(FaultKind kind, Point point) {
  const StorageOperation announced = AnnouncedBy(point);
  switch (kind) {
    case FaultKind::kTornWrite:
    case FaultKind::kShortWrite:
      return announced == StorageOperation::kWrite;
    case FaultKind::kFsyncFails:
      return announced == StorageOperation::kSync ||
             announced == StorageOperation::kSyncDirectory;
    case FaultKind::kBitFlip:
    case FaultKind::kTruncate:
    case FaultKind::kDelete:
      return announced == StorageOperation::kWrite ||
             announced == StorageOperation::kRead;
    default:
      return true;
  }
}

}  // namespace gauntlet
