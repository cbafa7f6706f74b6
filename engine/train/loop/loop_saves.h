// The saves of the training loop: when one waits for another, what a failed one
// costs, and what is told of it.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_SAVES_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_SAVES_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/status.h"
#include "engine/train/loop/loop_reports.h"
#include "engine/train/loop/run_summary.h"
#include "engine/train/notice/notice_requests.h"
#include "engine/train/options.h"
#include "engine/train/save/async_save.h"
#include "engine/train/save/collective_save.h"
#include "engine/train/state/train_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/world.h"

namespace gauntlet {

// A stop comes from a step that was named in advance, or from a notice, after
// which there is little time.
enum class StopCause : uint8_t { kStep, kNotice };

// Pauses between the tries of a last save: five, each twice as long as the one
// before. The outcome is the same on all ranks, so all try equally often.
struct LastTries {
  static constexpr int kPauses = 5;
  static constexpr int kFirstPausesInAll = (1 << kPauses) - 1;
  // Half a minute in all.
  static constexpr Duration kFirstPause = std::chrono::seconds(1);
  // Three seconds in all: whoever gave notice may not wait longer.
  static constexpr Duration kFirstPauseOnNotice =
      std::chrono::milliseconds(100);

  // After a notice: a quarter of the grace, if that is more.
  static Duration FirstPauseWithin(Duration grace) {
    return std::clamp(grace / (4 * kFirstPausesInAll), kFirstPauseOnNotice,
                      kFirstPause);
  }
};

// `sync` saves in the foreground; null: no store. With `async`, periodic saves
// are written in the background.
struct SaveStrategy {
  CollectiveSave* sync = nullptr;
  AsyncSave* async = nullptr;
};

// A save found values that are not finite in the state of that step.
struct NotFiniteSave {
  uint64_t step = 0;
  std::string tensor;
};

// Every rank makes the same calls at the same boundaries. An error ends the run
// on this worker.
class LoopSaves {
 public:
  struct Parts {
    World& world;
    const TrainOptions& options;
    const TrainState& state;
    NoticeRequests& notices;
    LoopReports& reports;
    TimeTotals& times;
  };
  // All of it outlives this.
  LoopSaves(const Parts& parts, const SaveStrategy& strategy);

  // Curves are written out before each save.
  void WriteOut(RunSummary& summary) { summary_ = &summary; }

  bool has_store() const { return strategy_.sync != nullptr; }

  // A save that is under way: what this rank adds to an exchange's integer, and
  // what all ranks said in it.
  uint32_t Bits() const {
    return strategy_.async == nullptr ? 0 : strategy_.async->Bits();
  }
  void OnRequestsAgreed(uint32_t requests) { heard_ = requests & kSaveBits; }
  // Takes it on with what was heard last, once.
  Status Advance();
  // Waits until it has come out.
  Status FinishUnderWay();

  // One that is due now and then: it may fail. Written beside the training it
  // waits for the one before it.
  Status SaveDue();
  // Likewise, but training waits for it: there may not be time for more.
  Status SaveAtOnce();
  // The last save, of the state at a stop or at the end of training. Ok also if
  // all tries fail (LastTries): then unsaved() is the error.
  Status SaveForTheStop(StopCause cause);
  Status SaveTheEnd();
  // Why the last state is not saved; Ok if it is, or was not to be.
  const Status& unsaved() const { return unsaved_; }

  // The one found since the last call. With OnNotFinite::kStop that state was
  // not saved, which is no error.
  std::optional<NotFiniteSave> TakeNotFinite() {
    return std::exchange(not_finite_, std::nullopt);
  }
  // On the chief: name of the newest checkpoint whose state is finite, among
  // those whose save has come out; empty: there is none.
  const std::string& newest_finite() const { return newest_finite_; }

  // Time that saves took from training since the last call.
  Duration TakeTime() { return std::exchange(time_, Duration::zero()); }

  bool took_time() const { return time_ != Duration::zero(); }

  Time last_save() const { return last_save_; }
  void SetLastSave(Time time) { last_save_ = time; }
  // True if a loss was found in a save, or one is under way: other workers may
  // still be in it.
  bool is_in_save() const { return in_save_ || is_under_way(); }
  // Debt of a save that was under way and has not completed: if the loop ends
  // in an error, it never will.
  SaveNeed save_need() const {
    return lost_one_ || is_under_way() ? SaveNeed::kRequired : SaveNeed::kNone;
  }
  // Exchanges the ranks' debts from the generation before, if saves are
  // asynchronous. Returns kRequired if any rank has one.
  Result<SaveNeed> AnySaveNeed(SaveNeed own);

 private:
  bool is_under_way() const {
    return strategy_.async != nullptr && strategy_.async->is_under_way();
  }
  bool IsSaved() const;
  Status TrySave();
  Status SaveLast(Duration first_pause);
  void PauseBeforeAnotherTry(Duration pause, Duration hurried);
  Status BeginBeside();
  std::optional<SaveOutcome> TakeOn();
  Status Take(const SaveOutcome& outcome);
  Status TakeFailure(const Status& status, uint64_t step);
  void NoteTimes();
  void SayWarnings();
  bool WasRefused(const Status& status, uint64_t step);

  World* world_;
  const TrainOptions* options_;
  const TrainState* state_;
  NoticeRequests* notices_;
  LoopReports* reports_;
  TimeTotals* times_;
  SaveStrategy strategy_;
  RunSummary* summary_ = nullptr;
  std::optional<uint32_t> heard_;
  std::optional<uint64_t> saved_at_;  // step of the newest save of this life
  uint64_t saved_phase_ = 0;
  Time last_save_;
  Duration time_{0};
  bool in_save_ = false;
  bool lost_one_ = false;
  bool copy_was_told_ = false;
  std::optional<NotFiniteSave> not_finite_;
  std::string newest_finite_;
  Status unsaved_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_SAVES_H_
