#include "harness/explore/diagnosis/shrink.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "chaos/inject/plan/fault_parameters.h"

namespace gauntlet {
namespace {

// Returns the plan with only the faults whose flag is set.
FaultPlan Kept(const FaultPlan& plan, const std::vector<bool>& keep) {
  FaultPlan kept = plan;
  for (size_t i = keep.size(); i-- > 0;) {
    if (!keep[i]) kept = WithoutFault(std::move(kept), i);
  }
  return kept;
}

// Kinds that are understood easily, the plainest first.
constexpr std::array kPlainKinds = {FaultKind::kCrash, FaultKind::kErrno,
                                    FaultKind::kDelete, FaultKind::kPowerLoss};

std::vector<FaultKind> PlainerKinds(FaultKind kind) {
  return {kPlainKinds.begin(), std::ranges::find(kPlainKinds, kind)};
}

// Returns the parameters of a kind in the order in which to reset them:
// durations first, then the others in reverse, so that `keep` is reset before
// `blocks`, which is its upper bound.
std::vector<const FaultParameterInfo*> InOrderOfReset(FaultKind kind) {
  std::vector<const FaultParameterInfo*> order;
  std::vector<const FaultParameterInfo*> others;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    (IsDuration(parameter) ? order : others).push_back(&parameter);
  }
  order.insert(order.end(), others.rbegin(), others.rend());
  return order;
}

// Returns numbers from `low` to below `value`, in the order in which to try
// them.
std::vector<uint64_t> Smaller(uint64_t value, uint64_t low) {
  std::vector<uint64_t> smaller;
  if (value > low) smaller.push_back(low);
  for (uint64_t gap = (value - std::min(low, value)) / 2; gap > 0; gap /= 2) {
    smaller.push_back(value - gap);
  }
  return smaller;
}

class Shrinker {
 public:
  Shrinker(const FaultPlan& plan, const ShrinkOptions& options,
           const std::function<bool(const FaultPlan&)>& still_breaks)
      : options_(options), still_breaks_(still_breaks), begin_(options.Now()) {
    result_.plan = plan;
    tried_.insert(KeyOf(plan));
  }

  ShrunkPlan Run() {
    std::string before;
    do {
      before = KeyOf(result_.plan);
      ShrinkFaults();
      DropRestarts();
      ShrinkSeed();
      DropBugs();
      for (size_t i = 0; i < result_.plan.faults.size(); ++i) {
        MoveToAStep(i);
        SimplifyKind(i);
        SimplifySite(i);
        SimplifyParameters(i);
      }
    } while (result_.finished && KeyOf(result_.plan) != before);
    return std::move(result_);
  }

 private:
  static std::string KeyOf(const FaultPlan& plan) { return PlanToJson(plan); }

  // Takes the candidate as the plan if it shows the violation too.
  bool Try(FaultPlan candidate) {
    if (!result_.finished || !Validate(candidate).ok() ||
        !tried_.insert(KeyOf(candidate)).second) {
      return false;
    }
    if (options_.MustEnd(begin_, result_.tries)) {
      result_.finished = false;
      return false;
    }
    ++result_.tries;
    if (!still_breaks_(candidate)) return false;
    result_.plan = std::move(candidate);
    return true;
  }

  template <typename Change>
  bool TryFault(size_t index, const Change& change) {
    FaultPlan candidate = result_.plan;
    change(candidate.faults[index]);
    return Try(std::move(candidate));
  }

  // Lowers a number: replaces it by the first number of Smaller with which the
  // plan still shows the violation, and repeats until there is none.
  template <typename Set>
  void Lower(size_t index, uint64_t value, uint64_t low, const Set& set) {
    for (bool lower = true; lower;) {
      lower = false;
      for (const uint64_t next : Smaller(value, low)) {
        if (!TryFault(index, [&](Fault& fault) { set(fault, next); })) continue;
        value = next;
        lower = true;
        break;
      }
    }
  }

  bool TryChunks(size_t chunks);
  void ShrinkFaults();
  void DropRestarts();
  void ShrinkSeed();
  void DropBugs();
  void MoveToAStep(size_t index);
  void SimplifyKind(size_t index);
  void SimplifySite(size_t index);
  void SimplifyParameters(size_t index);

  const ShrinkOptions options_;
  const std::function<bool(const FaultPlan&)>& still_breaks_;
  const Time begin_;
  std::set<std::string> tried_;
  ShrunkPlan result_;
};

// Splits the faults into `chunks` chunks. Tries each chunk alone, then all
// chunks but one, until a try succeeds. Returns true iff one did.
bool Shrinker::TryChunks(size_t chunks) {
  const size_t count = result_.plan.faults.size();
  for (const bool alone : {true, false}) {
    if (!alone && chunks == 2) continue;  // the same candidates as `alone`
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
      std::vector<bool> keep(count, !alone);
      for (size_t i = count * chunk / chunks; i < count * (chunk + 1) / chunks;
           ++i) {
        keep[i] = alone;
      }
      if (Try(Kept(result_.plan, keep))) return true;
    }
  }
  return false;
}

// Removes faults with the algorithm ddmin: section 3.2 of the paper that
// shrink.h names.
void Shrinker::ShrinkFaults() {
  FaultPlan none = result_.plan;
  none.faults.clear();
  if (Try(std::move(none))) return;
  size_t chunks = 2;
  while (result_.plan.faults.size() >= 2) {
    const size_t count = result_.plan.faults.size();
    chunks = std::min(chunks, count);
    if (TryChunks(chunks)) {
      chunks = 2;
    } else if (chunks < count) {
      chunks *= 2;
    } else {
      return;
    }
  }
}

// Drops faults that do nothing but end an incarnation. Without such a fault,
// the later faults must happen one incarnation earlier.
void Shrinker::DropRestarts() {
  for (size_t i = result_.plan.faults.size(); i-- > 0;) {
    FaultPlan candidate = WithoutFault(result_.plan, i);
    for (Fault& fault : candidate.faults) {
      if (fault.site.incarnation > 1) --fault.site.incarnation;
    }
    Try(std::move(candidate));
  }
}

void Shrinker::ShrinkSeed() {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    if (seed >= result_.plan.seed) return;
    FaultPlan candidate = result_.plan;
    candidate.seed = seed;
    if (Try(std::move(candidate))) return;
  }
}

void Shrinker::DropBugs() {
  for (size_t i = result_.plan.bugs.size(); i-- > 0;) {
    FaultPlan candidate = result_.plan;
    candidate.bugs.erase(candidate.bugs.begin() +
                         static_cast<std::ptrdiff_t>(i));
    Try(std::move(candidate));
  }
}

// Tries kGpuError at the start of a step in place of a device fault. A device
// fault acts at the next call of the device, so any point will do.
void Shrinker::MoveToAStep(size_t index) {
  if (!IsOfDevice(result_.plan.faults[index].kind)) return;
  TryFault(index, [](Fault& fault) {
    fault = {.id = fault.id,
             .site = {.worker = 0, .point = Point::kStepBegin},
             .kind = FaultKind::kGpuError};
  });
}

void Shrinker::SimplifyKind(size_t index) {
  for (const FaultKind kind : PlainerKinds(result_.plan.faults[index].kind)) {
    const bool done = TryFault(index, [&](Fault& fault) {
      fault.kind = kind;
      fault.with = {.times = fault.with.times,
                    .until_step = fault.with.until_step};
    });
    if (done) return;
  }
}

void Shrinker::SimplifySite(size_t index) {
  const FaultSite defaults;
  TryFault(index, [](Fault& fault) { fault.after.clear(); });
  TryFault(index, [](Fault& fault) { fault.site.worker = 0; });
  const bool any_incarnation =
      result_.plan.faults[index].site.incarnation == kAnyIncarnation;
  TryFault(index, [](Fault& fault) { fault.site.incarnation = 1; });
  if (any_incarnation)
    TryFault(index, [](Fault& fault) { fault.site.incarnation = 2; });
  TryFault(index, [](Fault& fault) { fault.site.step.reset(); });
  TryFault(index, [](Fault& fault) { fault.site.epoch.reset(); });
  TryFault(index, [](Fault& fault) { fault.site.save.reset(); });
  TryFault(index, [](Fault& fault) { fault.site.offset.reset(); });
  TryFault(index, [](Fault& fault) { fault.site.block = 0; });
  const FaultSite site = result_.plan.faults[index].site;
  if (site.offset) {
    for (const uint64_t percent : {0, 50}) {
      const bool done = TryFault(index, [&](Fault& fault) {
        fault.site.offset = {percent, OffsetUnit::kPercent};
      });
      if (done) break;
    }
  }
  Lower(index, site.occurrence, defaults.occurrence,
        [](Fault& fault, uint64_t next) { fault.site.occurrence = next; });
  if (site.step) {
    Lower(index, *site.step, 1,
          [](Fault& fault, uint64_t step) { fault.site.step = step; });
  }
}

void Shrinker::SimplifyParameters(size_t index) {
  FaultParameters defaults;
  const FaultKind kind = result_.plan.faults[index].kind;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    if (parameter.example.empty()) continue;
    CopyParameter(parameter, result_.plan.faults[index].with, defaults);
  }
  if (TryFault(index, [&](Fault& fault) { fault.with = defaults; })) return;
  TryFault(index, [&](Fault& fault) {
    fault.with.times = FaultTimes::kOnce;
    fault.with.until_step.reset();
  });
  TryFault(index, [](Fault& fault) { fault.with.until_step.reset(); });
  for (const FaultParameterInfo* parameter : InOrderOfReset(kind)) {
    TryFault(index, [&](Fault& fault) {
      CopyParameter(*parameter, defaults, fault.with);
    });
  }
  if (result_.plan.faults[index].with.offset == defaults.offset) return;
  TryFault(index, [](Fault& fault) {
    fault.with.offset = {50, OffsetUnit::kPercent};
  });
}

}  // namespace

FaultPlan WithoutFault(FaultPlan plan, size_t index) {
  const Fault gone = plan.faults[index];
  plan.faults.erase(plan.faults.begin() + static_cast<std::ptrdiff_t>(index));
  for (Fault& fault : plan.faults) {
    if (fault.after == gone.id) fault.after = gone.after;
  }
  return plan;
}

std::optional<Violation> ViolationOf(const PlanRun& run) {
  if (run.findings.empty()) return std::nullopt;
  const Finding& first = run.findings.front();
  return Violation{.invariant = first.invariant, .name = first.name};
}

std::vector<Violation> ViolationsOf(const std::vector<Finding>& findings) {
  std::vector<Violation> violations;
  for (const Finding& finding : findings) {
    Violation violation = {.invariant = finding.invariant,
                           .name = finding.name};
    if (std::ranges::find(violations, violation) == violations.end()) {
      violations.push_back(std::move(violation));
    }
  }
  return violations;
}

bool Breaks(const PlanRun& run, const Violation& violation) {
  return std::ranges::any_of(run.findings, [&](const Finding& finding) {
    return Violation{.invariant = finding.invariant, .name = finding.name} ==
           violation;
  });
}

bool ShrinkOptions::MustEnd(Time begin, int tries) const {
  return tries >= max_tries || (clock != nullptr && Now() - begin >= budget) ||
         stop();
}

ShrinkOptions ShrinkOptions::After(Time begin) const {
  ShrinkOptions rest = *this;
  rest.budget = std::max(budget - (Now() - begin), Duration::zero());
  return rest;
}

ShrunkPlan ShrinkPlan(
    const FaultPlan& plan, const ShrinkOptions& options,
    const std::function<bool(const FaultPlan&)>& still_breaks) {
  return Shrinker(plan, options, still_breaks).Run();
}

Shrunk Shrink(PlanRunner& runner, const FaultPlan& plan, const PlanRun& run,
              const ShrinkOptions& options) {
  const std::optional<Violation> violation =
      options.violation ? options.violation : ViolationOf(run);
  CHECK(violation && Breaks(run, *violation),
        "there is nothing to shrink in a plan that passed");
  PlanRun last = run;
  ShrunkPlan shrunk =
      ShrinkPlan(plan, options, [&](const FaultPlan& candidate) {
        PlanRun there = runner.Try(candidate);
        if (!Breaks(there, *violation)) return false;
        last = std::move(there);
        return true;
      });
  return {.plan = std::move(shrunk.plan),
          .run = std::move(last),
          .tries = shrunk.tries,
          .finished = shrunk.finished};
}

}  // namespace gauntlet
