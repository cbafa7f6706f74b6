#include "harness/trainer/trial_crash.h"

#include <algorithm>
#include <string>
#include <utility>

#include "chaos/crash/crash_description.h"
#include "harness/trainer/verdict/equal_crashes.h"

namespace gauntlet {
namespace {

// Makes the equal crash `id` the crash of the trial. The former crash of the
// trial becomes one of its equal crashes.
Status ExchangeCrash(const FilePatterns& files, const std::string& id,
                     CrashTrial& trial) {
  std::vector<EqualCrash>& equal = trial.equal_crashes;
  std::erase_if(equal, [&](const EqualCrash& one) { return one.id == id; });
  equal.push_back(
      {.id = trial.id, .fault = trial.fault, .operation = trial.operation});
  std::ranges::sort(equal, {}, [](const EqualCrash& one) {
    return std::pair(FaultOrder(one.fault, one.id), one.operation);
  });
  ASSIGN_OR_RETURN(const CrashState state, ParseCrashStateId(id));
  return DescribeCrash(files, state, trial);
}

}  // namespace

CrashFault FaultOfState(CrashStateKind kind) {
  switch (kind) {
    case CrashStateKind::kKill:
      return CrashFault::kKill;
    case CrashStateKind::kTornWrite:
      return CrashFault::kTornWrite;
    case CrashStateKind::kPowerLoss:
      break;
  }
  return CrashFault::kPowerLoss;
}

void SetPlace(const FilePatterns& files, uint64_t number, CrashTrial& trial) {
  trial.fault_operation = number;
  trial.file_pattern.clear();
  trial.rank = kUnknownRank;
  if (number == 0) return;
  const FileOperation& operation = files.log().operations()[number - 1];
  trial.file_pattern = files.Of(operation.name);
  trial.rank = operation.rank;
}

Status DescribeCrash(const FilePatterns& files, const CrashState& state,
                     CrashTrial& trial) {
  trial.id = CrashStateId(state);
  trial.fault = FaultOfState(state.kind);
  trial.operation = state.operations;
  ASSIGN_OR_RETURN(const CrashStateText text,
                   DescribeCrashState(files.log(), state));
  trial.point = text.point;
  trial.lost = text.lost;
  trial.lost_files.clear();
  for (const FileName& name : text.lost_files) {
    trial.lost_files.insert(files.Of(name));
  }
  SetPlace(files,
           state.kind == CrashStateKind::kTornWrite ? state.operations + 1
                                                    : state.operations,
           trial);
  return OkStatus();
}

void AddEqualCrashes(const CrashStateList& states, CrashTrial& trial) {
  if (!trial.image) return;
  for (const CrashState& state : states.StatesOf(*trial.image)) {
    const std::string id = CrashStateId(state);
    const bool is_alike = state.operations == trial.operation &&
                          FaultOrder(FaultOfState(state.kind), id) ==
                              FaultOrder(trial.fault, trial.id);
    if (is_alike) continue;
    trial.equal_crashes.push_back({.id = id,
                                   .fault = FaultOfState(state.kind),
                                   .operation = state.operations});
  }
}

Status NameBySimplestCrash(const OperationLog& log,
                           const std::vector<CrashVerdict>& verdicts,
                           std::vector<CrashTrial>& trials) {
  const FilePatterns files(log);
  for (size_t i = 0; i < trials.size(); ++i) {
    const std::string id = CrashesOf(trials[i], verdicts[i]).front().id;
    if (id != trials[i].id)
      RETURN_IF_ERROR(ExchangeCrash(files, id, trials[i]));
  }
  std::ranges::stable_sort(trials, {}, &CrashTrial::operation);
  return OkStatus();
}

}  // namespace gauntlet
