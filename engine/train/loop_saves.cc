#include "engine/train/loop_saves.h"

#include <algorithm>
#include <utility>

#include "engine/train/wait_unless_told.h"
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

LoopSaves::LoopSaves(const Parts& parts, const SaveWays& ways)
    : world_(&parts.world),
      options_(&parts.options),
      state_(&parts.state),
      notices_(&parts.notices),
      reports_(&parts.reports),
      times_(&parts.times),
      ways_(ways),
      last_save_(parts.world.clock.Now()) {
  if (ways_.whole == nullptr) return;
  newest_finite_ = ways_.whole->NewestFinite();
  if (options_->on_not_finite == OnNotFinite::kStop) {
    ways_.whole->RefuseNotFinite();
  }
}

bool LoopSaves::IsSaved() const {
  const Position& position = state_->position;
  if (is_under_way() && ways_.beside->step() == position.step &&
      ways_.beside->phase() == position.phase_of()) {
    return true;
  }
  return saved_at_ == position.step && saved_phase_ == position.phase;
}

void LoopSaves::NoteTimes() {
  for (const TimedSave& save : ways_.whole->TakeTimedSaves())
    times_->AddSave(save);
}

void LoopSaves::SayWarnings() {
  for (const std::string& warning : ways_.whole->TakeWarnings()) {
    reports_->Say(warning);
  }
}

// Takes note of what the save found in the state; true iff that is why it was
// not saved, which is no error. REQUIRES: no task writes.
bool LoopSaves::WasRefused(const Status& status, uint64_t step) {
  if (status.ok()) newest_finite_ = ways_.whole->NewestFinite();
  const std::string& tensor = ways_.whole->not_finite();
  if (tensor.empty()) return false;
  not_finite_ = {.step = step, .tensor = tensor};
  return status.code() == Code::kFailedPrecondition && ways_.whole->refused();
}

Result<SaveDebt> LoopSaves::AnyDebt(SaveDebt own) {
  if (ways_.beside == nullptr) return SaveDebt::kNone;
  return ways_.whole->AnyDebt(state_->position, own);
}

Status LoopSaves::TrySave() {
  const Position& position = state_->position;
  if (IsSaved()) return OkStatus();
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  const Status status = ways_.whole->Save(*state_, {}, [this] {
    reports_->Expect(options_->cluster.save_timeout);
    reports_->TellOfSave(options_->cluster.save_timeout);
  });
  reports_->TellOfSave(Duration::zero());
  NoteTimes();
  if (WasRefused(status, position.step)) return OkStatus();
  in_save_ = !status.ok() && !MayGoOnAfter(status);
  SayWarnings();
  last_save_ = world_->clock.Now();
  time_ += last_save_ - begin;
  notices_->SaveTook(last_save_ - begin);
  if (status.ok()) {
    saved_at_ = position.step;
    saved_phase_ = position.phase;
  }
  return status;
}

Status LoopSaves::TakeFailure(const Status& status, uint64_t step) {
  if (!MayGoOnAfter(status)) {
    return Annotate(status, fmt::format("save of step {}", step));
  }
  reports_->Say(
      fmt::format("save of step {} failed: {}", step, status.message()));
  return OkStatus();
}

Status LoopSaves::SaveDue() {
  return ways_.beside == nullptr ? SaveAtOnce() : BeginBeside();
}

Status LoopSaves::SaveAtOnce() {
  RETURN_IF_ERROR(FinishUnderWay());
  const Status status = TrySave();
  return status.ok() ? status : TakeFailure(status, state_->position.step);
}

Status LoopSaves::SaveForTheStop(StopCause cause) {
  RETURN_IF_ERROR(FinishUnderWay());
  return SaveLast(cause == StopCause::kStep ? LastTries::kFirstPause
                                            : LastTries::FirstPauseWithin(
                                                  options_->preemption.grace));
}

Status LoopSaves::SaveTheEnd() { return SaveLast(LastTries::kFirstPause); }

Status LoopSaves::SaveLast(Duration first_pause) {
  const uint64_t step = state_->position.step;
  const Time began = world_->clock.Now();
  Duration pause = first_pause;
  Duration hurried = LastTries::kFirstPauseOnNotice;
  Status status = TrySave();
  for (int i = 0; i < LastTries::kPauses && MayGoOnAfter(status); ++i) {
    reports_->Say(
        fmt::format("final checkpoint (step {}) failed: {}; retrying in "
                    "{:.1f} s",
                    step, status.message(), SecondsOf(pause)));
    PauseBeforeAnotherTry(pause, hurried);
    pause *= 2;
    hurried *= 2;
    status = TrySave();
  }
  if (!MayGoOnAfter(status)) {
    return Annotate(status, fmt::format("save of step {}", step));
  }
  unsaved_ = {
      status.code(),
      fmt::format("step {} was not saved after {:.0f} s of retries: {}", step,
                  SecondsOf(world_->clock.Now() - began), status.message())};
  return OkStatus();
}

// `hurried` is the pause of who is told to go. It waits in the next try for
// those who are not told, who must be there before it takes them for lost.
void LoopSaves::PauseBeforeAnotherTry(Duration pause, Duration hurried) {
  pause = std::min(pause, options_->cluster.save_timeout / 2);
  const Duration expected = pause + options_->cluster.step_timeout;
  reports_->Expect(expected);
  reports_->TellOfSave(expected);
  const Time until = world_->clock.Now() + pause;
  if (!WaitUnlessTold(*world_, until)) return;
  world_->clock.SleepUntil(std::min(until, world_->clock.Now() + hurried));
}

Status LoopSaves::BeginBeside() {
  if (IsSaved()) return OkStatus();
  const uint64_t step = state_->position.step;
  std::string waited;
  if (is_under_way()) {
    const uint64_t before = ways_.beside->step();
    const Time begin = world_->clock.Now();
    RETURN_IF_ERROR(FinishUnderWay());
    waited = fmt::format("waited {:.3f} s for the save of step {}",
                         SecondsOf(world_->clock.Now() - begin), before);
    reports_->Say(fmt::format("save of step {} {}", step, waited));
  }
  reports_->Expect(options_->cluster.save_timeout);
  const Time begin = world_->clock.Now();
  if (summary_ != nullptr) summary_->BeforeSave();
  reports_->TellOfSave(options_->cluster.save_timeout);
  const Status status = ways_.beside->Begin(*state_, waited);
  reports_->TellOfSave(Duration::zero());
  last_save_ = world_->clock.Now();
  time_ += last_save_ - begin;
  if (is_under_way()) {
    if (!std::exchange(copy_was_told_, true)) {
      reports_->Say("saves are written beside the training, from " +
                    SourceOf(*ways_.beside, options_->checkpoint.mode));
    }
    return OkStatus();
  }
  SayWarnings();
  if (!status.ok()) {
    lost_one_ = in_save_ = !MayGoOnAfter(status);
    return TakeFailure(status, step);
  }
  saved_at_ = step;
  saved_phase_ = state_->position.phase;
  return OkStatus();
}

Status LoopSaves::Advance() {
  const std::optional<uint32_t> heard = std::exchange(heard_, std::nullopt);
  if (ways_.beside == nullptr || !heard || !ways_.beside->MayAdvance(*heard)) {
    return OkStatus();
  }
  const std::optional<SaveOutcome> outcome = TakeOn();
  return outcome ? Take(*outcome) : OkStatus();
}

// Takes what is under way one stage further, as long as that takes.
std::optional<SaveOutcome> LoopSaves::TakeOn() {
  const Time begin = world_->clock.Now();
  reports_->Expect(options_->cluster.save_timeout);
  reports_->TellOfSave(options_->cluster.save_timeout);
  std::optional<SaveOutcome> outcome = ways_.beside->Advance();
  reports_->TellOfSave(Duration::zero());
  time_ += world_->clock.Now() - begin;
  return outcome;
}

Status LoopSaves::FinishUnderWay() {
  std::optional<SaveOutcome> outcome;
  while (is_under_way() && !outcome) outcome = TakeOn();
  return outcome ? Take(*outcome) : OkStatus();
}

Status LoopSaves::Take(const SaveOutcome& outcome) {
  NoteTimes();
  notices_->SaveTook(outcome.took);
  if (!is_under_way()) {
    SayWarnings();
    if (WasRefused(outcome.status, outcome.step)) return OkStatus();
  }
  if (outcome.status.ok()) {
    saved_at_ = outcome.step;
    saved_phase_ = static_cast<uint64_t>(outcome.phase);
    return OkStatus();
  }
  lost_one_ = !MayGoOnAfter(outcome.status);
  in_save_ = lost_one_;
  return TakeFailure(outcome.status, outcome.step);
}

}  // namespace gauntlet
