#include "harness/explore/campaign.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "harness/explore/case_report.h"
#include "harness/explore/crew.h"
#include "harness/explore/nth_plans.h"
#include "harness/explore/random_plan.h"

namespace gauntlet {
namespace {

constexpr uint64_t kRandomRound = 512;
constexpr Duration kPatience = std::chrono::milliseconds(100);

// What one cause is told from another by.
struct Signature {
  std::string invariant;
  std::string name;
  std::set<std::pair<FaultKind, Point>> faults;

  auto operator<=>(const Signature&) const = default;
};

Signature SignatureOf(const Finding& what,
                      const std::vector<FiredFault>& fired) {
  Signature signature = {
      .invariant = what.invariant, .name = what.name, .faults = {}};
  for (const FiredFault& fault : fired) {
    signature.faults.emplace(fault.kind, fault.point);
  }
  return signature;
}

// Whether what broke `later` is enough of a reason for it: the same breach, and
// faults of the same kinds at the same points, beside others.
bool Explains(const Signature& known, const Signature& later) {
  return known.invariant == later.invariant && known.name == later.name &&
         std::ranges::includes(later.faults, known.faults);
}

class Campaign {
 public:
  Campaign(const Case& base, const CampaignOptions& options,
           References& references, Clock& clock, CampaignObserver& observer)
      : options_(options),
        clock_(clock),
        observer_(observer),
        setups_(SetupsOf(base)),
        laboratories_(setups_, references),
        references_(references) {
    for (const Case& setup : setups_) spaces_.push_back(Narrowed(setup));
    report_.space = spaces_.front();
    if (options.mode == CampaignMode::kNth) {
      nth_ = std::make_unique<NthPlans>(spaces_.front(), options.seed);
    }
  }

  Result<CampaignReport> Run() {
    // Before any thread needs it.
    for (size_t i = 0; i < setups_.size(); ++i) {
      RETURN_IF_ERROR(laboratories_.Of(i).status());
    }
    Crew crew(
        setups_, references_,
        {.threads = options_.threads, .twice_every = options_.twice_every});
    begin_ = clock_.Now();
    while (!ended_) {
      std::vector<ExploreCase> round = NextRound();
      if (round.empty()) break;
      RunRound(crew, std::move(round));
    }
    Measure();
    return std::move(report_);
  }

 private:
  PlanSpace Narrowed(const Case& setup) const {
    PlanSpace space = SpaceOf(setup);
    space.max_faults = options_.max_faults;
    if (!options_.kinds.empty()) space.kinds = options_.kinds;
    if (!options_.points.empty()) space.points = options_.points;
    return space;
  }

  ExploreCase RandomCase(uint64_t number) const {
    const size_t setup = RandomSetup(setups_.size(), options_.seed, number);
    return {.number = number,
            .setup = setup,
            .plan = RandomPlan(spaces_[setup], options_.seed, number)};
  }

  std::vector<ExploreCase> NextRound() {
    if (nth_ != nullptr) {
      std::vector<ExploreCase> round = nth_->NextRound();
      report_.progress = nth_->Progress();
      const uint64_t left =
          options_.max_cases.value_or(UINT64_MAX) - report_.cases;
      if (round.size() > left) round.resize(left);
      return round;
    }
    std::vector<ExploreCase> round;
    if (options_.only_case) {
      if (report_.cases == 0) round.push_back(RandomCase(*options_.only_case));
      return round;
    }
    const uint64_t first = report_.cases;
    const uint64_t end =
        std::min(first + kRandomRound, options_.max_cases.value_or(UINT64_MAX));
    for (uint64_t n = first; n < end; ++n) round.push_back(RandomCase(n));
    return round;
  }

  void RunRound(Crew& crew, std::vector<ExploreCase> round) {
    crew.Begin(round);
    for (size_t i = 0; i < round.size(); ++i) {
      std::optional<CaseReport> one;
      while (!(one = crew.Take(i, kPatience))) {
        StopWhereDue(crew);
        if (!crew.WillRun(i)) return;
      }
      StopWhereDue(crew);
      Add(*one);
      if (nth_ != nullptr) nth_->Learn(*one);
      if (!one->wrong.empty()) {
        crew.Pause();
        Investigate(round[i], *one);
        crew.Resume();
      }
      Measure();
      observer_.Progress(report_);
      if (ended_ && report_.end == CampaignEnd::kFindings) {
        crew.Stop();
        return;
      }
    }
  }

  void StopWhereDue(Crew& crew) {
    if (ended_) return;
    if (observer_.Interrupted()) {
      report_.end = CampaignEnd::kInterrupted;
    } else if (options_.time && clock_.Now() - begin_ >= *options_.time) {
      report_.end = CampaignEnd::kTime;
    } else {
      return;
    }
    ended_ = true;
    crew.Stop();
  }

  void Measure() {
    report_.seconds =
        std::chrono::duration<double>(clock_.Now() - begin_).count();
  }

  void Add(const CaseReport& one) {
    ++report_.cases;
    report_.ran_twice += one.ran_twice ? 1 : 0;
    report_.broken += one.wrong.empty() ? 0 : 1;
    report_.virtual_seconds += one.virtual_seconds;
    report_.restarts += one.restarts;
    ++report_.by_faults_fired[one.fired.size()];
    ++report_.by_outcome[one.outcome];
    report_.coverage.Add(one.number, one.fired, one.instances);
    for (size_t i = 0; i < report_.marks.size(); ++i) {
      report_.marks[i] += one.marks[i] ? 1 : 0;
    }
  }

  // What is wrong with the case is new, or one more of a known finding.
  void Investigate(const ExploreCase& one, const CaseReport& report) {
    const Signature raw = SignatureOf(report.wrong.front(), report.fired);
    if (raw.invariant == kDeterministic) ++report_.nondeterministic;
    for (const auto& [known, index] : known_) {
      if (!Explains(known, raw)) continue;
      ++report_.findings[index].cases;
      return;
    }
    CampaignFinding finding = raw.invariant == kDeterministic
                                  ? ShrinkDivergence(one)
                                  : ShrinkBreach(one);
    const Signature shrunken =
        SignatureOf(finding.what, FiredFaultsOf(Evidence(finding.record)));
    const auto known = known_.find(shrunken);
    const size_t index =
        known == known_.end() ? report_.findings.size() : known->second;
    known_[shrunken] = index;
    known_[raw] = index;
    if (known != known_.end()) {
      ++report_.findings[index].cases;
      return;
    }
    finding.number = index + 1;
    report_.findings.push_back(std::move(finding));
    observer_.Found(report_.findings.back());
    if (options_.stop_after > 0 &&
        report_.findings.size() >= options_.stop_after && !ended_) {
      ended_ = true;
      report_.end = CampaignEnd::kFindings;
    }
  }

  CampaignFinding FindingOf(const ExploreCase& one) const {
    return {.what = {},
            .case_number = one.number,
            .setup = setups_[one.setup],
            .original = one.plan,
            .plan = one.plan,
            .record = {}};
  }

  CampaignFinding ShrinkBreach(const ExploreCase& one) {
    Laboratory& laboratory = *laboratories_.Of(one.setup).value();
    CampaignFinding finding = FindingOf(one);
    const Trial trial = laboratory.Try(one.plan);
    const std::optional<Breach> breach = BreachOf(trial);
    if (!breach) {
      // It was wrong a moment ago.
      ++report_.nondeterministic;
      finding.what = {.invariant = std::string(kDeterministic),
                      .name = "not-again",
                      .message = "wrong once, and not when it was run again"};
      finding.record = trial.record;
      return finding;
    }
    Shrunk shrunk = Shrink(laboratory, one.plan, trial, options_.shrink);
    const auto what =
        std::ranges::find_if(shrunk.trial.wrong, [&](const Finding& wrong) {
          return wrong.invariant == breach->invariant &&
                 wrong.name == breach->name;
        });
    finding.what =
        what == shrunk.trial.wrong.end() ? trial.wrong.front() : *what;
    finding.plan = std::move(shrunk.plan);
    finding.tries = shrunk.tries;
    finding.record = std::move(shrunk.trial.record);
    return finding;
  }

  CampaignFinding ShrinkDivergence(const ExploreCase& one) {
    Laboratory& laboratory = *laboratories_.Of(one.setup).value();
    CampaignFinding finding = FindingOf(one);
    const auto examine = [&](const FaultPlan& plan) {
      return Examine(laboratory, {.number = one.number, .plan = plan},
                     Runs::kTwice);
    };
    const auto diverges = [&](const FaultPlan& plan) {
      const CaseReport report = examine(plan);
      return !report.wrong.empty() &&
             report.wrong.front().invariant == kDeterministic;
    };
    ShrunkPlan shrunk = ShrinkPlan(one.plan, options_.shrink, diverges);
    finding.plan = std::move(shrunk.plan);
    finding.tries = shrunk.tries;
    const CaseReport report = examine(finding.plan);
    finding.what = report.wrong.empty()
                       ? Finding{.invariant = std::string(kDeterministic),
                                 .name = "event-digest",
                                 .message = "run twice, different events"}
                       : report.wrong.front();
    finding.record = laboratory.Try(finding.plan).record;
    return finding;
  }

  const CampaignOptions& options_;
  Clock& clock_;
  CampaignObserver& observer_;
  const std::vector<Case> setups_;
  std::vector<PlanSpace> spaces_;  // by set-up
  Laboratories laboratories_;      // of this thread
  References& references_;
  std::unique_ptr<NthPlans> nth_;
  Time begin_;
  bool ended_ = false;
  std::map<Signature, size_t> known_;  // findings
  CampaignReport report_;
};

}  // namespace

Result<CampaignReport> RunCampaign(const Case& base,
                                   const CampaignOptions& options,
                                   References& references, Clock& clock,
                                   CampaignObserver& observer) {
  return Campaign(base, options, references, clock, observer).Run();
}

}  // namespace gauntlet
