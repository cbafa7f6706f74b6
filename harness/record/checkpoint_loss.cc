#include "harness/record/checkpoint_loss.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/record/base_name.h"
#include "harness/record/fault_occurrence.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kDamagedByFault = "a fault damaged it";

const StoredCheckpoint* LeftoverOf(const Record& record,
                                   std::string_view checkpoint) {
  const auto& left = record.left.checkpoints;
  const auto found =
      std::ranges::find(left, checkpoint, &StoredCheckpoint::name);
  return found == left.end() ? nullptr : &*found;
}

class LossFinder {
 public:
  explicit LossFinder(const Record& record) : record_(record) {
    ForEachEvent(&LossFinder::Note);
    ForEachEvent(&LossFinder::FindRejected);
    ForEachEvent(&LossFinder::FindGone);
    for (const StoredCheckpoint& left : record.left.checkpoints) {
      if (!left.valid) Add({.name = left.name, .reason = left.reason});
    }
    ForEachEvent(&LossFinder::FindDamaged);
    FindGoneAfterLastClaim();
  }

  std::vector<LostCheckpoint> Take() {
    std::ranges::stable_sort(lost_, {}, &LostCheckpoint::found_ns);
    return std::move(lost_);
  }

 private:
  void ForEachEvent(void (LossFinder::*visit)(const RecordEvent&)) {
    for (const IncarnationEvents& incarnation : record_.incarnations) {
      for (const RecordEvent& event : incarnation.events) (this->*visit)(event);
    }
  }

  void Note(const RecordEvent& event) {
    switch (event.kind) {
      case RecordKind::kSaveAcknowledged:
        acknowledged_[BaseName(event.path)] = &event;
        return;
      case RecordKind::kRetireBegin:
      case RecordKind::kRejectBegin:
      case RecordKind::kRejected:
      case RecordKind::kRetired:
      case RecordKind::kFencedFound:
        dealt_with_.insert(BaseName(event.path));
        return;
      case RecordKind::kDeleteBegin:
        is_any_deleted_ = true;
        return;
      case RecordKind::kGeneration:
        if (last_claim_ == nullptr || last_claim_->t_ns < event.t_ns) {
          last_claim_ = &event;
        }
        return;
      default:
        return;
    }
  }

  void FindRejected(const RecordEvent& event) {
    if (event.kind != RecordKind::kRejected) return;
    Add({.name = BaseName(event.path),
         .reason = event.detail,
         .found_ns = event.t_ns});
  }

  // Finds checkpoints that were missing when a generation was claimed. A claim
  // names the newest checkpoint in the directory as its parent. So an
  // acknowledged checkpoint that is newer was missing, unless the run removed
  // it, rejected it or found it fenced.
  void FindGone(const RecordEvent& claim) {
    if (claim.kind != RecordKind::kGeneration || is_any_deleted_ ||
        !record_.left.store_listed) {
      return;
    }
    const auto parent = acknowledged_.find(BaseName(claim.path));
    if (!claim.path.empty() && parent == acknowledged_.end()) return;
    const int64_t parent_ns =
        claim.path.empty() ? INT64_MIN : parent->second->t_ns;
    for (const auto& [name, saved] : acknowledged_) {
      if (saved->t_ns <= parent_ns || saved->t_ns >= claim.t_ns ||
          dealt_with_.contains(name) || LeftoverOf(record_, name) != nullptr) {
        continue;
      }
      Add({.name = name, .is_gone = true, .found_ns = claim.t_ns});
    }
  }

  // Finds checkpoints that were saved after the last claim and are missing
  // after the run. No claim looked for these.
  void FindGoneAfterLastClaim() {
    if (last_claim_ == nullptr || is_any_deleted_ ||
        !record_.left.store_listed) {
      return;
    }
    for (const auto& [name, saved] : acknowledged_) {
      if (saved->generation == last_claim_->generation &&
          saved->t_ns >= last_claim_->t_ns && !dealt_with_.contains(name) &&
          LeftoverOf(record_, name) == nullptr) {
        Add({.name = name, .is_gone = true});
      }
    }
  }

  void FindDamaged(const RecordEvent& event) {
    if (event.kind != RecordKind::kDamaged) return;
    Add({.name = CheckpointOfFile(event.path), .reason = kDamagedByFault});
  }

  void Add(LostCheckpoint one) {
    const auto acknowledged = acknowledged_.find(one.name);
    if (acknowledged == acknowledged_.end()) return;
    const auto is_known = [&](const LostCheckpoint& other) {
      return other.name == one.name;
    };
    if (std::ranges::any_of(lost_, is_known)) return;
    one.name = acknowledged->first;
    one.step = acknowledged->second->step;
    one.acknowledged_ns = acknowledged->second->t_ns;
    one.by_fault = DamageOf(record_, one.name) != nullptr;
    lost_.push_back(one);
  }

  const Record& record_;
  std::map<std::string_view, const RecordEvent*> acknowledged_;  // by name
  std::set<std::string_view> dealt_with_;  // removed, rejected or fenced
  bool is_any_deleted_ = false;
  const RecordEvent* last_claim_ = nullptr;
  std::vector<LostCheckpoint> lost_;
};

}  // namespace

const RecordEvent* DamageOf(const Record& record, std::string_view checkpoint) {
  const RecordEvent* first = nullptr;
  for (const IncarnationEvents& incarnation : record.incarnations) {
    for (const RecordEvent& event : incarnation.events) {
      if (event.kind == RecordKind::kDamaged &&
          CheckpointOfFile(event.path) == checkpoint &&
          (first == nullptr || event.t_ns < first->t_ns)) {
        first = &event;
      }
    }
  }
  return first;
}

Integrity IntegrityOf(const Record& record, std::string_view checkpoint) {
  if (DamageOf(record, checkpoint) != nullptr) return Integrity::kDamaged;
  const StoredCheckpoint* const left = LeftoverOf(record, checkpoint);
  if (left == nullptr) return Integrity::kNotVerified;
  return left->valid ? Integrity::kIntact : Integrity::kDamaged;
}

std::string DamageText(const Record& record, std::string_view checkpoint) {
  if (const RecordEvent* const damage = DamageOf(record, checkpoint)) {
    const RecordFault* const fault = FindFault(record, damage->detail);
    const bool is_deleted = fault != nullptr && fault->kind == "delete";
    return fmt::format("{} of {} was {} by fault {}", BaseName(damage->path),
                       checkpoint, is_deleted ? "deleted" : "damaged",
                       damage->detail);
  }
  const StoredCheckpoint* const left = LeftoverOf(record, checkpoint);
  if (left == nullptr || left->valid) return "";
  return fmt::format("{} does not verify ({})", checkpoint, left->reason);
}

std::vector<LostCheckpoint> LostCheckpointsOf(const Record& record) {
  return LossFinder(record).Take();
}

}  // namespace gauntlet
