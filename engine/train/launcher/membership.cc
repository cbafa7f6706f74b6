#include "engine/train/launcher/membership.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/restart_limits.h"
#include <fmt/format.h>

namespace gauntlet {

Membership::Membership(MembershipOptions options)
    : options_(std::move(options)) {
  CHECK(options_.workers >= 1 && options_.least() >= 1 &&
            options_.least() <= options_.workers,
        "a membership has bounds");
}

std::vector<int> Membership::Of(int attempt) const {
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
    if (!left_out_.contains(worker)) members.push_back(worker);
  }
  return members;
}

std::string Membership::RecordCulprit(std::optional<int> worker) {
  in_a_row_ = worker && worker == last_blamed_ ? in_a_row_ + 1 : 1;
  last_blamed_ = worker;
  const bool elastic = options_.least() < options_.workers;
  if (!worker || !elastic || in_a_row_ < kFailuresToLeaveOut) return "";
  const int left = options_.workers - static_cast<int>(left_out_.size()) - 1;
  if (left < options_.least()) {
    too_few_ = fmt::format(
        "worker {} failed {} times in a row; without it there are {} workers, "
        "expected at least {}",
        *worker, in_a_row_, left, options_.least());
    return too_few_;
  }
  left_out_.insert(*worker);
  last_blamed_.reset();
  return fmt::format("worker {} failed {} times in a row; going on without it",
                     *worker, in_a_row_);
}

}  // namespace gauntlet
