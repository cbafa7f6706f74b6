#include "harness/trainer/fault_runs.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Operations that need free disk space.
constexpr std::array kAllocating = {
    OperationKind::kCreate, OperationKind::kWrite, OperationKind::kAllocate,
    OperationKind::kMakeDirectory};

// Makes all operations that need disk space fail from this operation on.
std::vector<Injection> DiskFull(const OperationLog& log, uint64_t number) {
  std::vector<Injection> injections;
  for (const OperationKind kind : kAllocating) {
    uint64_t before = 0;
    for (uint64_t i = 0; i + 1 < number; ++i) {
      const FileOperation& operation = log.operations()[i];
      before += !operation.implied && operation.kind == kind ? 1 : 0;
    }
    injections.push_back({.at = {.kind = kind, .occurrence = before + 1},
                          .kind = InjectionKind::kFail,
                          .error = ENOSPC,
                          .repeats = true});
  }
  return injections;
}

bool HasSeveralRanks(const OperationLog& log) {
  std::set<int32_t> ranks;
  for (const FileOperation& operation : log.operations())
    ranks.insert(operation.rank);
  ranks.erase(kUnknownRank);
  return ranks.size() > 1;
}

// Returns an empty list if the fault cannot happen at the operation.
std::vector<Injection> InjectionsFor(CrashFault fault,
                                     const CrashTestPlan& plan,
                                     const FilePatterns& files,
                                     uint64_t number) {
  const FileOperation& operation = files.log().operations()[number - 1];
  const OperationKind kind = operation.kind;
  const bool is_of_rank = operation.rank != kUnknownRank;
  if (fault == CrashFault::kRankDeath && !is_of_rank) return {};
  if (fault == CrashFault::kDiskFull) {
    const bool allocates =
        std::ranges::find(kAllocating, kind) != kAllocating.end();
    return allocates ? DiskFull(files.log(), number) : std::vector<Injection>();
  }
  Injection injection{.at = files.OfOperation(number)};
  switch (fault) {
    case CrashFault::kIoError:
      injection.kind = InjectionKind::kFail;
      injection.error = EIO;
      break;
    case CrashFault::kSigterm:
      injection.kind = InjectionKind::kTerminate;
      injection.duration = plan.grace;
      break;
    case CrashFault::kRankDeath:
      injection.kind = InjectionKind::kKillAfter;
      injection.scope = KillScope::kRank;
      break;
    case CrashFault::kPause:
      injection.kind = InjectionKind::kPause;
      injection.duration = plan.pause;
      break;
    default:
      return {};
  }
  return {injection};
}

}  // namespace

std::set<CrashFault> FaultsToTry(const CrashTestPlan& plan) {
  std::set<CrashFault> faults(plan.faults.begin(), plan.faults.end());
  faults.insert(CrashFault::kKill);
  if (const auto fault = FaultOfId(plan.only)) faults.insert(*fault);
  return faults;
}

std::optional<FaultRun> FaultRunAt(const CrashTestPlan& plan,
                                   const FilePatterns& files, CrashFault fault,
                                   uint64_t number) {
  std::vector<Injection> injections = InjectionsFor(fault, plan, files, number);
  if (injections.empty()) return std::nullopt;
  return FaultRun{
      .fault = fault, .operation = number, .injections = std::move(injections)};
}

std::vector<FaultRun> ListFaultRuns(const CrashTestPlan& plan,
                                    const Recording& recording) {
  using Class = std::tuple<int32_t, OperationKind, std::string>;
  const FilePatterns files(recording.log);
  std::map<Class, std::vector<uint64_t>> classes;
  for (const uint64_t number : recording.CrashPoints()) {
    const FileOperation& operation = recording.log.operations()[number - 1];
    classes[{operation.rank, operation.kind, files.Of(operation.name)}]
        .push_back(number);
  }
  // Operations of four rounds: the first of each class, the last of each class,
  // the middle one of each class, and all operations.
  std::array<std::set<uint64_t>, 4> rounds;
  for (const auto& [unused, numbers] : classes) {
    rounds[0].insert(numbers.front());
    rounds[1].insert(numbers.back());
    rounds[2].insert(numbers[numbers.size() / 2]);
    rounds[3].insert(numbers.begin(), numbers.end());
  }
  std::set<CrashFault> faults = FaultsToTry(plan);
  if (!HasSeveralRanks(recording.log)) faults.erase(CrashFault::kRankDeath);
  std::vector<FaultRun> runs;
  std::set<uint64_t> taken;
  for (const std::set<uint64_t>& round : rounds) {
    const bool is_last = &round == &rounds.back();
    for (const uint64_t number : round) {
      if (!taken.insert(number).second) continue;
      for (const CrashFault fault : faults) {
        // The last round is for a rank's death only. It is tried at every
        // operation, because the other ranks are in another state at each.
        if (is_last && fault != CrashFault::kRankDeath) continue;
        std::optional<FaultRun> run = FaultRunAt(plan, files, fault, number);
        if (run) runs.push_back(std::move(*run));
      }
    }
  }
  return runs;
}

std::string NoteOnRankDeath(const CrashTestPlan& plan,
                            const Recording& recording) {
  const bool is_named = plan.names_faults && plan.only.empty() &&
                        FaultsToTry(plan).contains(CrashFault::kRankDeath);
  if (!is_named || HasSeveralRanks(recording.log)) return "";
  return "--faults rank: not tried, as it needs a program whose several ranks "
         "write files, each a process with its own RANK, OMPI_COMM_WORLD_RANK, "
         "PMI_RANK or SLURM_PROCID";
}

std::optional<CrashFault> FaultOfId(std::string_view id) {
  const std::string_view name = id.substr(0, id.find('-'));
  if (name == "ext4" || name == "weak") return CrashFault::kPowerLoss;
  return CrashFaultOfName(name);
}

std::optional<CrashFault> CrashFaultOfName(std::string_view name) {
  const auto found = std::ranges::find(kCrashFaultNames, name);
  if (found == kCrashFaultNames.end()) return std::nullopt;
  return static_cast<CrashFault>(found - kCrashFaultNames.begin());
}

std::string FaultRunId(const FaultRun& run) {
  return fmt::format("{}-{}", CrashFaultName(run.fault), run.operation);
}

}  // namespace gauntlet
