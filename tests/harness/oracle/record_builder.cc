#include "tests/harness/oracle/record_builder.h"

#include <algorithm>
#include <cstdlib>

#include "harness/oracle/judge.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kStepsPerEpoch = 4;
constexpr uint64_t kEpochs = 2;
constexpr int kWorkers = 2;
constexpr int64_t kTick = 1'000'000;

uint32_t LossAt(uint64_t step) { return 0x3f800000u - 16 * uint32_t(step); }

RecordPhase PhaseAfter(uint64_t step) {
  return step % kStepsPerEpoch == 0 ? RecordPhase::kEvaluationDue
                                    : RecordPhase::kInEpoch;
}

std::string NameOfSave(uint64_t step, uint64_t generation) {
  return fmt::format("step-{:09}-g{}", step, generation);
}

// Two rows of the four of a step for each worker; of all four for one.
std::vector<uint32_t> RowsOf(uint64_t step, int worker, int workers) {
  const auto first = static_cast<uint32_t>((step - 1) % kStepsPerEpoch * 4);
  if (workers == 1) return {first, first + 1, first + 2, first + 3};
  const uint32_t mine = first + 2 * static_cast<uint32_t>(worker);
  return {mine, mine + 1};
}

// What all workers of one generation say, in step with each other.
class Session {
 public:
  Session(int workers, int life, uint64_t generation, int64_t& now)
      : generation_(generation), now_(now) {
    for (int worker = 0; worker < workers; ++worker) {
      lives_.push_back({.worker = worker, .life = life, .events = {}});
    }
    for (int worker = 0; worker < workers; ++worker) {
      Say(worker, {.kind = RecordKind::kLifeBegin, .count = worker});
    }
  }

  void Say(int worker, RecordEvent event) {
    event.generation = generation_;
    event.t_ns = now_ += kTick;
    lives_[static_cast<size_t>(worker)].events.push_back(std::move(event));
  }
  void All(const RecordEvent& event) {
    for (size_t i = 0; i < lives_.size(); ++i) Say(static_cast<int>(i), event);
  }

  void Start(std::optional<uint64_t> from) {
    if (!from) {
      return All({.kind = RecordKind::kInitialized,
                  .digest = DigestAt(0, RecordPhase::kInEpoch)});
    }
    All({.kind = RecordKind::kResumed,
         .step = *from,
         .phase = PhaseAfter(*from),
         .digest = DigestAt(*from, PhaseAfter(*from)),
         .path = NameOfSave(*from, generation_)});
  }

  void Step(int worker, uint64_t step) {
    Say(worker,
        {.kind = RecordKind::kStep,
         .step = step,
         .epoch = (step - 1) / kStepsPerEpoch,
         .phase = PhaseAfter(step),
         .count = 1,
         .loss_bits = LossAt(step),
         .digest = DigestAt(step, PhaseAfter(step)),
         .samples = RowsOf(step, worker, static_cast<int>(lives_.size()))});
  }

  void Save(uint64_t step) {
    Say(0, {.kind = RecordKind::kSaveBegin,
            .step = step,
            .path = NameOfSave(step, generation_)});
    Say(0, {.kind = RecordKind::kSaveAcknowledged,
            .step = step,
            .digest = DigestAt(step, PhaseAfter(step)),
            .path = NameOfSave(step, generation_)});
  }

  void SaveCallbacksDue(uint64_t step) {
    const std::string name =
        fmt::format("step-{:09}-callbacks_due-g{}", step, generation_);
    Say(0, {.kind = RecordKind::kSaveBegin, .step = step, .path = name});
    Say(0, {.kind = RecordKind::kSaveAcknowledged,
            .step = step,
            .digest = DigestAt(step, RecordPhase::kCallbacksDue),
            .path = name});
  }

  void Stop(uint64_t step) {
    All({.kind = RecordKind::kStopAgreed, .step = step});
  }

  void Evaluate(uint64_t step) {
    All({.kind = RecordKind::kEvaluated,
         .step = step,
         .epoch = step / kStepsPerEpoch - 1,
         .phase = RecordPhase::kCallbacksDue,
         .count = 3,
         .loss_bits = LossAt(step) + 1,
         .digest = DigestAt(step, RecordPhase::kCallbacksDue)});
  }

  void CallBack(uint64_t step) {
    All({.kind = RecordKind::kEpochEnd,
         .step = step,
         .epoch = step / kStepsPerEpoch - 1,
         .count = 3,
         .loss_bits = LossAt(step) + 1,
         .digest = DigestAt(step, RecordPhase::kInEpoch)});
  }

  void EndEpoch(uint64_t step) {
    Evaluate(step);
    CallBack(step);
  }

  // Steps first to last, each whole.
  void Train(uint64_t first, uint64_t last, uint64_t save_every) {
    for (uint64_t step = first; step <= last; ++step) {
      for (size_t i = 0; i < lives_.size(); ++i) {
        Step(static_cast<int>(i), step);
      }
      if (save_every > 0 && step % save_every == 0) Save(step);
      if (step % kStepsPerEpoch == 0) EndEpoch(step);
    }
  }

  void SayFinished() {
    const uint64_t last = kEpochs * kStepsPerEpoch;
    All({.kind = RecordKind::kFinished,
         .step = last,
         .epoch = kEpochs,
         .digest = DigestAt(last, RecordPhase::kInEpoch)});
  }

  void Finish() {
    SayFinished();
    All({.kind = RecordKind::kLifeEnd});
  }

  void FinishAndDelete() {
    SayFinished();
    Say(0, {.kind = RecordKind::kResultAcknowledged});
    Say(0, {.kind = RecordKind::kBackupDeleted});
    All({.kind = RecordKind::kLifeEnd});
  }

  void AppendTo(Record& record) const {
    record.lives.insert(record.lives.end(), lives_.begin(), lives_.end());
  }

 private:
  const uint64_t generation_;
  int64_t& now_;
  std::vector<LifeEvents> lives_;
};

Record Empty() {
  int64_t now = 0;
  Session reference(1, 1, 1, now);
  reference.Start(std::nullopt);
  reference.Train(1, kEpochs * kStepsPerEpoch, 0);
  reference.Finish();
  Record alone;
  reference.AppendTo(alone);

  Record record;
  record.scenario = record.case_name = "case";
  record.world = "sim";
  record.setup = {.workers = kWorkers,
                  .epochs = kEpochs,
                  .rows_per_epoch = 4 * kStepsPerEpoch,
                  .save_interval_steps = 2,
                  .keep = 5,
                  .detection_bound_ns = 100 * kTick,
                  .detection_bound_saving_ns = 200 * kTick,
                  .detection_bound_joining_ns = 300 * kTick,
                  .planted_bugs = {}};
  record.golden = GoldenOf(alone.lives[0]);
  record.left = {.store_listed = true, .processes_listed = true};
  return record;
}

void Launched(Record& record, int exit_code, uint64_t restarts,
              const char* status) {
  LauncherRun run{
      .exit_code = exit_code, .restarts = restarts, .result = std::nullopt};
  const uint64_t last = kEpochs * kStepsPerEpoch;
  if (std::string(status) == "done") {
    run.result = FinalResult{.status = status,
                             .epochs = kEpochs,
                             .steps = last,
                             .digest = DigestAt(last, RecordPhase::kInEpoch)};
  } else if (std::string(status) == "stopped") {
    run.result = FinalResult{.status = status, .steps = 5};
  }
  record.launchers.push_back(run);
}

void LeaveSaves(Record& record, std::initializer_list<uint64_t> steps) {
  for (const uint64_t step : steps) {
    record.left.checkpoints.push_back(
        {.name = NameOfSave(step, 1),
         .step = step,
         .valid = true,
         .reason = "",
         .digest = DigestAt(step, PhaseAfter(step))});
  }
}

RecordEvent GivesUpRankOne() {
  return {.kind = RecordKind::kWorkerLost,
          .about = 1,
          .reason = RecordReason::kClosed,
          .limit_ns = 100 * kTick};
}

// What the launchers saw: each started as many lives of the job as it says that
// it restarted it, and one.
void AddLaunchers(Record& record) {
  constexpr int64_t kCrashed = 70;
  int first = 1;
  for (LauncherRun& launcher : record.launchers) {
    const int last = first + static_cast<int>(launcher.restarts);
    std::vector<RecordEvent>& events = launcher.events;
    for (const LifeEvents& life : record.lives) {
      if (life.life < first || life.life > last || life.events.empty())
        continue;
      const RecordEvent& begin = life.events.front();
      const RecordEvent& end = life.events.back();
      events.push_back({.kind = RecordKind::kStarted,
                        .t_ns = begin.t_ns - 1,
                        .count = begin.count,
                        .about = life.worker,
                        .incarnation = life.life});
      events.push_back(
          {.kind = RecordKind::kExited,
           .t_ns = end.t_ns + 1,
           .count = end.kind == RecordKind::kLifeEnd ? end.count : kCrashed,
           .about = life.worker,
           .incarnation = life.life,
           .reason = RecordReason::kExited});
    }
    std::ranges::stable_sort(events, {}, &RecordEvent::t_ns);
    first = last + 1;
  }
}

// Worker 1 crashes in step 6, which worker 0 has done already.
void CrashInStepSix(Session& first) {
  first.Start(std::nullopt);
  first.Train(1, 5, 2);
  first.Say(1, {.kind = RecordKind::kFaultFired,
                .step = 6,
                .path = "step.end",
                .detail = "crash-w1"});
  first.Step(0, 6);
  first.Say(0, GivesUpRankOne());
  first.Say(0, {.kind = RecordKind::kLifeEnd,
                .count = 75,
                .detail = "rank 1",
                .reason = RecordReason::kLostWorker});
}

RecordFault CrashFault() {
  return {.id = "crash-w1",
          .kind = "crash",
          .worker = "1",
          .point = "step.end",
          .summary = "crash worker 1 at step.end"};
}

}  // namespace

std::string DigestAt(uint64_t step, RecordPhase phase) {
  return fmt::format("{:032x}", step * 16 + static_cast<uint64_t>(phase) + 1);
}

Record UndisturbedRun() {
  Record record = Empty();
  int64_t now = 0;
  Session only(kWorkers, 1, 1, now);
  only.Start(std::nullopt);
  only.Train(1, 8, 2);
  only.Finish();
  only.AppendTo(record);
  Launched(record, 0, 0, "done");
  LeaveSaves(record, {2, 4, 6, 8});
  AddLaunchers(record);
  return record;
}

Record RecoveredRun() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  CrashInStepSix(first);
  Session second(kWorkers, 2, 2, now);
  second.Start(4);
  second.EndEpoch(4);
  second.Train(5, 8, 2);
  second.Finish();
  first.AppendTo(record);
  second.AppendTo(record);
  record.faults = {CrashFault()};
  record.expect.outcome = Outcome::kRecovers;
  Launched(record, 0, 1, "done");
  LeaveSaves(record, {2, 4, 6, 8});
  AddLaunchers(record);
  return record;
}

Record RejoinedRun() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  first.Start(std::nullopt);
  first.Train(1, 5, 2);
  first.Say(1, {.kind = RecordKind::kFaultFired,
                .step = 6,
                .path = "step.end",
                .detail = "crash-w1"});
  first.Step(0, 6);
  first.Say(0, GivesUpRankOne());
  first.Say(0, {.kind = RecordKind::kLeft,
                .step = 6,
                .reason = RecordReason::kLostWorker});
  Session second(kWorkers, 2, 2, now);
  for (const int worker : {0, 1}) {
    second.Say(worker, {.kind = RecordKind::kCarriedOn,
                        .step = 6,
                        .epoch = 1,
                        .phase = PhaseAfter(6),
                        .digest = DigestAt(6, PhaseAfter(6)),
                        .detail = worker == 0 ? "kept" : "from rank 0"});
  }
  second.Save(6);
  second.Train(7, 8, 2);
  second.Finish();
  first.AppendTo(record);
  second.AppendTo(record);
  // It is one process that goes on.
  const std::vector<RecordEvent> rest = LifeOf(record, 0, 2).events;
  std::vector<RecordEvent>& survivor = LifeOf(record, 0, 1).events;
  survivor.insert(survivor.end(), rest.begin() + 1, rest.end());
  std::erase_if(record.lives, [](const LifeEvents& life) {
    return life.worker == 0 && life.life == 2;
  });
  record.setup.rejoins = true;
  record.faults = {CrashFault()};
  record.expect.outcome = Outcome::kRecovers;
  Launched(record, 0, 1, "done");
  LeaveSaves(record, {2, 4, 6, 8});
  AddLaunchers(record);
  return record;
}

Record PreemptedRun() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  first.Start(std::nullopt);
  first.Train(1, 4, 2);
  first.Say(0,
            {.kind = RecordKind::kFaultFired, .step = 4, .detail = "notice"});
  first.Say(0, {.kind = RecordKind::kNotice, .step = 4});
  first.Train(5, 5, 0);
  first.All({.kind = RecordKind::kStopAgreed, .step = 5});
  first.Save(5);
  first.All({.kind = RecordKind::kLifeEnd, .count = 143});
  Session second(kWorkers, 2, 2, now);
  second.Start(5);
  second.Train(6, 8, 2);
  second.Finish();
  first.AppendTo(record);
  second.AppendTo(record);
  record.faults = {{.id = "notice",
                    .kind = "preempt",
                    .worker = "0",
                    .summary = "preempt worker 0",
                    .grace_ns = 30 * kTick}};
  record.expect.outcome = Outcome::kRecovers;
  Launched(record, 143, 0, "stopped");
  Launched(record, 0, 0, "done");
  LeaveSaves(record, {2, 4, 5, 6, 8});
  AddLaunchers(record);
  return record;
}

Record RunThatFinishedUnseen() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  first.Say(0, {.kind = RecordKind::kGeneration});
  first.Start(std::nullopt);
  first.Train(1, 5, 2);
  first.Say(0, {.kind = RecordKind::kFaultFired, .step = 6, .detail = "cut"});
  first.Train(6, 8, 2);
  first.FinishAndDelete();
  Session second(kWorkers, 2, 1, now);
  second.Say(0, {.kind = RecordKind::kGeneration});
  second.Start(std::nullopt);
  second.Train(1, 8, 2);
  second.FinishAndDelete();
  first.AppendTo(record);
  second.AppendTo(record);
  // Of no generation yet: its number is the first's, too.
  for (LifeEvents& life : record.lives) life.events.front().generation = 0;
  record.setup.delete_at_success = true;
  record.faults = {{.id = "cut",
                    .kind = "partition",
                    .worker = "0",
                    .summary = "worker 0 is cut off"}};
  record.expect.outcome = Outcome::kRecovers;
  Launched(record, 0, 1, "done");
  AddLaunchers(record);
  return record;
}

Record RefusedRun() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  first.Say(0, {.kind = RecordKind::kFaultFired, .detail = "rot"});
  CrashInStepSix(first);
  Session second(kWorkers, 2, 2, now);
  for (const uint64_t step : {4, 2}) {
    second.Say(0, {.kind = RecordKind::kRejected,
                   .path = NameOfSave(step, 1),
                   .detail = "digest differs"});
  }
  second.All({.kind = RecordKind::kLifeEnd, .count = 7});
  first.AppendTo(record);
  second.AppendTo(record);
  record.faults = {CrashFault(),
                   {.id = "rot",
                    .kind = "bit_flip",
                    .worker = "0",
                    .point = "ckpt.shard.write",
                    .summary = "bit flips",
                    .always = true}};
  record.expect.outcome = Outcome::kRefuses;
  Launched(record, 7, 1, "");
  for (const uint64_t step : {2, 4}) DamageSaveOf(record, step);
  record.left.rejected = {"rejected-step-000000004-g1"};
  AddLaunchers(record);
  return record;
}

Record TwoPhasesRun() {
  Record record = Empty();
  int64_t now = 0;
  Session first(kWorkers, 1, 1, now);
  first.Start(std::nullopt);
  first.Train(1, 3, 2);
  for (const int worker : {0, 1}) first.Step(worker, 4);
  first.Stop(4);
  first.Save(4);
  first.All({.kind = RecordKind::kLifeEnd, .count = 143});
  Session second(kWorkers, 2, 2, now);
  second.Start(4);
  second.Evaluate(4);
  second.Stop(4);
  second.SaveCallbacksDue(4);
  second.All({.kind = RecordKind::kLifeEnd, .count = 143});
  Session third(kWorkers, 3, 3, now);
  third.All({.kind = RecordKind::kResumed,
             .step = 4,
             .phase = RecordPhase::kCallbacksDue,
             .digest = DigestAt(4, RecordPhase::kCallbacksDue),
             .path = "step-000000004-callbacks_due-g3"});
  third.CallBack(4);
  third.Train(5, 8, 2);
  third.Finish();
  for (const Session* session : {&first, &second, &third}) {
    session->AppendTo(record);
  }
  record.expect.outcome = Outcome::kRecovers;
  Launched(record, 143, 0, "stopped");
  Launched(record, 143, 0, "stopped");
  Launched(record, 0, 0, "done");
  LeaveSaves(record, {2, 4, 6, 8});
  AddLaunchers(record);
  return record;
}

void DamageSaveOf(Record& record, uint64_t step) {
  std::vector<RecordEvent>& events = LifeOf(record, 0, 1).events;
  if (std::ranges::find(record.faults, "rot", &RecordFault::id) ==
      record.faults.end()) {
    record.faults.push_back({.id = "rot", .kind = "bit_flip"});
    events.insert(events.begin() + 1,
                  {.kind = RecordKind::kFaultFired, .detail = "rot"});
  }
  events.insert(events.begin() + 1,
                {.kind = RecordKind::kDamaged,
                 .path = "/s/" + NameOfSave(step, 1) + ".tmp/MANIFEST.json",
                 .detail = "rot"});
}

void AddAnEmptyGeneration(Record& record) {
  for (LifeEvents& life : record.lives) {
    if (life.life == 1) continue;
    ++life.life;
    for (RecordEvent& event : life.events) ++event.generation;
  }
  const int64_t now = LifeOf(record, 0, 1).events.back().t_ns;
  record.lives.push_back(
      {.worker = 0,
       .life = 2,
       .events = {
           {.kind = RecordKind::kLifeBegin, .t_ns = now, .generation = 2},
           {.kind = RecordKind::kGeneration, .t_ns = now, .generation = 2}}});
  record.lives.push_back(
      {.worker = 1,
       .life = 2,
       .events = {
           {.kind = RecordKind::kLifeBegin, .t_ns = now, .generation = 2}}});
}

LifeEvents& LifeOf(Record& record, int worker, int life) {
  for (LifeEvents& one : record.lives) {
    if (one.worker == worker && one.life == life) return one;
  }
  std::abort();
}

RecordEvent& EventOf(Record& record, int worker, int life, RecordKind kind,
                     size_t nth) {
  for (RecordEvent& event : LifeOf(record, worker, life).events) {
    if (event.kind == kind && nth-- == 0) return event;
  }
  std::abort();
}

InvariantReport ReportOf(const Record& record, std::string_view name) {
  for (const InvariantReport& report : Judge(record).invariants) {
    if (report.invariant == name) return report;
  }
  return {.invariant = std::string(name), .findings = {}};
}

}  // namespace gauntlet
