#include "engine/train/loop/loop_saves.h"

#include <algorithm>
#include <utility>

#include "engine/train/notice/wait_or_notice.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

double SecondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string SourceOf(const AsyncSave& save, SaveMode mode) {
  if (save.spare() != nullptr) {
    return fmt::format(
        "the state itself; updates write to a second set of arrays of {} bytes",
        save.spare()->bytes());
  }
  return fmt::format("a copy of {} bytes{}", save.copy_capacity(),
                     mode == SaveMode::kZeroCopy
                         ? " (zero-copy needs the state in host memory)"
                         : "");
}

}  // namespace

LoopSaves::LoopSaves(const Parts& parts, const SaveStrategy& strategy)
    : world_(&parts.world),
      options_(&parts.options),
      resident_(&parts.resident),
      state_(&parts.resident.host()),
      notices_(&parts.notices),
      reports_(&parts.reports),
      times_(&parts.times),
      strategy_(strategy),
      last_save_(parts.world.clock.Now()) {
  if (strategy_.sync == nullptr) return;
  newest_finite_ = strategy_.sync->newest_finite();
  if (options_->on_not_finite == OnNotFinite::kStop) {
    strategy_.sync->RefuseNotFinite();
  }
}

uint32_t LoopSaves::Bits() const {
  uint32_t bits = strategy_.async == nullptr ? 0 : strategy_.async->Bits();
  if (has_store() && strategy_.sync->RetirementRuns()) bits |= kRetiring;
  return bits;
}

void LoopSaves::OnRequestsAgreed(uint32_t requests) {
  agreed_requests_ = requests & kSaveBits;
  if (!retirement_) return;
  // This duration is an estimate: the ranks exchange the exact duration of the
  // task only when the next save begins.
  notices_->RecordSaveSoFar(retirement_->save_took +
                            (world_->clock.Now() - retirement_->since));
  if ((requests & kRetiring) == 0) retirement_.reset();
}

bool LoopSaves::IsSaved() const {
  const Position& position = state_->position;
  if (is_in_flight() && strategy_.async->step() == position.step &&
      strategy_.async->phase() == position.phase_of()) {
    return true;
  }
  return saved_at_ == position.step && saved_phase_ == position.phase;
}

void LoopSaves::NoteTimes() {
  for (const TimedSave& save : strategy_.sync->TakeTimedSaves())
    times_->AddSave(save);
}

void LoopSaves::ReportWarnings() {
  for (const std::string& warning : strategy_.sync->TakeWarnings()) {
    reports_->ReportLine(warning);
  }
}

// Records values that the save found not finite. Returns true iff the save was
// refused because of them. A refusal is no error. REQUIRES: no task is writing.
bool LoopSaves::WasRefused(const Status& status, uint64_t step) {
  newest_finite_ = strategy_.sync->newest_finite();
  const std::string& tensor = strategy_.sync->not_finite_tensor();
  if (tensor.empty()) return false;
  not_finite_ = {.step = step, .tensor = tensor};
  return status.code() == Code::kFailedPrecondition &&
         strategy_.sync->refused();
}

Result<SaveNeed> LoopSaves::AnySaveNeed(SaveNeed own_need) {
  if (strategy_.async == nullptr) return SaveNeed::kNone;
  return strategy_.sync->AnySaveNeed(state_->position, own_need);
}

Status LoopSaves::TrySave(RetirementTime retirement_time) {
  const Position& position = state_->position;
  if (IsSaved()) return OkStatus();
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  const Status status =
      strategy_.sync->Save(*resident_, retirement_time, {}, [this] {
        reports_->AnnounceReportWithin(options_->cluster.save_timeout);
        reports_->ReportSave(options_->cluster.save_timeout);
      });
  reports_->ReportSave(Duration::zero());
  NoteTimes();
  retirement_.reset();  // the save has waited for it
  if (WasRefused(status, position.step)) return OkStatus();
  in_save_ = !status.ok() && !CanContinueAfter(status);
  ReportWarnings();
  last_save_ = world_->clock.Now();
  time_ += last_save_ - begin;
  // Adds the time of the retirement: the last save may have to wait for it.
  notices_->RecordSave(last_save_ - begin + strategy_.sync->retirement_took());
  if (status.ok()) {
    saved_at_ = position.step;
    saved_phase_ = position.phase;
    if (retirement_time == RetirementTime::kInBackground) {
      retirement_ = {.since = last_save_, .save_took = last_save_ - begin};
    }
  }
  return status;
}

Status LoopSaves::HandleFailure(const Status& status, uint64_t step) {
  if (!CanContinueAfter(status)) {
    return Annotate(status, fmt::format("save of step {}", step));
  }
  reports_->ReportLine(
      fmt::format("save of step {} failed: {}", step, status.message()));
  return OkStatus();
}

Status LoopSaves::SaveDue() {
  return strategy_.async == nullptr ? SaveImmediately() : BeginAsync();
}

Status LoopSaves::SaveImmediately() {
  RETURN_IF_ERROR(FinishInFlightSave());
  const Status status = TrySave(RetirementTime::kInBackground);
  return status.ok() ? status : HandleFailure(status, state_->position.step);
}

Status LoopSaves::SaveBeforeStop(StopCause cause) {
  RETURN_IF_ERROR(FinishInFlightSave());
  return SaveLast(cause == StopCause::kStep ? LastSaveRetries::kFirstPause
                                            : LastSaveRetries::FirstPauseWithin(
                                                  options_->preemption.grace));
}

Status LoopSaves::SaveFinalState() {
  return SaveLast(LastSaveRetries::kFirstPause);
}

Status LoopSaves::SaveLast(Duration first_pause) {
  const uint64_t step = state_->position.step;
  const Time began = world_->clock.Now();
  Duration pause = first_pause;
  Duration on_notice =
      LastSaveRetries::FirstPauseWithin(options_->preemption.grace);
  Status status = TrySave(RetirementTime::kImmediately);
  for (int i = 0; i < LastSaveRetries::kPauses && CanContinueAfter(status);
       ++i) {
    reports_->ReportLine(
        fmt::format("final checkpoint (step {}) failed: {}; retrying in "
                    "{:.1f} s",
                    step, status.message(), SecondsOf(pause)));
    PauseBeforeRetry(pause, on_notice);
    pause *= 2;
    on_notice *= 2;
    status = TrySave(RetirementTime::kImmediately);
  }
  if (!CanContinueAfter(status)) {
    return Annotate(status, fmt::format("save of step {}", step));
  }
  unsaved_ = {
      status.code(),
      fmt::format("step {} was not saved after {:.0f} s of retries: {}", step,
                  SecondsOf(world_->clock.Now() - began), status.message())};
  return OkStatus();
}

// Pauses before the next try. Once this worker has a preemption notice, it
// pauses for at most another `on_notice`. In the next try, it waits for the
// workers without a notice, which pause longer. No pause exceeds half of
// save_timeout, so that this worker does not declare those workers lost.
void LoopSaves::PauseBeforeRetry(Duration pause, Duration on_notice) {
  pause = std::min(pause, options_->cluster.save_timeout / 2);
  const Duration expected = pause + options_->cluster.step_timeout;
  reports_->AnnounceReportWithin(expected);
  reports_->ReportSave(expected);
  const Time until = world_->clock.Now() + pause;
  if (!WaitOrNotice(*world_, until)) return;
  world_->clock.SleepUntil(std::min(until, world_->clock.Now() + on_notice));
}

Status LoopSaves::BeginAsync() {
  if (IsSaved()) return OkStatus();
  const uint64_t step = state_->position.step;
  std::string waited;
  if (is_in_flight()) {
    const uint64_t before = strategy_.async->step();
    const Time begin = world_->clock.Now();
    RETURN_IF_ERROR(FinishInFlightSave());
    waited = fmt::format("waited {:.3f} s for the save of step {}",
                         SecondsOf(world_->clock.Now() - begin), before);
    reports_->ReportLine(fmt::format("save of step {} {}", step, waited));
  }
  reports_->AnnounceReportWithin(options_->cluster.save_timeout);
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  reports_->ReportSave(options_->cluster.save_timeout);
  const Status status = strategy_.async->Begin(*resident_, waited);
  reports_->ReportSave(Duration::zero());
  last_save_ = world_->clock.Now();
  time_ += last_save_ - begin;
  if (is_in_flight()) {
    if (!std::exchange(source_is_reported_, true)) {
      reports_->ReportLine(
          "saves are written in the background, from " +
          SourceOf(*strategy_.async, options_->checkpoint.mode));
    }
    return OkStatus();
  }
  ReportWarnings();
  if (!status.ok()) {
    save_incomplete_ = in_save_ = !CanContinueAfter(status);
    return HandleFailure(status, step);
  }
  saved_at_ = step;
  saved_phase_ = state_->position.phase;
  return OkStatus();
}

Status LoopSaves::Advance() {
  if (has_store() && strategy_.sync->MayEndRetirement()) {
    RETURN_IF_ERROR(CompleteRetirement());
  }
  const std::optional<uint32_t> requests =
      std::exchange(agreed_requests_, std::nullopt);
  if (strategy_.async == nullptr || !requests ||
      !strategy_.async->MayAdvance(*requests)) {
    return OkStatus();
  }
  const std::optional<SaveOutcome> outcome = AdvanceInFlightSave();
  return outcome ? HandleOutcome(*outcome) : OkStatus();
}

// Advances the save in flight by one stage, and waits for its tasks.
std::optional<SaveOutcome> LoopSaves::AdvanceInFlightSave() {
  const Time begin = world_->clock.Now();
  reports_->AnnounceReportWithin(options_->cluster.save_timeout);
  reports_->ReportSave(options_->cluster.save_timeout);
  std::optional<SaveOutcome> outcome = strategy_.async->Advance();
  reports_->ReportSave(Duration::zero());
  time_ += world_->clock.Now() - begin;
  return outcome;
}

Status LoopSaves::FinishInFlightSave() {
  std::optional<SaveOutcome> outcome;
  while (is_in_flight() && !outcome) outcome = AdvanceInFlightSave();
  return outcome ? HandleOutcome(*outcome) : OkStatus();
}

Status LoopSaves::EndRetirement() {
  if (!has_store() || !strategy_.sync->has_retirement_task()) return OkStatus();
  const Time begin = world_->clock.Now();
  reports_->AnnounceReportWithin(options_->cluster.save_timeout);
  reports_->ReportSave(options_->cluster.save_timeout);
  const Status retired = CompleteRetirement();
  reports_->ReportSave(Duration::zero());
  time_ += world_->clock.Now() - begin;
  return retired;
}

Status LoopSaves::CompleteRetirement() {
  const Status retired = strategy_.sync->EndRetirement();
  NoteTimes();
  ReportWarnings();
  return retired;
}

Status LoopSaves::HandleOutcome(const SaveOutcome& outcome) {
  NoteTimes();
  notices_->RecordSave(outcome.took);
  if (!is_in_flight()) {
    ReportWarnings();
    if (WasRefused(outcome.status, outcome.step)) return OkStatus();
  }
  if (outcome.status.ok()) {
    saved_at_ = outcome.step;
    saved_phase_ = static_cast<uint64_t>(outcome.phase);
    return OkStatus();
  }
  save_incomplete_ = !CanContinueAfter(outcome.status);
  in_save_ = save_incomplete_;
  return HandleFailure(outcome.status, outcome.step);
}

}  // namespace gauntlet
