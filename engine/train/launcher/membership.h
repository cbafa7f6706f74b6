// Which workers a life of a job has: the policy of a launcher whose workers may
// be fewer than the job's full number.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gauntlet {

struct MembershipOptions {
  int workers = 1;  // at most
  // The fewest that the job is gone on with where others fail again and again;
  // 0: all of them.
  int min_workers = 0;
  // How many workers each life of the job has, from life 1 on; the last holds
  // for all that follow. Empty: `workers`.
  std::vector<int> by_life;

  int least() const { return min_workers == 0 ? workers : min_workers; }
};

class Membership {
 public:
  // Losses in a row by one worker after which it is done without.
  static constexpr int kFailuresToLeaveOut = 3;

  explicit Membership(MembershipOptions options);

  // The workers of that life, by rank: the lowest numbers of those that are not
  // left out.
  std::vector<int> Of(int life) const;

  // A life of the job, or of one worker, ended in a loss that this worker
  // began; nullopt: nobody knows who. Returns what follows for people, "" for
  // nothing.
  std::string RecordCulprit(std::optional<int> worker);

  // Why the job cannot go on with what is left; "" if it can.
  const std::string& too_few() const { return too_few_; }

 private:
  MembershipOptions options_;
  std::set<int> left_out_;
  std::optional<int> last_blamed_;
  int in_a_row_ = 0;
  std::string too_few_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_MEMBERSHIP_H_
