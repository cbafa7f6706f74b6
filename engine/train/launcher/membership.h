// Membership policy: the workers of each attempt, if a job may run with fewer
// than its full number.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gauntlet {

struct MembershipOptions {
  int workers = 1;  // maximum number
  // Minimum number of workers with which the job continues when others fail
  // repeatedly; 0: `workers`.
  int min_workers = 0;
  // Number of workers per attempt, from attempt 1; the last entry applies to
  // all later attempts. Empty: `workers`.
  std::vector<int> per_attempt;

  int minimum() const { return min_workers == 0 ? workers : min_workers; }
};

class Membership {
 public:
  explicit Membership(MembershipOptions options);

  // Returns the workers of the attempt, by rank: those with the lowest numbers
  // that are not excluded.
  std::vector<int> WorkersOf(int attempt) const;

  // Records the worker that caused a loss, which ended the attempt or led to a
  // rejoin; nullopt: unknown. If the worker is now excluded, or the remaining
  // workers would be too few, returns a text for people that says so; else "".
  std::string RecordCulprit(std::optional<int> worker);

  // Reason why the remaining workers are too few; "" if they are enough.
  const std::string& too_few_reason() const { return too_few_reason_; }

 private:
  MembershipOptions options_;
  std::set<int> excluded_;
  std::optional<int> last_culprit_;
  int consecutive_failures_ = 0;
  std::string too_few_reason_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_
