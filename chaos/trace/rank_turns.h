// Lets the ranks of a distributed program take turns at watched files: the
// lowest rank goes first, so that the order of operations is the same in each
// run.
//
// A rank has its turn when every lower rank waits. A rank waits if all of its
// threads have slept for a while and used almost no CPU time, as in a barrier
// or a collective. A rank that polls never sleeps; it counts as waiting once it
// has touched no watched file for a longer time.
#ifndef GAUNTLET_CHAOS_TRACE_RANK_TURNS_H_
#define GAUNTLET_CHAOS_TRACE_RANK_TURNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "chaos/trace/traced_threads.h"

namespace gauntlet {

class RankTurns {
 public:
  // Times are nanoseconds of CLOCK_MONOTONIC.

  // Observes the state of the processes of all ranks.
  void Look(TracedThreads& threads, int64_t now);
  // Records that an operation of the rank begins.
  void OnOperation(int32_t rank, int64_t now);
  // Returns true if it was the rank's turn at the last Look. `since`: time at
  // which the rank began to wait for the turn.
  bool HasTurn(int32_t rank, int64_t since);
  // Returns true if all other ranks wait, as of the last Look.
  bool DoOthersWait(int32_t rank, int64_t since);

  // Ranks that were treated as waiting although they did not sleep.
  const std::set<int32_t>& polling() const { return polling_; }

 private:
  struct Rank {
    bool is_alive = false;  // at the last look
    std::optional<int64_t> asleep_since;
    int64_t processor_time = 0;  // nanoseconds
    int64_t last_operation = 0;
  };
  bool Waits(int32_t rank, int64_t since);

  std::map<int32_t, Rank> ranks_;
  std::set<int32_t> polling_;
  std::optional<int64_t> first_look_;
  int64_t now_ = 0;  // of the last look
};

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_TRACE_RANK_TURNS_H_
