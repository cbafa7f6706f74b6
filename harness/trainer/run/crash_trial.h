// The facts about one crash of a training program, and the verdict on it.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/trace/log/file_operation.h"
#include "engine/digest.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

enum class CrashFault : uint8_t {
  kKill,       // SIGKILL between two operations
  kTornWrite,  // SIGKILL during a write
  kPowerLoss,  // data that were not synced may be lost
  kDiskFull,   // ENOSPC at an operation and all later ones
  kIoError,    // EIO at one operation
  kSigterm,    // SIGTERM, and SIGKILL after a grace period
  kPause,      // SIGSTOP for some time
  kRankDeath,  // SIGKILL to one rank; the others keep running
};
inline constexpr std::array<std::string_view, 8> kCrashFaultNames = {
    "kill", "torn", "power", "enospc", "eio", "sigterm", "pause", "rank"};
constexpr std::string_view CrashFaultName(CrashFault fault) {
  return kCrashFaultNames[static_cast<size_t>(fault)];
}

// Returns nullopt if no fault has this name.
std::optional<CrashFault> CrashFaultOfName(std::string_view name);
// Returns the fault that an id names, such as "kill-120" or "weak-3-data0";
// nullopt if the id names none.
std::optional<CrashFault> FaultOfId(std::string_view id);

enum class RecoveryVerdict : uint8_t {
  kRecovered,           // equal results, from the newest complete checkpoint
  kResumePointUnknown,  // equal results; checkpoint not known
  kLostWork,            // equal results, from an older checkpoint or from none
  kDiverged,            // different results, without an error
  kFails,               // the resumed run ends with an error
  kHangs,               // the resumed run does not end
  kRefused,  // the resumed run reports that no checkpoint is complete
};
inline constexpr std::array<std::string_view, 7> kRecoveryVerdictNames = {
    "recovered", "resume-point-unknown",
    "lost-work", "diverged",
    "fails",     "hangs",
    "refused"};
constexpr std::string_view RecoveryVerdictName(RecoveryVerdict verdict) {
  return kRecoveryVerdictNames[static_cast<size_t>(verdict)];
}
constexpr bool IsFinding(RecoveryVerdict verdict) {
  return verdict == RecoveryVerdict::kLostWork ||
         verdict == RecoveryVerdict::kDiverged ||
         verdict == RecoveryVerdict::kFails ||
         verdict == RecoveryVerdict::kHangs;
}

// A version of a checkpoint that a resumed run read. Numbers of operations are
// those of the recording, from 1.
struct CheckpointVersion {
  // The last operation that changed the contents of this version; 0: the run
  // read no checkpoint and started over.
  uint64_t operation = 0;
  // The first operation on the version's files after the previous version.
  uint64_t begin = 0;
  std::vector<std::string> files;  // names for people
  // The newest of `files`, if that file never had the contents of another
  // version; else empty.
  std::string own_file;
};

// A complete checkpoint file that a resumed run wrote again.
struct RemadeFile {
  std::string path;
  // Number of the operation in the recording after which the file was finished.
  uint64_t finished = 0;
  bool operator==(const RemadeFile&) const = default;
};

// A crash that leaves the same directory contents as the crash of a trial.
struct EqualCrash {
  std::string id;  // "ext4-120-data0"
  CrashFault fault = CrashFault::kKill;
  // Number of operations of the recording before the crash.
  uint64_t operation = 0;
};

// Sort key of crashes: the simplest fault comes first, and power losses under
// ext4 before those under weak.
inline std::pair<CrashFault, bool> FaultOrder(CrashFault fault,
                                              std::string_view id) {
  return {fault, id.starts_with("weak")};
}

// One trial of a crash. For a kill, a torn write or a power loss, the crash
// state is reconstructed, and a run resumes from it. Other faults are injected
// into a run. If it does not survive the fault, another run resumes after it.
struct CrashTrial {
  std::string id;  // "kill-120"
  CrashFault fault = CrashFault::kKill;
  // Number of operations of the recording before the crash.
  uint64_t operation = 0;
  // Operation at which the fault happened. This operation may be incomplete or
  // have failed. 0: the crash came before the first operation.
  uint64_t fault_operation = 0;
  std::string point;              // "after rename of a.tmp to a", for people
  std::string file_pattern;       // of the operation's file: "ckpt-*/model.pt"
  int32_t rank = kUnknownRank;    // rank that did the operation
  std::vector<std::string> lost;  // to a power loss, one line each
  std::set<std::string> lost_files;  // patterns of the files of `lost`
  // `in_place_files`, `unsynced_files` and `unsynced_renames` have patterns of
  // files that the crash left unfinished: those of `lost_files` or, if there
  // are none, the file of the operation at the crash. `in_place_files`: the
  // program writes the file under its final name, and not by appending to it as
  // to a log.
  std::set<std::string> in_place_files;
  // `unsynced_files`: the program renames the file without having synced it.
  // `unsynced_renames`: it does not sync the directory after the rename.
  std::set<std::string> unsynced_files;
  std::set<std::string> unsynced_renames;
  // Other crashes that leave the same directory contents: of each fault, the
  // first and the last one in the recording. Power losses under ext4 and under
  // weak count as two faults. Sorted by FaultOrder.
  std::vector<EqualCrash> equal_crashes;
  // Digest of the directories if they were reconstructed; nullopt if a run with
  // a fault left them.
  std::optional<Digest> image;
  // Index in CrashTestPlan::places of the place that named the crash; nullopt:
  // no place named it. A place may name several crashes.
  std::optional<size_t> place;
  // True for a kill that was not requested: it only shows which checkpoints are
  // complete, and its verdict is no finding.
  bool is_for_judging = false;
  // True if the run survived the fault and ended without a restart.
  bool survived_fault = false;
  bool has_happened = true;  // false: the run did not reach the fault
  // End of the resumed run, or of a run that survived the fault.
  TrainerRunEnd end;
  bool has_equal_results = false;
  std::vector<std::string> differences;  // of results, one line each
  // Paths below {out} of files that differ.
  std::vector<std::string> different_files;
  std::string last_line;          // of the output of a run that failed
  std::vector<std::string> tail;  // last lines of that output
  bool has_reason = false;        // the run failed with a message, no exception
  // Version that the resumed run read; nullopt: not known.
  std::optional<CheckpointVersion> resumed_from;
  std::optional<int64_t> resumed_step;  // as printed by the resumed run
  std::vector<RemadeFile> made_again;
  // Newest file that was complete before the run resumed, in the series
  // (ckpt-1, ckpt-2, …) of the first file of `made_again`; empty: not known.
  std::string newest_file;
};

// Returns true iff the trial resumed from a checkpoint with equal results.
inline bool RecoveredFromCheckpoint(const CrashTrial& trial) {
  return !trial.survived_fault && trial.has_equal_results &&
         (trial.resumed_step.value_or(0) > 0 ||
          (trial.resumed_from && trial.resumed_from->operation > 0));
}

struct CrashVerdict {
  RecoveryVerdict verdict = RecoveryVerdict::kRecovered;
  std::string reason;  // one line
  // Verdict for each of the trial's equal crashes, in their order.
  std::vector<RecoveryVerdict> equal_crashes = {};
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TRIAL_H_
