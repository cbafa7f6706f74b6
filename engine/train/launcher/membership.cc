#include "engine/train/launcher/membership.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/restart_limits.h"
#include <fmt/format.h>

namespace gauntlet {

Membership::Membership(MembershipOptions options)
    : options_(std::move(options)) {
  CHECK(options_.workers >= 1 && options_.minimum() >= 1 &&
            options_.minimum() <= options_.workers,
        "a membership has bounds");
}

std::vector<int> Membership::WorkersOf(int attempt) const {
  const std::vector<int>& per_attempt = options_.per_attempt;
  size_t wanted = static_cast<size_t>(options_.workers);
  if (!per_attempt.empty()) {
    const auto index = static_cast<size_t>(std::max(attempt, 1)) - 1;
    wanted = static_cast<size_t>(
        per_attempt[std::min(index, per_attempt.size() - 1)]);
  }
  std::vector<int> members;
  for (int worker = 0; worker < options_.workers && members.size() < wanted;
       ++worker) {
    if (!excluded_.contains(worker)) members.push_back(worker);
  }
  return members;
}

std::string Membership::RecordCulprit(std::optional<int> worker) {
  consecutive_failures_ =
      worker && worker == last_culprit_ ? consecutive_failures_ + 1 : 1;
  last_culprit_ = worker;
  const bool elastic = options_.minimum() < options_.workers;
  if (!worker || !elastic || consecutive_failures_ < kFailuresToExclude)
    return "";
  const int left = options_.workers - static_cast<int>(excluded_.size()) - 1;
  if (left < options_.minimum()) {
    too_few_reason_ = fmt::format(
        "worker {} failed {} times in a row; without it there are {} workers, "
        "expected at least {}",
        *worker, consecutive_failures_, left, options_.minimum());
    return too_few_reason_;
  }
  excluded_.insert(*worker);
  last_culprit_.reset();
  return fmt::format("worker {} failed {} times in a row; going on without it",
                     *worker, consecutive_failures_);
}

}  // namespace gauntlet
