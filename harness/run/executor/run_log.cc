#include "harness/run/executor/run_log.h"

#include <bit>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/inspect.h"
#include "engine/finite.h"

namespace gauntlet {

void AdoptLog(RunLog log, Record& record) {
  record.incarnations = std::move(log.incarnations);
  record.launchers = std::move(log.launchers);
  record.machine = std::move(log.machine);
  record.ending = log.ending;
  record.ending_detail = std::move(log.ending_detail);
  record.wall_seconds = log.wall_seconds;
  record.virtual_seconds = log.virtual_seconds;
  record.oom_kills = log.oom_kills;
  record.left = std::move(log.left);
  record.harness_error = std::move(log.harness_error);
}

bool IsStartedAgain(int exit_code) {
  return exit_code == static_cast<int>(WorkerExit::kStopped) ||
         exit_code == static_cast<int>(WorkerExit::kLostWorker);
}

LauncherRun ToLauncherRun(const LaunchEnd& end) {
  LauncherRun run = {.exit_code = end.exit_code,
                     .restarts = static_cast<uint64_t>(end.restarts)};
  if (end.result) {
    run.result = FinalResult{.status = end.result->status,
                             .epochs = end.result->epochs,
                             .steps = end.result->steps,
                             .digest = end.result->digest,
                             .loss_bits = std::bit_cast<uint32_t>(CanonicalNan(
                                 end.result->loss.value_or(0.0f)))};
  }
  return run;
}

Status LookAtStore(World& world, const std::string& directory,
                   Leftovers& left) {
  const Result<std::vector<DirectoryEntry>> entries =
      world.storage.List(directory);
  if (entries.status().code() == Code::kNotFound) {
    left.store_listed = true;
    return OkStatus();
  }
  RETURN_IF_ERROR(entries.status());
  for (const DirectoryEntry& entry : *entries) {
    switch (ParseEntryName(entry.name).kind) {
      case EntryKind::kClaimTmp:
      case EntryKind::kClaimProbe:
      case EntryKind::kStateTmp:
      case EntryKind::kTokenTmp:
      case EntryKind::kTokenProbe:
      case EntryKind::kSaveTmp:
      case EntryKind::kDeleting:
        left.temporary.push_back(entry.name);
        break;
      case EntryKind::kRejected:
        left.rejected.push_back(entry.name);
        break;
      case EntryKind::kClaim:
      case EntryKind::kToken:
      case EntryKind::kCheckpoint:
      case EntryKind::kOther:
        break;
    }
  }
  ASSIGN_OR_RETURN(const StoreReport store,
                   InspectStore(world, directory, InspectDepth::kEveryByte));
  for (const CheckpointReport& report : store.checkpoints) {
    if (report.lineage != LineageState::kCurrent) continue;
    left.checkpoints.push_back(
        {.name = report.name,
         .step = report.step,
         .valid = report.verdict.ok(),
         .reason = report.verdict.message(),
         .digest = report.state_digest.ToString(),
         .not_finite_since = report.not_finite_since.value_or(0)});
  }
  left.store_listed = true;
  return OkStatus();
}

}  // namespace gauntlet
