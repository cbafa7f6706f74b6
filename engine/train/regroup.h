// What a launcher knows of workers that meet again after a loss: the policy
// `rejoin`, without the processes.
//
// A matter is open from the start of an attempt, or from a loss, until the
// chief says that a generation has formed. Who has died by then, or has left
// that generation already, opens the next one at once: signs of two workers
// have no order between them. While it is open each worker is meeting, dead, or
// not heard of yet; who of a generation that had formed is still not heard of
// after the grace is overdue. Who is in a save cannot notice a loss, and has
// until the save's own bound; one whose heart has stopped is in neither a step
// nor a save, and has the shorter grace of a survivor.
#ifndef GAUNTLET_ENGINE_TRAIN_REGROUP_H_
#define GAUNTLET_ENGINE_TRAIN_REGROUP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/world/clock.h"

namespace gauntlet {

class Regroup {
 public:
  struct Graces {
    Duration step{0};    // for who may be in the middle of one
    Duration silent{0};  // for who was not even heard to beat
  };
  explicit Regroup(const Graces& graces) : graces_(graces) {}

  // All of these were started.
  void Begin(std::vector<int> members);

  // Signs, in the order they come. A word of meeting by a worker that left a
  // generation before the one that has formed is old news, and so is a word of
  // a generation that is not later than that. Which lives a generation has is
  // not known here: where its chief is heard only after a worker of it has died
  // and been started again, that worker has to be heard of once more.
  void Died(int worker, Time now);
  // `left`: the generation, 0 for none; `silent`: whom it did not even hear to
  // beat, if that was why it left: who stands still, in a save or not.
  void Meets(int worker, uint64_t left, std::optional<int> silent, Time now);
  void Formed(uint64_t generation, Time now);
  // Is in a save until then at the latest, or through with it.
  void Saves(int worker, Time until);
  void Saved(int worker);

  // Was started again, and is about to meet the others.
  void Started(int worker);

  // The launcher itself did not run for so long: every deadline moves.
  void AllowForPause(Duration missed);

  bool is_open() const { return open_; }
  // A loss that the launcher has yet to go into.
  bool is_news() const { return news_; }
  // False: only of deaths that were taken note of before the generation formed
  // that did not wait for them.
  bool TakeNote();
  Time opened_at() const { return opened_at_; }
  const std::set<int>& dead() const { return dead_; }
  // Whether each worker is meeting or dead.
  bool IsComplete() const;
  // Those neither dead nor meeting, once their grace is over, and their save.
  std::vector<int> Overdue(Time now) const;

 private:
  struct Silence {
    Time since;
    uint64_t left;  // by the one that did not hear it
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

#endif  // GAUNTLET_ENGINE_TRAIN_REGROUP_H_
