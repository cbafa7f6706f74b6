// Saves of the training loop: their order, the handling of failed saves, and
// the reports on saves.
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
#include "engine/train/state/resident_state.h"
#include "engine/train/time_totals.h"
#include "engine/world/world.h"

namespace gauntlet {

// Cause of a stop: a step that was set in advance, or a preemption notice,
// after which little time is left.
enum class StopCause : uint8_t { kStep, kNotice };

// Pauses between the tries of the last save. There are five, each twice as long
// as the one before. All ranks receive the same outcome, so all make the same
// number of tries.
struct LastSaveRetries {
  static constexpr int kPauses = 5;
  // Total of the pauses, as a multiple of the first pause.
  static constexpr int kFirstPausesInAll = (1 << kPauses) - 1;
  // First pause without a preemption notice: the five pauses take 31 s in
  // total.
  static constexpr Duration kFirstPause = std::chrono::seconds(1);
  // Shortest first pause after a preemption notice: the five pauses take 3.1 s
  // in total.
  static constexpr Duration kShortestFirstPause =
      std::chrono::milliseconds(100);

  // Returns the first pause after a preemption notice. The five pauses then
  // take a quarter of the grace period, but at least 3.1 s and at most 31 s.
  static Duration FirstPauseWithin(Duration grace) {
    return std::clamp(grace / (4 * kFirstPausesInAll), kShortestFirstPause,
                      kFirstPause);
  }
};

// `sync` saves in the foreground; null: no store. With `async`, periodic saves
// are written in the background.
struct SaveStrategy {
  CollectiveSave* sync = nullptr;
  AsyncSave* async = nullptr;
};

// A non-finite tensor that a save found in the state of step `step`.
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
    ResidentState& resident;
    NoticeRequests& notices;
    LoopReports& reports;
    TimeTotals& times;
  };
  // The referenced objects outlive this object.
  LoopSaves(const Parts& parts, const SaveStrategy& strategy);

  // Sets the summary whose curves are synced before each save.
  void SetSummary(RunSummary& summary) { summary_ = &summary; }

  bool has_store() const { return strategy_.sync != nullptr; }

  // Bits returns this rank's bits about its saves, for the next exchange.
  // OnRequestsAgreed takes the combined bits of all ranks from that exchange.
  uint32_t Bits() const;
  void OnRequestsAgreed(uint32_t requests);
  // Advances the save in flight by one stage if the bits of the last
  // OnRequestsAgreed allow it; a second call needs new bits. On the chief: if
  // the retirement of old checkpoints has ended, returns its error.
  Status Advance();
  // Waits until the save in flight has ended.
  Status FinishInFlightSave();
  // On the chief: waits for the retirement of old checkpoints, and returns its
  // error.
  Status EndRetirement();

  // Makes a periodic save; a failure does not end training. An asynchronous
  // save first waits for the one in flight.
  Status SaveDue();
  // As SaveDue, but always synchronous: after a notice, there may be no time to
  // complete an asynchronous save.
  Status SaveImmediately();
  // SaveBeforeStop and SaveFinalState make the last save, at a stop and at the
  // end of training. If all tries fail (LastSaveRetries), they return Ok, and
  // unsaved() is the error.
  Status SaveBeforeStop(StopCause cause);
  Status SaveFinalState();
  // Reason why the last state is not saved; Ok if it is, or if no last save was
  // made.
  const Status& unsaved() const { return unsaved_; }

  // Returns the non-finite tensor that a save has found since the last call;
  // nullopt: none. With OnNotFinite::kStop that save was refused. A refusal is
  // no error.
  std::optional<NotFiniteSave> TakeNotFinite() {
    return std::exchange(not_finite_, std::nullopt);
  }
  // On the chief: among the checkpoints whose saves have ended, the name of the
  // newest one with a finite state; empty: there is none.
  const std::string& newest_finite() const { return newest_finite_; }

  // Returns the time for which training waited for saves since the last call.
  Duration TakeTime() { return std::exchange(time_, Duration::zero()); }

  bool took_time() const { return time_ != Duration::zero(); }

  Time last_save() const { return last_save_; }
  void SetLastSave(Time time) { last_save_ = time; }
  // True if a worker was lost in a save, a save is in flight, or the chief may
  // still be retiring old checkpoints. Other workers may then detect a loss
  // only after the save, or after the retirement.
  bool is_in_save() const {
    return in_save_ || is_in_flight() || retirement_.has_value();
  }
  // kRequired if a save was begun and has not completed. If the loop ends in an
  // error, this save never completes.
  SaveNeed save_need() const {
    return save_incomplete_ || is_in_flight() ? SaveNeed::kRequired
                                              : SaveNeed::kNone;
  }
  // If saves are asynchronous, exchanges the SaveNeed that each rank carried
  // over from the previous generation, and returns kRequired if any rank sent
  // kRequired. Otherwise returns kNone.
  Result<SaveNeed> AnySaveNeed(SaveNeed own_need);

 private:
  // The chief's task that retires old checkpoints, tracked on every rank.
  struct Retirement {
    Time since;             // end of the save that it follows
    Duration save_took{0};  // of that save
  };
  bool is_in_flight() const {
    return strategy_.async != nullptr && strategy_.async->is_in_flight();
  }
  bool IsSaved() const;
  Status TrySave(RetirementTime retirement_time);
  Status CompleteRetirement();
  Status SaveLast(Duration first_pause);
  void PauseBeforeRetry(Duration pause, Duration on_notice);
  Status BeginAsync();
  std::optional<SaveOutcome> AdvanceInFlightSave();
  Status HandleOutcome(const SaveOutcome& outcome);
  Status HandleFailure(const Status& status, uint64_t step);
  void NoteTimes();
  void ReportWarnings();
  bool WasRefused(const Status& status, uint64_t step);

  World* world_;
  const TrainOptions* options_;
  ResidentState* resident_;
  const TrainState* state_;  // resident_->host()
  NoticeRequests* notices_;
  LoopReports* reports_;
  TimeTotals* times_;
  SaveStrategy strategy_;
  RunSummary* summary_ = nullptr;
  std::optional<uint32_t> agreed_requests_;
  // Step and phase of the newest save in this generation.
  std::optional<uint64_t> saved_at_;
  uint64_t saved_phase_ = 0;
  Time last_save_;
  Duration time_{0};
  bool in_save_ = false;
  // Set from a save until an exchange shows that the chief's task is done.
  std::optional<Retirement> retirement_;
  bool save_incomplete_ = false;
  bool source_is_reported_ = false;
  std::optional<NotFiniteSave> not_finite_;
  std::string newest_finite_;
  Status unsaved_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_LOOP_SAVES_H_
