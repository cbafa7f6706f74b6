#include "harness/explore/nth_plans.h"

#include <algorithm>
#include <chrono>

#include "engine/check.h"
#include "harness/explore/fitting_points.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

Fault Plain(FaultKind kind, Point point) {
  return {.id = "fault",
          .site = {.point = point},
          .kind = kind,
          .after = "",
          .with = {}};
}

// The forms of a kind: its parameters where they make another fault of it.
std::vector<Fault> FormsOf(FaultKind kind, Point point) {
  Fault fault = Plain(kind, point);
  switch (kind) {
    case FaultKind::kTornWrite: {
      fault.with.blocks = 4;
      fault.with.keep = 0b0101;
      std::vector<Fault> forms;
      for (const AfterTear then :
           {AfterTear::kCrash, AfterTear::kPowerLoss, AfterTear::kNothing}) {
        forms.push_back(fault);
        forms.back().with.then = then;
      }
      return forms;
    }
    case FaultKind::kErrno: {
      std::vector<Fault> forms = {fault, fault};
      forms[1].with.times = FaultTimes::kAlways;
      if (IsAtWrite(point)) {
        forms.push_back(fault);
        forms.back().with.error = ENOSPC;
      }
      return forms;
    }
    case FaultKind::kSlow:
      fault.with.latency = std::chrono::seconds(2);
      return {fault};
    case FaultKind::kPreempt:
      fault.with.grace = std::chrono::seconds(10);
      return {fault};
    case FaultKind::kDelay:
      fault.with.latency = std::chrono::milliseconds(50);
      return {fault};
    case FaultKind::kBitFlip:
    case FaultKind::kTruncate:
      fault.with.offset = {.value = 50, .unit = OffsetUnit::kPercent};
      return {fault};
    default:
      return {fault};
  }
}

}  // namespace

NthPlans::NthPlans(std::vector<PlanSpace> spaces, uint64_t seed)
    : spaces_(std::move(spaces)), seed_(seed) {
  MakeSingles();
}

// Without worker and hit.
std::vector<Fault> NthPlans::FaultsAt(Point point) const {
  std::vector<Fault> faults;
  for (const FaultKind kind : space().kinds) {
    if (!MeansSomething(kind, point)) continue;
    for (Fault& form : FormsOf(kind, point)) faults.push_back(std::move(form));
  }
  return faults;
}

void NthPlans::MakeSingles() {
  for (const Point point : space().points) {
    if (reached_.contains(point)) continue;
    for (Fault& fault : FaultsAt(point)) {
      fault.site.worker = kChief;
      series_.push_back({.fault = fault, .first = std::nullopt});
      if (space().workers < 2) continue;
      fault.site.worker = space().workers - 1;
      series_.push_back({.fault = fault, .first = std::nullopt});
    }
  }
}

void NthPlans::MakePairs() {
  for (const auto& [place, first] : firsts_) {
    for (const Point point : space().points) {
      for (Fault& fault : FaultsAt(point)) {
        fault.id = "second";
        fault.after = "first";
        fault.site.life = 2;
        std::vector<int> workers = {kChief};
        if (space().workers > 1) workers.push_back(space().workers - 1);
        for (const int worker : workers) {
          fault.site.worker = worker;
          series_.push_back({.fault = fault, .first = first});
        }
      }
    }
  }
}

void NthPlans::GoOn() {
  const auto still = [](const Series& series) { return series.alive; };
  while (part_ != Part::kDone && std::ranges::none_of(series_, still)) {
    series_.clear();
    hit_ = 0;
    if (part_ == Part::kSingles && space().max_faults > 1) {
      part_ = Part::kPairs;
      MakePairs();
    } else if (setup_ + 1 < spaces_.size()) {
      part_ = Part::kSingles;
      ++setup_;
      firsts_.clear();
      MakeSingles();
    } else {
      part_ = Part::kDone;
    }
  }
}

std::vector<ExploreCase> NthPlans::NextRound() {
  GoOn();
  ++hit_;
  round_.clear();
  round_begin_ = next_number_;
  std::vector<ExploreCase> round;
  for (size_t i = 0; i < series_.size(); ++i) {
    const Series& series = series_[i];
    if (!series.alive) continue;
    round_.push_back(i);
    ExploreCase& one = round.emplace_back();
    one.number = next_number_++;
    one.setup = setup_;
    one.plan.seed = seed_;
    if (series.first) one.plan.faults.push_back(*series.first);
    one.plan.faults.push_back(series.fault);
    one.plan.faults.back().site.hit = hit_;
  }
  return round;
}

void NthPlans::Learn(const CaseReport& report) {
  CHECK(report.number >= round_begin_ &&
            report.number - round_begin_ < round_.size(),
        "a report of another round");
  for (const FiredFault& fault : report.fired) reached_.insert(fault.point);
  Series& series = series_[round_[report.number - round_begin_]];
  const size_t planned = series.first ? 2 : 1;
  series.alive = report.fired.size() == planned;
  if (series.first) {
    // Behind the recovery it is a fault like any other.
    series.alive = series.alive && !report.recovered_before_last;
    return;
  }
  if (!series.alive || report.restarts == 0) return;
  const FiredFault& fired = report.fired.front();
  Fault first = series.fault;
  first.id = "first";
  first.site.hit = hit_;
  // One that comes at every hit leaves no recovery for a second one.
  if (first.with.times == FaultTimes::kAlways) return;
  firsts_.emplace(Place{fired.point, fired.phase, report.resumed},
                  std::move(first));
}

std::string NthPlans::Progress() const {
  const auto alive = std::ranges::count_if(
      series_, [](const Series& series) { return series.alive; });
  if (part_ == Part::kDone) return "done";
  return fmt::format("set-up {} of {}, {}, hit {}: {} of {} series still fire",
                     setup_ + 1, spaces_.size(),
                     part_ == Part::kSingles ? "single faults" : "pairs", hit_,
                     alive, series_.size());
}

}  // namespace gauntlet
