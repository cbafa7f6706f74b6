#include "engine/train/launcher/rejoin_tracker.h"

#include <algorithm>
#include <utility>

namespace gauntlet {

void RejoinTracker::Begin(std::vector<int> members) {
  members_ = std::move(members);
  open_ = true;
  has_new_losses_ = false;
  handled_before_ = false;
  has_formed_ = false;
  formed_ = 0;
  arrived_.clear();
  dead_.clear();
  saves_until_.clear();
  silent_.clear();
}

void RejoinTracker::Open(Time now) {
  open_ = true;
  has_new_losses_ = true;
  handled_before_ = false;
  opened_at_ = now;
}

void RejoinTracker::AllowForPause(Duration missed) {
  opened_at_ += missed;
  for (auto& [worker, until] : saves_until_) until += missed;
  for (auto& [worker, silence] : silent_) silence.since += missed;
}

bool RejoinTracker::ConsumeLosses() {
  has_new_losses_ = false;
  return !handled_before_;
}

void RejoinTracker::OnDeath(int worker, Time now) {
  arrived_.erase(worker);
  saves_until_.erase(worker);
  silent_.erase(worker);
  // All workers that die before the first of them is restarted belong to the
  // same loss.
  if (!open_ || (dead_.empty() && !has_new_losses_)) Open(now);
  handled_before_ = false;
  dead_.insert(worker);
}

void RejoinTracker::OnRendezvous(int worker, uint64_t left,
                                 std::optional<int> silent, Time now) {
  // A new incarnation has left no generation.
  const bool is_new = open_ && left == 0;
  if (left < formed_ && !is_new) return;
  if (!open_) Open(now);
  arrived_[worker] = left;
  saves_until_.erase(worker);
  silent_.erase(worker);
  if (!silent || arrived_.contains(*silent)) return;
  saves_until_.erase(*silent);
  silent_.try_emplace(*silent, Silence{.since = now, .left = left});
}

// The report shows that the worker is not hanging, so it no longer counts as
// silent.
void RejoinTracker::OnSaveBegun(int worker, Time until) {
  saves_until_[worker] = until;
  silent_.erase(worker);
}

void RejoinTracker::OnSaveEnded(int worker, Time now) {
  saves_until_[worker] = now + graces_.step;
  silent_.erase(worker);
}

void RejoinTracker::OnRestarted(int worker) {
  dead_.erase(worker);
  arrived_[worker] = 0;
}

void RejoinTracker::OnFormed(uint64_t generation, Time now) {
  if (generation <= formed_) return;
  formed_ = generation;
  has_formed_ = true;
  std::erase_if(arrived_,
                [=](const auto& one) { return one.second < generation; });
  std::erase_if(silent_,
                [=](const auto& one) { return one.second.left < generation; });
  open_ = false;
  if (dead_.empty() && arrived_.empty()) return;
  const bool noted = !dead_.empty() && !has_new_losses_;
  Open(now);
  handled_before_ = noted;
}

bool RejoinTracker::IsComplete() const {
  return std::ranges::all_of(members_, [this](int worker) {
    return arrived_.contains(worker) || dead_.contains(worker);
  });
}

Time RejoinTracker::DeadlineOf(int worker) const {
  if (const auto silent = silent_.find(worker); silent != silent_.end()) {
    return std::min(
        opened_at_ + graces_.step,
        std::max(opened_at_, silent->second.since) + graces_.silent);
  }
  const auto save = saves_until_.find(worker);
  return std::max(opened_at_ + graces_.step,
                  save == saves_until_.end() ? opened_at_ : save->second);
}

std::vector<int> RejoinTracker::OverdueWorkers(Time now) const {
  std::vector<int> overdue;
  if (!open_ || !has_new_losses_ || !has_formed_) return overdue;
  for (const int worker : members_) {
    if (!arrived_.contains(worker) && !dead_.contains(worker) &&
        now >= DeadlineOf(worker)) {
      overdue.push_back(worker);
    }
  }
  return overdue;
}

}  // namespace gauntlet
