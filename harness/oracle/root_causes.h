// What the losses of workers in a run came from.
//
// A worker is lost that ends without a word, or that leaves because it cannot
// go on: as a rule because another one is lost. So a loss explains no other.
// What does is a root cause: a fault that may end a life, an error that a fault
// gave, or a worker that said that no restart could help.
#ifndef GAUNTLET_HARNESS_ORACLE_ROOT_CAUSES_H_
#define GAUNTLET_HARNESS_ORACLE_ROOT_CAUSES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "harness/oracle/evidence.h"

namespace gauntlet {

struct RootCause {
  const LifeEvents* life = nullptr;  // that it happened to
  int64_t t_ns = 0;
  uint64_t step = 0;     // of the life by then; 0: not known
  bool at_once = false;  // the life was over there and then
  bool lingers = false;  // its process may be there after it was given up
  // Until then it stands between all that lived when it came; before its time:
  // it does not.
  int64_t parts_all_until_ns = INT64_MIN;
  int64_t over_ns = INT64_MAX;  // when it was survived
  bool hits_all = false;        // whatever lived then
};

// Whether the life ended without a word.
bool EndedInSilence(const LifeEvents& life);
// Whether it left because it could not go on, and may be started again.
bool LeftToBeRestarted(const LifeEvents& life);
// Whether it left as no restart would help: its last state could not be saved,
// or there was no room to begin.
bool LeftToStartLater(const LifeEvents& life);
// The former of the two.
bool LeftUnsaved(const LifeEvents& life);

class RootCauses {
 public:
  explicit RootCauses(const Evidence& evidence);
  // Whether one of them may be why that life was lost: one of the same life of
  // the job, before anybody there noticed a loss. Where workers restart singly:
  // one that was not over and made up for when the life was lost.
  bool Explain(const LifeEvents& lost) const;

 private:
  void AddFirings();
  void AddNotices();
  void AddLeavers();
  bool LeftForAnError(const LifeEvents& life) const;
  bool TrainTogether(const LifeEvents& a, const LifeEvents& b) const;
  bool IsOfOneAttempt(const RootCause& cause, const LifeEvents& lost) const;
  bool MayReach(const RootCause& cause, const LifeEvents& lost) const;
  bool IsStillParted(const RootCause& cause, const LifeEvents& lost) const;
  bool KeepsItOut(const Firing& firing) const;
  bool MayCountAgain(const RootCause& cause, const LifeEvents& lost) const;
  bool IsMadeUpFor(const RootCause& cause, const LifeEvents& lost) const;

  const Evidence& evidence_;
  std::vector<RootCause> causes_;
  std::map<int, int64_t> noticed_ns_;  // the first loss, by life of the job
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_ORACLE_ROOT_CAUSES_H_
