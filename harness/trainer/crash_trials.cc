#include "harness/trainer/crash_trials.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "chaos/crash/crash_description.h"
#include "chaos/crash/crash_state_list.h"
#include "chaos/crash/directory_builder.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/chosen_crashes.h"
#include "harness/trainer/file_patterns.h"
#include "harness/trainer/text/program_output.h"
#include "harness/trainer/trial_crash.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using SteadyClock = std::chrono::steady_clock;

CrashListOptions ListOptions(const CrashTestPlan& plan,
                             const Recording& recording) {
  CrashListOptions options{.kinds = {},
                           .profiles = plan.profiles,
                           .left_out = recording.on_temporary_files,
                           .bounds = {},
                           .seed = plan.seed};
  const std::set<CrashFault> faults = FaultsToTry(plan);
  for (const CrashStateKind kind :
       {CrashStateKind::kKill, CrashStateKind::kTornWrite,
        CrashStateKind::kPowerLoss}) {
    if (faults.contains(FaultOfState(kind))) options.kinds.insert(kind);
  }
  return options;
}

Status TakeResults(const TrialSetting& setting, const RunFolder& folder,
                   CrashTrial& trial) {
  const TrainerRunEnd& end = trial.end;
  if (!EndedWell(end)) {
    const std::string output = ReadTextFile(folder.output());
    constexpr size_t kTail = 12;
    trial.last_line = LastLine(output);
    trial.tail = LastLines(output, kTail);
    trial.has_reason = !trial.last_line.empty() && !EndsInException(output);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(ResultDifferences differences,
                   setting.check.Compare(folder));
  trial.has_equal_results = differences.lines.empty();
  trial.differences = std::move(differences.lines);
  trial.different_files = std::move(differences.files);
  return OkStatus();
}

// Returns true iff the program completes the operation at which the fault
// happens.
bool IsDone(const FaultRun& fault) {
  return fault.fault == CrashFault::kPause ||
         fault.fault == CrashFault::kRankDeath;
}

std::string PointText(const FaultRun& fault, const FileOperation& operation) {
  const std::string text = DescribeFileOperation(operation);
  return fault.fault == CrashFault::kRankDeath
             ? fmt::format("rank {} killed after {}", operation.rank, text)
             : fmt::format("{} at {}", CrashFaultName(fault.fault), text);
}

// A trial for a thread to run next.
struct Task {
  uint64_t number = 0;
  ChosenCrash crash;
};

class Trials {
 public:
  Trials(const TrialSetting& setting, CrashTestProgress& progress)
      : setting_(setting),
        progress_(progress),
        files_(setting.recording.log),
        states_(setting.recording.log,
                ListOptions(setting.plan, setting.recording)),
        faults_(ListFaultRuns(setting.plan, setting.recording)),
        begin_(SteadyClock::now()) {}

  Result<CrashTrials> Run() {
    if (NamesCrashes(setting_.plan)) {
      ASSIGN_OR_RETURN(chosen_, ChooseCrashes(setting_.plan, setting_.recording,
                                              setting_.versions));
    }
    RETURN_IF_ERROR(MakeDirectories(setting_.recording.ContentsFolder()));
    const int jobs =
        setting_.runs.isolation() == Isolation::kNone ? 1 : setting_.plan.jobs;
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(jobs));
    for (int i = 0; i < jobs; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    if (!error_.ok() && done_.trials.empty()) return error_;
    if (!error_.ok()) {
      if (done_.end != TrialsEnd::kInterrupted) done_.end = TrialsEnd::kError;
      done_.notes.push_back("the test ended early: " + error_.message());
    }
    const CrashListCounts& counts = states_.counts();
    done_.equal_states = counts.equal;
    done_.bounded_states = static_cast<double>(counts.torn_left_out) +
                           counts.power_losses_left_out;
    if (counts.mapped_writes > 0) {
      done_.notes.push_back(fmt::format(
          "{} writes through shared memory: states between their syncs are not "
          "covered",
          counts.mapped_writes));
    }
    for (CrashTrial& trial : done_.trials) AddEqualCrashes(states_, trial);
    done_.seconds = Elapsed();
    std::ranges::stable_sort(done_.trials, {}, &CrashTrial::operation);
    return std::move(done_);
  }

 private:
  double Elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }

  bool IsOver() {
    const CrashTestPlan& plan = setting_.plan;
    const bool is_out_of_time =
        plan.time &&
        Elapsed() >= std::chrono::duration<double>(*plan.time).count();
    const bool is_out_of_trials =
        plan.most_trials && taken_ >= *plan.most_trials;
    return is_out_of_time || is_out_of_trials;
  }

  // Returns nullopt if there are no more faults.
  std::optional<ChosenCrash> NextFault() {
    if (fault_ == faults_.size()) return std::nullopt;
    return ChosenCrash{.state = {}, .fault = faults_[fault_++]};
  }

  // Returns one run with a fault, then four crash states, and so on in turns.
  Result<std::optional<ChosenCrash>> NextOfAll() {
    constexpr uint64_t kStatesForFault = 4;
    if (taken_ % (kStatesForFault + 1) == 0) {
      std::optional<ChosenCrash> fault = NextFault();
      if (fault) return fault;
    }
    ASSIGN_OR_RETURN(std::optional<CrashState> state, states_.Next());
    if (state) return std::optional(ChosenCrash{.state = std::move(state)});
    return NextFault();
  }

  Result<std::optional<ChosenCrash>> NextCrash() {
    if (!chosen_) return NextOfAll();
    if (taken_ == chosen_->size()) return std::optional<ChosenCrash>();
    return std::optional((*chosen_)[taken_]);
  }

  std::optional<Task> Next() {
    const std::lock_guard lock(mutex_);
    if (!error_.ok() || done_.end != TrialsEnd::kAllTried) return std::nullopt;
    Result<std::optional<ChosenCrash>> crash = NextCrash();
    if (!crash.ok()) {
      error_ = crash.status();
      return std::nullopt;
    }
    if (!*crash) return std::nullopt;
    if (IsOver()) {
      done_.end = TrialsEnd::kLimit;
      return std::nullopt;
    }
    return Task{.number = taken_++, .crash = std::move(**crash)};
  }

  void Work() {
    DirectoryBuilder builder(
        setting_.recording.log,
        {.cache = setting_.recording.ContentsFolder().string()});
    while (const std::optional<Task> task = Next()) {
      Result<CrashTrial> trial = Try(*task, builder);
      const std::lock_guard lock(mutex_);
      if (trial.status().code() == Code::kCancelled) {
        done_.end = TrialsEnd::kInterrupted;
      } else if (!trial.ok()) {
        if (error_.ok()) error_ = trial.status();
      } else {
        done_.trials.push_back(std::move(*trial));
        progress_.OnTrial(done_.trials.back(), done_.trials.size());
      }
    }
  }

  Result<CrashTrial> Try(const Task& task, DirectoryBuilder& builder) {
    ASSIGN_OR_RETURN(
        const RunFolder folder,
        setting_.runs.NewFolder(fmt::format("trial-{}", task.number)));
    const ChosenCrash& crash = task.crash;
    Result<CrashTrial> trial = crash.state
                                   ? TryState(*crash.state, folder, builder)
                                   : TryFault(*crash.fault, folder);
    TrainerRuns::Remove(folder);
    if (trial.ok()) {
      trial->place = crash.place;
      trial->is_for_judging = crash.is_for_judging;
    }
    return trial;
  }

  Result<CrashTrial> TryState(const CrashState& state, const RunFolder& folder,
                              DirectoryBuilder& builder) {
    CrashTrial trial;
    trial.image = state.image;
    RETURN_IF_ERROR(DescribeCrash(files_, state, trial));
    RETURN_IF_ERROR(builder.Build(
        state, {folder.out().string(), folder.temporary().string()}));
    RETURN_IF_ERROR(ResumeTrial(setting_, folder, trial));
    return trial;
  }

  Result<CrashTrial> TryFault(const FaultRun& fault, const RunFolder& folder) {
    const OperationLog& log = setting_.recording.log;
    const FileOperation& operation = log.operations()[fault.operation - 1];
    CrashTrial trial{
        .id = FaultRunId(fault),
        .fault = fault.fault,
        .operation = IsDone(fault) ? fault.operation : fault.operation - 1,
        .point = PointText(fault, operation)};
    SetPlace(files_, fault.operation, trial);
    ASSIGN_OR_RETURN(
        TrainerRunEnd end,
        setting_.runs.Run(
            folder,
            {.arguments = setting_.plan.command,
             .injections = fault.injections,
             .time_limit = RunTimeLimit(setting_.plan, setting_.recording.end) +
                           setting_.plan.pause + setting_.plan.grace}));
    trial.has_happened = !end.injected_at.empty();
    // After a rank's death, a timeout does not count as a hang: ranks that wait
    // for a dead one are usually ended from outside.
    const bool is_rank_death = fault.fault == CrashFault::kRankDeath;
    if (is_rank_death && end.is_timed_out)
      trial.point += "; the others did not end, and were killed";
    const bool survives_fault =
        EndedWell(end) || (end.is_timed_out && !is_rank_death);
    if (survives_fault) {
      trial.end = std::move(end);
      trial.survived_fault = true;
      RETURN_IF_ERROR(TakeResults(setting_, folder, trial));
      // After SIGTERM the program may have saved and exited, so that it can be
      // restarted. After other faults, exit code 0 means that the run is
      // complete.
      const bool waits_for_restart = fault.fault == CrashFault::kSigterm &&
                                     !trial.end.is_timed_out &&
                                     !trial.has_equal_results;
      if (!waits_for_restart) return trial;
      trial.survived_fault = false;
      trial.differences.clear();
    }
    RETURN_IF_ERROR(ResumeTrial(setting_, folder, trial));
    return trial;
  }

  const TrialSetting& setting_;
  CrashTestProgress& progress_;
  const FilePatterns files_;
  std::mutex mutex_;  // guards all members below
  CrashStateList states_;
  std::vector<FaultRun> faults_;
  size_t fault_ = 0;
  std::optional<std::vector<ChosenCrash>> chosen_;  // nullopt: all crashes
  uint64_t taken_ = 0;
  CrashTrials done_;
  Status error_;
  const SteadyClock::time_point begin_;
};

}  // namespace

Result<CrashTrials> RunCrashTrials(const TrialSetting& setting,
                                   CrashTestProgress& progress) {
  return Trials(setting, progress).Run();
}

const std::vector<std::string>& ResumeCommand(const CrashTestPlan& plan) {
  return plan.resume_command.empty() ? plan.command : plan.resume_command;
}

Status ResumeTrial(const TrialSetting& setting, const RunFolder& folder,
                   CrashTrial& trial) {
  ASSIGN_OR_RETURN(const FileContents contents,
                   ContentsOf({folder.out(), folder.temporary()}));
  ASSIGN_OR_RETURN(
      trial.end,
      setting.runs.Run(folder, {.arguments = ResumeCommand(setting.plan),
                                .time_limit = RunTimeLimit(
                                    setting.plan, setting.recording.end),
                                .fork_server = setting.fork_server}));
  if (trial.end.are_reads_complete) {
    trial.resumed_from = setting.versions.VersionOf(trial.end.reads, contents);
    trial.made_again = setting.versions.MadeAgain(trial.end.made, contents);
    if (!trial.made_again.empty()) {
      trial.newest_file = setting.versions.NewestOfSeries(
          trial.made_again.front().path, contents);
    }
  }
  if (setting.plan.resumed_step) {
    // A run that starts over prints no step, so its step is 0.
    trial.resumed_step =
        setting.plan.resumed_step->Find(ReadTextFile(folder.output()))
            .value_or(0);
  }
  return TakeResults(setting, folder, trial);
}

}  // namespace gauntlet
