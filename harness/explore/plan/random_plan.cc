#include "harness/explore/plan/random_plan.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chaos/sim/scheduler/random_stream.h"
#include "engine/check.h"
#include "harness/explore/plan/applicability.h"
#include "harness/explore/plan/random_choices.h"
#include "harness/explore/plan/random_parameters.h"
#include "harness/explore/plan/stale_worker_plan.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

uint64_t CaseSeed(uint64_t seed, uint64_t number) {
  return RandomStream(seed, fmt::format("explore.case.{}", number)).Next();
}

// Returns some of the items, at least one. In one plan of four, returns all.
template <typename T>
std::vector<T> Subset(const std::vector<T>& all, RandomChoices draw) {
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

  FaultKind Pick(RandomChoices& draw) const { return draw.Of(kinds); }
};

WeightedKinds WeighKinds(const PlanSpace& space, uint64_t case_seed) {
  WeightedKinds weighted;
  RandomChoices draw(case_seed, "weights");
  for (const FaultKind kind :
       Subset(space.kinds, RandomChoices(case_seed, "kinds"))) {
    weighted.kinds.insert(weighted.kinds.end(), draw.LogUniform(3), kind);
  }
  return weighted;
}

// Returns true iff the point has many occurrences in a run: at least one in
// each step, or for each file or block.
bool IsHitOften(Point point) {
  const HitRate rate = InfoOf(point).rate;
  return rate == HitRate::kEachBlock || rate == HitRate::kEachFile ||
         rate == HitRate::kEachStep;
}

bool IsOfEveryStep(Point point) {
  return InfoOf(point).rate == HitRate::kEachStep;
}

// Returns all points of these parts of a run, part by part.
std::vector<Point> PointsOf(std::initializer_list<RunPart> parts) {
  std::vector<Point> points;
  for (const RunPart part : parts) {
    for (const PointInfo& info : AllPoints()) {
      if (info.part == part) points.push_back(info.point);
    }
  }
  return points;
}

class FaultDraw {
 public:
  FaultDraw(const PlanSpace& space, uint64_t case_seed, int index)
      : space_(space),
        site_(case_seed, fmt::format("fault.{}.site", index)),
        parameters_(space,
                    RandomChoices(case_seed,
                                  fmt::format("fault.{}.parameters", index))),
        choice_(case_seed, fmt::format("fault.{}", index)),
        reach_(case_seed, fmt::format("fault.{}.reach", index)),
        index_(index) {}

  Fault Make(const WeightedKinds& kinds, const std::vector<Point>& points,
             const std::vector<Fault>& before) {
    Fault fault;
    fault.id = fmt::format("fault-{}", index_ + 1);
    fault.kind = kinds.Pick(choice_);
    fault.site.point = choice_.Of(PointsFor(fault.kind, points));
    const Fault* first = !before.empty() && choice_.Below(3) > 0
                             ? &before[choice_.Below(before.size())]
                             : nullptr;
    if (!before.empty()) MoveToALoad(before, fault);
    const bool rejoins = space_.Has(Point::kRejoin);
    if (rejoins && !IsOfLoad(fault.site.point)) {
      MakeARejoinLikely(before, fault);
    }
    if (space_.at_success == AtSuccess::kDeleteCheckpoints) {
      MoveToTheDeletion(fault);
    }
    MakeSite(first, fault.site);
    if (first != nullptr) fault.after = first->id;
    if (!before.empty() && Damages(before.back()) && choice_.OneIn(2)) {
      EndTheIncarnationOf(before.back(), fault);
    } else if (fault.site.point == Point::kReject) {
      fault.site = {.worker = kChief,
                    .incarnation = kAnyIncarnation,
                    .point = Point::kReject};
    }
    std::optional<uint64_t> reached_step;
    if (MustBeReached(before, fault)) {
      reached_step = MoveWhereReached(points, fault);
    }
    parameters_.Fill(fault);
    if (reached_step && fault.with.until_step) {
      fault.with.until_step =
          std::max(*fault.with.until_step, *reached_step + 1);
    }
    if (rejoins && before.empty() && choice_.OneIn(12)) {
      KeepFailing(fault);
      if (MustBeReached(before, fault)) MoveWhereReached(points, fault);
    }
    return fault;
  }

 private:
  static bool Damages(const Fault& fault) {
    return InfoOf(fault.kind).effects.damages_file;
  }

  static bool IsOfChief(Point point) {
    return InfoOf(point).reached_by == ReachedBy::kChief;
  }

  // Moves the fault to a load or a rejection in some draws. Called for all
  // faults but the first. These points are the rarest: few incarnations load a
  // checkpoint, and fewer reject one.
  void MoveToALoad(const std::vector<Fault>& before, Fault& fault) {
    Point point = fault.site.point;
    if (std::ranges::any_of(before, Damages) && choice_.OneIn(3)) {
      point = Point::kReject;
    } else if (fault.kind == FaultKind::kErrno || Damages(fault)) {
      if (choice_.OneIn(3)) point = Point::kLoadRead;
    } else if (choice_.OneIn(8)) {
      std::vector<Point> loads = PointsOf({RunPart::kLoad});
      std::erase_if(loads, IsOfChief);
      point = choice_.Of(loads);
    }
    if (space_.Has(point)) fault.site.point = point;
  }

  // Moves the fault into a rejoin in some draws, unless it is the first fault.
  void MakeARejoinLikely(const std::vector<Fault>& before, Fault& fault) {
    if (before.empty() || !choice_.OneIn(3)) return;
    const Point point =
        choice_.Of(PointsOf({RunPart::kRejoin, RunPart::kRendezvous}));
    if (space_.Has(point) && Applies(fault.kind, point)) {
      fault.site.point = point;
    }
  }

  // Makes one worker fail in each incarnation, so that the job scales down.
  void KeepFailing(Fault& fault) {
    const FaultKindInfo& kind = InfoOf(fault.kind);
    if (!kind.effects.ends_process || kind.target != FaultTarget::kProcess) {
      return;
    }
    fault.site = {.worker = static_cast<int>(
                      site_.Below(static_cast<uint64_t>(space_.workers))),
                  .incarnation = kAnyIncarnation,
                  .point = fault.site.point};
    fault.with.times = FaultTimes::kAlways;
  }

  // Moves the fault to the deletion in some draws, because a run has only one
  // deletion, at its end.
  void MoveToTheDeletion(Fault& fault) {
    if (!choice_.OneIn(4)) return;
    const Point point =
        choice_.Of(PointsOf({RunPart::kDeletion, RunPart::kRetirement}));
    if (space_.Has(point)) fault.site.point = point;
  }

  // Makes `fault` end the incarnation in which `damaged` damaged a checkpoint,
  // because only the next incarnation reads the checkpoint. The end comes a few
  // steps after the damage, before retention deletes the checkpoint. Does
  // nothing if the space lacks the kind drawn for `fault`, or its point.
  void EndTheIncarnationOf(const Fault& damaged, Fault& fault) {
    std::vector<FaultKind> deaths;
    for (const FaultKindInfo& info : AllFaultKinds()) {
      if (info.effects.ends_process) deaths.push_back(info.kind);
    }
    const FaultKind death = choice_.Of(deaths);
    if (!space_.Has(death) || !space_.Has(Point::kStepEnd)) return;
    fault.kind = death;
    fault.after = damaged.id;
    fault.site = {.worker = kAnyWorker,
                  .incarnation = kAnyIncarnation,
                  .point = Point::kStepEnd,
                  .occurrence = site_.LogUniform(3)};
  }

  // Returns the points from which to draw one for the kind. In three draws of
  // four, these are only points before an operation that the kind can affect:
  // those among `points` or, if there are none, those of the whole space.
  std::vector<Point> PointsFor(FaultKind kind,
                               const std::vector<Point>& points) {
    const auto fits = [kind](Point point) { return Applies(kind, point); };
    if (choice_.OneIn(4)) return points;
    std::vector<Point> fitting;
    std::copy_if(points.begin(), points.end(), std::back_inserter(fitting),
                 fits);
    if (!fitting.empty()) return fitting;
    std::copy_if(space_.points.begin(), space_.points.end(),
                 std::back_inserter(fitting), fits);
    return fitting.empty() ? points : fitting;
  }

  // Returns true iff the fault must be at a place that an undisturbed run
  // reaches. This is required of the first fault of a plan, so that at least
  // one fires, and of later faults of the first incarnation that follow no
  // other fault. Returns false if it is not known which places a run reaches.
  bool MustBeReached(const std::vector<Fault>& before,
                     const Fault& fault) const {
    if (space_.reach == nullptr) return false;
    return before.empty() ||
           (fault.after.empty() && fault.site.incarnation == 1);
  }

  // Changes the site of the fault as little as possible so that an undisturbed
  // run reaches it. Returns the step of the occurrence that the site names;
  // nullopt if the run reaches none of the points.
  std::optional<uint64_t> MoveWhereReached(const std::vector<Point>& points,
                                           Fault& fault) {
    const Reach& reach = *space_.reach;
    FaultSite& site = fault.site;
    if (reach.WorkersAt(site.point).empty()) {
      const std::vector<Point> reached = ReachedPoints(fault.kind, points);
      if (reached.empty()) return std::nullopt;
      site.point = reach_.Of(reached);
      if (!HasBlocks(site.point)) site.offset.reset();
      const bool each_block = HasBlocks(site.point) && !site.offset;
      site.block = each_block ? kAnyBlock : 0;
    }
    if (site.incarnation != kAnyIncarnation) site.incarnation = 1;
    const std::vector<int> workers = reach.WorkersAt(site.point);
    const int first = site.worker == kChief ? 0 : site.worker;
    const bool any = first == kAnyWorker || first == kAllWorkers;
    if (!any && std::ranges::find(workers, first) == workers.end()) {
      site.worker = reach_.Of(workers);
    }
    const int worker = any                     ? reach_.Of(workers)
                       : site.worker == kChief ? 0
                                               : site.worker;
    return MoveToAnOccurrence(reach.Of(worker, site.point), site);
  }

  // Returns the reached points at which the kind has an effect of its own.
  // Takes them from the drawn points or, if there is none among these, from all
  // points. If there is none at all, returns all reached points.
  std::vector<Point> ReachedPoints(FaultKind kind,
                                   const std::vector<Point>& points) const {
    for (const std::vector<Point>* from : {&points, &space_.points}) {
      std::vector<Point> reached;
      for (const Point point : *from) {
        if (!space_.reach->WorkersAt(point).empty()) reached.push_back(point);
      }
      std::vector<Point> fitting;
      std::ranges::copy_if(
          reached, std::back_inserter(fitting),
          [kind](Point point) { return Applies(kind, point); });
      if (!fitting.empty()) return fitting;
      if (!reached.empty() && from == &space_.points) return reached;
    }
    return {};
  }

  // REQUIRES: !all.empty().
  uint64_t MoveToAnOccurrence(const std::vector<Occurrence>& all,
                              FaultSite& site) {
    const auto fits = [&site](const Occurrence& one) {
      return (!site.step || one.step == *site.step) &&
             (!site.epoch || one.epoch == *site.epoch) &&
             (!site.offset || one.begins_file);
    };
    if (std::ranges::none_of(all, fits)) {
      const Occurrence& other = reach_.Of(all);
      if (site.step) site.step = other.step;
      if (site.epoch) site.epoch = other.epoch;
      if (!other.begins_file && site.offset) {
        site.offset.reset();
        site.block = kAnyBlock;
      }
    }
    std::vector<Occurrence> fitting;
    std::ranges::copy_if(all, std::back_inserter(fitting), fits);
    if (site.occurrence > fitting.size()) {
      site.occurrence = 1 + reach_.Below(fitting.size());
    }
    return fitting[site.occurrence - 1].step;
  }

  int Worker(Point point) {
    if (IsOfChief(point) && !site_.OneIn(8)) {
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
    const RunPart part = InfoOf(point).part;
    return part == RunPart::kLoad || part == RunPart::kRejoin;
  }

  int DrawIncarnation(const Fault* first, Point point) {
    // This fault follows `first`. In three draws of four, it fires in the next
    // incarnation, which recovers from `first`.
    if (first != nullptr && first->site.incarnation != kAnyIncarnation &&
        site_.Below(4) > 0) {
      return first->site.incarnation + 1;
    }
    if (first != nullptr || IsOfLoad(point)) {
      return site_.OneIn(2) ? kAnyIncarnation : 2;
    }
    // A later incarnation begins only if a fault ends the first one, so the
    // plan's first fault is in incarnation 1 or in any.
    if (index_ == 0) return site_.OneIn(8) ? kAnyIncarnation : 1;
    constexpr std::array kIncarnations = {1, 1, 1, 2, 3, kAnyIncarnation};
    return site_.Of(kIncarnations);
  }

  void MakeSite(const Fault* first, FaultSite& site) {
    site.worker = Worker(site.point);
    site.incarnation = DrawIncarnation(first, site.point);
    site.occurrence = site_.LogUniform(IsHitOften(site.point) ? 5 : 2);
    // Few steps have a save, so a fault in a save rarely names a step.
    if (site_.OneIn(IsOfEveryStep(site.point) ? 2 : 16)) {
      site.step = site_.Below(space_.steps + 1);
      site.occurrence = site_.LogUniform(1);
    } else if (site_.OneIn(12)) {
      site.epoch = site_.Below(space_.epochs + 1);
    }
    if (HasBlocks(site.point) && site_.Below(5) < 2) {
      site.offset = AnyOffset(site_);
      site.occurrence = site_.LogUniform(2);
    } else if (HasBlocks(site.point)) {
      site.block = kAnyBlock;
    }
  }

  const PlanSpace& space_;
  RandomChoices site_;
  RandomParameters parameters_;
  RandomChoices choice_;
  RandomChoices reach_;
  int index_;
};

}  // namespace

size_t RandomSetup(size_t setups, uint64_t seed, uint64_t number) {
  RandomChoices draw(CaseSeed(seed, number), "setup");
  return draw.OneIn(2) ? 0 : draw.Below(setups);
}

FaultPlan RandomPlan(const PlanSpace& space, uint64_t seed, uint64_t number) {
  CHECK(!space.kinds.empty() && !space.points.empty() && space.workers > 0,
        "a plan needs kinds, points and workers");
  const uint64_t case_seed = CaseSeed(seed, number);
  FaultPlan plan = {
      .seed = RandomChoices(case_seed, "run").Below(uint64_t{1} << 32),
      .faults = {},
      .bugs = {},
  };
  const WeightedKinds kinds = WeighKinds(space, case_seed);
  const std::vector<Point> points =
      Subset(space.points, RandomChoices(case_seed, "points"));
  if (space.max_faults == 0) return plan;
  const auto most = static_cast<uint64_t>(space.max_faults);
  const auto count =
      static_cast<int>(1 + RandomChoices(case_seed, "count").Below(most));
  if (space.hosts == HostsChoice::kSeparate) {
    // The stream keeps its original name, so that a seed still draws the same
    // plans as before.
    plan.faults =
        StaleWorkerFaults(space, count, RandomChoices(case_seed, "survivor"));
  }
  for (int i = static_cast<int>(plan.faults.size()); i < count; ++i) {
    plan.faults.push_back(
        FaultDraw(space, case_seed, i).Make(kinds, points, plan.faults));
  }
  return plan;
}

}  // namespace gauntlet
