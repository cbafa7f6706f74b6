#include "harness/trainer/trial_crash.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "chaos/crash/crash_description.h"
#include "harness/trainer/verdict/equal_crashes.h"

namespace gauntlet {
namespace {

bool ChangesFile(OperationKind kind) {
  return kind == OperationKind::kCreate || kind == OperationKind::kWrite ||
         kind == OperationKind::kTruncate;
}

bool IsRename(OperationKind kind) {
  return kind == OperationKind::kRename || kind == OperationKind::kExchange ||
         kind == OperationKind::kLink;
}

// Returns true iff the program renames files with this name.
bool IsRenamed(const OperationLog& log, const FileName& name) {
  return std::ranges::any_of(log.operations(), [&](const FileOperation& one) {
    return one.name == name && IsRename(one.kind);
  });
}

bool SyncsFile(const FileOperation& one) {
  return one.kind == OperationKind::kSyncFile ||
         one.kind == OperationKind::kSyncData ||
         one.kind == OperationKind::kSyncFileSystem;
}

// Returns true iff the operation syncs the directory that contains this name.
bool SyncsDirectoryOf(const FileName& name, const FileOperation& one) {
  if (one.kind == OperationKind::kSyncFileSystem) return true;
  if (one.kind != OperationKind::kSyncDirectory) return false;
  const std::string parent =
      std::filesystem::path(name.path).parent_path().string();
  return one.name == FileName{.directory = name.directory,
                              .path = parent.empty() ? "." : parent};
}

// Returns true iff the program renames, at least once, a file of this name that
// has unsynced changes.
bool IsRenamedUnsynced(const OperationLog& log, const FileName& name) {
  bool is_synced = true;
  for (const FileOperation& one : log.operations()) {
    if (SyncsFile(one) &&
        (one.name == name || one.kind == OperationKind::kSyncFileSystem)) {
      is_synced = true;
    }
    if (one.name != name) continue;
    if (ChangesFile(one.kind)) is_synced = false;
    if (IsRename(one.kind) && !is_synced) return true;
  }
  return false;
}

// Returns true iff, at least once, the program renames a file of this name
// and does not sync the directory of the new name before it renames the next
// file of this name, or ends.
bool IsRenameLeftUnsynced(const OperationLog& log, const FileName& name) {
  std::optional<FileName> unsynced;  // new name
  for (const FileOperation& one : log.operations()) {
    if (unsynced && SyncsDirectoryOf(*unsynced, one)) unsynced.reset();
    if (!IsRename(one.kind) || one.name != name) continue;
    if (unsynced) return true;
    unsynced = one.to;
  }
  return unsynced.has_value();
}

// Returns true iff the program appends to the file as to a log: it writes to
// the end of the file after closing the file, or after other work. Other work:
// the thread that writes has closed another file since the last write to this
// one. Writes without other work in between are parts of one save.
bool IsAppendedTo(const OperationLog& log, const FileName& name) {
  uint64_t size = 0;  // as far as writes to this name show it
  bool is_closed = false;
  // Threads that have closed other files since the last write to this one.
  std::set<int32_t> closed_others_since_write;
  for (const FileOperation& one : log.operations()) {
    if (one.name != name) {
      if (one.kind == OperationKind::kClose)
        closed_others_since_write.insert(one.thread);
      continue;
    }
    if (one.kind == OperationKind::kClose) {
      is_closed = true;
    } else if (one.kind == OperationKind::kCreate ||
               one.kind == OperationKind::kTruncate ||
               one.kind == OperationKind::kUnlink) {
      is_closed = false;
      size = 0;
    } else if (one.kind == OperationKind::kWrite) {
      const bool is_at_end = one.offset > 0 && one.offset >= size;
      if (is_at_end &&
          (is_closed || closed_others_since_write.contains(one.thread)))
        return true;
      size = std::max(size, one.offset + one.bytes.length);
      closed_others_since_write.clear();
    }
  }
  return false;
}

void ClearUnfinished(CrashTrial& trial) {
  trial.in_place_files.clear();
  trial.unsynced_files.clear();
  trial.unsynced_renames.clear();
}

void AddUnfinished(const FilePatterns& files, const FileName& name,
                   CrashTrial& trial) {
  if (IsRenamed(files.log(), name)) {
    if (IsRenamedUnsynced(files.log(), name))
      trial.unsynced_files.insert(files.Of(name));
    if (IsRenameLeftUnsynced(files.log(), name))
      trial.unsynced_renames.insert(files.Of(name));
  } else if (!IsAppendedTo(files.log(), name)) {
    trial.in_place_files.insert(files.Of(name));
  }
}

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
  ClearUnfinished(trial);
  trial.rank = kUnknownRank;
  if (number == 0) return;
  const FileOperation& operation = files.log().operations()[number - 1];
  trial.file_pattern = files.Of(operation.name);
  trial.rank = operation.rank;
  if (ChangesFile(operation.kind)) AddUnfinished(files, operation.name, trial);
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
  if (text.lost_files.empty()) return OkStatus();
  ClearUnfinished(trial);
  for (const FileName& name : text.lost_files)
    AddUnfinished(files, name, trial);
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
