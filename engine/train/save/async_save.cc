#include "engine/train/save/async_save.h"

#include <algorithm>
#include <utility>

#include "engine/ckpt/format/text_record.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/cluster/link/chunk_format.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Last message of a rank in a save: the outcome (only that of the chief
// counts), and the durations of the rank's tasks.
struct TaskResult {
  Status status;
  Duration write{0};
  Duration commit{0};
};

std::string EncodeTaskResult(const TaskResult& result) {
  return EncodeList({EncodeStatus(result.status),
                     std::to_string(result.write.count()),
                     std::to_string(result.commit.count())});
}

Result<TaskResult> DecodeTaskResult(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<std::string_view> fields, ViewList(bytes));
  if (fields.size() != 3) return DataLoss("save: malformed outcome");
  const auto write = ParseNumber<int64_t>(fields[1]);
  const auto commit = ParseNumber<int64_t>(fields[2]);
  if (!write || !commit || *write < 0 || *commit < 0) {
    return DataLoss("save: malformed outcome");
  }
  return TaskResult{.status = DecodeStatus(fields[0]),
                    .write = Duration(*write),
                    .commit = Duration(*commit)};
}

// Planted bug: takes the tensors within `whole` from the live state.
void UseLiveTensors(std::span<const TensorView> live,
                    std::span<const float> whole,
                    std::vector<TensorView>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (IsWithin(live[i].bytes, std::as_bytes(whole))) {
      tensors[i].bytes = live[i].bytes;
    }
  }
}

int64_t TensorBytes(std::span<const TensorView> tensors) {
  size_t bytes = 0;
  for (const TensorView& tensor : tensors) bytes += tensor.bytes.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

AsyncSave::AsyncSave(World& world, CollectiveSave& save, Duration timeout,
                     StateCopy& copy, SpareArrays* spare)
    : world_(&world),
      save_(&save),
      timeout_(timeout),
      copy_(&copy),
      spare_(spare),
      task_(world, "save"),
      task_times_(world.clock) {}

void AsyncSave::Reserve(const TrainState& state) {
  copy_->Reserve(
      state, spare_ == nullptr ? save_->OwnPartOf(state.View()) : state.View());
}

uint32_t AsyncSave::Bits() const {
  if (stage_ == Stage::kNone) return 0;
  uint32_t bits = 0;
  if (!task_.is_done()) bits |= kSaveInFlight;
  if (own_failed_ || task_.IsOverdue(timeout_)) bits |= kAbortSave;
  return bits;
}

Status AsyncSave::Begin(ResidentState& resident, const std::string& waited) {
  CHECK(!is_in_flight(), "one save at a time");
  const Time began = world_->clock.Now();
  save_->times().Restart();
  ASSIGN_OR_RETURN(
      attempt_,
      save_->Begin(resident, spare_ == nullptr ? DigestTime::kImmediately
                                               : DigestTime::kInBackground));
  if (attempt_.name.empty()) return OkStatus();
  stage_ = Stage::kWriting;
  reports_.clear();
  own_failed_ = false;
  own_digest_.reset();
  commit_ = OkStatus();
  write_took_ = commit_took_ = Duration::zero();
  const PointContext here = {.step = attempt_.head.step,
                             .epoch = attempt_.head.epoch};
  Status ready = attempt_.begin_status;
  if (ready.ok()) ready = world_->faults.Hit(Point::kCopy, here);
  Result<std::vector<TensorView>> own =
      ready.ok() ? CopyOrFreeze(resident)
                 : Result<std::vector<TensorView>>(ready);
  save_->times().Lap(TimePart::kCopy);
  if (own.ok()) {
    world_->events.Emit({.kind = EventKind::kSaveCopied,
                         .step = attempt_.head.step,
                         .phase = attempt_.head.phase,
                         .count = TensorBytes(*own),
                         .detail = waited});
    StartWriting(*std::move(own));
  } else {
    own_part_ = own.status();
    own_failed_ = true;
  }
  // Drops the views into the state: training changes it from now on.
  attempt_.own_tensors.clear();
  begin_took_ = world_->clock.Now() - began;
  return OkStatus();
}

Result<std::vector<TensorView>> AsyncSave::CopyOrFreeze(
    ResidentState& resident) {
  const TrainState& state = resident.host();
  const bool live = world_->faults.Planted(PlantedBug::kWriteLiveState);
  if (spare_ != nullptr) {
    RETURN_IF_ERROR(copy_->Take(resident, state.View()));
    if (!live) spare_->Freeze();
    return save_->OwnPartOf(copy_->tensors());
  }
  RETURN_IF_ERROR(copy_->Take(resident, attempt_.own_tensors));
  std::vector<TensorView> copied(copy_->tensors().begin(),
                                 copy_->tensors().end());
  if (live) UseLiveTensors(attempt_.own_tensors, state.parameters, copied);
  return copied;
}

void AsyncSave::StartWriting(std::vector<TensorView> own) {
  task_times_.Restart();
  task_.Start([this, own = std::move(own)] {
    Status arrived = copy_->AwaitArrival();
    task_times_.Lap(TimePart::kFetch);
    if (arrived.ok()) arrived = copy_->Check();
    if (spare_ != nullptr) own_digest_ = StateDigest(copy_->tensors());
    task_times_.Lap(TimePart::kDigest);
    own_part_ = arrived.ok() ? save_->WritePart(attempt_, own, task_times_)
                             : Result<WrittenPart>(arrived);
    write_took_ = world_->clock.Now() - task_.started_at();
    own_failed_ = !own_part_.ok();
  });
}

bool AsyncSave::MayAdvance(uint32_t agreed) const {
  return is_in_flight() &&
         ((agreed & kSaveInFlight) == 0 || (agreed & kAbortSave) != 0);
}

std::optional<SaveOutcome> AsyncSave::Advance() {
  CHECK(is_in_flight(), "there is no save to take further");
  save_->times().Skip();
  if (stage_ == Stage::kWriting) return EndWriting();
  return EndCommit();
}

Status AsyncSave::WaitForTask() {
  const Status ended = task_.WaitWithin(
      timeout_,
      fmt::format("{} {}", stage_ == Stage::kWriting ? "writing" : "committing",
                  attempt_.name));
  save_->times().Lap(TimePart::kWait);
  return ended;
}

// Exchanges the results of writing the parts. If a part failed or the save is
// refused, ends the save; else starts the commit.
std::optional<SaveOutcome> AsyncSave::EndWriting() {
  const Status waited = WaitForTask();
  if (!waited.ok()) return End(waited);
  if (own_digest_) {
    attempt_.state_digest = attempt_.head.state_digest = *own_digest_;
  }
  Result<std::vector<std::string>> reports =
      save_->ExchangeParts(attempt_, own_part_);
  if (!reports.ok()) return End(reports.status());
  reports_ = std::move(*reports);
  stage_ = Stage::kCommitting;
  Status failure = CollectiveSave::CheckParts(attempt_, reports_);
  if (failure.ok()) failure = save_->Refusal(attempt_);
  own_failed_ = false;
  if (!failure.ok()) {
    commit_ = save_->is_chief() ? save_->Abort(attempt_, failure) : OkStatus();
    return EndCommit();
  }
  if (save_->is_chief()) StartCommit();
  return std::nullopt;
}

void AsyncSave::StartCommit() {
  task_times_.Skip();
  task_.Start([this] {
    commit_ = save_->Commit(attempt_, reports_, task_times_);
    if (commit_.ok())
      commit_ = save_->RetireOldCheckpoints(attempt_, task_times_);
    commit_took_ = world_->clock.Now() - task_.started_at();
  });
}

SaveOutcome AsyncSave::EndCommit() {
  const Status waited = WaitForTask();
  if (!waited.ok()) return End(waited);
  const Result<std::vector<std::string>> results = save_->AllGather(
      attempt_,
      EncodeTaskResult(
          {.status = commit_, .write = write_took_, .commit = commit_took_}));
  if (!results.ok()) return End(results.status());
  for (size_t rank = 0; rank < results->size(); ++rank) {
    const Result<TaskResult> result = DecodeTaskResult((*results)[rank]);
    if (!result.ok()) return End(result.status());
    if (rank == 0) commit_ = result->status;
    write_took_ = std::max(write_took_, result->write);
    commit_took_ = std::max(commit_took_, result->commit);
  }
  if (commit_.ok()) save_->End(attempt_);
  return End(commit_);
}

SaveOutcome AsyncSave::End(const Status& status) {
  // Even after an error, the save counts as in flight until this rank's task
  // has ended.
  if (!task_.is_joinable()) {
    Thaw();
    stage_ = Stage::kNone;
    save_->EmitTimes({.attempt = attempt_,
                      .bytes = BytesOf(own_part_),
                      .background = task_times_.Take()},
                     status);
  }
  return {.step = attempt_.head.step,
          .phase = attempt_.head.phase,
          .status = status,
          // A task that is still running counts with its time limit.
          .took = task_.is_joinable()
                      ? begin_took_ + timeout_
                      : begin_took_ + write_took_ + commit_took_};
}

void AsyncSave::Thaw() {
  if (spare_ != nullptr) spare_->Thaw();
}

Status AsyncSave::EndTask() {
  if (!task_.WaitUntil(task_.started_at() + timeout_)) {
    return DeadlineExceeded("the task of a save hangs");
  }
  Thaw();
  return CanContinueAfter(commit_) ? OkStatus() : commit_;
}

void AsyncSave::JoinTask() {
  task_.WaitUntil(kNever);
  Thaw();
}

}  // namespace gauntlet
