#include "harness/explore/random_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chaos/inject/injector.h"
#include "chaos/sim/random_stream.h"
#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using std::chrono::milliseconds;

// A shorter grace is generated too, now and then: a kill in the middle of what
// the notice set off.
constexpr Duration kLongGrace = std::chrono::seconds(10);

// Draws of one name.
class Draw {
 public:
  Draw(uint64_t case_seed, std::string_view name) : stream_(case_seed, name) {}

  uint64_t Below(uint64_t n) { return stream_.Below(n); }
  bool OneIn(uint64_t n) { return stream_.Below(n) == 0; }
  // From 1 to 2^bits, each power of two as likely as the others.
  uint64_t LogUniform(uint64_t bits) {
    const uint64_t high = uint64_t{1} << stream_.Below(bits + 1);
    return high == 1 ? 1 : stream_.Between(high / 2 + 1, high);
  }
  template <typename T>
  T Of(std::span<const T> items) {
    return items[stream_.Below(items.size())];
  }
  template <typename T, size_t n>
  T Of(const std::array<T, n>& items) {
    return Of(std::span<const T>(items));
  }
  template <typename T>
  T Of(const std::vector<T>& items) {
    return Of(std::span<const T>(items));
  }

 private:
  RandomStream stream_;
};

uint64_t CaseSeed(uint64_t seed, uint64_t number) {
  return RandomStream(seed, fmt::format("explore.case.{}", number)).Next();
}

// Some of them, at least one. One plan in four has them all.
template <typename T>
std::vector<T> Subset(const std::vector<T>& all, Draw draw) {
  if (draw.OneIn(4)) return all;
  const uint64_t one_in = draw.OneIn(3) ? 8 : 2;
  std::vector<T> some;
  for (const T& one : all) {
    if (draw.OneIn(one_in)) some.push_back(one);
  }
  if (some.empty()) some.push_back(draw.Of(all));
  return some;
}

struct WeightedKinds {
  std::vector<FaultKind> kinds;  // each as often as its weight

  FaultKind Pick(Draw& draw) const { return draw.Of(kinds); }
};

WeightedKinds WeighKinds(const PlanSpace& space, uint64_t case_seed) {
  WeightedKinds weighted;
  Draw draw(case_seed, "weights");
  for (const FaultKind kind : Subset(space.kinds, Draw(case_seed, "kinds"))) {
    weighted.kinds.insert(weighted.kinds.end(), draw.LogUniform(3), kind);
  }
  return weighted;
}

// Hits before each block of a file or of a message are many, others are few.
bool IsHitOften(Point point) {
  return HasOffset(point) || point == Point::kAllReduceSend ||
         point == Point::kAllReduceReceive || point == Point::kHeartbeat ||
         point == Point::kLoadRead || point == Point::kDataNext ||
         point == Point::kStepBegin || point == Point::kStepEnd ||
         point == Point::kAllReduceBegin || point == Point::kAllReduceEnd;
}

bool IsOfEveryStep(Point point) {
  return IsHitOften(point) && !HasOffset(point) && point != Point::kLoadRead;
}

class FaultDraw {
 public:
  FaultDraw(const PlanSpace& space, uint64_t case_seed, int index)
      : space_(space),
        site_(case_seed, fmt::format("fault.{}.site", index)),
        parameters_(case_seed, fmt::format("fault.{}.parameters", index)),
        choice_(case_seed, fmt::format("fault.{}", index)),
        index_(index) {}

  Fault Make(const WeightedKinds& kinds, const std::vector<Point>& points,
             const std::vector<Fault>& before) {
    Fault fault;
    fault.id = fmt::format("fault-{}", index_ + 1);
    fault.kind = kinds.Pick(choice_);
    fault.site.point = choice_.Of(PointsFor(fault.kind, points));
    // What is damaged may be set aside: the rarest place of all.
    if (std::ranges::any_of(before, Damages) && choice_.OneIn(4) &&
        std::ranges::find(points, Point::kReject) != points.end()) {
      fault.site.point = Point::kReject;
    }
    const Fault* first = !before.empty() && choice_.Below(3) > 0
                             ? &before[choice_.Below(before.size())]
                             : nullptr;
    MakeSite(first, fault.site);
    if (first != nullptr) fault.after = first->id;
    MakeParameters(fault);
    MakeTimes(fault);
    return fault;
  }

 private:
  static bool Damages(const Fault& fault) {
    return fault.kind == FaultKind::kBitFlip ||
           fault.kind == FaultKind::kTruncate ||
           fault.kind == FaultKind::kDelete;
  }

  // Where the kind is most likely to meet its operation; three faults in four.
  std::vector<Point> PointsFor(FaultKind kind,
                               const std::vector<Point>& points) {
    const auto fits = [kind](Point point) {
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
    };
    if (choice_.OneIn(4)) return points;
    std::vector<Point> fitting;
    std::copy_if(points.begin(), points.end(), std::back_inserter(fitting),
                 fits);
    if (!fitting.empty()) return fitting;
    std::copy_if(space_.points.begin(), space_.points.end(),
                 std::back_inserter(fitting), fits);
    return fitting.empty() ? points : fitting;
  }

  // Most points of a save and of its clearing up are the chief's alone.
  static bool IsOfTheChief(Point point) {
    switch (AnnouncedBy(point)) {
      case StorageOperation::kNone:
        return point == Point::kRenamed || point == Point::kSaveAcknowledged ||
               point == Point::kBackupDelete;
      case StorageOperation::kRead:
        return false;
      default:
        return point != Point::kShardOpen && point != Point::kShardWrite &&
               point != Point::kShardSync;
    }
  }

  int Worker(Point point) {
    if (IsOfTheChief(point) && !site_.OneIn(8)) {
      return site_.OneIn(2) ? kChief : 0;
    }
    switch (site_.Below(6)) {
      case 0:
      case 1:
        return kChief;
      case 2:
        return site_.OneIn(3) ? kAllWorkers : kAnyWorker;
      default:
        return static_cast<int>(
            site_.Below(static_cast<uint64_t>(space_.workers)));
    }
  }

  static bool IsOfLoad(Point point) {
    return point == Point::kLoadBegin || point == Point::kLoadRead ||
           point == Point::kLoadEnd || point == Point::kReject;
  }

  int Life(const Fault* first, Point point) {
    // The life after that of the fault it follows: while recovering from it.
    if (first != nullptr && first->site.life != kAnyLife &&
        site_.Below(4) > 0) {
      return first->site.life + 1;
    }
    if (first != nullptr || IsOfLoad(point)) {
      return site_.OneIn(2) ? kAnyLife : 2;
    }
    // A later life takes a fault that ends the first.
    if (index_ == 0) return site_.OneIn(8) ? kAnyLife : 1;
    constexpr std::array kLives = {1, 1, 1, 2, 3, kAnyLife};
    return site_.Of(kLives);
  }

  void MakeSite(const Fault* first, FaultSite& site) {
    site.worker = Worker(site.point);
    site.life = Life(first, site.point);
    site.hit = site_.LogUniform(IsHitOften(site.point) ? 5 : 2);
    // A save is at few steps, and a fault of it at those only.
    if (site_.OneIn(IsOfEveryStep(site.point) ? 2 : 16)) {
      site.step = site_.Below(space_.steps + 1);
      site.hit = site_.LogUniform(1);
    } else if (site_.OneIn(12)) {
      site.epoch = site_.Below(space_.epochs + 1);
    }
    if (HasOffset(site.point) && site_.Below(5) < 2) {
      site.offset = Offset(site_);
      site.hit = site_.LogUniform(2);
    }
  }

  static FileOffset Offset(Draw& draw) {
    if (draw.OneIn(2)) {
      return {.value = draw.Below(101), .unit = OffsetUnit::kPercent};
    }
    return {.value = draw.LogUniform(14) - 1, .unit = OffsetUnit::kBytes};
  }

  void MakeTear(FaultParameters& with) {
    with.blocks = static_cast<int>(1 + parameters_.Below(16));
    const uint64_t all = (uint64_t{1} << with.blocks) - 1;
    with.keep = parameters_.Below(all);
    constexpr std::array kThen = {AfterTear::kCrash, AfterTear::kPowerLoss,
                                  AfterTear::kNothing};
    with.then = parameters_.Of(kThen);
  }

  milliseconds Milliseconds(uint64_t bits) {
    return milliseconds(static_cast<int64_t>(parameters_.LogUniform(bits)));
  }

  // Whether something is there or not is for the storage to say.
  int Error(Point point) {
    std::vector<int> errors;
    for (const FaultErrorInfo& info : AllFaultErrors()) {
      const bool of_names =
          info.code == Code::kNotFound || info.code == Code::kAlreadyExists;
      if (of_names && AnnouncedBy(point) == StorageOperation::kNone) continue;
      errors.push_back(info.number);
    }
    return parameters_.Of(errors);
  }

  // Two groups, nobody left out.
  std::vector<std::vector<int>> Groups() {
    std::vector<std::vector<int>> groups(2);
    for (int worker = 0; worker < space_.workers; ++worker) {
      groups[parameters_.Below(2)].push_back(worker);
    }
    if (groups[0].empty() || groups[1].empty()) groups.clear();
    return groups;
  }

  void MakeTrouble(FaultKind kind, FaultParameters& with) {
    if (kind == FaultKind::kClockJump) {
      with.by = std::chrono::seconds(parameters_.LogUniform(30));
      with.direction =
          parameters_.OneIn(2) ? JumpDirection::kForward : JumpDirection::kBack;
      return;
    }
    if (!parameters_.OneIn(3)) with.duration = Milliseconds(15);
    if (kind == FaultKind::kPartition && parameters_.OneIn(2)) {
      with.groups = Groups();
    } else if (kind == FaultKind::kOneWay) {
      with.way = parameters_.OneIn(2) ? LinkWay::kOut : LinkWay::kIn;
    } else if (kind == FaultKind::kDrop) {
      with.percent = static_cast<int>(1 + parameters_.Below(90));
    } else if (kind == FaultKind::kDelay) {
      with.latency = Milliseconds(12);
      if (parameters_.OneIn(2)) with.jitter = Milliseconds(10);
    }
  }

  void MakeParameters(Fault& fault) {
    FaultParameters& with = fault.with;
    // None that the engine's own ends have.
    constexpr std::array kExitCodes = {70, 3, 9, 101, 137, 255};
    switch (fault.kind) {
      case FaultKind::kCrash:
        with.exit_code = parameters_.Of(kExitCodes);
        break;
      case FaultKind::kKill:
        if (parameters_.OneIn(2)) with.latency = Milliseconds(11);
        break;
      case FaultKind::kSlow:
        with.latency = Milliseconds(13);
        break;
      case FaultKind::kHang:
      case FaultKind::kStop:
        if (!parameters_.OneIn(3)) with.duration = Milliseconds(15);
        break;
      case FaultKind::kPreempt:
        with.grace = parameters_.OneIn(4) ? Milliseconds(9) : kLongGrace;
        break;
      case FaultKind::kTornWrite:
        MakeTear(with);
        break;
      case FaultKind::kShortWrite:
        with.bytes = parameters_.LogUniform(13) - 1;
        break;
      case FaultKind::kErrno:
        with.error = Error(fault.site.point);
        break;
      case FaultKind::kBitFlip:
        with.offset = Offset(parameters_);
        with.bit = static_cast<int>(parameters_.Below(8));
        break;
      case FaultKind::kTruncate:
        with.offset = Offset(parameters_);
        break;
      case FaultKind::kPartition:
      case FaultKind::kOneWay:
      case FaultKind::kDrop:
      case FaultKind::kDelay:
      case FaultKind::kClockJump:
        MakeTrouble(fault.kind, with);
        break;
      default:
        break;
    }
  }

  // For ever only what leaves the process alive: a death at every hit leaves
  // no restarts.
  void MakeTimes(Fault& fault) {
    const bool lives_on = fault.kind == FaultKind::kErrno ||
                          fault.kind == FaultKind::kShortWrite ||
                          fault.kind == FaultKind::kFsyncFails ||
                          fault.kind == FaultKind::kBitFlip ||
                          fault.kind == FaultKind::kTruncate;
    if (!lives_on || !parameters_.OneIn(12)) return;
    fault.with.times = FaultTimes::kAlways;
    if (parameters_.OneIn(2)) {
      fault.with.until_step = parameters_.Below(space_.steps + 1);
    }
  }

  const PlanSpace& space_;
  Draw site_;
  Draw parameters_;
  Draw choice_;
  int index_;
};

}  // namespace

size_t RandomSetup(size_t setups, uint64_t seed, uint64_t number) {
  Draw draw(CaseSeed(seed, number), "setup");
  return draw.OneIn(2) ? 0 : draw.Below(setups);
}

FaultPlan RandomPlan(const PlanSpace& space, uint64_t seed, uint64_t number) {
  CHECK(!space.kinds.empty() && !space.points.empty() && space.workers > 0,
        "a plan needs kinds, points and workers");
  const uint64_t case_seed = CaseSeed(seed, number);
  FaultPlan plan = {
      .seed = Draw(case_seed, "run").Below(uint64_t{1} << 32),
      .faults = {},
      .bugs = {},
  };
  const WeightedKinds kinds = WeighKinds(space, case_seed);
  const std::vector<Point> points =
      Subset(space.points, Draw(case_seed, "points"));
  if (space.max_faults == 0) return plan;
  const auto most = static_cast<uint64_t>(space.max_faults);
  const auto count = static_cast<int>(1 + Draw(case_seed, "count").Below(most));
  for (int i = 0; i < count; ++i) {
    plan.faults.push_back(
        FaultDraw(space, case_seed, i).Make(kinds, points, plan.faults));
  }
  return plan;
}

}  // namespace gauntlet
