#include "harness/run/suite.h"

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/real/host/cuda_plugin.h"
#include "harness/record/text/value_text.h"
#include "harness/run/crash_notice.h"
#include "harness/run/failure/advice.h"
#include "harness/run/files/disk_room.h"
#include "harness/run/slow_watch.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

int CountGpus() {
  const Result<CudaDevices> cuda = OpenCuda();
  return cuda.ok() ? cuda->count : 0;
}

// Returns what this machine and the world offer. Counts GPUs only if the case
// may use one.
Capabilities CapabilitiesFor(const SuiteItem& item,
                             const std::string& directory) {
  Capabilities here = CapabilitiesOf(item.world);
  here.disk_bytes = FreeBytes(directory);
  const bool wanted = item.one.needs.gpus > 0 ||
                      ComputesOn(item.one.train.kernels, DeviceKind::kCuda);
  if (item.world == WorldKind::kReal && wanted) here.gpus = CountGpus();
  return here;
}

// Returns "in the simulated world, the run resumed from step 4 and ended with
// final state a2bcc442", or "…, the run refused to train (exit code 7)".
std::string EndInWorldText(const CaseOutcome& outcome) {
  const RunFacts& facts = outcome.result.verdict.facts;
  const std::string world =
      fmt::format("in the {} world, the run",
                  outcome.result.world == "sim" ? "simulated" : "real");
  const std::string code =
      outcome.exit_code ? fmt::format(" (exit code {})", *outcome.exit_code)
                        : "";
  if (outcome.final_digest.empty()) {
    return fmt::format(
        "{} {}{}", world,
        facts.refused ? "refused to train" : "ended without a final state",
        code);
  }
  return fmt::format(
      "{}{} ended with final state {}", world,
      facts.resumed_from
          ? fmt::format(" resumed from step {} and", *facts.resumed_from)
          : "",
      ShortDigests(outcome.final_digest));
}

// Returns how the run ended in each world. Adds a possible reason if bugs are
// planted.
std::string CauseOfDifferentEnds(const CaseOutcome& first,
                                 const CaseOutcome& second) {
  const std::vector<std::string>& bugs = second.result.planted_bugs;
  return fmt::format(
      "{}; {}{}", EndInWorldText(first), EndInWorldText(second),
      bugs.empty()
          ? ""
          : fmt::format("; what the planted bug{} {} changes may "
                        "depend on timing, which differs between the "
                        "worlds",
                        bugs.size() == 1 ? "" : "s", fmt::join(bugs, ", ")));
}

// Returns the advice on a case that ended differently in the two worlds.
std::string AdviceOnDifferentEnds(const CaseResult& first,
                                  const CaseResult& second) {
  if (second.planted_bugs.empty()) {
    return fmt::format("compare the events of both runs ({}; {})",
                       CommandToShow(first, "--all"),
                       CommandToShow(second, "--all"));
  }
  return "run the case in one world only (--world sim or --world real, or in "
         "the scenario requires: {features: [simulation]} or [processes]), or "
         "remove planted_bugs";
}

class Suite {
 public:
  Suite(const std::vector<SuiteItem>& items, const SuiteOptions& options,
        const std::function<void(const CaseResult&)>& done)
      : items_(items),
        options_(options),
        done_(done),
        references_(options.cache_directory, options.build),
        results_(items.size()),
        watch_([this](size_t index) { options_.slow(items_[index]); }) {}

  std::vector<CaseResult> Run();

 private:
  std::optional<size_t> NextItem();
  void Work();
  std::vector<CaseOutcome> RunItem(size_t index);
  CaseOutcome RunTry(const SuiteItem& item, int number);
  // Returns the explanation of a failed case. After explain_most searches, only
  // sets is_left_out.
  Explanation Explain(const Case& one, const Record& record);
  std::string ReplayOfTry(const SuiteItem& item, int number) const;
  bool NeedsRetry(const SuiteItem& item, const CaseOutcome& outcome);
  void Finish(size_t index, const std::vector<CaseOutcome>& tries);
  // Returns the result of the outcome. If the case passed in both worlds, but
  // with different final states, the result is a failure. REQUIRES: mutex_ is
  // held.
  CaseResult Compared(const CaseOutcome& outcome) const;

  const std::vector<SuiteItem>& items_;
  const SuiteOptions& options_;
  const std::function<void(const CaseResult&)>& done_;
  References references_;
  std::atomic<int> explained_{0};
  std::atomic<bool> disk_full_{false};
  std::mutex mutex_;  // guards all below except watch_
  size_t next_ = 0;
  int failures_ = 0;
  std::vector<std::optional<CaseResult>> results_;
  // By case name: outcome of the last try in the world in which the case ended
  // first.
  std::map<std::string, CaseOutcome> by_name_;
  SlowWatch watch_;
};

std::optional<size_t> Suite::NextItem() {
  const std::lock_guard lock(mutex_);
  const bool enough =
      options_.max_failures > 0 && failures_ >= options_.max_failures;
  if (enough || disk_full_ || next_ == items_.size() ||
      options_.interrupted()) {
    return std::nullopt;
  }
  return next_++;
}

Explanation Suite::Explain(const Case& one, const Record& record) {
  if (options_.needs_search && !options_.needs_search(record)) return {};
  if (explained_.fetch_add(1) >= options_.explain_most) {
    return {.is_left_out = true};
  }
  return options_.explain(one, record, references_);
}

// Returns the command that replays the record of this try.
std::string Suite::ReplayOfTry(const SuiteItem& item, int number) const {
  if (!options_.replay) return "";
  // A crash test has no record: its command repeats the case, not a try.
  if (number == 1 || item.one.trainer) return options_.replay(item);
  SuiteItem named = item;
  named.one.name = NameOfTry(item.one.name, number);
  return options_.replay(named);
}

CaseOutcome Suite::RunTry(const SuiteItem& item, int number) {
  const std::string directory = fmt::format(
      "{}/{}", options_.directory,
      FolderOfTry(item.one.name, WorldKindName(item.world), number));
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  CasePlace place = {
      .world = item.world,
      .program = options_.program,
      .directory = directory,
      .replay = ReplayOfTry(item, number),
      .interrupted = options_.interrupted,
      .phase = [&](CasePhase phase) { options_.phase(item, phase); }};
  if (options_.explain) {
    place.explain = [this](const Case& one, const Record& record, References&) {
      return Explain(one, record);
    };
  }
  const Capabilities here = CapabilitiesFor(item, options_.directory);
  const bool runs_trainer = item.one.trainer && options_.run_trainer &&
                            WhyNotHere(item.one, here).empty();
  if (runs_trainer) return options_.run_trainer(item.one, place);
  return RunCase(item.one, place, here, references_);
}

bool Suite::NeedsRetry(const SuiteItem& item, const CaseOutcome& outcome) {
  if (item.world != WorldKind::kReal) return false;
  const std::lock_guard lock(mutex_);
  const VerdictKind kind = Compared(outcome).verdict.kind;
  return kind == VerdictKind::kFail || kind == VerdictKind::kError;
}

// Runs the item until it passes or may not be repeated again. Returns its
// tries, without one that was interrupted or had no room.
std::vector<CaseOutcome> Suite::RunItem(size_t index) {
  const SuiteItem& item = items_[index];
  const AtWork at(fmt::format("{} ({}), {}:{}", item.one.name,
                              WorldKindName(item.world), item.one.file,
                              item.one.line));
  options_.begins(item);
  std::vector<CaseOutcome> tries;
  for (int number = 1; number <= options_.retries + 1; ++number) {
    watch_.Begins(index, item.one.timeouts.slow);
    CaseOutcome outcome = RunTry(item, number);
    watch_.Ends(index);
    // An interrupted try has no verdict.
    if (options_.interrupted()) break;
    if (outcome.disk_full && !disk_full_.exchange(true)) options_.disk_full();
    if (outcome.disk_full &&
        outcome.result.verdict.kind != VerdictKind::kFail) {
      // The files of this try are useless, and the results need their room.
      std::error_code ignored;
      std::filesystem::remove_all(outcome.result.directory, ignored);
      break;
    }
    tries.push_back(std::move(outcome));
    if (!NeedsRetry(item, tries.back())) break;
  }
  return tries;
}

CaseResult Suite::Compared(const CaseOutcome& outcome) const {
  CaseResult result = outcome.result;
  const auto other = by_name_.find(result.name);
  if (other == by_name_.end() || other->second.result.world == result.world) {
    return result;
  }
  // If the case did not pass in both worlds, one of its results already states
  // a reason.
  const bool both_pass =
      result.verdict.kind == VerdictKind::kPass &&
      other->second.result.verdict.kind == VerdictKind::kPass;
  if (!both_pass || outcome.final_digest == other->second.final_digest) {
    return result;
  }
  const auto end = [](const std::string& digest) {
    return digest.empty() ? "no final state" : "final state " + digest;
  };
  FailFor(
      fmt::format("{}: {} ({}), {} ({})", kWorldsEndDifferently,
                  end(other->second.final_digest), other->second.result.world,
                  end(outcome.final_digest), result.world),
      result.verdict);
  result.cause = CauseOfDifferentEnds(other->second, outcome);
  result.summary.next = AdviceOnDifferentEnds(other->second.result, result);
  return result;
}

void Suite::Finish(size_t index, const std::vector<CaseOutcome>& tries) {
  if (tries.empty()) return;
  const std::lock_guard lock(mutex_);
  std::vector<CaseResult> results;
  for (const CaseOutcome& one : tries) results.push_back(Compared(one));
  CaseResult result = JoinTries(results, options_.flaky);
  by_name_.emplace(result.name, tries.back());
  const VerdictKind kind = result.verdict.kind;
  if (kind == VerdictKind::kFail || kind == VerdictKind::kError) ++failures_;
  done_(result);
  results_[index] = std::move(result);
}

void Suite::Work() {
  while (const std::optional<size_t> index = NextItem()) {
    Finish(*index, RunItem(*index));
  }
}

std::vector<CaseResult> Suite::Run() {
  std::vector<std::thread> others;
  for (int job = 1; job < options_.jobs; ++job) {
    others.emplace_back([this] { Work(); });
  }
  Work();
  for (std::thread& other : others) other.join();
  std::vector<CaseResult> results;
  for (std::optional<CaseResult>& result : results_) {
    if (result) results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace

std::vector<CaseResult> RunSuite(
    const std::vector<SuiteItem>& items, const SuiteOptions& options,
    const std::function<void(const CaseResult&)>& done) {
  return Suite(items, options, done).Run();
}

}  // namespace gauntlet
