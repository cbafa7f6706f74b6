#include "harness/explore/plan/sweep_plans.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <variant>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/check.h"
#include "harness/explore/plan/applicability.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Fault Plain(FaultKind kind, Point point) {
  return {.id = "fault",
          .site = {.point = point, .block = HasBlocks(point) ? kAnyBlock : 0},
          .kind = kind,
          .after = "",
          .with = {}};
}

// Returns the fault with each choice of the parameter.
std::vector<Fault> WithEachChoice(const Fault& fault,
                                  const ChoicePlace& choice) {
  std::vector<Fault> forms;
  for (size_t i = 0; i < choice.names().size(); ++i) {
    forms.push_back(fault);
    choice.set(i, forms.back().with);
  }
  return forms;
}

// Returns the variants of a kind: one for each choice of parameters that has a
// different effect.
std::vector<Fault> FormsOf(FaultKind kind, Point point) {
  Fault fault = Plain(kind, point);
  const ChoicePlace* swept = nullptr;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    if (parameter.set_usual != nullptr) parameter.set_usual(fault.with);
    if (parameter.is_swept) swept = std::get_if<ChoicePlace>(&parameter.place);
  }
  if (swept != nullptr) return WithEachChoice(fault, *swept);
  std::vector<Fault> forms = {fault};
  if (kind == FaultKind::kErrno) {
    forms.push_back(fault);
    forms.back().with.times = FaultTimes::kAlways;
    if (IsAtWrite(point)) {
      forms.push_back(fault);
      forms.back().with.error = ENOSPC;
    }
  }
  return forms;
}

// Longest pause that fits into a step without being taken for a hang.
constexpr Duration kPause = std::chrono::seconds(2);

}  // namespace

SweepPlans::SweepPlans(std::vector<PlanSpace> spaces, uint64_t seed,
                       ShardChoice shard)
    : spaces_(std::move(spaces)), seed_(seed), shard_(shard) {
  MakeSingles();
}

// Returns the faults to try at the point. Their worker and occurrence are not
// set.
std::vector<Fault> SweepPlans::FaultsAt(Point point) const {
  std::vector<Fault> faults;
  for (const FaultKind kind : space().kinds) {
    if (!Applies(kind, point)) continue;
    for (Fault& form : FormsOf(kind, point)) faults.push_back(std::move(form));
  }
  return faults;
}

void SweepPlans::AddHitSweep(Fault fault) {
  const auto add = [&](int worker) {
    fault.site.worker = worker;
    // Adds prefix_, so that the first series of each prefix goes to another
    // shard: some prefixes have fewer series than there are shards.
    const bool counts = shard_.Takes(hit_sweeps_.size() + prefix_);
    hit_sweeps_.push_back({.fault = fault,
                           .alive = counts || part_ == Part::kSingles,
                           .counts = counts});
  };
  add(kChief);
  if (space().workers > 1) add(space().workers - 1);
}

void SweepPlans::MakeSingles() {
  for (const Point point : space().points) {
    if (reached_.contains(point)) continue;
    for (Fault& fault : FaultsAt(point)) AddHitSweep(std::move(fault));
  }
}

// Adds a prefix with a slow chief, so that its steps take long enough to reach
// points that depend on time, such as a heartbeat.
void SweepPlans::BeginSlowly() {
  if (!spaces_.front().Has(FaultKind::kSlow)) return;
  Fault slow = Plain(FaultKind::kSlow, Point::kStepBegin);
  slow.id = "first";
  slow.site.worker = kChief;
  slow.with.latency = kPause;
  prefixes_.push_back(
      {.faults = {std::move(slow)}, .follows = Follows::kInSameIncarnation});
}

// Adds a prefix that damages save number `save` and then ends the chief. The
// next incarnation finds the damage when it loads the checkpoint.
void SweepPlans::BeginWithDamage(uint64_t save) {
  const PlanSpace& space = spaces_.front();
  const auto death = std::ranges::find_if(space.kinds, [](FaultKind kind) {
    return kind == FaultKind::kCrash || kind == FaultKind::kPowerLoss;
  });
  if (space.max_faults < 3 || death == space.kinds.end() ||
      !space.Has(FaultKind::kBitFlip)) {
    return;
  }
  Fault damage = FormsOf(FaultKind::kBitFlip, Point::kManifestWrite).front();
  damage.id = "first";
  damage.site.worker = kChief;
  damage.site.occurrence = save;
  Fault restart = Plain(*death, Point::kStepBegin);
  restart.id = "restart";
  restart.after = damage.id;
  restart.site.worker = kChief;
  prefixes_.push_back({.faults = {std::move(damage), std::move(restart)}});
}

void SweepPlans::MakePrefixes() {
  if (spaces_.front().max_faults < 2) return;
  BeginSlowly();
  BeginWithDamage(1);
  BeginWithDamage(2);
  for (const auto& [place, fault] : firsts_) {
    prefixes_.push_back({.setup = std::get<0>(place), .faults = {fault}});
  }
}

std::vector<Point> SweepPlans::PointsBehind(const Prefix& prefix) const {
  std::vector<Point> points = spaces_[prefix.setup].points;
  if (prefix.follows == Follows::kInSameIncarnation) {
    std::erase_if(points,
                  [this](Point point) { return reached_.contains(point); });
  }
  return points;
}

void SweepPlans::MakePairs() {
  const Prefix& prefix = prefixes_[prefix_];
  for (const Point point : PointsBehind(prefix)) {
    for (Fault& fault : FaultsAt(point)) {
      fault.id = "second";
      fault.after = prefix.faults.back().id;
      fault.site.incarnation = prefix.follows == Follows::kInRecovery ? 2 : 1;
      AddHitSweep(std::move(fault));
    }
  }
}

size_t SweepPlans::SecondsBehind(const Prefix& prefix) const {
  const PlanSpace& space = spaces_[prefix.setup];
  size_t seconds = 0;
  for (const Point point : PointsBehind(prefix)) {
    for (const FaultKind kind : space.kinds) {
      if (Applies(kind, point)) seconds += FormsOf(kind, point).size();
    }
  }
  return seconds * (space.workers < 2 ? 1 : 2);
}

size_t SweepPlans::Alive() const {
  return static_cast<size_t>(std::ranges::count_if(
      hit_sweeps_, [](const HitSweep& series) { return series.alive; }));
}

void SweepPlans::StartNextStage() {
  while (part_ != Part::kDone && Alive() == 0) {
    hit_sweeps_.clear();
    hit_ = 0;
    if (part_ == Part::kSingles && setup_ + 1 < spaces_.size()) {
      ++setup_;
      MakeSingles();
      continue;
    }
    if (part_ == Part::kSingles) {
      MakePrefixes();
      part_ = Part::kPairs;
    } else {
      ++prefix_;
    }
    if (prefix_ == prefixes_.size()) {
      part_ = Part::kDone;
      return;
    }
    setup_ = prefixes_[prefix_].setup;
    MakePairs();
  }
}

std::vector<ExploreCase> SweepPlans::NextRound() {
  StartNextStage();
  ++hit_;
  round_.clear();
  round_begin_ = next_number_;
  std::vector<ExploreCase> round;
  for (size_t i = 0; i < hit_sweeps_.size(); ++i) {
    const HitSweep& series = hit_sweeps_[i];
    if (!series.alive) continue;
    round_.push_back(i);
    ExploreCase& one = round.emplace_back();
    one.number = next_number_++;
    one.setup = setup_;
    one.counts = series.counts;
    one.plan.seed = seed_;
    if (part_ == Part::kPairs) {
      one.plan.faults = prefixes_[prefix_].faults;
    }
    one.plan.faults.push_back(series.fault);
    one.plan.faults.back().site.occurrence = hit_;
  }
  return round;
}

void SweepPlans::AddReport(const CaseReport& report) {
  CHECK(report.number >= round_begin_ &&
            report.number - round_begin_ < round_.size(),
        "a report of another round");
  for (const FiredFault& fault : report.fired) reached_.insert(fault.point);
  HitSweep& series = hit_sweeps_[round_[report.number - round_begin_]];
  if (part_ == Part::kSingles) {
    series.alive = report.fired.size() == 1;
    if (series.alive) LearnSingle(series, report);
    return;
  }
  const Prefix& prefix = prefixes_[prefix_];
  series.alive = report.fired.size() == prefix.faults.size() + 1;
  // If the second fault fires only after the recovery, the case tests no more
  // than a single fault.
  if (prefix.follows == Follows::kInRecovery) {
    series.alive = series.alive && !report.recovered_before_last;
  }
}

void SweepPlans::LearnSingle(const HitSweep& series, const CaseReport& report) {
  // Without a restart, or after a fault at every occurrence, there is no
  // recovery for a second fault to hit.
  if (report.restarts == 0 || series.fault.with.times == FaultTimes::kAlways) {
    return;
  }
  const FiredFault& fired = report.fired.front();
  Fault first = series.fault;
  first.id = "first";
  first.site.occurrence = hit_;
  firsts_.emplace(Place{setup_, fired.point, fired.phase, report.resumed},
                  std::move(first));
}

std::string SweepPlans::PrefixName(size_t index) const {
  std::string name;
  for (const Fault& fault : prefixes_[index].faults) {
    name += fmt::format("{}{} at {}", name.empty() ? "" : ", then ",
                        FaultKindName(fault.kind), PointName(fault.site.point));
  }
  return name;
}

std::string SweepPlans::Progress() const {
  if (part_ == Part::kDone) return "done";
  const std::string hits =
      fmt::format("occurrence {}: {} of {} series still fire", hit_, Alive(),
                  hit_sweeps_.size());
  if (part_ == Part::kSingles) {
    return fmt::format("single faults in set-up {} of {}, {}", setup_ + 1,
                       spaces_.size(), hits);
  }
  return fmt::format("pairs, beginning {} of {} ({}), {}", prefix_ + 1,
                     prefixes_.size(), PrefixName(prefix_), hits);
}

std::string SweepPlans::Left() const {
  if (part_ == Part::kDone) return "";
  if (part_ == Part::kSingles) {
    return fmt::format("single faults in {} of {} set-ups{}{}",
                       spaces_.size() - setup_, spaces_.size(),
                       setup_ + 1 < spaces_.size()
                           ? " (in each further one at the points that none "
                             "before it came to)"
                           : "",
                       spaces_.front().max_faults < 2
                           ? ""
                           : ", and all pairs, whose number follows from them");
  }
  size_t left = 0;
  for (size_t i = prefix_; i < prefixes_.size(); ++i) {
    left += i == prefix_ ? Alive()
                         : SecondsBehind(prefixes_[i]) /
                               static_cast<size_t>(shard_.count);
  }
  return fmt::format("{} of {} beginnings of pairs, at least {} cases",
                     prefixes_.size() - prefix_, prefixes_.size(), left);
}

}  // namespace gauntlet
