#include "harness/oracle/model/training_model.h"

#include <algorithm>
#include <utility>

#include "engine/epoch_text.h"
#include "engine/worker_exit_code.h"
#include "harness/record/fault_occurrence.h"
#include "harness/record/fault_traits.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool AnyReportsSamples(const Record& record) {
  return std::ranges::any_of(
      record.incarnations, [](const IncarnationEvents& incarnation) {
        return std::ranges::any_of(
            incarnation.events,
            [](const RecordEvent& event) { return !event.samples.empty(); });
      });
}

// Returns true iff the fault fires exactly at the planned step. Other faults
// may have to wait for the next operation that they can affect.
bool TakesEffectImmediately(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  return !traits.damages_store && !traits.reports_error &&
         !traits.fails_device && traits.hinders != HinderedPart::kDevice &&
         fault.kind != "torn_write";
}

// Returns true iff events of the kind carry the number of their worker's
// generation.
bool IsOfAGeneration(RecordKind kind) {
  switch (kind) {
    case RecordKind::kStep:
    case RecordKind::kEvaluated:
    case RecordKind::kEpochEnd:
    case RecordKind::kStopAgreed:
    case RecordKind::kFinished:
    case RecordKind::kSaveBegin:
    case RecordKind::kSaveAcknowledged:
    case RecordKind::kNotFinite:
    case RecordKind::kResultAcknowledged:
      return true;
    default:
      return false;
  }
}

}  // namespace

TrainingModel::TrainingModel(const Record& record, const StoreModel& store,
                             Checks& checks)
    : record_(record),
      store_(store),
      checks_(checks),
      reference_(record.golden),
      reports_samples_(AnyReportsSamples(record)) {}

TrainingModel::Generation* TrainingModel::Of(const Worker& worker) {
  return worker.generation ? &generations_[*worker.generation] : nullptr;
}

void TrainingModel::On(const HistoryEvent& entry) {
  switch (entry.by.kind) {
    case Emitter::Kind::kLauncher:
      return OnLauncher(entry.by.incarnation, *entry.event);
    case Emitter::Kind::kWorker:
      return OnWorker(entry.by, workers_[entry.by], *entry.event);
    case Emitter::Kind::kMachine:
      return;
  }
}

// Checks that an event carries the number of its worker's generation.
void TrainingModel::CheckGeneration(const Emitter& by,
                                    const Generation* generation,
                                    const RecordEvent& event) {
  if (!IsOfAGeneration(event.kind)) return;
  if (generation != nullptr) return CheckNumber(by, *generation, event);
  checks_.history_consistent.Fail(
      "generation",
      fmt::format("{}: is of generation {}, expected none, as the worker has "
                  "no state yet",
                  Where(by, event), event.generation));
}

void TrainingModel::OnWorker(const Emitter& by, Worker& worker,
                             const RecordEvent& event) {
  const Generation* const generation = Of(worker);
  CheckGeneration(by, generation, event);
  switch (event.kind) {
    case RecordKind::kWorkerStarted:
      worker.rank = static_cast<int>(event.count);
      break;
    case RecordKind::kGeneration:
      newest_.erase(event.generation);
      break;
    case RecordKind::kInitialized:
    case RecordKind::kResumed:
    case RecordKind::kResumedFromMemory:
      return Join(by, worker, event);
    case RecordKind::kStep:
    case RecordKind::kEvaluated:
    case RecordKind::kEpochEnd:
      return Train(by, worker, event);
    case RecordKind::kLoaded:
      return Load(by, worker, event);
    case RecordKind::kSaveBegin:
    case RecordKind::kSaveCopied:
    case RecordKind::kSaveAcknowledged:
    case RecordKind::kSaveFailed:
      return CheckSave(by, worker, event);
    case RecordKind::kStopAgreed:
      return Stop(by, worker, event);
    case RecordKind::kFinished:
      return Finish(by, worker, event);
    case RecordKind::kResultAcknowledged:
      CheckEventPosition(by, worker, event);
      if (std::exchange(worker.acknowledged, true)) FailRepetition(by, event);
      break;
    case RecordKind::kNotFinite:
      return NotFinite(by, worker, event);
    case RecordKind::kNotice:
      if (generation == nullptr) break;
      CheckEventPosition(by, worker, event);
      CheckNumber(by, *generation, event);
      break;
    case RecordKind::kFencedOut:
      if (generation != nullptr) CheckNumber(by, *generation, event);
      break;
    case RecordKind::kWorkerLost:
      return Lose(by, worker, event);
    case RecordKind::kDamaged:
      return CheckDamage(by, worker, event);
    case RecordKind::kLeaving:
      if (generation == nullptr) break;
      CheckNumber(by, *generation, event);
      if (std::exchange(worker.announced_leaving, true))
        FailRepetition(by, event);
      break;
    case RecordKind::kDeleteBegin:
      return CheckDeletion(by, worker);
    case RecordKind::kLeft:
      return Leave(by, worker, event);
    case RecordKind::kWorkerExited:
      return CheckWorkerExit(by, worker, event);
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain:
      return Fire(by, worker, event);
    default:
      break;
  }
}

void TrainingModel::FailRepetition(const Emitter& by,
                                   const RecordEvent& event) {
  checks_.history_consistent.Fail("twice",
                                  Where(by, event) + ": emitted twice");
}

void TrainingModel::CheckNumber(const Emitter& by, const Generation& generation,
                                const RecordEvent& event) {
  if (event.generation == generation.number) return;
  checks_.history_consistent.Fail(
      "generation",
      fmt::format("{}: is of generation {}, expected {}", Where(by, event),
                  event.generation, generation.number));
}

// Checks that the event has the step and epoch of the worker's state.
void TrainingModel::CheckEventPosition(const Emitter& by, const Worker& worker,
                                       const RecordEvent& event) {
  const uint64_t step = worker.state ? worker.state->step : 0;
  const bool names_epoch = event.kind != RecordKind::kNotice && worker.at;
  const uint64_t epoch =
      names_epoch ? reference_.PlaceAfter(*worker.at).epoch : event.epoch;
  if (event.step == step && event.epoch == epoch) return;
  checks_.history_consistent.Fail(
      "steps",
      fmt::format("{}, {}: the worker is at step {}, {}", Where(by, event),
                  EpochName(event.epoch), step, EpochName(epoch)));
}

void TrainingModel::Load(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const std::string_view name = BaseName(event.path);
  if (worker.loaded == name) FailRepetition(by, event);
  worker.loaded = name;
  worker.loaded_digest = event.digest;
  if (const auto found = store_.Find(event.path)) {
    CheckStateOf(by, event, store_.checkpoint(*found).position);
  }
}

// Checks that a worker reports each loss only once. Several tasks of the worker
// may detect it; their reports differ in the reason or the detail.
void TrainingModel::Lose(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const Generation* const generation = Of(worker);
  if (generation == nullptr) return;
  if (event.about) CheckNumber(by, *generation, event);
  for (const RecordEvent* before : worker.losses) {
    if (before->about == event.about && before->reason == event.reason &&
        before->detail == event.detail) {
      return FailRepetition(by, event);
    }
  }
  worker.losses.push_back(&event);
  // All members are known once the generation has finished a step.
  const bool has_trained = generation->last_step > generation->start->step;
  if (event.about && has_trained)
    CheckIsConnected(by, worker, *generation, event);
}

// Checks that the worker had a connection to the rank that it reports as lost.
// The chief is connected to all ranks, the others to the chief and to their
// neighbours in the ring.
void TrainingModel::CheckIsConnected(const Emitter& by, const Worker& worker,
                                     const Generation& generation,
                                     const RecordEvent& event) {
  const auto size = static_cast<int64_t>(generation.members.size());
  const int64_t rank = worker.rank;
  const int64_t other = *event.about;
  const bool is_connected =
      other != rank && other < size &&
      (rank == 0 || other == 0 || (rank + 1) % size == other ||
       (other + 1) % size == rank);
  if (is_connected) return;
  checks_.history_consistent.Fail(
      "rank", fmt::format("{}: rank {} of {} is not connected to rank {}",
                          Where(by, event), rank, size, other));
}

void TrainingModel::NotFinite(const Emitter& by, Worker& worker,
                              const RecordEvent& event) {
  if (std::exchange(worker.reported_not_finite, true))
    FailRepetition(by, event);
  worker.owes_not_finite = false;
  worker.NoteNotFinite(event.step);
  CheckEventPosition(by, worker, event);
  if (event.loss_bits != 0 && event.loss_bits != worker.loss_bits) {
    checks_.trajectory.Fail(
        "loss",
        fmt::format("{}: loss {}, expected {}", Where(by, event),
                    FloatText(event.loss_bits), FloatText(worker.loss_bits)));
  }
  if (Generation* const generation = Of(worker);
      generation != nullptr && !generation->not_finite_at) {
    generation->not_finite_at = worker.state;
  }
  if (worker.state && worker.state->phase != event.phase) {
    checks_.history_consistent.Fail(
        "steps",
        fmt::format("{}, phase {}: the worker is at step {}", Where(by, event),
                    RecordPhaseName(event.phase), ToText(*worker.state)));
  }
}

// Checks that a worker reports a non-finite state before its next step, if
// another worker or a save by the worker itself has detected this state.
void TrainingModel::CheckReportsNotFinite(const Emitter& by, Worker& worker,
                                          const Generation& generation,
                                          const RecordEvent& event) {
  const bool others_did = generation.not_finite_at &&
                          !worker.reported_not_finite &&
                          generation.not_finite_at->step < event.step;
  if (!others_did && !worker.owes_not_finite) return;
  worker.reported_not_finite = true;  // reported once
  worker.owes_not_finite = false;
  checks_.history_consistent.Fail(
      "not-finite",
      fmt::format("{}: an earlier state is not finite, but was not reported",
                  Where(by, event)));
}

// Checks the first non-finite step that the event names. It must be the step
// already noted for the worker; if none is noted, the step of the event itself.
void TrainingModel::CheckNotFiniteSince(const Emitter& by, Worker& worker,
                                        const RecordEvent& event) {
  const bool must_say = event.kind == RecordKind::kSaveAcknowledged &&
                        worker.reported_not_finite &&
                        event.step >= worker.not_finite_since;
  if (event.count == 0 && !must_say) return;
  const auto since = static_cast<uint64_t>(event.count);
  const uint64_t expected =
      worker.not_finite_since != 0 ? worker.not_finite_since : event.step;
  if (since != expected) {
    checks_.history_consistent.Fail(
        "not-finite", fmt::format("{}: not finite since step {}, expected {}",
                                  Where(by, event), since, expected));
  }
  if (worker.not_finite_since != 0) return;
  worker.NoteNotFinite(since);
  worker.owes_not_finite = event.kind == RecordKind::kSaveAcknowledged;
}

void TrainingModel::OnLauncher(int start, const RecordEvent& event) {
  if (event.kind == RecordKind::kLauncherBegin) is_launched_anew_ = true;
  if (event.kind == RecordKind::kAttemptEnds) started_.clear();
  // Without a checkpoint directory, each attempt numbers its generations from
  // the start again. A killed launcher emits no end of its attempt, so the
  // begin of the next launcher counts as that end.
  const bool ends = event.kind == RecordKind::kAttemptEnds ||
                    event.kind == RecordKind::kLauncherBegin;
  if (ends && !store_.is_used()) newest_.clear();
  if (event.kind == RecordKind::kRestarting) ++restarts_without_progress_;
  if (!event.about) return;
  if (event.kind == RecordKind::kStarted) started_.insert(*event.about);
  const Emitter about = WorkerAbout(event);
  if (event.kind == RecordKind::kExited &&
      event.reason != RecordReason::kUnreachable) {
    disturbances_.Ended(about, event.t_ns);
  }
  const std::optional<FinalResult>& result =
      record_.launchers[static_cast<size_t>(start) - 1].result;
  const auto worker = workers_.find(about);
  if (event.kind == RecordKind::kResultReceived && result &&
      worker != workers_.end()) {
    CheckResult(worker->second, *result, event);
  }
}

// Returns the plan of the launch that started the process; null if all launches
// have the same plan.
const PlannedLaunch* TrainingModel::LaunchOf(const Emitter& by) const {
  const PlannedLaunch* launch = nullptr;
  for (const LauncherRun& run : record_.launchers) {
    if (run.first_incarnation > by.incarnation) break;
    launch = PlanOf(run);
  }
  return launch;
}

// Returns the plan of the launch, or null if there is none.
const PlannedLaunch* TrainingModel::PlanOf(const LauncherRun& launcher) const {
  const std::vector<PlannedLaunch>& planned = record_.setup.launches;
  return launcher.planned < planned.size() ? &planned[launcher.planned]
                                           : nullptr;
}

void TrainingModel::CheckDamage(const Emitter& by, Worker& worker,
                                const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  const bool once = fault != nullptr && fault->fires_once();
  const bool is_new = worker.damaged.emplace(event.detail, event.path).second;
  if (once && !is_new) FailRepetition(by, event);
  const auto fired = worker.fired.find(event.detail);
  if (fired != worker.fired.end() && fired->second->step == event.step &&
      fired->second->epoch == event.epoch) {
    return;
  }
  checks_.history_consistent.Fail(
      "point", fmt::format("{}, {}: {} did not fire there", Where(by, event),
                           EpochName(event.epoch), event.detail));
}

void TrainingModel::Fire(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const RecordFault* const fault = FindFault(record_, event.detail);
  if (fault == nullptr) return;
  const bool is_new = worker.fired.insert_or_assign(fault->id, &event).second;
  if (is_new != (event.kind == RecordKind::kFaultFired)) {
    checks_.history_consistent.Fail(
        "twice",
        fmt::format("{}: {} fires for the first time, {}", Where(by, event),
                    fault->id, is_new ? "but the event says again" : "twice"));
  }
  if (worker.state &&
      (event.step > worker.state->step + 1 ||
       (worker.at && event.epoch > reference_.PlaceAfter(*worker.at).epoch))) {
    checks_.history_consistent.Fail(
        "steps", fmt::format("{}: the worker is at step {}", Where(by, event),
                             worker.state->step));
  }
  const auto misses = [&](const std::optional<uint64_t>& planned,
                          uint64_t found) {
    return planned && (TakesEffectImmediately(*fault) ? found != *planned
                                                      : found < *planned);
  };
  if (is_new &&
      (misses(fault->step, event.step) || misses(fault->epoch, event.epoch))) {
    checks_.history_consistent.Fail(
        "point",
        fmt::format("{}, {}: {} is planned for another step or "
                    "epoch",
                    Where(by, event), EpochName(event.epoch), fault->id));
  }
  if (!fault->point.empty() && event.path != fault->point) {
    checks_.history_consistent.Fail(
        "point",
        fmt::format("{}: {} fires at {}, expected {}", Where(by, event),
                    fault->id, event.path, fault->point));
  }
  worker.met_error = worker.met_error || TraitsOf(*fault).reports_error;
  if (DiesImmediately(*fault) && !TraitsOf(*fault).cuts_power &&
      !fault->of_one_host) {
    return;
  }
  disturbances_.Fired(*fault, by, event.t_ns);
}

}  // namespace gauntlet
