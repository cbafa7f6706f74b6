// Fault plans for property tests: each is valid, every kind and field is
// reached, and plans shrink towards fewer, simpler faults.
#ifndef GAUNTLET_TESTS_CHAOS_INJECT_PLAN_PLAN_GENERATOR_H_
#define GAUNTLET_TESTS_CHAOS_INJECT_PLAN_PLAN_GENERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "chaos/inject/plan/plan.h"

namespace gauntlet {

inline rc::Gen<FileOffset> ArbitraryOffset() {
  return rc::gen::exec([]() -> FileOffset {
    if (*rc::gen::arbitrary<bool>()) {
      return {.value = *rc::gen::inRange<uint64_t>(0, 101),
              .unit = OffsetUnit::kPercent};
    }
    return {.value = *rc::gen::arbitrary<uint64_t>()};
  });
}

inline rc::Gen<Duration> ArbitraryDuration() {
  return rc::gen::map(rc::gen::inRange<int64_t>(0, 10'000'000'000),
                      [](int64_t count) { return Duration(count); });
}

inline rc::Gen<Point> ArbitraryPoint() {
  return rc::gen::map(rc::gen::inRange<size_t>(0, AllPoints().size()),
                      [](size_t i) { return AllPoints()[i].point; });
}

inline rc::Gen<FaultSite> ArbitrarySite() {
  return rc::gen::exec([]() {
    FaultSite site;
    site.worker = *rc::gen::inRange(kChief, 5);
    site.incarnation = *rc::gen::inRange(kAnyIncarnation, 4);
    if (*rc::gen::arbitrary<bool>()) {
      site.step = *rc::gen::inRange<uint64_t>(0, 1000);
    }
    if (*rc::gen::arbitrary<bool>()) {
      site.epoch = *rc::gen::inRange<uint64_t>(0, 10);
    }
    site.point = *ArbitraryPoint();
    site.occurrence = *rc::gen::inRange<uint64_t>(1, 20);
    if (IsOfSave(site.point) && *rc::gen::arbitrary<bool>()) {
      site.save = *rc::gen::inRange<uint64_t>(1, 10);
    }
    if (HasBlocks(site.point) && *rc::gen::arbitrary<bool>()) {
      site.offset = *ArbitraryOffset();
    } else if (HasBlocks(site.point)) {
      site.block = *rc::gen::element<uint64_t>(0, 1, 3, kAnyBlock);
    }
    return site;
  });
}

// Sets the parameters of a torn write that loses at least one block.
inline void FillTear(FaultParameters& with) {
  with.blocks = *rc::gen::inRange(1, 65);
  const uint64_t all =
      with.blocks == 64 ? ~uint64_t{0} : (uint64_t{1} << with.blocks) - 1;
  with.keep = *rc::gen::arbitrary<uint64_t>() & all;
  if (with.keep == all) with.keep = 0;
  with.then = *rc::gen::element(AfterTear::kCrash, AfterTear::kPowerLoss,
                                AfterTear::kNothing);
}

inline void FillGroups(FaultParameters& with) {
  const int groups = *rc::gen::element(0, 2, 3);
  for (int group = 0; group < groups; ++group) {
    with.groups.push_back({2 * group, 2 * group + 1});
  }
}

inline void FillParameters(FaultKind kind, FaultParameters& with) {
  if (*rc::gen::arbitrary<bool>()) {
    with.times = FaultTimes::kAlways;
    if (*rc::gen::arbitrary<bool>()) {
      with.until_step = *rc::gen::inRange<uint64_t>(0, 1000);
    }
  }
  switch (kind) {
    case FaultKind::kCrash:
      with.exit_code = *rc::gen::inRange(1, 256);
      break;
    case FaultKind::kKill:
      if (*rc::gen::arbitrary<bool>()) with.kill_latency = *ArbitraryDuration();
      break;
    case FaultKind::kSlow:
      with.latency = *ArbitraryDuration();
      break;
    case FaultKind::kGpuError:
      with.device_error = AllDeviceErrors()[*rc::gen::inRange<size_t>(
                                                0, AllDeviceErrors().size())]
                              .error;
      break;
    case FaultKind::kHang:
    case FaultKind::kPause:
    case FaultKind::kDeviceHang:
    case FaultKind::kDuplicate:
      with.duration = *ArbitraryDuration();
      break;
    case FaultKind::kPreempt:
      with.grace = *ArbitraryDuration();
      with.notice = *rc::gen::element(NoticeBy::kSignal, NoticeBy::kFile,
                                      NoticeBy::kHttp);
      break;
    case FaultKind::kTornWrite:
      FillTear(with);
      break;
    case FaultKind::kShortWrite:
      with.bytes = *rc::gen::arbitrary<uint64_t>();
      break;
    case FaultKind::kErrno:
      with.error = AllFaultErrors()[*rc::gen::inRange<size_t>(
                                        0, AllFaultErrors().size())]
                       .number;
      break;
    case FaultKind::kBitFlip:
      with.offset = *ArbitraryOffset();
      with.bit = *rc::gen::inRange(0, 8);
      break;
    case FaultKind::kTruncate:
      with.offset = *ArbitraryOffset();
      break;
    case FaultKind::kPartition:
      with.duration = *ArbitraryDuration();
      FillGroups(with);
      break;
    case FaultKind::kAsymmetricPartition:
      with.duration = *ArbitraryDuration();
      with.link_direction =
          *rc::gen::element(LinkDirection::kOut, LinkDirection::kIn);
      break;
    case FaultKind::kPacketLoss:
      with.duration = *ArbitraryDuration();
      with.percent = *rc::gen::inRange(1, 91);
      break;
    case FaultKind::kDelay:
      with.duration = *ArbitraryDuration();
      with.latency = *ArbitraryDuration();
      with.jitter = *ArbitraryDuration();
      break;
    case FaultKind::kWallClockJump:
      with.by = std::chrono::seconds(*rc::gen::inRange(1, 1'000'000));
      with.direction =
          *rc::gen::element(JumpDirection::kForward, JumpDirection::kBack);
      break;
    default:
      break;
  }
}

// Returns a fault without an id: ArbitraryPlan sets the ids.
inline rc::Gen<Fault> ArbitraryFault() {
  return rc::gen::exec([]() {
    Fault fault;
    fault.kind =
        AllFaultKinds()[*rc::gen::inRange<size_t>(0, AllFaultKinds().size())]
            .kind;
    fault.site = *ArbitrarySite();
    FillParameters(fault.kind, fault.with);
    return fault;
  });
}

inline rc::Gen<FaultPlan> ArbitraryPlan() {
  return rc::gen::exec([]() {
    FaultPlan plan;
    plan.seed = *rc::gen::arbitrary<uint64_t>();
    plan.faults = *rc::gen::container<std::vector<Fault>>(ArbitraryFault());
    for (size_t i = 0; i < plan.faults.size(); ++i) {
      plan.faults[i].id = "fault-" + std::to_string(i);
      // Sometimes orders a fault after an earlier one. Such orders never form a
      // cycle.
      const auto earlier = *rc::gen::inRange<size_t>(0, 2 * i + 1);
      if (earlier < i) plan.faults[i].after = plan.faults[earlier].id;
    }
    for (const PlantedBugInfo& info : AllPlantedBugs()) {
      if (*rc::gen::arbitrary<bool>()) plan.bugs.push_back(info.bug);
    }
    return plan;
  });
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_INJECT_PLAN_PLAN_GENERATOR_H_
