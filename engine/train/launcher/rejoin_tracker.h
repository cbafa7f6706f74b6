// Tracks which workers have arrived at the next rendezvous after a loss. The
// launcher uses it to decide, with RestartPolicy::kRejoin, which workers to
// kill and when to restart. It handles no processes itself.
//
// A rejoin is open from the start of an attempt, or from a loss, until the
// chief reports that a generation has formed. Messages of different workers
// arrive in any order. If a worker of that generation was already reported
// dead, or at the next rendezvous, the chief's report immediately opens the
// next rejoin.
//
// While a rejoin is open, each worker has arrived, is dead, or has not reported
// yet. A worker of a formed generation that does not report within the grace is
// overdue. A worker in a save cannot detect a loss, so it is overdue only after
// the time limit of the save. Once the save has ended, the worker's grace
// begins. A worker whose heartbeat has stopped counts as hanging, not as busy
// with a step or a save, and has a shorter grace (Graces::silent).
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

  // Called before these workers are started.
  void Begin(std::vector<int> members);

  // OnDeath to OnSaveEnded record reports; call them in the order in which the
  // reports arrive. OnRendezvous ignores a report whose `left` is older than
  // the newest formed generation. Exception: while a rejoin is open, it accepts
  // the report of a new incarnation, which has left no generation. OnFormed
  // ignores a generation that is not newer than the newest formed one.
  //
  // The tracker does not know which incarnations belong to a generation. So if
  // a worker is restarted before the chief reports its generation, OnFormed
  // marks the worker as not arrived, although the new incarnation may have
  // reported already. The new incarnation must report again.
  void OnDeath(int worker, Time now);
  // `left`: the generation that the worker left; 0: none. If the worker left
  // because the heartbeat of another worker stopped, `silent` is that other
  // worker. The silent worker then counts as hanging, even if it is in a save.
  void OnRendezvous(int worker, uint64_t left, std::optional<int> silent,
                    Time now);
  void OnFormed(uint64_t generation, Time now);
  // OnSaveBegun: the worker is in a save, until `until` at the latest.
  // OnSaveEnded: the save has ended, and the grace of the worker begins.
  void OnSaveBegun(int worker, Time until);
  void OnSaveEnded(int worker, Time now);

  // The worker was restarted. Counts it as arrived.
  void OnRestarted(int worker);

  // The launcher itself was paused for this long: extends all deadlines.
  void AllowForPause(Duration missed);

  bool is_open() const { return open_; }
  // True if there is a loss that the launcher has not handled yet.
  bool has_new_losses() const { return has_new_losses_; }
  // Marks the losses as handled. Returns false if they had been handled before.
  // This happens if OnFormed has marked them as new again, because dead workers
  // were not restarted yet.
  bool ConsumeLosses();
  Time opened_at() const { return opened_at_; }
  const std::set<int>& dead() const { return dead_; }
  // Returns true if each worker has arrived or is dead.
  bool IsComplete() const;
  // Returns the workers, neither dead nor arrived, whose time has expired.
  std::vector<int> OverdueWorkers(Time now) const;

 private:
  struct Silence {
    Time since;
    uint64_t left;  // generation of the worker that reports it
  };
  void Open(Time now);
  Time DeadlineOf(int worker) const;

  Graces graces_;
  std::vector<int> members_;
  bool open_ = false;
  bool has_new_losses_ = false;
  bool handled_before_ = false;  // all deaths of the open rejoin were handled
  bool has_formed_ = false;      // a generation has formed before
  uint64_t formed_ = 0;
  Time opened_at_{};
  // The workers at the rendezvous, each with the generation that it left; 0: it
  // was just restarted.
  std::map<int, uint64_t> arrived_;
  std::set<int> dead_;
  // Limit of the save in progress, or end of the grace after the last save.
  std::map<int, Time> saves_until_;
  std::map<int, Silence> silent_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_REJOIN_TRACKER_H_
