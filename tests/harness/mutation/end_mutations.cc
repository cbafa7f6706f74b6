// Changes of the end of a run: the launcher's reports, the files and processes
// that are left, and the way in which the run ended.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "tests/harness/mutation/record_mutation.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Changes the record, and returns the place. Returns "" if there is nothing to
// change; then the record stays as it was.
using EditEnd = std::string (*)(Record&, Choice&);
// Returns the reason why the change has no effect; "" if it has an effect.
using NoEffect = std::string_view (*)(const Record&);

std::string_view HasEffect(const Record&) { return ""; }

Mutation EndMutation(std::string_view group, std::string name, EditEnd edit,
                     NoEffect no_effect = HasEffect) {
  return {.group = group,
          .name = std::move(name),
          .apply = [edit, no_effect](const Record& record,
                                     Choice& choice) -> std::optional<Mutant> {
            Mutant mutant = {.record = record, .place = {}};
            mutant.place = edit(mutant.record, choice);
            if (mutant.place.empty()) return std::nullopt;
            mutant.without_effect = no_effect(record);
            return mutant;
          }};
}

// Returns the valid checkpoint with the highest step, or null.
StoredCheckpoint* NewestValid(Record& record) {
  StoredCheckpoint* newest = nullptr;
  for (StoredCheckpoint& checkpoint : record.left.checkpoints) {
    const bool is_newer = newest == nullptr || checkpoint.step >= newest->step;
    if (checkpoint.valid && is_newer) newest = &checkpoint;
  }
  return newest;
}

std::string Take(Record& record, const StoredCheckpoint* checkpoint) {
  std::string name = checkpoint->name;
  std::erase_if(record.left.checkpoints,
                [&](const auto& one) { return one.name == name; });
  return name;
}

// Returns true iff the chief dies after its result was acknowledged: only then
// may it have deleted some of the checkpoints.
bool DiesAfterAcknowledgement(const IncarnationEvents& incarnation) {
  return !incarnation.events.empty() &&
         incarnation.events.back().kind != RecordKind::kWorkerExited &&
         std::ranges::any_of(incarnation.events, [](const RecordEvent& event) {
           return event.kind == RecordKind::kResultAcknowledged;
         });
}

std::string_view NoEffectOfLoss(const Record& record) {
  const bool none_ended =
      std::ranges::all_of(record.launchers, [](const LauncherRun& launcher) {
        return !launcher.result || launcher.result->epochs == 0;
      });
  return none_ended ? "the loss of an epoch that has not ended is for people"
                    : "";
}

std::string_view NoEffectOfReturned(const Record& record) {
  const bool lies = std::ranges::any_of(
      record.faults,
      [](const RecordFault& fault) { return fault.disk == "lying-fsync"; });
  return lies ? "a disk that lies about fsync may bring back what was removed"
              : "";
}

std::string_view NoEffectOfMissing(const Record& record) {
  const bool died =
      record.setup.delete_at_success &&
      std::ranges::any_of(record.incarnations, DiesAfterAcknowledgement);
  return died ? "the chief dies as it deletes the checkpoints: any may be gone"
              : "";
}

std::string TakeNewest(Record& record, Choice&) {
  const StoredCheckpoint* newest = NewestValid(record);
  return newest == nullptr ? "" : Take(record, newest);
}

std::string TakeOlder(Record& record, Choice& choice) {
  const StoredCheckpoint* newest = NewestValid(record);
  std::vector<const StoredCheckpoint*> older;
  for (const StoredCheckpoint& checkpoint : record.left.checkpoints) {
    if (checkpoint.valid && &checkpoint != newest) older.push_back(&checkpoint);
  }
  if (older.empty()) return "";
  return Take(record, older[choice.Below(older.size())]);
}

// Returns a randomly chosen valid checkpoint, or null.
StoredCheckpoint* AnyValid(Record& record, Choice& choice) {
  std::vector<StoredCheckpoint*> valid;
  for (StoredCheckpoint& checkpoint : record.left.checkpoints) {
    if (checkpoint.valid) valid.push_back(&checkpoint);
  }
  return valid.empty() ? nullptr : valid[choice.Below(valid.size())];
}

std::string ChangeStoredDigest(Record& record, Choice& choice) {
  StoredCheckpoint* checkpoint = AnyValid(record, choice);
  if (checkpoint == nullptr) return "";
  char& digit = checkpoint->digest.at(0);
  digit = digit == '0' ? '1' : '0';
  return checkpoint->name;
}

std::string SpoilCheckpoint(Record& record, Choice& choice) {
  StoredCheckpoint* checkpoint = AnyValid(record, choice);
  if (checkpoint == nullptr) return "";
  checkpoint->valid = false;
  checkpoint->reason = "model-00001-of-00002.safetensors: digest differs";
  return checkpoint->name;
}

std::string MarkNotFinite(Record& record, Choice& choice) {
  StoredCheckpoint* checkpoint = AnyValid(record, choice);
  if (checkpoint == nullptr || checkpoint->not_finite_since != 0) return "";
  checkpoint->not_finite_since = 1;
  return checkpoint->name;
}

// Brings back a checkpoint that was removed.
std::string ReturnRetired(Record& record, Choice& choice) {
  std::vector<const RecordEvent*> retired;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kRetired) retired.push_back(&event);
    }
  }
  if (retired.empty() || !record.left.store_listed) return "";
  const std::string& path = retired[choice.Below(retired.size())]->path;
  std::string name = path.substr(path.rfind('/') + 1);
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      // Ignores the suffix -gN, which a claim of an earlier version changed.
      const bool is_of_it = event.kind == RecordKind::kSaveAcknowledged &&
                            event.path.substr(0, event.path.rfind("-g")) ==
                                path.substr(0, path.rfind("-g"));
      if (!is_of_it) continue;
      record.left.checkpoints.insert(record.left.checkpoints.begin(),
                                     {.name = name,
                                      .step = event.step,
                                      .valid = true,
                                      .reason = {},
                                      .digest = event.digest});
      return name;
    }
  }
  return "";
}

std::string LeaveTemporary(Record& record, Choice&) {
  if (!record.left.store_listed) return "";
  record.left.temporary.emplace_back("step-000000099-g1.tmp");
  return record.left.temporary.back();
}

std::string LeaveRejected(Record& record, Choice&) {
  if (!record.left.store_listed) return "";
  record.left.rejected.emplace_back("rejected-step-000000099-g1");
  return record.left.rejected.back();
}

std::string LeaveProcess(Record& record, Choice& choice) {
  if (!record.left.processes_listed || record.incarnations.empty()) return "";
  const IncarnationEvents& incarnation =
      record.incarnations[choice.Below(record.incarnations.size())];
  record.left.processes.push_back(fmt::format(
      "worker {}, incarnation {}", incarnation.worker, incarnation.number));
  return record.left.processes.back();
}

LauncherRun* AnyLauncher(Record& record, Choice& choice) {
  if (record.launchers.empty()) return nullptr;
  return &record.launchers[choice.Below(record.launchers.size())];
}

std::string TextOf(const Record& record, const LauncherRun* launcher) {
  return fmt::format("launcher {}", launcher - record.launchers.data());
}

std::string ChangeExitCode(Record& record, Choice& choice) {
  LauncherRun* launcher = AnyLauncher(record, choice);
  if (launcher == nullptr) return "";
  ++launcher->exit_code;
  return TextOf(record, launcher);
}

std::string AddRestart(Record& record, Choice& choice) {
  LauncherRun* launcher = AnyLauncher(record, choice);
  if (launcher == nullptr) return "";
  ++launcher->restarts;
  return TextOf(record, launcher);
}

std::string TakeRestart(Record& record, Choice& choice) {
  LauncherRun* launcher = AnyLauncher(record, choice);
  if (launcher == nullptr || launcher->restarts == 0) return "";
  --launcher->restarts;
  return TextOf(record, launcher);
}

std::string TakeResult(Record& record, Choice& choice) {
  LauncherRun* launcher = AnyLauncher(record, choice);
  if (launcher == nullptr || !launcher->result) return "";
  launcher->result.reset();
  return TextOf(record, launcher);
}

// Changes a field of the result of a randomly chosen launcher.
template <void (*kChange)(FinalResult&)>
std::string ChangeResult(Record& record, Choice& choice) {
  LauncherRun* launcher = AnyLauncher(record, choice);
  if (launcher == nullptr || !launcher->result) return "";
  kChange(*launcher->result);
  return TextOf(record, launcher);
}

void ChangeResultDigest(FinalResult& result) {
  if (result.digest.empty()) result.digest = std::string(32, '0');
  result.digest[0] = result.digest[0] == '0' ? '1' : '0';
}
void AddResultStep(FinalResult& result) { ++result.steps; }
void AddResultEpoch(FinalResult& result) { ++result.epochs; }
void ChangeResultLoss(FinalResult& result) { result.loss_bits ^= 1; }
void ChangeResultStatus(FinalResult& result) {
  result.status = result.status == "done" ? "stopped" : "done";
}

template <RunEnding kEnding>
std::string EndAs(Record& record, Choice&) {
  record.ending = kEnding;
  return std::string(RunEndingName(kEnding));
}

}  // namespace

std::vector<Mutation> EndMutations() {
  constexpr std::string_view kMissing = "checkpoint missing";
  constexpr std::string_view kDirectory = "directory changed";
  constexpr std::string_view kAccount = "launcher's account";
  return {
      EndMutation(kMissing, "newest checkpoint missing", TakeNewest,
                  NoEffectOfMissing),
      EndMutation(kMissing, "older checkpoint missing", TakeOlder,
                  NoEffectOfMissing),
      EndMutation(kDirectory, "change digest of a checkpoint",
                  ChangeStoredDigest),
      EndMutation(kDirectory, "checkpoint does not verify", SpoilCheckpoint),
      EndMutation(kDirectory, "checkpoint called not finite", MarkNotFinite),
      EndMutation(kDirectory, "retired checkpoint is there", ReturnRetired,
                  NoEffectOfReturned),
      EndMutation(kDirectory, "temporary file is left", LeaveTemporary),
      EndMutation(kDirectory, "rejected checkpoint is left", LeaveRejected),
      EndMutation(kAccount, "exit code one higher", ChangeExitCode),
      EndMutation(kAccount, "restarts one higher", AddRestart),
      EndMutation(kAccount, "restarts one lower", TakeRestart),
      EndMutation(kAccount, "result missing", TakeResult),
      EndMutation(kAccount, "change digest of the result",
                  ChangeResult<ChangeResultDigest>),
      EndMutation(kAccount, "change steps of the result",
                  ChangeResult<AddResultStep>),
      EndMutation(kAccount, "change epochs of the result",
                  ChangeResult<AddResultEpoch>),
      EndMutation(kAccount, "change loss of the result",
                  ChangeResult<ChangeResultLoss>, NoEffectOfLoss),
      EndMutation(kAccount, "change status of the result",
                  ChangeResult<ChangeResultStatus>),
      EndMutation("process left", "process left", LeaveProcess),
      EndMutation("no end", "run hangs", EndAs<RunEnding::kHung>),
      EndMutation("no end", "run takes too long", EndAs<RunEnding::kTimedOut>),
  };
}

}  // namespace gauntlet
