// An exploration: runs many fault plans on one base case and collects the
// findings.
//
// Cases run on several threads, and their results are processed in the order of
// their numbers, so the findings do not depend on the number of threads.
#ifndef GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_H_
#define GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/world/clock.h"
#include "harness/explore/campaign/campaign_finding.h"
#include "harness/explore/coverage/coverage.h"
#include "harness/explore/coverage/coverage_curve.h"
#include "harness/explore/coverage/goals.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/explore/diagnosis/shrink.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/record/record.h"
#include "harness/record/verdict.h"
#include "harness/run/reference.h"
#include "harness/run/shard_choice.h"

namespace gauntlet {

enum class CampaignMode : uint8_t { kRandom, kSweep };

struct CampaignOptions {
  CampaignMode mode = CampaignMode::kRandom;
  uint64_t seed = 1;
  std::optional<uint64_t> only_case;  // random: runs only this case
  bool keep_record = false;           // keeps the record of only_case
  uint64_t first_case = 0;            // random: number of the first case
  // Shard of the exploration to run. All shards together run each case of the
  // exploration once, unless a time limit ends one of them. Ignored with
  // only_case.
  ShardChoice shard = {};
  // Limit on the number of cases: in random mode for all shards together, in
  // sweep mode for this shard.
  std::optional<uint64_t> max_cases;
  std::optional<Duration> time;  // wall-clock limit, shrinking included
  int threads = 1;
  int max_faults = 3;
  std::vector<FaultKind> kinds;  // empty: all
  std::vector<Point> points;     // empty: all
  uint64_t twice_every = 16;     // every N-th case is run twice; 0: none
  // Stops after so many findings; 0: never. All crash states with a failed
  // recovery count as one finding.
  size_t stop_after = 10;
  // Options of the search for crash states of the base case; nullopt: no
  // search. It takes turns with the cases.
  std::optional<CrashStateOptions> crash_states = {};
  ShrinkOptions shrink;  // RunCampaign sets its clock
  // Random mode: returns the command-line options that run the case of this
  // number again.
  std::function<std::string(uint64_t)> command_for = [](uint64_t number) {
    return "--case " + std::to_string(number);
  };
};

enum class CampaignEnd : uint8_t {
  kExhausted,  // no cases are left, or all requested ones are done
  kTime,
  kFindings,  // there are stop_after findings
  kInterrupted,
};

struct CampaignReport {
  CampaignEnd end = CampaignEnd::kExhausted;
  uint64_t cases = 0;
  uint64_t next_case = 0;  // random: first case that is not done
  uint64_t ran_twice = 0;
  uint64_t nondeterministic = 0;
  // Numbers of cases with a failure, of cases that passed, and of cases in
  // which no planned fault fired. A case of the third sort proves nothing.
  uint64_t failed = 0;
  uint64_t passed = 0;
  uint64_t fired_nothing = 0;
  // Number of cases that the simulated world cannot run, by the reason.
  std::map<std::string, uint64_t> skipped;
  double seconds = 0;  // real time
  double virtual_seconds = 0;
  uint64_t restarts = 0;
  std::map<size_t, uint64_t> by_faults_fired;
  std::map<std::string, uint64_t> by_outcome;
  Coverage coverage;
  CoverageCurve curve;
  std::vector<uint64_t> goals = std::vector<uint64_t>(AllGoals().size());
  std::vector<CampaignFinding> findings;  // filled in at the end
  std::string progress;                   // sweep: progress of the sweep
  std::string left;                       // sweep: remaining parts; "": none
  std::optional<ExploreCase> only;    // with only_case: the case that was run
  std::optional<Record> only_record;  // of `only`, with keep_record
  PlanSpace space;  // of the base's plans, with the points of all set-ups
  // Results of the search for options.crash_states so far; final once the
  // exploration has ended.
  std::optional<CrashStateReport> crash_states;
  std::string why_no_crash_states;  // "" if they were searched or not requested
};

// Returns the number of coverage goals that at least one case reached.
uint64_t GoalsReached(const CampaignReport& report);

class CampaignObserver {
 public:
  virtual ~CampaignObserver() = default;
  // Called after each case.
  virtual void Progress(const CampaignReport& report) = 0;
  // Called for each new finding, after it was shrunk.
  virtual void Found(const CampaignFinding& finding) = 0;
  // Called for each crash state from which recovery goes wrong.
  virtual void FoundCrashState(const CrashStateFinding& finding) = 0;
  // Returns true to end the exploration now. Called often.
  virtual bool Interrupted() = 0;
};

// Runs the exploration. Returns an error if the reference run cannot be made.
// `clock` measures real time.
Result<CampaignReport> RunCampaign(const Case& base,
                                   const CampaignOptions& options,
                                   References& references, Clock& clock,
                                   CampaignObserver& observer);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_CAMPAIGN_CAMPAIGN_H_
