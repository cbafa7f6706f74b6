// State of workers that meet again after a loss, in the launcher: the policy
// `rejoin`, without the processes.
//
// A matter is open from the start of an attempt, or from a loss, until the
// chief reports that a generation has formed. A worker that has died by then,
// or has left that generation already, opens the next matter at once: messages
// of two workers have no order between them.
//
// While a matter is open each worker is meeting, dead, or not yet heard of. A
// worker of a formed generation that is not heard of within the grace is
// overdue. A worker in a save cannot notice a loss, and has until the save's
// own bound. A worker whose heartbeat has stopped is in neither a step nor a
// save, and has the shorter grace of a survivor.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_REJOIN_TRACKER_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_REJOIN_TRACKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/world/clock.h"

namespace gauntlet {

class RejoinTracker {
 public:
  struct Graces {
    Duration step{0};    // for a worker that may be within a step
    Duration silent{0};  // for a worker whose heartbeat stopped
  };
  explicit RejoinTracker(const Graces& graces) : graces_(graces) {}

  // All of these workers were started.
  void Begin(std::vector<int> members);

  // Messages, in the order they arrive. A meeting message of a worker that left
  // a generation before the one that has formed is outdated, and so is the
  // message that this or an earlier generation has formed. The incarnations of
  // a generation are not known here: if its chief's message arrives only after
  // a worker of it has died and been restarted, that worker must be heard of
  // once more.
  void Died(int worker, Time now);
  // `left`: the generation, 0 for none. `silent`: the rank whose heartbeat had
  // stopped, if the worker left for that reason: it hangs, in a save or not.
  void Meets(int worker, uint64_t left, std::optional<int> silent, Time now);
  void Formed(uint64_t generation, Time now);
  // The worker is in a save until then at the latest, or its save is over.
  void Saves(int worker, Time until);
  void Saved(int worker);

  // The worker was restarted, and is about to meet the others.
  void Started(int worker);

  // The launcher itself did not run for so long: every deadline moves.
  void AllowForPause(Duration missed);

  bool is_open() const { return open_; }
  // True for a loss that the launcher has not handled yet.
  bool has_new_losses() const { return news_; }
  // Marks the losses as handled. Returns false if all of them had been handled
  // before: a generation formed without the dead workers.
  bool ConsumeLosses();
  Time opened_at() const { return opened_at_; }
  const std::set<int>& dead() const { return dead_; }
  // Returns true if each worker is meeting or dead.
  bool IsComplete() const;
  // Returns the workers neither dead nor meeting whose grace, and save, are
  // over.
  std::vector<int> Overdue(Time now) const;

 private:
  struct Silence {
    Time since;
    uint64_t left;  // by the worker that reports it
  };
  void Open(Time now);
  Time WaitsUntil(int worker) const;

  Graces graces_;
  std::vector<int> members_;
  bool open_ = false;
  bool news_ = false;
  bool noted_before_ = false;  // all the deaths of the matter that is open
  bool has_formed_ = false;    // before the matter was opened
  uint64_t formed_ = 0;
  Time opened_at_{};
  std::map<int, uint64_t> meeting_;  // or about to; the generation they left
  std::set<int> dead_;
  std::map<int, Time> saves_until_;
  std::map<int, Silence> silent_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_REJOIN_TRACKER_H_
