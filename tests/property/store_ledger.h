// A model of the guarantees that a checkpoint store gives to its next user.
//
// A checkpoint is identified by the generation that wrote it and its step. In
// these tests the state is a function of the step, so a step stands for its
// bytes.
#ifndef GAUNTLET_TESTS_PROPERTY_STORE_LEDGER_H_
#define GAUNTLET_TESTS_PROPERTY_STORE_LEDGER_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace gauntlet {

struct SavedKey {
  uint64_t writer = 0;  // generation
  uint64_t step = 0;
  auto operator<=>(const SavedKey&) const = default;
};

class StoreLedger {
 public:
  // Records the claim of a generation, with the checkpoint that it resumes
  // from.
  void Claimed(uint64_t generation, std::optional<SavedKey> parent) {
    parents_[generation] = parent;
    if (parent) acknowledged_.insert(*parent);
  }
  // Notes that the generation's claim is no longer on the disk.
  void Unclaimed(uint64_t generation) { parents_.erase(generation); }
  void Acknowledged(SavedKey key) { acknowledged_.insert(key); }
  void Damaged(SavedKey key) {
    lost_.insert(key);
    any_damage_ = true;
  }
  // Notes that a process applied retention, which keeps the newest `keep`
  // checkpoints. The process may have died in the middle of it, so each older
  // checkpoint may be there or not. A fenced checkpoint of the same step as a
  // parent has the parent's bytes, so it counts as a kept one.
  void Retired(size_t keep, const std::vector<SavedKey>& on_disk) {
    for (const auto& [step, keys] : Steps()) {
      if (keep == 0) lost_.insert(keys.begin(), keys.end());
      const auto copies =
          std::ranges::count_if(on_disk, [&, of = step](SavedKey key) {
            return key.step == of && InLineage(key);
          });
      keep -= std::min(keep, std::max<size_t>(1, static_cast<size_t>(copies)));
    }
  }

  bool Knows(uint64_t generation) const {
    return parents_.contains(generation);
  }
  bool AnyDamage() const { return any_damage_; }
  bool IsAcknowledged(SavedKey key) const {
    return acknowledged_.contains(key);
  }

  // Returns true iff the checkpoint may be loaded. The newest generation may
  // load its own checkpoints, its parent, and those that the parent's
  // generation wrote before the parent; and so on, along the chain of parents.
  bool InLineage(SavedKey key) const {
    if (parents_.empty()) return false;
    auto at = parents_.rbegin()->first;
    uint64_t until = UINT64_MAX;
    while (true) {
      if (key.writer == at && key.step < until) return true;
      const auto found = parents_.find(at);
      if (found == parents_.end() || !found->second) return false;
      if (key.step == found->second->step) return true;  // the same bytes
      until = found->second->step;
      at = found->second->writer;
    }
  }

  bool HasAcknowledged() const {
    return std::ranges::any_of(acknowledged_,
                               [&](SavedKey key) { return InLineage(key); });
  }

  // Returns the newest step that the next process must find: its checkpoint was
  // acknowledged, and was neither retired nor damaged. Returns nullopt if there
  // is no such step.
  std::optional<uint64_t> Owed() const {
    for (const auto& [step, keys] : Steps()) {
      const bool lost = std::ranges::any_of(
          keys, [&](SavedKey key) { return lost_.contains(key); });
      if (!lost) return step;
    }
    return std::nullopt;
  }

 private:
  // Returns the acknowledged checkpoints of the lineage, by step, newest first.
  std::map<uint64_t, std::vector<SavedKey>, std::greater<>> Steps() const {
    std::map<uint64_t, std::vector<SavedKey>, std::greater<>> steps;
    for (const SavedKey key : acknowledged_) {
      if (InLineage(key)) steps[key.step].push_back(key);
    }
    return steps;
  }

  std::map<uint64_t, std::optional<SavedKey>> parents_;  // by generation
  std::set<SavedKey> acknowledged_;
  std::set<SavedKey> lost_;  // damaged or retired
  bool any_damage_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_PROPERTY_STORE_LEDGER_H_
