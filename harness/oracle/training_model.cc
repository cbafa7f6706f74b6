#include "harness/oracle/training_model.h"

#include <algorithm>
#include <utility>

#include "engine/worker_exit_code.h"
#include "harness/oracle/fault_traits.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Deaths in a row, none with a new step before it, after which a launcher
// starts all workers again.
constexpr int kDeathsInARow = 2;

bool AnyTellsRows(const Record& record) {
  return std::ranges::any_of(record.lives, [](const LifeEvents& life) {
    return std::ranges::any_of(life.events, [](const RecordEvent& event) {
      return !event.samples.empty();
    });
  });
}

Moment MomentOf(const RecordEvent& event) {
  return {.step = event.step, .phase = event.phase};
}

std::string Where(const Emitter& by, const RecordEvent& event) {
  return fmt::format("{} at step {} ({})", RecordKindName(event.kind),
                     event.step, NameOf(by));
}

// Whether it fires where it is planned, and not at the next operation that it
// can do something to.
bool StrikesAtOnce(const RecordFault& fault) {
  const FaultTraits traits = TraitsOf(fault);
  return !traits.damages_store && !traits.tells_error && !traits.fails_device &&
         fault.kind != "torn_write" && fault.kind != "device_hang";
}

// Whether an event is of the generation that its worker trains in.
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
      tells_rows_(AnyTellsRows(record)) {}

TrainingModel::Generation* TrainingModel::Of(const Worker& worker) {
  return worker.generation ? &generations_[*worker.generation] : nullptr;
}

bool TrainingModel::IsDone() const {
  return !record_.launchers.empty() && record_.launchers.back().result &&
         record_.launchers.back().result->status == "done";
}

void TrainingModel::On(const HistoryEvent& said) {
  const RecordEvent& event = *said.event;
  if (said.by.kind == Emitter::Kind::kLauncher) {
    return OnLauncher(said.by.incarnation, event);
  }
  if (said.by.kind != Emitter::Kind::kWorker) return;
  const Emitter& by = said.by;
  Worker& worker = workers_[by];
  const Generation* const generation = Of(worker);
  if (IsOfAGeneration(event.kind) &&
      (generation == nullptr || generation->number != event.generation)) {
    checks_.history_consistent.Breach(
        "generation", fmt::format("{}: is of generation {}, expected {}",
                                  Where(by, event), event.generation,
                                  generation == nullptr
                                      ? "none, as it has no state yet"
                                      : std::to_string(generation->number)));
  }
  switch (event.kind) {
    case RecordKind::kLifeBegin:
      worker.rank = static_cast<int>(event.count);
      break;
    case RecordKind::kGeneration:
      newest_.erase(event.generation);
      break;
    case RecordKind::kInitialized:
    case RecordKind::kResumed:
    case RecordKind::kCarriedOn:
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
      CheckStands(by, worker, event);
      if (std::exchange(worker.acknowledged, true)) SaidTwice(by, event);
      break;
    case RecordKind::kNotFinite:
      return NotFinite(by, worker, event);
    case RecordKind::kNotice:
      if (generation == nullptr) break;
      CheckStands(by, worker, event);
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
      if (std::exchange(worker.says_leaving, true)) SaidTwice(by, event);
      break;
    case RecordKind::kDeleteBegin:
      return CheckDeletion(by, worker);
    case RecordKind::kLeft:
      return Leave(by, worker, event);
    case RecordKind::kLifeEnd:
      return CheckLifeEnd(by, worker, event);
    case RecordKind::kFaultFired:
    case RecordKind::kFaultAgain:
      return Fire(by, worker, event);
    default:
      break;
  }
}

void TrainingModel::SaidTwice(const Emitter& by, const RecordEvent& event) {
  checks_.history_consistent.Breach("twice", Where(by, event) + ": said twice");
}

void TrainingModel::CheckNumber(const Emitter& by, const Generation& generation,
                                const RecordEvent& event) {
  if (event.generation == generation.number) return;
  checks_.history_consistent.Breach(
      "generation",
      fmt::format("{}: is of generation {}, expected {}", Where(by, event),
                  event.generation, generation.number));
}

// Where the worker's training stands.
void TrainingModel::CheckStands(const Emitter& by, const Worker& worker,
                                const RecordEvent& event) {
  const uint64_t step = worker.state ? worker.state->step : 0;
  const bool names_epoch = event.kind != RecordKind::kNotice && worker.at;
  const uint64_t epoch =
      names_epoch ? reference_.PlaceAfter(*worker.at).epoch : event.epoch;
  if (event.step == step && event.epoch == epoch) return;
  checks_.history_consistent.Breach(
      "steps", fmt::format("{}, epoch {}: its state is of step {}, epoch {}",
                           Where(by, event), event.epoch, step, epoch));
}

void TrainingModel::Load(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const std::string_view name = BaseName(event.path);
  if (worker.loaded == name) SaidTwice(by, event);
  worker.loaded = name;
  if (const auto found = store_.Find(event.path)) {
    CheckStateOf(by, event, store_.checkpoint(*found).moment);
  }
}

// Each of its tasks finds a loss once.
void TrainingModel::Lose(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const Generation* const generation = Of(worker);
  if (generation == nullptr) return;
  if (event.about) CheckNumber(by, *generation, event);
  for (const RecordEvent* before : worker.losses) {
    if (before->about == event.about && before->reason == event.reason &&
        before->detail == event.detail) {
      return SaidTwice(by, event);
    }
  }
  worker.losses.push_back(&event);
  // By then all members are known.
  const bool has_trained = generation->last_step > generation->start->step;
  if (event.about && has_trained) CheckKnows(by, worker, *generation, event);
}

// The chief hears all, the others hear it and their neighbours in the ring.
void TrainingModel::CheckKnows(const Emitter& by, const Worker& worker,
                               const Generation& generation,
                               const RecordEvent& event) {
  const auto size = static_cast<int>(generation.members.size());
  const int other = *event.about;
  const bool knows =
      other != worker.rank && other < size &&
      (worker.rank == 0 || other == 0 || (worker.rank + 1) % size == other ||
       (other + 1) % size == worker.rank);
  if (knows) return;
  checks_.history_consistent.Breach(
      "rank", fmt::format("{}: it is rank {} of {}, and has nothing to do with "
                          "rank {}",
                          Where(by, event), worker.rank, size, other));
}

void TrainingModel::NotFinite(const Emitter& by, Worker& worker,
                              const RecordEvent& event) {
  if (std::exchange(worker.said_not_finite, true)) SaidTwice(by, event);
  worker.owes_not_finite = false;
  worker.NoteNotFinite(event.step);
  CheckStands(by, worker, event);
  if (event.loss_bits != 0 && event.loss_bits != worker.loss_bits) {
    checks_.trajectory.Breach(
        "loss",
        fmt::format("{}: loss {:08x}, expected {:08x}", Where(by, event),
                    event.loss_bits, worker.loss_bits));
  }
  if (Generation* const generation = Of(worker);
      generation != nullptr && !generation->not_finite_at) {
    generation->not_finite_at = worker.state;
  }
  if (worker.state && worker.state->phase != event.phase) {
    checks_.history_consistent.Breach(
        "steps",
        fmt::format("{}, phase {}: its state is of step {}", Where(by, event),
                    RecordPhaseName(event.phase), ToText(*worker.state)));
  }
}

// All workers see the same state, and say so, as soon as one is not finite, or
// a save has found it so.
void TrainingModel::CheckSaysNotFinite(const Emitter& by, Worker& worker,
                                       const Generation& generation,
                                       const RecordEvent& event) {
  const bool others_did = generation.not_finite_at && !worker.said_not_finite &&
                          generation.not_finite_at->step < event.step;
  if (!others_did && !worker.owes_not_finite) return;
  worker.said_not_finite = true;  // said once
  worker.owes_not_finite = false;
  checks_.history_consistent.Breach(
      "not-finite",
      fmt::format("{}: an earlier state is not finite, and it did not say so",
                  Where(by, event)));
}

// Since when its run is not finite, as an event says: what its worker knows, or
// has found now.
void TrainingModel::CheckNotFiniteSince(const Emitter& by, Worker& worker,
                                        const RecordEvent& event) {
  const bool must_say = event.kind == RecordKind::kSaveAcknowledged &&
                        worker.said_not_finite &&
                        event.step >= worker.not_finite_since;
  if (event.count == 0 && !must_say) return;
  const auto since = static_cast<uint64_t>(event.count);
  const uint64_t expected =
      worker.not_finite_since != 0 ? worker.not_finite_since : event.step;
  if (since != expected) {
    checks_.history_consistent.Breach(
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
  if (event.kind == RecordKind::kStarted) started_.insert(*event.about);
  if (event.kind != RecordKind::kResultReceived || !event.about) return;
  const std::optional<FinalResult>& result =
      record_.launchers[static_cast<size_t>(start) - 1].result;
  const auto worker =
      workers_.find({.worker = *event.about, .incarnation = event.incarnation});
  if (result && worker != workers_.end()) {
    CheckResult(worker->second, *result, event);
  }
}

// It is of the state that the chief ended with.
void TrainingModel::CheckResult(const Worker& chief, const FinalResult& result,
                                const RecordEvent& event) {
  checks_.trajectory.Instance();
  const std::string_view status = chief.finished ? "done"
                                  : chief.stops  ? "stopped"
                                                 : "not_finite";
  const uint64_t step = chief.state ? chief.state->step : 0;
  FinalResult expected = result;
  expected.status = chief.not_finite_since != 0 && result.status == "not_finite"
                        ? "not_finite"
                        : status;
  expected.steps = step;
  if (chief.at) {
    const std::string& digest = reference_[*chief.at].digest;
    if (!digest.empty()) expected.digest = digest;
    expected.epochs = reference_.PlaceAfter(*chief.at).epoch;
    const std::vector<EpochMetrics>& epochs = record_.golden.epochs;
    if (expected.epochs > 0 && expected.epochs <= epochs.size()) {
      expected.loss_bits = epochs[expected.epochs - 1].loss_bits;
    }
  }
  if (result == expected && event.step == step) return;
  checks_.trajectory.Breach(
      "result",
      fmt::format("the result is {}: epoch {}, step {}, loss {:08x}, state {}, "
                  "expected {}: epoch {}, step {}, loss {:08x}, state {}",
                  result.status, result.epochs, result.steps, result.loss_bits,
                  result.digest, expected.status, expected.epochs,
                  expected.steps, expected.loss_bits, expected.digest));
}

// A claim's number is given out again where its store was deleted, or a disk
// has forgotten it; without a store, where all start again.
size_t TrainingModel::GenerationFor(const Emitter& by,
                                    const RecordEvent& event) {
  const auto known = newest_.find(event.generation);
  if (known != newest_.end()) {
    const std::vector<Emitter>& members = generations_[known->second].members;
    if (std::ranges::none_of(members, [&](const Emitter& member) {
          return member.worker == by.worker && !store_.is_used();
        })) {
      return known->second;
    }
  }
  if (store_.is_used() && store_.ClaimOf(event.generation) == nullptr) {
    checks_.history_consistent.Breach(
        "claims", fmt::format("{}: nobody has claimed generation {}",
                              Where(by, event), event.generation));
  }
  generations_.push_back(
      {.number = event.generation, .is_first = generations_.empty()});
  return newest_[event.generation] = generations_.size() - 1;
}

void TrainingModel::Join(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  if (worker.generation) {
    checks_.history_consistent.Breach(
        "generations", fmt::format("{}: it has not left generation {}",
                                   Where(by, event), Of(worker)->number));
  }
  const size_t index = GenerationFor(by, event);
  Generation& generation = generations_[index];
  CheckStart(by, worker, generation, event);
  const Moment from = MomentOf(event);
  if (!generation.start) {
    if (newest_started_) {
      checks_.bounded_loss.Instance();
      const Generation& before = generations_[*newest_started_];
      CheckMemory(before, generation, from);
      CloseSteps(before);
    }
    const std::optional<size_t> newest_before =
        std::exchange(newest_started_, index);
    generation.start = from;
    generation.last_step = generation.saved_to = from.step;
    if (newest_before && event.kind == RecordKind::kCarriedOn) {
      const Generation& before = generations_[*newest_before];
      if (before.settled_to < before.saved_to) {
        generation.saved_to = SavedBy(event.generation, before.settled_to);
      }
    }
    generation.settled_to = generation.saved_to;
  }

  is_launched_anew_ = false;
  generation.members.push_back(by);
  worker.generation = index;
  const bool kept = worker.state == from;
  worker.state = from;
  if (event.kind != RecordKind::kCarriedOn || !kept) {
    worker.not_finite_since = static_cast<uint64_t>(event.count);
  }
  if (event.kind == RecordKind::kCarriedOn) KnowOfOthers(worker);
  worker.at = reference_.StateAt(from);
  worker.stops = worker.saves = worker.copied = false;
  worker.said_not_finite = worker.owes_not_finite = false;
  worker.says_leaving = false;
  worker.losses.clear();
  CheckPlace(by, worker, event);
  CheckReplicas(by, generation, event);
  CheckStateOf(by, event, from);
  if (event.kind == RecordKind::kCarriedOn) {
    worker.trained = from;
    NoteProgress(worker, from.step);
  }
}

// What was being saved when the generation before ended is saved anew, before
// anything else, unless it is there all the same.
uint64_t TrainingModel::SavedBy(uint64_t number, uint64_t settled_to) const {
  const auto* const claim = store_.ClaimOf(number);
  if (claim == nullptr || !claim->parent) return settled_to;
  return std::max(settled_to, store_.checkpoint(*claim->parent).moment.step);
}

// Whoever has the same state tells it since when its run is not finite.
void TrainingModel::KnowOfOthers(Worker& worker) {
  for (const auto& [id, other] : workers_) {
    if (other.state == worker.state && other.not_finite_since != 0) {
      worker.NoteNotFinite(other.not_finite_since);
    }
  }
}

void TrainingModel::CheckStart(const Emitter& by, const Worker& worker,
                               const Generation& generation,
                               const RecordEvent& event) {
  const Moment from = MomentOf(event);
  if (generation.start && *generation.start != from) {
    checks_.resume_point.Breach(
        "ranks-disagree",
        fmt::format("{} starts from step {}, another worker from step {}",
                    NameOf(by), ToText(from), ToText(*generation.start)));
  }
  if (worker.trained) {
    checks_.bounded_loss.Instance();
    if (from < *worker.trained) {
      checks_.bounded_loss.Breach(
          "redone-after-rejoin",
          fmt::format("generation {} went on from step {}, though {} had "
                      "trained to step {}",
                      event.generation, ToText(from), NameOf(by),
                      ToText(*worker.trained)));
    }
  }
  if (event.kind == RecordKind::kResumed) {
    CheckResumed(by, worker, event);
  } else if (event.kind == RecordKind::kCarriedOn) {
    CheckCarriedOn(by, worker, generation, event);
  } else if (const auto* claim = store_.ClaimOf(event.generation);
             claim != nullptr && claim->parent) {
    checks_.resume_point.Breach(
        "stale-resume",
        fmt::format("{} started from nothing, and its generation goes on from "
                    "{}",
                    NameOf(by), store_.checkpoint(*claim->parent).name));
  }
}

// From the parent of its generation's claim, which it has read.
void TrainingModel::CheckResumed(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  checks_.resume_point.Instance();
  const std::string_view name = BaseName(event.path);
  const auto* const claim = store_.ClaimOf(event.generation);
  if (claim == nullptr) return;
  const StoreModel::Checkpoint* const parent =
      claim->parent ? &store_.checkpoint(*claim->parent) : nullptr;
  if (parent == nullptr || parent->name != name ||
      parent->moment != MomentOf(event)) {
    return checks_.resume_point.Breach(
        "unknown-checkpoint",
        fmt::format("{} resumed from step {} in {}, its generation goes on "
                    "from {}",
                    NameOf(by), ToText(MomentOf(event)), name,
                    parent == nullptr ? "nothing" : parent->name));
  }
  if (!parent->digest.empty() && event.digest != parent->digest) {
    checks_.store.Breach(
        "torn-load",
        fmt::format("{} resumed from state {} of {}, saved was {}", NameOf(by),
                    event.digest, name, parent->digest));
  }
  if (worker.loaded != name) {
    checks_.resume_point.Breach(
        "not-loaded", fmt::format("{} resumed from {}, and has not read it",
                                  NameOf(by), name));
  }
}

// From what one of the workers held, which is not behind the parent of the
// claim.
void TrainingModel::CheckCarriedOn(const Emitter& by, const Worker& worker,
                                   const Generation& generation,
                                   const RecordEvent& event) {
  checks_.resume_point.Instance();
  const Moment from = MomentOf(event);
  const auto* const claim = store_.ClaimOf(event.generation);
  if (claim != nullptr && claim->parent &&
      from < store_.checkpoint(*claim->parent).moment) {
    checks_.resume_point.Breach(
        "stale-resume",
        fmt::format("{} carried on from step {}, but {} was acknowledged",
                    NameOf(by), ToText(from),
                    store_.checkpoint(*claim->parent).name));
  }
  constexpr std::string_view kKept = "kept";
  const bool holds = event.detail == kKept
                         ? worker.state == from
                         : std::ranges::any_of(workers_, [&](const auto& one) {
                             return one.first != by && one.second.state == from;
                           });
  if (holds) return;
  checks_.resume_point.Breach(
      "unknown-checkpoint",
      fmt::format("{} carried on from step {} of generation {} ({}), which "
                  "nobody held",
                  NameOf(by), ToText(from), generation.number, event.detail));
}

// Where a lost worker rejoins, the others go on with what they hold: all start
// again only with another launcher, for another set of workers, for one that
// was done, after too many deaths in a row, or where something other than
// deaths stood in the way.
void TrainingModel::CheckMemory(const Generation& before,
                                const Generation& after, const Moment& from) {
  (void)after;
  if (!record_.setup.rejoins || is_launched_anew_) return;
  std::optional<Moment> held;
  for (const Emitter& member : before.members) {
    const Worker& worker = workers_.at(member);
    if (worker.finished) return;
    if (!worker.fired.empty() || !worker.trained) continue;
    held = std::max(held.value_or(*worker.trained), *worker.trained);
  }
  if (!held) return;
  const bool others =
      std::ranges::any_of(before.members, [this](const Emitter& member) {
        return !started_.contains(member.worker);
      });
  if (others || before.members.size() != started_.size()) return;
  checks_.bounded_loss.Instance();
  if (from >= *held || deaths_ > kDeathsInARow || is_disturbed_) {
    return;
  }
  checks_.bounded_loss.Breach(
      "memory-lost",
      fmt::format("generation {} went on from step {}, though a worker of "
                  "generation {} that nothing happened to had trained to step "
                  "{}",
                  after.number, ToText(from), before.number, ToText(*held)));
}

// Where the data goes on.
void TrainingModel::CheckPlace(const Emitter& by, const Worker& worker,
                               const RecordEvent& event) {
  if (!worker.at || event.kind == RecordKind::kInitialized) return;
  const DataPlace expected = reference_.PlaceAfter(*worker.at);
  const DataPlace found = {.epoch = event.epoch, .position = event.position};
  if (found == expected) return;
  checks_.trajectory.Breach(
      "position", fmt::format("{}: epoch {}, row {}, expected epoch {}, row {}",
                              Where(by, event), found.epoch, found.position,
                              expected.epoch, expected.position));
}

void TrainingModel::Train(const Emitter& by, Worker& worker,
                          const RecordEvent& event) {
  CheckAgainstReference(by, worker, event);
  worker.trained = worker.state = MomentOf(event);
  worker.loss_bits = event.loss_bits;
  if (worker.saves && !worker.copied && !worker.met_error) {
    worker.saves = false;
    checks_.store.Breach("no-outcome", Where(by, event) +
                                           ": goes on in a save, of which no "
                                           "copy was taken");
  }
  Generation* const generation = Of(worker);
  if (event.kind == RecordKind::kEpochEnd) epochs_.insert(event.epoch);
  if (generation == nullptr) return;
  CheckReplicas(by, *generation, event);
  if (event.kind == RecordKind::kStep) TakeStep(by, *generation, event);
}

void TrainingModel::CheckAgainstReference(const Emitter& by, Worker& worker,
                                          const RecordEvent& event) {
  const bool ends_epoch = event.kind == RecordKind::kEpochEnd;
  if (reference_.is_empty()) {
    const uint64_t expected = worker.state ? worker.state->step + 1 : 0;
    if (event.kind != RecordKind::kStep || event.step == expected) return;
    return checks_.history_consistent.Breach(
        "steps",
        fmt::format("{}, expected step {}", Where(by, event), expected));
  }
  checks_.trajectory.Instance();
  if (ends_epoch) checks_.epochs.Instance();
  const auto found = reference_.Find(event.kind, MomentOf(event));
  const std::optional<size_t> before = std::exchange(worker.at, found);
  if (!found) {
    return checks_.trajectory.Breach(
        "off-trajectory",
        fmt::format("{}, phase {}: the reference has none", Where(by, event),
                    RecordPhaseName(event.phase)));
  }
  if (!before || *found != *before + 1) {
    checks_.history_consistent.Breach(
        "steps",
        fmt::format("{}, phase {}: follows {}", Where(by, event),
                    RecordPhaseName(event.phase),
                    before
                        ? fmt::format("{} of step {}",
                                      RecordKindName(reference_[*before].kind),
                                      reference_[*before].step)
                        : "neither a load nor a start"));
  }
  const GoldenEntry& entry = reference_[*found];
  if (!entry.digest.empty() && event.digest != entry.digest) {
    checks_.trajectory.Breach(
        "state-digest",
        fmt::format("{}: state {}, expected {}", Where(by, event),
                    event.digest.empty() ? "not said" : event.digest,
                    entry.digest));
  }
  if (event.loss_bits != entry.loss_bits || event.count != entry.count) {
    Check& check = ends_epoch ? checks_.epochs : checks_.trajectory;
    check.Breach(
        ends_epoch ? "metrics" : "loss",
        fmt::format("{}: loss {:08x} and {} correct, expected {:08x} and {}",
                    Where(by, event), event.loss_bits, event.count,
                    entry.loss_bits, entry.count));
  }
  if (event.epoch != entry.epoch || event.position != entry.position) {
    checks_.trajectory.Breach(
        "position",
        fmt::format("{}: epoch {}, row {}, expected epoch {}, row {}",
                    Where(by, event), event.epoch, event.position, entry.epoch,
                    entry.position));
  }
}

// All workers of a generation hold equal bits.
void TrainingModel::CheckReplicas(const Emitter& by, Generation& generation,
                                  const RecordEvent& event) {
  const auto [at, is_new] = generation.firsts.try_emplace(
      {event.kind, event.step, event.phase}, First{by, &event});
  const First& first = at->second;
  if (is_new || first.by == by) return;
  // Losses and counts are of the sum that all took part in: states tell.
  if (!event.digest.empty()) checks_.replicas_agree.Instance();
  if (event.digest == first.event->digest &&
      event.loss_bits == first.event->loss_bits &&
      event.count == first.event->count) {
    return;
  }
  checks_.replicas_agree.Breach(
      "replica-mismatch",
      fmt::format("{} at step {}: {} has state {} and loss {:08x}, {} has {} "
                  "and {:08x}",
                  RecordKindName(event.kind), event.step, NameOf(first.by),
                  first.event->digest, first.event->loss_bits, NameOf(by),
                  event.digest, event.loss_bits));
}

// A launcher hears of it from the chief alone.
void TrainingModel::NoteProgress(const Worker& worker, uint64_t step) {
  if (worker.rank != 0 || step <= furthest_) return;
  furthest_ = step;
  deaths_ = 0;
}

void TrainingModel::TakeStep(const Emitter& by, Generation& generation,
                             const RecordEvent& event) {
  NoteProgress(workers_.at(by), event.step);
  steps_.insert(event.step);
  generation.last_step = std::max(generation.last_step, event.step);
  CheckDue(by, generation, event);
  CheckSaysNotFinite(by, workers_.at(by), generation, event);
  CheckLaunch(by, generation, event);
  if (generation.stop && event.step > *generation.stop) {
    checks_.grace.Breach("not-one-step",
                         fmt::format("{}: all had agreed to stop at step {}",
                                     Where(by, event), *generation.stop));
  }
  if (!tells_rows_) return;
  StepRows& step = generation.open[event.step];
  ++step.tellers;
  step.rows.insert(step.rows.end(), event.samples.begin(), event.samples.end());
  if (step.tellers < generation.members.size()) return;
  const auto found = reference_.Find(RecordKind::kStep, MomentOf(event));
  if (found) {
    checks_.samples.Instance();
    std::ranges::sort(step.rows);
    if (step.rows != reference_[*found].samples) {
      checks_.samples.Breach(
          "other-rows",
          fmt::format("step {} of generation {} used {} rows that are not the "
                      "{} of the reference",
                      event.step, generation.number, step.rows.size(),
                      reference_[*found].samples.size()));
    }
  }
  generation.open.erase(event.step);
}

// No step is trained while a save is due.
void TrainingModel::CheckDue(const Emitter& by, Generation& generation,
                             const RecordEvent& event) {
  const uint64_t interval = record_.setup.save_interval_steps;
  if (interval == 0 || event.step <= generation.saved_to + interval) return;
  checks_.bounded_loss.Breach(
      "excess-rework",
      fmt::format("{}: the newest save of generation {} was begun at step {}, "
                  "expected one every {} steps",
                  Where(by, event), generation.number, generation.saved_to,
                  interval));
  generation.saved_to = event.step;
}

// Only its last step may have been cut short.
void TrainingModel::CloseSteps(const Generation& generation) {
  for (const auto& [number, step] : generation.open) {
    const auto found = std::ranges::find_if(
        record_.golden.entries, [number = number](const GoldenEntry& entry) {
          return entry.kind == RecordKind::kStep && entry.step == number;
        });
    if (found == record_.golden.entries.end()) continue;
    checks_.samples.Instance();
    std::vector<uint32_t> rows = step.rows;
    std::ranges::sort(rows);
    if (number == generation.last_step &&
        std::ranges::includes(found->samples, rows)) {
      continue;
    }
    checks_.samples.Breach(
        "other-rows",
        fmt::format("{} of {} workers said which rows they used in step {} of "
                    "generation {}",
                    step.tellers, generation.members.size(), number,
                    generation.number));
  }
}

// A save has an outcome.
void TrainingModel::Settle(Generation* generation, const RecordEvent& event) {
  if (generation == nullptr) return;
  generation->settled_to = std::max(generation->settled_to, event.step);
}

void TrainingModel::CheckSave(const Emitter& by, Worker& worker,
                              const RecordEvent& event) {
  Generation* const generation = Of(worker);
  if (event.kind == RecordKind::kSaveCopied) {
    if (std::exchange(worker.copied, true) || worker.state != MomentOf(event)) {
      checks_.store.Breach("copy", Where(by, event) +
                                       ": expected one copy of "
                                       "the newest state");
    }
    return;
  }
  if (generation != nullptr) {
    generation->saved_to = std::max(generation->saved_to, event.step);
  }
  switch (event.kind) {
    case RecordKind::kSaveBegin:
      for (auto& [id, other] : workers_) {
        if (other.generation == worker.generation) other.copied = false;
      }
      worker.saves = true;
      if (worker.state == MomentOf(event)) break;
      checks_.store.Breach(
          "other-moment",
          fmt::format("{} saves step {}, its state is of step {}", NameOf(by),
                      ToText(MomentOf(event)),
                      worker.state ? ToText(*worker.state) : "none"));
      break;
    case RecordKind::kSaveAcknowledged:
      worker.saves = false;
      Settle(generation, event);
      CheckNotFiniteSince(by, worker, event);
      CheckCopies(by, worker, event);
      CheckStateOf(by, event, MomentOf(event));
      break;
    default:
      worker.saves = false;
      Settle(generation, event);
      if (generation != nullptr) ++generation->failed[event.step];
      break;
  }
}

// Where one copies its part, all do.
void TrainingModel::CheckCopies(const Emitter& by, const Worker& worker,
                                const RecordEvent& event) {
  if (!worker.copied || !worker.generation) return;
  for (const Emitter& member : generations_[*worker.generation].members) {
    if (workers_.at(member).copied) continue;
    checks_.store.Breach("copy", fmt::format("{}: {} took no copy of its part",
                                             Where(by, event), NameOf(member)));
  }
}

void TrainingModel::CheckStateOf(const Emitter& by, const RecordEvent& event,
                                 const Moment& moment) {
  if (reference_.is_empty()) return;
  const auto found = reference_.StateAt(moment);
  if (!found) {
    checks_.trajectory.Instance();
    return checks_.trajectory.Breach(
        "off-trajectory",
        fmt::format("{}: the reference has no state of step {}",
                    Where(by, event), ToText(moment)));
  }
  const std::string& expected = reference_[*found].digest;
  if (expected.empty()) return;
  checks_.trajectory.Instance();
  if (event.digest == expected) return;
  checks_.trajectory.Breach(
      "state-digest",
      fmt::format("{}: state {}, expected {} of step {}", Where(by, event),
                  event.digest, expected, ToText(moment)));
}

void TrainingModel::Stop(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  checks_.grace.Instance();
  Generation* const generation = Of(worker);
  const bool again = std::exchange(worker.stops, true);
  if (again || !worker.state || worker.state->step != event.step ||
      (worker.at && reference_.PlaceAfter(*worker.at).epoch != event.epoch)) {
    return checks_.grace.Breach(
        "not-one-step",
        fmt::format("{}, epoch {}: its state is of step {}{}", Where(by, event),
                    event.epoch, worker.state ? worker.state->step : 0,
                    again ? ", and it had agreed before" : ""));
  }
  if (generation == nullptr) return;
  if (!generation->stop) generation->stop = event.step;
  if (*generation->stop == event.step) return;
  checks_.grace.Breach("not-one-step",
                       fmt::format("{}: another worker stops at step {}",
                                   Where(by, event), *generation->stop));
}

// What was planned for the start of the launcher that a process is of. Null: as
// for all others.
const PlannedLaunch* TrainingModel::LaunchOf(const Emitter& by) const {
  const std::vector<PlannedLaunch>& planned = record_.setup.launches;
  const PlannedLaunch* launch = nullptr;
  for (const LauncherRun& run : record_.launchers) {
    if (run.first_life > by.incarnation) break;
    launch = run.planned < planned.size() ? &planned[run.planned] : nullptr;
  }
  return launch;
}

// Whether training is through there: with the reference run, or with what its
// launch was to do of it.
bool TrainingModel::IsTheEnd(size_t at, const PlannedLaunch* launch) const {
  if (at + 1 == reference_.size()) return true;
  if (launch == nullptr) return false;
  const DataPlace place = reference_.PlaceAfter(at);
  const bool epochs_are_done = launch->epochs > 0 && place.position == 0 &&
                               place.epoch == launch->epochs;
  return epochs_are_done ||
         (launch->max_steps > 0 && reference_[at].step == launch->max_steps);
}

// A changed job trains nothing, and a planned stop comes with the execution
// that its step is in.
void TrainingModel::CheckLaunch(const Emitter& by, const Generation& generation,
                                const RecordEvent& event) {
  const PlannedLaunch* const launch = LaunchOf(by);
  if (launch == nullptr) return;
  if (launch->other_job) {
    checks_.trajectory.Breach("changed-job",
                              fmt::format("{}: the job was changed, and its "
                                          "checkpoints are of another one",
                                          Where(by, event)));
  }
  const uint64_t length =
      std::max<uint64_t>(record_.setup.steps_per_execution, 1);
  const uint64_t last = (launch->stop_at_step + length - 1) / length * length;
  if (launch->stop_at_step <= generation.start->step || event.step <= last) {
    return;
  }
  checks_.grace.Breach("not-one-step",
                       fmt::format("{}: the run was to stop at step {}",
                                   Where(by, event), launch->stop_at_step));
}

void TrainingModel::Finish(const Emitter& by, Worker& worker,
                           const RecordEvent& event) {
  if (std::exchange(worker.finished, true)) SaidTwice(by, event);
  CheckNotFiniteSince(by, worker, event);
  if (Generation* const generation = Of(worker)) {
    ++generation->finished;
    CheckReplicas(by, *generation, event);
  }
  if (reference_.is_empty()) return;
  CheckStateOf(by, event, MomentOf(event));
  const bool at_end = worker.at && IsTheEnd(*worker.at, LaunchOf(by));
  if (at_end && worker.state == MomentOf(event) &&
      reference_.PlaceAfter(*worker.at).epoch == event.epoch) {
    return;
  }
  checks_.trajectory.Breach(
      "final-state",
      fmt::format("{}, epoch {}: the reference ends with step {}",
                  Where(by, event), event.epoch,
                  reference_[reference_.size() - 1].step));
}

void TrainingModel::CheckDeletion(const Emitter& by, const Worker& worker) {
  const Generation* const generation = Of(worker);
  if (generation == nullptr ||
      generation->finished < generation->members.size()) {
    checks_.checkpoints_deleted.Breach(
        "deleted", fmt::format("{} deletes checkpoints before all workers had "
                               "finished",
                               NameOf(by)));
  }
  if (worker.acknowledged) return;
  checks_.checkpoints_deleted.Breach(
      "unacknowledged", fmt::format("{} deletes checkpoints before its result "
                                    "was acknowledged",
                                    NameOf(by)));
}

void TrainingModel::Leave(const Emitter& by, Worker& worker,
                          const RecordEvent& event) {
  // Who has begun to load another state has none until it is there.
  const bool forgets = !worker.generation && event.step == 0;
  const uint64_t step = worker.state && !forgets ? worker.state->step : 0;
  if (event.step != step) {
    checks_.history_consistent.Breach(
        "steps",
        fmt::format("{}: its state is of step {}", Where(by, event), step));
  }
  if (const Generation* const generation = Of(worker)) {
    CheckNumber(by, *generation, event);

  } else if (event.generation <= worker.left) {
    checks_.history_consistent.Breach(
        "generation", fmt::format("{}: has left generation {} before",
                                  Where(by, event), event.generation));
  }
  worker.left = event.generation;
  worker.generation.reset();
  worker.loaded = {};
  worker.finished = worker.acknowledged = false;
}

void TrainingModel::CheckLifeEnd(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  if (IsExit(event.count, {WorkerExit::kStartLater}) && event.step > 0) {
    CheckGivenUp(by, worker, event);
  }
  const bool done = IsExit(event.count, {WorkerExit::kDone});
  const bool stopped = IsExit(event.count, {WorkerExit::kStopped});
  const bool not_finite = IsExit(event.count, {WorkerExit::kNotFinite});
  if ((!done || worker.finished) && (!stopped || worker.stops) &&
      (!not_finite || worker.not_finite_since != 0)) {
    return;
  }
  checks_.history_consistent.Breach(
      "end", fmt::format("{} ends with exit code {}, and has not {}",
                         NameOf(by), event.count,
                         done      ? "finished"
                         : stopped ? "agreed to stop"
                                   : "met a state that is not finite"));
}

void TrainingModel::CheckDamage(const Emitter& by, Worker& worker,
                                const RecordEvent& event) {
  const auto fault =
      std::ranges::find(record_.faults, event.detail, &RecordFault::id);
  const bool once =
      fault != record_.faults.end() && !fault->always && fault->hits == 1;
  const bool is_new = worker.damaged.emplace(event.detail, event.path).second;
  if (once && !is_new) SaidTwice(by, event);
  const auto fired = worker.fired.find(event.detail);
  if (fired != worker.fired.end() && fired->second->step == event.step &&
      fired->second->epoch == event.epoch) {
    return;
  }
  checks_.history_consistent.Breach(
      "point", fmt::format("{}, epoch {}: {} has not fired then",
                           Where(by, event), event.epoch, event.detail));
}

// A last save is given up after all tries.
void TrainingModel::CheckGivenUp(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  constexpr int kTries = 6;
  if (!worker.generation) return;
  const bool at_end = worker.at && IsTheEnd(*worker.at, LaunchOf(by));
  if (!worker.stops && !at_end && !reference_.is_empty()) {
    checks_.history_consistent.Breach(
        "end", fmt::format("{} leaves step {} unsaved, and has not agreed to "
                           "stop",
                           NameOf(by), event.step));
  }
  checks_.no_spontaneous_exit.Instance();
  const std::map<uint64_t, int>& failed =
      generations_[*worker.generation].failed;
  const auto at = failed.find(event.step);
  const int tries = at == failed.end() ? 0 : at->second;
  if (tries >= kTries) return;
  checks_.no_spontaneous_exit.Breach(
      "given-up-early",
      fmt::format("{} left step {} unsaved after {} tries, expected at least "
                  "{}",
                  NameOf(by), event.step, tries, kTries));
}

void TrainingModel::Fire(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  const auto fault =
      std::ranges::find(record_.faults, event.detail, &RecordFault::id);
  if (fault == record_.faults.end()) return;
  const bool is_new = worker.fired.insert_or_assign(fault->id, &event).second;
  if (is_new != (event.kind == RecordKind::kFaultFired)) {
    checks_.history_consistent.Breach(
        "twice",
        fmt::format("{}: {} fires for the first time, {}", Where(by, event),
                    fault->id, is_new ? "and it does not say so" : "twice"));
  }
  if (worker.state &&
      (event.step > worker.state->step + 1 ||
       (worker.at && event.epoch > reference_.PlaceAfter(*worker.at).epoch))) {
    checks_.history_consistent.Breach(
        "steps", fmt::format("{}: its state is of step {}", Where(by, event),
                             worker.state->step));
  }
  const auto misses = [&](const std::optional<uint64_t>& planned,
                          uint64_t found) {
    return planned &&
           (StrikesAtOnce(*fault) ? found != *planned : found < *planned);
  };
  if (is_new &&
      (misses(fault->step, event.step) || misses(fault->epoch, event.epoch))) {
    checks_.history_consistent.Breach(
        "point", fmt::format("{}, epoch {}: {} is to fire in another step or "
                             "epoch",
                             Where(by, event), event.epoch, fault->id));
  }
  if (!fault->point.empty() && event.path != fault->point) {
    checks_.history_consistent.Breach(
        "point",
        fmt::format("{}: {} fires at {}, expected {}", Where(by, event),
                    fault->id, event.path, fault->point));
  }
  worker.met_error = worker.met_error || TraitsOf(*fault).tells_error;
  if (DiesAtOnce(*fault) && !TraitsOf(*fault).cuts_power &&
      !fault->of_one_host) {
    ++deaths_;
    return;
  }
  is_disturbed_ = true;
}

void TrainingModel::CheckIsComplete(const FinalResult& result) {
  checks_.trajectory.Instance();
  if (!record_.golden.final_digest.empty() &&
      result.digest != record_.golden.final_digest) {
    checks_.trajectory.Breach(
        "final-state", fmt::format("final state {}, expected {}", result.digest,
                                   record_.golden.final_digest));
  }
  if (reference_.is_empty()) return;
  const uint64_t last = reference_[reference_.size() - 1].step;
  if (result.steps != last || steps_.size() != last) {
    checks_.history_consistent.Breach(
        "missing", fmt::format("the run counts {} steps, the events have {} "
                               "different ones, the reference {}",
                               result.steps, steps_.size(), last));
  }
  const std::vector<EpochMetrics>& epochs = record_.golden.epochs;
  for (const EpochMetrics& epoch : epochs) {
    checks_.epochs.Instance();
    if (epochs_.contains(epoch.epoch)) continue;
    checks_.epochs.Breach("missing",
                          fmt::format("epoch {} never ended", epoch.epoch));
  }
  if (result.epochs != epochs.size()) {
    checks_.epochs.Breach("count",
                          fmt::format("the run counts {} epochs, expected {}",
                                      result.epochs, epochs.size()));
  }
  CheckReferenceRows(result);
}

// The reference uses each row once in an epoch, and all of them in one that
// ends: what was held against it does so too.
void TrainingModel::CheckReferenceRows(const FinalResult& result) {
  const uint64_t owed = record_.setup.rows_per_epoch;
  if (owed == 0 || !tells_rows_) return;
  std::map<uint64_t, std::vector<uint32_t>> rows;  // by epoch
  for (const GoldenEntry& entry : record_.golden.entries) {
    std::vector<uint32_t>& of_epoch = rows[entry.epoch];
    of_epoch.insert(of_epoch.end(), entry.samples.begin(), entry.samples.end());
  }
  for (auto& [epoch, used] : rows) {
    if (epoch >= result.epochs) break;
    checks_.samples.Instance();
    std::ranges::sort(used);
    const auto again = std::ranges::adjacent_find(used);
    if (again != used.end()) {
      checks_.samples.Breach(
          "duplicate-sample",
          fmt::format("row {} is used twice in epoch {}", *again, epoch));
    }
    if (used.size() == owed) continue;
    checks_.samples.Breach(
        "missing", fmt::format("epoch {} used {} rows, expected {}", epoch,
                               used.size(), owed));
  }
}

void TrainingModel::End() {
  if (newest_started_) CloseSteps(generations_[*newest_started_]);
  if (IsDone()) CheckIsComplete(*record_.launchers.back().result);
}

}  // namespace gauntlet
