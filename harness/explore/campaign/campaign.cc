#include "harness/explore/campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/explore/campaign/triage.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/explore/plan/random_plan.h"
#include "harness/explore/plan/sweep_plans.h"
#include "harness/explore/trial/case_pool.h"
#include "harness/explore/trial/case_report.h"
#include "harness/run/crash_notice.h"
#include "harness/scenario/run_setup.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kRandomRound = 512;
// Number of cases between two turns of the crash state search. A turn takes
// about as long as these cases, so each part of the search has a turn within
// the first seconds.
constexpr uint64_t kCasesPerTurn = 16;
constexpr Duration kPatience = std::chrono::milliseconds(100);

class Campaign {
 public:
  Campaign(const Case& base, const CampaignOptions& options,
           References& references, Clock& clock, CampaignObserver& observer)
      : options_(options),
        clock_(clock),
        observer_(observer),
        setups_(SetupsOf(base)),
        references_(references),
        triage_(setups_, references,
                {.shrink = Timed(options.shrink, clock, observer),
                 .stop_after = options.stop_after}) {
    for (const Case& setup : setups_) spaces_.push_back(Narrowed(setup));
    report_.space = spaces_.front();
    // Takes the points of all set-ups, because some reach points that the first
    // one does not.
    std::set<Point> points;
    for (const PlanSpace& space : spaces_) {
      points.insert(space.points.begin(), space.points.end());
    }
    report_.space.points.assign(points.begin(), points.end());
    if (options.mode == CampaignMode::kSweep) {
      sweep_ =
          std::make_unique<SweepPlans>(spaces_, options.seed, options.shard);
    }
    report_.next_case = options.first_case;
  }

  Result<CampaignReport> Run() {
    // Makes all reference runs before the threads need them.
    for (const Case& setup : setups_) {
      RETURN_IF_ERROR(PlanRunner::Make(setup, references_).status());
    }
    if (options_.mode == CampaignMode::kRandom) {
      for (size_t i = 0; i < setups_.size(); ++i) {
        ASSIGN_OR_RETURN(spaces_[i].reach, ReachOf(setups_[i], references_));
      }
    }
    CasePool pool(
        setups_, references_,
        {.threads = options_.threads,
         .twice_every = options_.twice_every,
         .name_of = [this](const ExploreCase& one) { return NameOf(one); }});
    begin_ = clock_.Now();
    BeginCrashStates(setups_.front());
    while (!ended_) {
      std::vector<ExploreCase> round = NextRound();
      if (round.empty()) break;
      RunRound(pool, std::move(round));
    }
    Measure();
    if (sweep_ != nullptr) {
      report_.progress = sweep_->Progress();
      report_.left = sweep_->Left();
    }
    report_.findings = triage_.TakeFindings();
    EndCrashStates();
    if (report_.only && options_.keep_record) {
      ASSIGN_OR_RETURN(report_.only_record, RecordOf(*report_.only));
    }
    return std::move(report_);
  }

 private:
  static ShrinkOptions Timed(ShrinkOptions options, const Clock& clock,
                             CampaignObserver& observer) {
    options.clock = &clock;
    options.stop = [&observer] { return observer.Interrupted(); };
    return options;
  }

  std::string NameOf(const ExploreCase& one) const {
    std::string name = fmt::format("case {}: ", one.number);
    if (options_.mode == CampaignMode::kRandom) {
      return name + options_.command_for(one.number);
    }
    for (const Fault& fault : one.plan.faults) {
      name += FaultSummary(fault) + "; ";
    }
    return name + DescribeSetup(setups_[one.setup], setups_.front());
  }

  PlanSpace Narrowed(const Case& setup) const {
    PlanSpace space = SpaceOf(setup);
    space.max_faults = options_.max_faults;
    if (!options_.kinds.empty()) {
      space.kinds = options_.kinds;
      std::erase_if(space.kinds, [&setup](FaultKind kind) {
        return !CanHappenTo(kind, setup);
      });
    }
    if (!options_.points.empty()) space.points = options_.points;
    return space;
  }

  ExploreCase RandomCase(uint64_t number) const {
    const size_t setup = RandomSetup(setups_.size(), options_.seed, number);
    return {.number = number,
            .setup = setup,
            .plan = RandomPlan(spaces_[setup], options_.seed, number)};
  }

  // Returns the record of the case. Runs the case once more to get it: equal
  // plans have equal runs.
  Result<Record> RecordOf(const ExploreCase& one) const {
    ASSIGN_OR_RETURN(PlanRunner runner,
                     PlanRunner::Make(setups_[one.setup], references_));
    return runner.Try(one.plan).record;
  }

  std::vector<ExploreCase> NextRound() {
    if (sweep_ != nullptr) return NextRoundOfSweep();
    std::vector<ExploreCase> round;
    if (options_.only_case) {
      if (report_.cases > 0) return round;
      round.push_back(RandomCase(*options_.only_case));
      report_.only = round.front();
      return round;
    }
    const uint64_t begin = report_.next_case;
    const uint64_t most = options_.max_cases.value_or(UINT64_MAX);
    const uint64_t end = most > UINT64_MAX - options_.first_case
                             ? UINT64_MAX
                             : options_.first_case + most;
    const auto count = static_cast<uint64_t>(options_.shard.count);
    const uint64_t range = std::min(end - begin, kRandomRound * count);
    for (uint64_t n = begin; n < begin + range; ++n) {
      if (options_.shard.Takes(n)) round.push_back(RandomCase(n));
    }
    return round;
  }

  std::vector<ExploreCase> NextRoundOfSweep() {
    // If --cases shortened the last round, the sweep ends: the next round would
    // need the results of the cases that were cut off.
    if (shortened_) return {};
    std::vector<ExploreCase> round = sweep_->NextRound();
    report_.progress = sweep_->Progress();
    uint64_t left = options_.max_cases.value_or(UINT64_MAX) - report_.cases;
    for (size_t i = 0; i < round.size(); ++i) {
      if (!round[i].counts || left-- > 0) continue;
      shortened_ = true;
      round.resize(i);
    }
    return round;
  }

  void RunRound(CasePool& pool, std::vector<ExploreCase> round) {
    pool.Begin(round);
    for (size_t i = 0; i < round.size(); ++i) {
      std::optional<CaseReport> one;
      while (!(one = pool.Take(i, kPatience))) {
        StopWhereDue(pool);
        if (!pool.WillRun(i)) return;
      }
      StopWhereDue(pool);
      // Does not count cases after an aborted one, so that next_case is the
      // first case that is not done.
      if (one->cut) return;
      if (sweep_ != nullptr) sweep_->AddReport(*one);
      if (round[i].counts) {
        Add(*one);
        report_.coverage.AddPlan(round[i].plan);
      }
      if (round[i].counts && !one->findings.empty()) {
        while (!pool.Pause(kPatience)) StopWhereDue(pool);
        const AtWork at(NameOf(round[i]));
        Investigate(round[i], *one);
        pool.Resume();
      }
      if (report_.cases % kCasesPerTurn == 0) TakeCrashStateTurn();
      Measure();
      observer_.Progress(report_);
      if (ended_ && report_.end == CampaignEnd::kFindings) {
        pool.Cut();
        return;
      }
    }
  }

  void StopWhereDue(CasePool& pool) {
    if (ended_) return;
    const std::optional<CampaignEnd> end = DueEnd();
    if (!end) return;
    report_.end = *end;
    ended_ = true;
    pool.Cut();
  }

  // Returns why the exploration must end now, by an interrupt or the time
  // limit; nullopt if it need not end.
  std::optional<CampaignEnd> DueEnd() {
    if (observer_.Interrupted()) return CampaignEnd::kInterrupted;
    if (options_.time && clock_.Now() - begin_ >= *options_.time) {
      return CampaignEnd::kTime;
    }
    return std::nullopt;
  }

  void BeginCrashStates(const Case& base) {
    if (!options_.crash_states) return;
    CrashStateOptions options = *options_.crash_states;
    options.stop = [this] { return DueEnd().has_value(); };
    Result<CrashStateSearch> search =
        CrashStateSearch::Make(base, references_, options);
    if (search.ok()) {
      crash_states_ = std::make_unique<CrashStateSearch>(*std::move(search));
    } else {
      report_.why_no_crash_states = search.status().message();
    }
  }

  // Takes one turn of the search for crash states, on this thread. Meanwhile
  // the pool may run cases.
  void TakeCrashStateTurn() {
    if (ended_ || crash_states_ == nullptr || crash_states_->ended()) return;
    const size_t known = crash_states_->report().findings.size();
    const Status status = crash_states_->TakeTurn();
    if (!status.ok()) {
      report_.why_no_crash_states = status.message();
      crash_states_.reset();
      report_.crash_states.reset();
      return;
    }
    report_.crash_states = crash_states_->report();
    const auto& findings = report_.crash_states->findings;
    for (size_t i = known; i < findings.size(); ++i) {
      observer_.FoundCrashState(findings[i]);
    }
    StopAfterFindings();
  }

  void EndCrashStates() {
    if (crash_states_ != nullptr) {
      report_.crash_states = crash_states_->TakeReport();
    }
  }

  void Measure() {
    report_.seconds =
        std::chrono::duration<double>(clock_.Now() - begin_).count();
  }

  void Add(const CaseReport& one) {
    ++report_.cases;
    if (!options_.only_case) report_.next_case = one.number + 1;
    if (!one.skipped.empty()) {
      ++report_.skipped[one.skipped];
      return;
    }
    report_.ran_twice += one.ran_twice ? 1 : 0;
    report_.failed += one.findings.empty() ? 0 : 1;
    report_.passed += one.passed() ? 1 : 0;
    report_.fired_nothing +=
        one.fired_nothing() && one.findings.empty() ? 1 : 0;
    report_.virtual_seconds += one.virtual_seconds;
    report_.restarts += one.restarts;
    ++report_.by_faults_fired[one.fired.size()];
    ++report_.by_outcome[one.outcome];
    report_.coverage.Add(one.number, one.fired, one.instances);
    for (size_t i = 0; i < report_.goals.size(); ++i) {
      report_.goals[i] += one.goals[i] ? 1 : 0;
    }
    report_.curve.Add({.cases = report_.cases,
                       .points = report_.coverage.PointsHit().size(),
                       .pairs = report_.coverage.pairs().size(),
                       .goals = GoalsReached(report_)});
  }

  // Adds each failure of the case as a new finding, or counts the case for the
  // known finding that explains the failure.
  void Investigate(const ExploreCase& one, const CaseReport& report) {
    if (report.findings.front().invariant == kDeterministic) {
      ++report_.nondeterministic;
    }
    report_.nondeterministic += triage_.Add(
        one, report,
        [this](const CampaignFinding& finding) { observer_.Found(finding); });
    StopAfterFindings();
  }

  void StopAfterFindings() {
    const bool states =
        report_.crash_states && report_.crash_states->images_failed > 0;
    const size_t findings = triage_.findings().size() + (states ? 1 : 0);
    const bool enough =
        options_.stop_after > 0 && findings >= options_.stop_after;
    if (!enough || ended_) return;
    ended_ = true;
    report_.end = CampaignEnd::kFindings;
  }

  const CampaignOptions& options_;
  Clock& clock_;
  CampaignObserver& observer_;
  const std::vector<Case> setups_;
  std::vector<PlanSpace> spaces_;  // by set-up
  References& references_;
  Triage triage_;
  std::unique_ptr<SweepPlans> sweep_;
  std::unique_ptr<CrashStateSearch> crash_states_;  // null: none
  Time begin_;
  bool shortened_ = false;  // --cases cut off the end of the sweep's last round
  bool ended_ = false;
  CampaignReport report_;
};

}  // namespace

uint64_t GoalsReached(const CampaignReport& report) {
  return static_cast<uint64_t>(std::ranges::count_if(
      report.goals, [](uint64_t count) { return count > 0; }));
}

Result<CampaignReport> RunCampaign(const Case& base,
                                   const CampaignOptions& options,
                                   References& references, Clock& clock,
                                   CampaignObserver& observer) {
  return Campaign(base, options, references, clock, observer).Run();
}

}  // namespace gauntlet
