// Checks how training begins: the start of a generation and of its workers.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracle/training_model.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Restarts in a row, none with a new step before it, after which a launcher
// starts all workers again.
constexpr int kRestartsInARow = 2;

}  // namespace

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
  generations_.push_back({.number = event.generation});
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
    generation.started_ns = event.t_ns;
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

// Returns the step of the newest save of a generation that starts. A save that
// the generation before began is made up for first, unless it succeeded.
uint64_t TrainingModel::SavedBy(uint64_t number, uint64_t settled_to) const {
  const auto* const claim = store_.ClaimOf(number);
  if (claim == nullptr || !claim->parent) return settled_to;
  return std::max(settled_to, store_.checkpoint(*claim->parent).moment.step);
}

// Workers with the same state share the first step that was not finite.
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

// A worker resumes from the parent of its generation's claim, which it has
// read.
void TrainingModel::CheckResumed(const Emitter& by, const Worker& worker,
                                 const RecordEvent& event) {
  checks_.resume_point.Instance();
  const std::string_view name = BaseName(event.path);
  if (record_.setup.no_store) {
    return checks_.resume_point.Breach(
        "unknown-checkpoint",
        fmt::format("{} resumed from {}, and the job stores no checkpoint",
                    NameOf(by), name));
  }
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

// A worker carries on from a state that one of them held, which is not behind
// the parent of the claim.
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
// was done, after too many restarts in a row, or where something other than
// deaths stood in the way.
void TrainingModel::CheckMemory(const Generation& before,
                                const Generation& after, const Moment& from) {
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
  if (from >= *held || fruitless_restarts_ > kRestartsInARow ||
      disturbances_.AnySince(before.started_ns)) {
    return;
  }
  checks_.bounded_loss.Breach(
      "memory-lost",
      fmt::format("generation {} went on from step {}, though a worker of "
                  "generation {} that nothing happened to had trained to step "
                  "{}",
                  after.number, ToText(from), before.number, ToText(*held)));
}

// The event names the place in the data that the state is at.
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

}  // namespace gauntlet
