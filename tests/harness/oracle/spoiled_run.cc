#include "tests/harness/oracle/spoiled_run.h"

#include <algorithm>

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace gauntlet {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

}  // namespace

void PrintTo(const SpoiledRun& run, std::ostream* out) { *out << run.name; }
void PrintTo(const ExcusedRun& run, std::ostream* out) { *out << run.name; }
void PrintTo(const LawfulRun& run, std::ostream* out) { *out << run.name; }

void ExpectFinding(const SpoiledRun& spoiled) {
  ScriptedRun run = spoiled.run();
  ASSERT_THAT(FindingsOf(run), IsEmpty());
  spoiled.spoil(run);
  EXPECT_THAT(FindingsOf(run), Contains(spoiled.finding));
}

void ExpectExcused(const ExcusedRun& excused) {
  ExpectFinding({.name = excused.name,
                 .run = excused.run,
                 .finding = excused.finding,
                 .spoil = excused.spoil});
  ScriptedRun run = excused.run();
  excused.spoil(run);
  excused.excuse(run);
  EXPECT_THAT(FindingsOf(run), Not(Contains(excused.finding)));
}

void ExpectLawful(const LawfulRun& lawful) {
  ScriptedRun run = lawful.run();
  lawful.change(run);
  EXPECT_THAT(FindingsOf(run), IsEmpty());
}

std::string PathOfSave(uint64_t step, uint64_t generation) {
  return "/ckpt/" + NameOfSave(step, generation);
}

void EndAfter(ScriptedRun& run, const Emitter& by, RecordKind kind,
              size_t nth) {
  run.events.CutAfter(by, kind, nth);
  run.facts.ending = RunEnding::kTimedOut;
  run.facts.left = {};
  run.facts.launchers.back().result.reset();
}

void FireBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                size_t nth, const RecordFault& fault) {
  run.events.InsertBefore(by, kind, nth, by,
                          {.kind = RecordKind::kFaultFired,
                           .path = fault.point,
                           .detail = fault.id});
  run.facts.faults.push_back(fault);
}

void FindNotFinite(ScriptedRun& run, uint64_t step) {
  for (const Emitter& by : {kChief, kOther}) {
    const RecordEvent& done = run.events.At(by, RecordKind::kStep, step - 1);
    const RecordEvent found = {.kind = RecordKind::kNotFinite,
                               .generation = done.generation,
                               .step = step,
                               .epoch = done.epoch,
                               .phase = done.phase,
                               .loss_bits = done.loss_bits};
    run.events.InsertAfter(by, RecordKind::kStep, step - 1, by, found);
  }
}

void SaveNotFinite(ScriptedRun& run, uint64_t step) {
  FindNotFinite(run, step);
  for (EmittedEvent& one : run.events.all()) {
    const bool says = one.event.kind == RecordKind::kSaveAcknowledged ||
                      one.event.kind == RecordKind::kFinished;
    if (says && one.event.step >= step) {
      one.event.count = static_cast<int64_t>(step);
    }
  }
}

void LoseSyncedDataBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                          size_t nth) {
  run.events.InsertBefore(
      by, kind, nth, kMachine,
      {.kind = RecordKind::kPowerCut, .path = "host", .detail = "lying-fsync"});
}

void DeleteBefore(ScriptedRun& run, const Emitter& by, RecordKind kind,
                  size_t nth) {
  run.events.InsertBefore(by, kind, nth, kChief,
                          {.kind = RecordKind::kDeleteBegin, .path = "/ckpt"});
}

void Renumber(ScriptedRun& run, uint64_t from, uint64_t to) {
  const std::string old_name = fmt::format("-g{}", from);
  const std::string new_name = fmt::format("-g{}", to);
  const auto rename = [&](std::string& name) {
    if (!name.ends_with(old_name)) return;
    name.resize(name.size() - old_name.size());
    name += new_name;
  };
  for (EmittedEvent& one : run.events.all()) {
    RecordEvent& event = one.event;
    const bool tries = event.kind == RecordKind::kClaimBegin;
    if (tries && event.count == static_cast<int64_t>(from)) {
      event.count = static_cast<int64_t>(to);
    }
    if (event.generation == from) event.generation = to;
    rename(event.path);
  }
  for (StoredCheckpoint& left : run.facts.left.checkpoints) rename(left.name);
}

void ClaimAndEnd(ScriptedRun& run, const Emitter& chief,
                 const std::string& path) {
  RecordEvent& claim = run.events.At(chief, RecordKind::kGeneration);
  claim.path = path;
  claim.digest = run.DigestOfSave(BaseName(path));
  EndAfter(run, chief, RecordKind::kGeneration);
}

RecordEvent StaleSave(RecordKind kind) {
  return {.kind = kind,
          .generation = 1,
          .step = 6,
          .digest = kind == RecordKind::kSaveAcknowledged ? DigestAt(6) : "",
          .path = PathOfSave(6, 1)};
}

void BeginStaleSave(ScriptedRun& run) {
  run.events.InsertBefore(kChief, RecordKind::kWorkerLost, 0, kChief,
                          StaleSave(RecordKind::kSaveBegin));
}

RecordFault DiskError() {
  return {.id = "no", .kind = "errno", .point = "ckpt.rename"};
}

}  // namespace gauntlet
