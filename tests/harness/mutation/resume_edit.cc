#include "tests/harness/mutation/resume_edit.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tests/harness/mutation/record_edit.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string_view BaseOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the index of the state with this digest in the reference run; nullopt
// if it has no such state.
std::optional<size_t> FindState(const GoldenTrajectory& golden,
                                std::string_view digest) {
  for (size_t i = golden.entries.size(); i > 0; --i) {
    if (golden.entries[i - 1].digest == digest) return i - 1;
  }
  return std::nullopt;
}

// A state from which a mutated restart resumes, instead of the recorded one.
struct OtherState {
  size_t entry = 0;              // index in GoldenTrajectory::entries
  std::string path;              // of the checkpoint; empty: initial state
  int64_t not_finite_since = 0;  // step; 0: finite
};

// Returns the checkpoints that were acknowledged, and neither retired nor
// rejected, before the claim.
std::vector<OtherState> FindSaves(const Record& record, EventPlace claim) {
  const int64_t before_ns = EventAt(record, claim).t_ns;
  std::vector<OtherState> saves;
  std::set<std::string_view> gone;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      const bool is_gone = event.kind == RecordKind::kRetired ||
                           event.kind == RecordKind::kRejected;
      if (is_gone && event.t_ns <= before_ns) gone.insert(event.path);
    }
  }
  for (const EventPlace place :
       PlacesOf(record, RecordKind::kSaveAcknowledged)) {
    const RecordEvent& save = EventAt(record, place);
    const auto entry = FindState(record.golden, save.digest);
    if (save.t_ns < before_ns && entry && !gone.contains(save.path)) {
      saves.push_back({*entry, save.path, save.count});
    }
  }
  return saves;
}

// Returns the saves before the claim that are older than the newest one and
// than the state that the claim chose.
std::vector<OtherState> FindOlder(const Record& record, EventPlace claim,
                                  size_t chosen) {
  std::vector<OtherState> saves = FindSaves(record, claim);
  size_t newest = 0;
  for (const OtherState& save : saves) newest = std::max(newest, save.entry);
  std::erase_if(saves, [&](const OtherState& save) {
    return save.entry >= std::min(newest, chosen);
  });
  return saves;
}

// Returns the worker's event of the same kind, step and phase as the entry of
// the reference run; null if there is none.
const RecordEvent* FindTraining(const Record& record, int worker,
                                const GoldenEntry& entry) {
  for (const IncarnationEvents& incarnation : record.incarnations) {
    if (incarnation.worker != worker) continue;
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == entry.kind && event.step == entry.step &&
          event.phase == entry.phase) {
        return &event;
      }
    }
  }
  return nullptr;
}

class Restart {
 public:
  // `resumed` is an event of the generation that resumes.
  Restart(const Record& record, EventPlace resumed)
      : record_(record),
        generation_(EventAt(record, resumed).generation),
        chosen_(FindState(record.golden, EventAt(record, resumed).digest)),
        resumed_(FindPlaces(record, [this](const RecordEvent& event) {
          return event.kind == RecordKind::kResumed &&
                 event.generation == generation_;
        })) {
    for (const EventPlace place : PlacesOf(record, RecordKind::kGeneration)) {
      if (EventAt(record, place).generation == generation_) claim_ = place;
    }
  }

  bool is_known() const { return chosen_ && claim_ && generation_ != 0; }
  EventPlace claim() const { return *claim_; }
  size_t chosen() const { return *chosen_; }

  // Returns the record with the restart from the other state; nullopt if a
  // worker has no events for steps that it trains again.
  std::optional<Record> From(const OtherState& other) const {
    Record changed = record_;
    RecordEvent& claim = EventAt(changed, *claim_);
    claim.path = other.path;
    claim.digest =
        other.path.empty() ? "" : record_.golden.entries[other.entry].digest;
    claim.count = other.not_finite_since;
    // Edits later places first, so that earlier events keep their index.
    for (auto place = resumed_.rbegin(); place != resumed_.rend(); ++place) {
      if (!InsertTraining(other, *place, changed)) return std::nullopt;
      SetState(other, EventAt(changed, *place));
      ChangeLoads(other, *place, changed);
    }
    return changed;
  }

 private:
  void SetState(const OtherState& other, RecordEvent& event) const {
    const std::vector<GoldenEntry>& entries = record_.golden.entries;
    const GoldenEntry& state = entries[other.entry];
    if (other.path.empty()) event.kind = RecordKind::kInitialized;
    event.step = state.step;
    event.phase = state.phase;
    event.digest = state.digest;
    event.path = std::string(BaseOf(other.path));
    const auto next =
        std::find_if(entries.begin() + static_cast<ptrdiff_t>(other.entry) + 1,
                     entries.end(), [](const GoldenEntry& entry) {
                       return entry.kind == RecordKind::kStep;
                     });
    if (next == entries.end()) return;
    event.epoch = next->epoch;
    event.position = next->position;
  }

  bool InsertTraining(const OtherState& other, EventPlace resumed,
                      Record& changed) const {
    const int worker = record_.incarnations[resumed.incarnation].worker;
    for (size_t i = *chosen_; i > other.entry; --i) {
      const RecordEvent* training =
          FindTraining(record_, worker, record_.golden.entries[i]);
      if (training == nullptr) return false;
      RecordEvent again = *training;
      again.t_ns = EventAt(record_, resumed).t_ns;
      if (again.generation != 0) again.generation = generation_;
      InsertEvent(changed, {resumed.incarnation, resumed.index + 1},
                  std::move(again));
    }
    return true;
  }

  void ChangeLoads(const OtherState& other, EventPlace resumed,
                   Record& changed) const {
    const std::string& chosen = EventAt(record_, resumed).digest;
    std::vector<RecordEvent>& events =
        changed.incarnations[resumed.incarnation].events;
    const GoldenEntry& state = record_.golden.entries[other.entry];
    for (RecordEvent& event : events) {
      if (event.kind != RecordKind::kLoaded || event.digest != chosen) continue;
      event.step = state.step;
      event.digest = state.digest;
      event.path = other.path;
    }
    if (!other.path.empty()) return;
    std::erase_if(events, [](const RecordEvent& event) {
      return event.kind == RecordKind::kLoaded && event.path.empty();
    });
  }

  const Record& record_;
  const uint64_t generation_;
  const std::optional<size_t> chosen_;  // index of the state in the reference
  const std::vector<EventPlace> resumed_;
  std::optional<EventPlace> claim_;
};

enum class ResumeReason : uint8_t { kNone, kRejected };

// Sets the newest checkpoint aside, just before the claim.
void AddRejection(const Record& record, EventPlace claim, Record& changed) {
  const RecordEvent& event = EventAt(record, claim);
  changed.left.rejected.push_back(
      fmt::format("rejected-{}", BaseOf(event.path)));
  InsertEvent(changed, claim,
              {.kind = RecordKind::kRejected,
               .t_ns = event.t_ns,
               .path = event.path,
               .detail = "model-00001-of-00002.safetensors: digest differs"});
}

// Returns the reason why a resume from an older checkpoint is no error, or "".
// The record does not state which checkpoints a disk that lies about syncs has
// kept.
std::string_view NoEffectOfLoss(const Record& record) {
  const bool forgets = std::ranges::any_of(
      record.faults,
      [](const RecordFault& fault) { return fault.disk == "lying-fsync"; });
  return forgets ? "a disk that lies about fsync may lose any checkpoint in a "
                   "loss of power"
                 : "";
}

// Changes one restart: the first that `change` applies to, from a randomly
// chosen place on. `change` takes the restart and returns a record, or nullopt.
template <typename Change>
std::optional<Mutant> ChangeOneRestart(const Record& record, Choice& choice,
                                       const Change& change) {
  const std::vector<EventPlace> places = PlacesOf(record, RecordKind::kResumed);
  if (places.empty()) return std::nullopt;
  const size_t first = choice.Below(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const EventPlace place = places[(first + i) % places.size()];
    const Restart restart(record, place);
    if (!restart.is_known()) continue;
    std::optional<Record> changed = change(restart);
    if (changed) return Mutant{*std::move(changed), PlaceText(record, place)};
  }
  return std::nullopt;
}

std::optional<Mutant> ResumeOlder(const Record& record, Choice& choice,
                                  ResumeReason reason) {
  const auto resume = [&](const Restart& restart) -> std::optional<Record> {
    const std::vector<OtherState> older =
        FindOlder(record, restart.claim(), restart.chosen());
    if (older.empty()) return std::nullopt;
    auto changed = restart.From(older[choice.Below(older.size())]);
    if (changed && reason == ResumeReason::kRejected) {
      AddRejection(record, restart.claim(), *changed);
    }
    return changed;
  };
  std::optional<Mutant> mutant = ChangeOneRestart(record, choice, resume);
  if (mutant) mutant->without_effect = NoEffectOfLoss(record);
  return mutant;
}

}  // namespace

std::optional<Mutant> ResumeFromOlder(const Record& record, Choice& choice) {
  return ResumeOlder(record, choice, ResumeReason::kNone);
}

std::optional<Mutant> RejectGood(const Record& record, Choice& choice) {
  return ResumeOlder(record, choice, ResumeReason::kRejected);
}

std::optional<Mutant> StartFromNothing(const Record& record, Choice& choice) {
  if (record.golden.entries.empty()) return std::nullopt;
  return ChangeOneRestart(
      record, choice, [](const Restart& restart) { return restart.From({}); });
}

}  // namespace gauntlet
