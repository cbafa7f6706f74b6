#include "harness/record/finding_kind.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/enum_order.h"

namespace gauntlet {
namespace {

constexpr std::array kFindingKinds = {
    FindingKindInfo{FindingKind::kFinalState, Invariant::kTrajectory,
                    "final-state"},
    FindingKindInfo{FindingKind::kStaleResume, Invariant::kResumePoint,
                    "stale-resume"},
    FindingKindInfo{FindingKind::kDoesNotVerify, Invariant::kStore,
                    "does-not-verify"},
    FindingKindInfo{FindingKind::kLostCheckpoint, Invariant::kStore,
                    "lost-checkpoint"},
    FindingKindInfo{FindingKind::kLateExit, Invariant::kGrace, "late", true},
    FindingKindInfo{FindingKind::kNoAgreement, Invariant::kGrace,
                    "no-agreement", true},
    FindingKindInfo{FindingKind::kNotSaved, Invariant::kGrace, "not-saved",
                    true},
    FindingKindInfo{FindingKind::kKilled, Invariant::kGrace, "killed", true},
    FindingKindInfo{FindingKind::kNoLauncher, Invariant::kNoHang,
                    "no-launcher"},
    FindingKindInfo{FindingKind::kUnseen, Invariant::kFaultFired, "unseen"},
};

static_assert(IsInEnumOrder(kFindingKinds, &FindingKindInfo::kind));

}  // namespace

const FindingKindInfo& InfoOf(FindingKind kind) {
  return kFindingKinds[static_cast<size_t>(kind)];
}

bool IsOf(FindingKind kind, const Finding& finding) {
  const FindingKindInfo& info = InfoOf(kind);
  return finding.name == info.name &&
         finding.invariant == InvariantName(info.invariant);
}

bool IsOfLeaving(const Finding& finding) {
  return std::ranges::any_of(kFindingKinds, [&](const FindingKindInfo& info) {
    return info.is_of_leaving && IsOf(info.kind, finding);
  });
}

Finding MakeFinding(FindingKind kind, std::string message) {
  const FindingKindInfo& info = InfoOf(kind);
  return {.invariant = std::string(InvariantName(info.invariant)),
          .name = std::string(info.name),
          .message = std::move(message)};
}

}  // namespace gauntlet
