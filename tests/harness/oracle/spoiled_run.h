// A run without findings that is changed in one place, and the finding that the
// judge must report.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_SPOILED_RUN_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_SPOILED_RUN_H_

#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/oracle/record_builder.h"

namespace gauntlet {

using Edit = std::function<void(ScriptedRun&)>;

// A run without findings, and the finding that `spoil` causes.
struct SpoiledRun {
  const char* name;  // name of the test
  ScriptedRun (*run)();
  const char* finding;  // "store/torn-load"
  Edit spoil;
};
// As SpoiledRun. If `excuse` also changes the run, the judge must not report
// the finding.
struct ExcusedRun {
  const char* name;
  ScriptedRun (*run)();
  const char* finding;
  Edit spoil;
  Edit excuse;
};
// A run that has no findings after `change` either.
struct LawfulRun {
  const char* name;
  ScriptedRun (*run)();
  Edit change;
};

void PrintTo(const SpoiledRun& run, std::ostream* out);
void PrintTo(const ExcusedRun& run, std::ostream* out);
void PrintTo(const LawfulRun& run, std::ostream* out);

void ExpectFinding(const SpoiledRun& spoiled);
void ExpectExcused(const ExcusedRun& excused);
void ExpectLawful(const LawfulRun& lawful);

template <typename Case>
std::string NameOfCase(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

// Workers of the job's first, second and third start.
inline const Emitter kChief = WorkerProcess(0, 1);
inline const Emitter kOther = WorkerProcess(1, 1);
inline const Emitter kNextChief = WorkerProcess(0, 2);
inline const Emitter kNextOther = WorkerProcess(1, 2);
inline const Emitter kThirdChief = WorkerProcess(0, 3);
inline const Emitter kThirdOther = WorkerProcess(1, 3);

inline const std::string kOtherDigest(32, 'f');

std::string PathOfSave(uint64_t step, uint64_t generation);

// Ends the record directly after the event, as a time limit does: without
// results and without contents of the disk.
void EndAfter(ScriptedRun& run, const Emitter& by, RecordKind kind,
              size_t nth = 0);
// Fires the fault in the process, directly before one of its events.
void FireBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                size_t nth, const RecordFault& fault);
// Makes both workers of the first start report that the state after the step is
// not finite.
void FindNotFinite(ScriptedRun& run, uint64_t step);
// As FindNotFinite. Each save from that step on, and the end of training, also
// report that the state is not finite.
void SaveNotFinite(ScriptedRun& run, uint64_t step);
// Cuts the power of a disk that lies about syncs, directly before the event.
void LoseSyncedDataBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                          size_t nth = 0);
// Lets the first chief begin to delete all checkpoints, directly before the
// event.
void DeleteBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                  size_t nth = 0);
// Gives a generation another number, in its claim, events and saves.
void Renumber(ScriptedRun& run, uint64_t from, uint64_t to);
// Gives the claim of `chief` the parent `path`, and ends the run.
void ClaimAndEnd(ScriptedRun& run, const Emitter& chief,
                 const std::string& path);
// Makes the first chief begin to save step 6 before it detects a loss.
void BeginStaleSave(ScriptedRun& run);
RecordEvent StaleSave(RecordKind kind);

RecordFault DiskError();

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_SPOILED_RUN_H_
