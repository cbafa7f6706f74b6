// Checks how training begins: the start of a generation and of its workers.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/model/training_model.h"
#include "harness/record/checkpoint_loss.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// After more consecutive restarts than this without a new step, the launcher
// restarts all workers.
constexpr int kRestartsInARow = 2;

// Returns the reason why a worker resumed from the checkpoint with another
// state than was saved, as the end of a message. The reason is damage to the
// checkpoint, or the fact that the state changed after the checkpoint was read;
// "" if neither is known.
std::string WhyItChanged(const Record& record, std::string_view checkpoint,
                         bool is_as_saved) {
  const std::string damage = DamageText(record, checkpoint);
  if (!damage.empty()) return "; " + damage;
  if (!is_as_saved || IntegrityOf(record, checkpoint) != Integrity::kIntact) {
    return "";
  }
  return "; the checkpoint is intact, the state changed after it was read";
}

}  // namespace

// Returns the index of the generation in which the event starts a worker; adds
// the generation if it is new. A new generation may have the number of an old
// one: after all checkpoints were deleted, after a disk lost the claim, or,
// without a checkpoint directory, after a restart of all workers.
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
    checks_.history_consistent.Fail(
        "claims", fmt::format("{}: no process has claimed generation {}",
                              Where(by, event), event.generation));
  }
  generations_.push_back({.number = event.generation});
  return newest_[event.generation] = generations_.size() - 1;
}

void TrainingModel::Join(const Emitter& by, Worker& worker,
                         const RecordEvent& event) {
  if (worker.generation) {
    checks_.history_consistent.Fail(
        "generations", fmt::format("{}: the worker has not left generation {}",
                                   Where(by, event), Of(worker)->number));
  }
  const size_t index = GenerationFor(by, event);
  Generation& generation = generations_[index];
  CheckStart(by, worker, generation, event);
  const TrainingPosition from = PositionOf(event);
  if (!generation.start) {
    if (newest_started_) {
      checks_.bounded_loss.Count();
      const Generation& before = generations_[*newest_started_];
      CheckMemory(before, generation, from);
      CloseSteps(before);
    }
    const std::optional<size_t> newest_before =
        std::exchange(newest_started_, index);
    generation.start = from;
    generation.started_ns = event.t_ns;
    generation.last_step = generation.saved_to = from.step;
    if (newest_before && event.kind == RecordKind::kResumedFromMemory) {
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
  if (event.kind != RecordKind::kResumedFromMemory || !kept) {
    worker.not_finite_since = static_cast<uint64_t>(event.count);
  }
  if (event.kind == RecordKind::kResumedFromMemory) CopyNotFiniteSince(worker);
  worker.at = reference_.StateAt(from);
  worker.stops = worker.saves = worker.copied = false;
  worker.reported_not_finite = worker.owes_not_finite = false;
  worker.announced_leaving = false;
  worker.losses.clear();
  CheckPlace(by, worker, event);
  CheckReplicas(by, generation, event);
  CheckStateOf(by, event, from);
  if (event.kind == RecordKind::kResumedFromMemory) {
    worker.trained = from;
    NoteProgress(worker, from.step);
  }
}

// Returns the step of the newest save that generation `number` counts as made,
// if the outcome of the newest save of the generation before it is unknown. The
// save with the unknown outcome counts iff it is the parent of the claim of
// generation `number`. If it does not count, the result is `settled_to`, and
// the workers save again immediately.
uint64_t TrainingModel::SavedBy(uint64_t number, uint64_t settled_to) const {
  const auto* const claim = store_.ClaimOf(number);
  if (claim == nullptr || !claim->parent) return settled_to;
  return std::max(settled_to, store_.checkpoint(*claim->parent).position.step);
}

// Copies to `worker` the first non-finite step, as noted for other workers with
// the same state.
void TrainingModel::CopyNotFiniteSince(Worker& worker) {
  for (const auto& [id, other] : workers_) {
    if (other.state == worker.state && other.not_finite_since != 0) {
      worker.NoteNotFinite(other.not_finite_since);
    }
  }
}

void TrainingModel::CheckStart(const Emitter& by, const Worker& worker,
                               const Generation& generation,
                               const RecordEvent& event) {
  const TrainingPosition from = PositionOf(event);
  if (generation.start && *generation.start != from) {
    checks_.resume_point.Fail(
        "ranks-disagree",
        fmt::format("{} starts from step {}, another worker from step {}",
                    NameOf(by), ToText(from), ToText(*generation.start)));
  }
  if (worker.trained) {
    checks_.bounded_loss.Count();
    if (from < *worker.trained) {
      checks_.bounded_loss.Fail(
          "recomputed-after-rejoin",
          fmt::format("generation {} resumed from step {}, but {} had trained "
                      "to step {}",
                      event.generation, ToText(from), NameOf(by),
                      ToText(*worker.trained)));
    }
  }
  if (event.kind == RecordKind::kResumed) {
    CheckResumed(by, worker, event);
  } else if (event.kind == RecordKind::kResumedFromMemory) {
    CheckResumeFromMemory(by, worker, generation, event);
  } else if (const auto* claim = store_.ClaimOf(event.generation);
             claim != nullptr && claim->parent) {
    checks_.resume_point.Fail(
        FindingKind::kStaleResume,
        fmt::format("{} made a cold start, but its generation resumes from {}",
                    NameOf(by), store_.checkpoint(*claim->parent).name));
  }
}

// Checks that a worker resumes from the parent of its generation's claim, and
// has loaded it.
void TrainingModel::CheckResumed(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  checks_.resume_point.Count();
  const std::string_view name = BaseName(event.path);
  if (record_.setup.no_store) {
    return checks_.resume_point.Fail(
        "unknown-checkpoint",
        fmt::format("{} resumed from {}, but the job stores no checkpoint",
                    NameOf(by), name));
  }
  const auto* const claim = store_.ClaimOf(event.generation);
  if (claim == nullptr) return;
  const StoreModel::Checkpoint* const parent =
      claim->parent ? &store_.checkpoint(*claim->parent) : nullptr;
  if (parent == nullptr || parent->name != name ||
      parent->position != PositionOf(event)) {
    return checks_.resume_point.Fail(
        "unknown-checkpoint",
        fmt::format("{} resumed from step {} in {}, but its generation resumes "
                    "from {}",
                    NameOf(by), ToText(PositionOf(event)), name,
                    parent == nullptr ? "nothing" : parent->name));
  }
  if (!parent->digest.empty() && event.digest != parent->digest) {
    checks_.store.Fail(
        "changed-load",
        fmt::format("{} resumed from {} with state {}, but {} was saved{}",
                    NameOf(by), name, event.digest, parent->digest,
                    WhyItChanged(record_, name,
                                 worker.loaded_digest == parent->digest)));
  }
  if (worker.loaded != name) {
    checks_.resume_point.Fail(
        "not-loaded", fmt::format("{} resumed from {}, but has not loaded it",
                                  NameOf(by), name));
  }
}

// Checks that some worker held in memory the state from which the worker
// resumes, and that this state is not older than the parent checkpoint of the
// claim.
void TrainingModel::CheckResumeFromMemory(const Emitter& by,
                                          const Worker& worker,
                                          const Generation& generation,
                                          const RecordEvent& event) {
  checks_.resume_point.Count();
  const TrainingPosition from = PositionOf(event);
  const auto* const claim = store_.ClaimOf(event.generation);
  if (claim != nullptr && claim->parent &&
      from < store_.checkpoint(*claim->parent).position) {
    checks_.resume_point.Fail(
        FindingKind::kStaleResume,
        fmt::format(
            "{} resumed from memory at step {}, but {} was acknowledged",
            NameOf(by), ToText(from), store_.checkpoint(*claim->parent).name));
  }
  constexpr std::string_view kKept = "kept";
  const bool holds = event.detail == kKept
                         ? worker.state == from
                         : std::ranges::any_of(workers_, [&](const auto& one) {
                             return one.first != by && one.second.state == from;
                           });
  if (holds) return;
  checks_.resume_point.Fail(
      "unknown-checkpoint",
      fmt::format("{} resumed from memory at step {} in generation {} ({}), "
                  "but no worker held that state",
                  NameOf(by), ToText(from), generation.number, event.detail));
}

// Checks that, if workers rejoin, those that were not lost resume from their
// memory. All workers may instead resume from a checkpoint in these cases: a
// new launcher, another set of workers, a worker that has finished, too many
// restarts in a row, or a fault that does more than kill one process.
void TrainingModel::CheckMemory(const Generation& before,
                                const Generation& after,
                                const TrainingPosition& from) {
  if (!record_.setup.rejoins || is_launched_anew_) return;
  std::optional<TrainingPosition> held;
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
  checks_.bounded_loss.Count();
  if (from >= *held || restarts_without_progress_ > kRestartsInARow ||
      disturbances_.AnySince(before.started_ns)) {
    return;
  }
  checks_.bounded_loss.Fail(
      "memory-lost",
      fmt::format("generation {} resumed from step {}, but a worker of "
                  "generation {} without a fault had trained to step {}",
                  after.number, ToText(from), before.number, ToText(*held)));
}

// Checks that the event has the data position of the worker's state.
void TrainingModel::CheckPlace(const Emitter& by, const Worker& worker,
                               const RecordEvent& event) {
  if (!worker.at || event.kind == RecordKind::kInitialized) return;
  const DataPosition expected = reference_.PlaceAfter(*worker.at);
  const DataPosition found = {.epoch = event.epoch, .position = event.position};
  if (found == expected) return;
  checks_.trajectory.Fail(
      "position", fmt::format("{}: position {}, expected {}", Where(by, event),
                              ToText(found), ToText(expected)));
}

}  // namespace gauntlet
