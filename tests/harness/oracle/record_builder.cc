#include "tests/harness/oracle/record_builder.h"

#include <algorithm>
#include <string>

namespace gauntlet {
namespace {

using K = RecordKind;

constexpr TrainingPosition kStepFour = {.step = 4,
                                        .phase = RecordPhase::kEvaluationDue};
constexpr int64_t kStopped = 143;
constexpr int64_t kNoCheckpoint = 7;
constexpr int64_t kLostWorker = 75;

RecordFault Rot() {
  return {.id = "rot",
          .kind = "bit_flip",
          .worker = "0",
          .point = "ckpt.shard.write",
          .summary = "bits flip",
          .always = true};
}

// Crashes worker 1 in step 6, which worker 0 has already trained.
void CrashInStepSix(ScriptedRun& run) {
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(5);
  run.Fire(1, CrashFault());
  run.Die(1);
  run.Step(0, 6);
  run.Lose(0, 1);
}

void RestartAfterStepSix(ScriptedRun& run) {
  CrashInStepSix(run);
  run.Exit(0, kLostWorker, RecordReason::kLostWorker);
  run.Restart(1);
  run.StartAll();
}

// Crashes worker 1 by another fault, and restarts both workers.
void CrashAgain(ScriptedRun& run, const char* fault) {
  RecordFault again = CrashFault();
  again.id = fault;
  run.Fire(1, again);
  run.Die(1);
  run.Lose(0, 1);
  run.Exit(0, kLostWorker, RecordReason::kLostWorker);
  run.Restart(1);
  run.StartAll();
}

void ResumeFromStepFour(ScriptedRun& run) {
  run.Resume(NameOfSave(4, 1), kStepFour);
  run.Evaluate();
  run.EndEpoch();
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
}

void StopHere(ScriptedRun& run) {
  run.StopAgreed();
  run.Save();
  run.SendResult();
  for (const int worker : {0, 1}) run.Exit(worker, kStopped);
  run.EndLauncher(kStopped, "stopped");
}

}  // namespace

RecordFault CrashFault() {
  return {.id = "crash-w1",
          .kind = "crash",
          .worker = "1",
          .point = "step.end",
          .summary = "crash worker 1 at step.end"};
}

ScriptedRun UndisturbedRun() {
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  return run;
}

ScriptedRun RecoveredRun() {
  ScriptedRun run;
  RestartAfterStepSix(run);
  run.Claim(NameOfSave(4, 1));
  ResumeFromStepFour(run);
  return run;
}

ScriptedRun TwiceCrashedRun() {
  ScriptedRun run;
  RestartAfterStepSix(run);
  run.Claim(NameOfSave(4, 1));
  CrashAgain(run, "again");
  run.Claim(NameOfSave(4, 1));
  ResumeFromStepFour(run);
  return run;
}

ScriptedRun CrashedAfterStepSixRun() {
  ScriptedRun run;
  RestartAfterStepSix(run);
  run.Claim(NameOfSave(4, 1));
  run.Resume(NameOfSave(4, 1), kStepFour);
  run.Evaluate();
  run.EndEpoch();
  run.TrainTo(6);
  CrashAgain(run, "second");
  run.Claim(NameOfSave(6, 2));
  CrashAgain(run, "third");
  run.Claim(NameOfSave(6, 2));
  run.Resume(NameOfSave(6, 2), {.step = 6});
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun RejoinedRun() {
  ScriptedRun run;
  run.facts.setup.rejoins = true;
  CrashInStepSix(run);
  run.LeaveToRejoin(0);
  run.Restart(1);
  run.Start(1);
  run.Claim(NameOfSave(4, 1));
  run.ResumeFromMemory(0);
  run.Save();
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun PreemptedRun() {
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(4);
  run.Fire(0, {.id = "notice",
               .kind = "preempt",
               .summary = "preempt worker 0",
               .grace_ns = 40 * kTick});
  run.SeeNotice(0);
  run.TrainTo(5);
  StopHere(run);
  run.LaunchAll();
  run.Claim(NameOfSave(5, 1));
  run.Resume(NameOfSave(5, 1), {.step = 5});
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun TwoPhasesRun() {
  constexpr TrainingPosition kCallbacksDue = {
      .step = 4, .phase = RecordPhase::kCallbacksDue};
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(3);
  run.SeeNotice(0);
  run.StepAll(4);
  StopHere(run);
  run.LaunchAll();
  run.Claim(NameOfSave(4, 1));
  run.Resume(NameOfSave(4, 1), kStepFour);
  run.SeeNotice(1);
  run.Evaluate();
  StopHere(run);
  run.LaunchAll();
  run.Claim(NameOfSave(kCallbacksDue, 2));
  run.Resume(NameOfSave(kCallbacksDue, 2), kCallbacksDue);
  run.EndEpoch();
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun DeletedRun() {
  ScriptedRun run;
  run.facts.setup.delete_at_success = true;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  return run;
}

ScriptedRun DeletedTwiceRun() {
  ScriptedRun run;
  run.facts.setup.delete_at_success = true;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(kLastStep);
  run.FinishTraining();
  run.Fire(1, {.id = "cut",
               .kind = "power_loss",
               .point = "run.finish",
               .summary = "power loss",
               .disk = "ext4"});
  run.CutPower("ext4");
  run.LaunchAll();
  run.ClaimNumber(1);
  run.Initialize();
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun CutRun(const char* disk) {
  ScriptedRun run;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  run.TrainTo(5);
  run.Fire(1, {.id = "cut",
               .kind = "power_loss",
               .point = "step.end",
               .summary = "power loss",
               .disk = disk});
  run.CutPower(disk);
  run.LaunchAll();
  run.Claim(NameOfSave(4, 1));
  ResumeFromStepFour(run);
  return run;
}

ScriptedRun FellBackRun() {
  ScriptedRun run;
  RestartAfterStepSix(run);
  const std::string bad = "/ckpt/" + NameOfSave(4, 1);
  DamageSaveOf(run, NameOfSave(4, 1));
  run.Claim(NameOfSave(2, 1));
  run.events.InsertBefore(
      run.By(0), K::kGeneration, 0, run.By(0),
      {.kind = K::kRejected, .path = bad, .detail = "digest differs"});
  run.events.Append(run.By(0), {.kind = K::kRejectBegin, .path = bad});
  std::erase_if(run.facts.left.checkpoints,
                [](const StoredCheckpoint& one) { return one.step == 4; });
  run.facts.left.rejected = {"rejected-" + NameOfSave(4, 1)};
  run.Resume(NameOfSave(2, 1), {.step = 2});
  run.TrainTo(kLastStep);
  run.Finish();
  run.facts.expect.outcome = Outcome::kRecovers;
  return run;
}

ScriptedRun RefusedRun() {
  ScriptedRun run;
  RestartAfterStepSix(run);
  run.events.Append(run.By(0), {.kind = K::kClaimBegin, .count = 2});
  for (const uint64_t step : {2, 4}) DamageSaveOf(run, NameOfSave(step, 1));
  for (const uint64_t step : {4, 2}) {
    run.events.Append(run.By(0), {.kind = K::kRejected,
                                  .path = "/ckpt/" + NameOfSave(step, 1),
                                  .detail = "digest differs"});
  }
  for (StoredCheckpoint& one : run.facts.left.checkpoints) {
    one.valid = false;
    one.reason = "digest differs";
  }
  run.events.Append(run.By(0), {.kind = K::kLeaving});
  run.events.Append(
      run.By(1),
      {.kind = K::kWorkerLost, .about = 0, .reason = RecordReason::kRefused});
  run.Exit(1, kNoCheckpoint, RecordReason::kPrecondition);
  run.Exit(0, kNoCheckpoint, RecordReason::kPrecondition);
  run.EndLauncher(kNoCheckpoint);
  run.facts.expect.outcome = Outcome::kRefuses;
  return run;
}

ScriptedRun AsynchronousRun() {
  ScriptedRun run;
  run.facts.setup.async_saves = true;
  run.LaunchAll();
  run.Claim();
  run.Initialize();
  for (uint64_t step = 1; step <= kLastStep; ++step) {
    run.StepAll(step);
    if (step % run.facts.setup.save_interval_steps == 0) {
      if (step > 2) {
        run.Acknowledge();
        run.Keep();
      }
      run.BeginSave();
      run.CopyForSave();
    }
    if (PhaseAfter(step) == RecordPhase::kInEpoch) continue;
    run.Evaluate();
    run.EndEpoch();
  }
  run.Acknowledge();
  run.Finish();
  return run;
}

void DamageSaveOf(ScriptedRun& run, const std::string& name) {
  std::vector<EmittedEvent>& all = run.events.all();
  const auto save = std::ranges::find_if(all, [&](const EmittedEvent& one) {
    return one.event.kind == K::kSaveBegin && one.event.path.ends_with(name);
  });
  const Emitter by = save->by;
  std::vector<EmittedEvent> added;
  const bool fires =
      std::ranges::none_of(all.begin(), all.end(), [](const EmittedEvent& one) {
        return one.event.kind == K::kFaultFired && one.event.detail == "rot";
      });
  if (fires) {
    added.push_back({.by = by,
                     .event = {.kind = K::kFaultFired,
                               .path = "ckpt.shard.write",
                               .detail = "rot"}});
  }
  added.push_back({.by = by,
                   .event = {.kind = K::kDamaged,
                             .path = "/ckpt/" + name + ".tmp/MANIFEST.json",
                             .detail = "rot"}});
  all.insert(save + 1, added.begin(), added.end());
  if (std::ranges::find(run.facts.faults, "rot", &RecordFault::id) ==
      run.facts.faults.end()) {
    run.facts.faults.push_back(Rot());
  }
}

}  // namespace gauntlet
