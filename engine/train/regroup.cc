#include "engine/train/regroup.h"

#include <algorithm>
#include <utility>

namespace gauntlet {

void Regroup::Begin(std::vector<int> members) {
  members_ = std::move(members);
  open_ = true;
  news_ = false;
  has_formed_ = false;
  formed_ = 0;
  meeting_.clear();
  dead_.clear();
  saves_until_.clear();
}

void Regroup::Open(Time now) {
  if (!open_) meeting_.clear();
  open_ = true;
  news_ = true;
  opened_at_ = now;
}

void Regroup::Died(int worker, Time now) {
  meeting_.erase(worker);
  saves_until_.erase(worker);
  // Those that die before the first is started again belong to one loss.
  if (!open_ || (dead_.empty() && !news_)) Open(now);
  dead_.insert(worker);
}

void Regroup::Meets(int worker, uint64_t left, Time now) {
  if (!open_) {
    if (left < formed_) return;
    Open(now);
  }
  meeting_.insert(worker);
  saves_until_.erase(worker);
}

void Regroup::Started(int worker) {
  dead_.erase(worker);
  meeting_.insert(worker);
}

void Regroup::Formed(uint64_t generation, Time now) {
  formed_ = std::max(formed_, generation);
  has_formed_ = true;
  meeting_.clear();
  open_ = false;
  // Died since: the next matter.
  if (!dead_.empty()) Open(now);
}

bool Regroup::IsComplete() const {
  return std::ranges::all_of(members_, [this](int worker) {
    return meeting_.contains(worker) || dead_.contains(worker);
  });
}

std::vector<int> Regroup::Overdue(Time now) const {
  std::vector<int> overdue;
  if (!open_ || !news_ || !has_formed_ || now < opened_at_ + grace_) {
    return overdue;
  }
  for (const int worker : members_) {
    const auto save = saves_until_.find(worker);
    const bool saves = save != saves_until_.end() && now < save->second;
    if (!meeting_.contains(worker) && !dead_.contains(worker) && !saves) {
      overdue.push_back(worker);
    }
  }
  return overdue;
}

}  // namespace gauntlet
