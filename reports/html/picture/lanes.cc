#include "reports/html/picture/lanes.h"

namespace gauntlet {
namespace {

bool IsGoodEnd(RecordReason reason) {
  return reason == RecordReason::kResult || reason == RecordReason::kWorkerDone;
}

}  // namespace

std::optional<Mark> MarkOf(const IncarnationEvents& incarnation,
                           const RecordEvent& event) {
  switch (event.kind) {
    case RecordKind::kFaultFired:
    case RecordKind::kDamaged:
      return Mark::kFault;
    case RecordKind::kNotice:
      return Mark::kNotice;
    case RecordKind::kWorkerLost:
    case RecordKind::kLeft:
    case RecordKind::kFencedOut:
    case RecordKind::kNotFinite:
    case RecordKind::kGaveUp:
      return Mark::kDetection;
    case RecordKind::kAttemptEnds:
      return IsGoodEnd(event.reason) ? std::optional<Mark>() : Mark::kDetection;
    case RecordKind::kSaveFailed:
    case RecordKind::kRejected:
    case RecordKind::kLoadFailed:
      return Mark::kRejected;
    case RecordKind::kRestarting:
      return Mark::kRestart;
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
      return Mark::kResume;
    case RecordKind::kInitialized:
      return incarnation.number > 1 ? std::optional<Mark>(Mark::kResume)
                                    : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace gauntlet
