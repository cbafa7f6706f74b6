#include "engine/train/save/collective_save.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/format/text_record.h"
#include "engine/ckpt/state/shard_plan.h"
#include "engine/ckpt/state/state_digest.h"
#include "engine/train/state/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Checks that all ranks have the same digest. The error names the ranks whose
// digest differs from the most frequent digest.
Status CheckAgreement(uint64_t step,
                      std::span<const std::string_view> digests) {
  if (std::ranges::all_of(
          digests, [&](std::string_view d) { return d == digests[0]; })) {
    return OkStatus();
  }
  std::map<std::string_view, int> votes;
  for (const std::string_view digest : digests) ++votes[digest];
  const auto most = std::max_element(
      votes.begin(), votes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string holders = fmt::format("{} ranks have", most->second);
  std::string odd;
  for (size_t rank = 0; rank < digests.size(); ++rank) {
    if (digests[rank] == most->first) {
      if (most->second == 1) holders = fmt::format("rank {} has", rank);
      continue;
    }
    odd += fmt::format("{}rank {} has {}", odd.empty() ? "" : ", ", rank,
                       digests[rank]);
  }
  return FailedPrecondition(
      fmt::format("step {}: state digests differ between workers: {} {}, {}",
                  step, holders, most->first, odd));
}

std::string DigestText(const std::optional<Digest>& digest) {
  return digest ? digest->ToString() : "";
}

// Indices of fields in an encoded shard. kNotFiniteField: name of the first
// learned tensor that is not finite, or "". kFirstTensor: name of the first
// tensor; the names of the other tensors follow, up to the end.
constexpr size_t kNotFiniteField = 3;
constexpr size_t kFirstTensor = 4;
// Checks the name, which comes from the network and becomes a path. Empty:
// nothing is to be saved.
Status CheckSaveName(std::string_view name, uint64_t step) {
  if (name.empty()) return OkStatus();
  const EntryName entry = ParseEntryName(name);
  if (entry.kind == EntryKind::kSaveTmp && entry.checkpoint.step == step) {
    return OkStatus();
  }
  return DataLoss(fmt::format("save of step {}: malformed name", step));
}

std::string EncodeShard(const ShardFile& shard) {
  std::string fields;
  AppendToList(shard.name, fields);
  AppendToList(std::to_string(shard.bytes), fields);
  AppendToList(shard.digest.ToString(), fields);
  const auto learned = std::ranges::find_if(shard.not_finite, IsLearned);
  AppendToList(learned == shard.not_finite.end() ? "" : *learned, fields);
  for (const std::string& name : shard.tensors) AppendToList(name, fields);
  return fields;
}

Result<ShardFile> DecodeShard(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<std::string_view> fields, ViewList(bytes));
  if (fields.size() < kFirstTensor) {
    return DataLoss("shard report: too few fields");
  }
  const auto size = ParseNumber<uint64_t>(fields[1]);
  const std::optional<Digest> digest = Digest::Parse(fields[2]);
  if (!size || !digest) {
    return DataLoss("shard report: malformed size or digest");
  }
  ShardFile shard = {.name = std::string(fields[0]), .bytes = *size};
  shard.digest = *digest;
  if (!fields[kNotFiniteField].empty()) {
    shard.not_finite.emplace_back(fields[kNotFiniteField]);
  }
  shard.tensors.assign(fields.begin() + kFirstTensor, fields.end());
  return shard;
}

// Number of fields in the message that a rank sends when a save begins. The
// last field is a duration in nanoseconds.
constexpr size_t kFieldsOfBegin = 5;

// A report has two fields, the outcome and the encoded shard, or three: also
// the digest of the rank's state, if a task computed it.
constexpr size_t kFieldsWithDigest = 3;
constexpr size_t kDigestField = 2;

// Returns the shards, by rank; the first `shards` ranks write one each. The
// error is that of the first rank whose part failed.
Result<std::vector<ShardFile>> ShardsOfReports(
    std::span<const std::string> reports, int shards) {
  std::vector<ShardFile> parts;
  parts.reserve(static_cast<size_t>(shards));
  for (size_t rank = 0; rank < reports.size(); ++rank) {
    ASSIGN_OR_RETURN(const std::vector<std::string_view> fields,
                     ViewList(reports[rank]));
    if (fields.size() != 2 && fields.size() != kFieldsWithDigest) {
      return DataLoss("save: malformed report");
    }
    const Status written = DecodeStatus(fields[0]);
    if (!written.ok()) {
      return Annotate(written, fmt::format("rank {}'s shard", rank));
    }
    if (rank >= static_cast<size_t>(shards)) {
      if (fields[1].empty()) continue;
      return DataLoss(fmt::format("rank {}: expected no shard, as {} are saved",
                                  rank, shards));
    }
    ASSIGN_OR_RETURN(ShardFile part, DecodeShard(fields[1]));
    // The name comes from the network and becomes a path.
    const std::string expected = ShardName(static_cast<int>(rank), shards);
    if (part.name != expected) {
      return DataLoss(
          fmt::format("rank {}'s shard: expected the name {}", rank, expected));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Returns the first tensor that a rank reports as not finite; empty if there is
// none.
std::string NotFiniteIn(std::span<const std::string> reports) {
  for (const std::string& report : reports) {
    const auto fields = ViewList(report);
    if (!fields.ok() || fields->size() < 2) continue;
    const auto shard = ViewList((*fields)[1]);
    if (!shard.ok() || shard->size() <= kNotFiniteField) continue;
    if (const auto tensor = (*shard)[kNotFiniteField]; !tensor.empty()) {
      return std::string(tensor);
    }
  }
  return "";
}

}  // namespace

bool CanContinueAfter(const Status& save) {
  return save.code() == Code::kIoError ||
         save.code() == Code::kResourceExhausted ||
         save.code() == Code::kForbidden || save.code() == Code::kNotFound ||
         save.code() == Code::kAlreadyExists;
}

std::string EncodeStatus(const Status& status) {
  return static_cast<char>(status.code()) + status.message();
}

Status DecodeStatus(std::string_view bytes) {
  if (bytes.empty() ||
      static_cast<uint8_t>(bytes[0]) > static_cast<uint8_t>(kLastCode)) {
    return DataLoss("status: torn");
  }
  if (bytes[0] == static_cast<char>(Code::kOk)) return OkStatus();
  return {static_cast<Code>(bytes[0]), std::string(bytes.substr(1))};
}

CollectiveSave::CollectiveSave(World& world, CheckpointStore& store, Ring& ring,
                               std::string job_json, uint64_t generation,
                               Duration timeout)
    : world_(&world),
      store_(&store),
      ring_(&ring),
      rank_(ring.rank()),
      size_(ring.size()),
      job_json_(std::move(job_json)),
      generation_(generation),
      timeout_(timeout),
      newest_finite_(NewestFinite()),
      times_(world.clock),
      retirement_(world, "retirement"),
      retirement_times_(world.clock) {}

Status CollectiveSave::Save(ResidentState& resident,
                            RetirementTime retirement_time,
                            std::span<const std::string> only_parameters,
                            const std::function<void()>& before_try) {
  times_.Restart();
  if (has_retirement_task() && before_try) before_try();
  RETURN_IF_ERROR(EndRetirement());
  ASSIGN_OR_RETURN(const Digest state_digest, resident.NewestDigest());
  times_.Lap(TimePart::kDigest);
  RETURN_IF_ERROR(resident.SyncToHost());
  times_.Lap(TimePart::kFetch);
  while (true) {
    if (before_try) before_try();
    SaveTry tried = {
        .attempt = NewAttempt(resident.host(), state_digest, only_parameters)};
    times_.Lap(TimePart::kDigest);
    const Status saved = TrySave(tried, retirement_time);
    const bool is_saved_already = saved.ok() && tried.attempt.name.empty();
    if (!is_saved_already) {
      EmitTimes({.attempt = tried.attempt, .bytes = tried.bytes}, saved);
    }
    if (saved.ok() || !tried.space_freed) return saved;
  }
}

Status CollectiveSave::TrySave(SaveTry& tried, RetirementTime retirement_time) {
  SaveAttempt& attempt = tried.attempt;
  const Status begun = AgreeOnBegin(attempt);
  tried.space_freed = attempt.space_freed;
  RETURN_IF_ERROR(begun);
  if (attempt.name.empty()) return OkStatus();
  Result<WrittenPart> own =
      attempt.begin_status.ok()
          ? WritePart(attempt, attempt.own_tensors, times_)
          : attempt.begin_status;
  tried.bytes = BytesOf(own);
  ASSIGN_OR_RETURN(const std::vector<std::string> reports,
                   ExchangeParts(attempt, std::move(own)));
  // All ranks decide the same, as they have the same reports.
  const Status refusal = Refusal(attempt);
  if (!refusal.ok()) return is_chief() ? Abort(attempt, refusal) : refusal;
  Status outcome;
  if (is_chief()) outcome = CommitAndRetire(attempt, reports, retirement_time);
  ASSIGN_OR_RETURN(const std::vector<std::string> outcomes,
                   AllGather(attempt, EncodeList({EncodeStatus(outcome),
                                                  SpaceFreedMessage()})));
  ASSIGN_OR_RETURN(const std::vector<std::string_view> fields,
                   ViewList(outcomes[0]));
  if (fields.size() != 2) return DataLoss("save: malformed outcome");
  tried.space_freed = !fields[1].empty();
  RETURN_IF_ERROR(DecodeStatus(fields[0]));
  End(attempt);
  return OkStatus();
}

Result<SaveAttempt> CollectiveSave::Begin(ResidentState& resident,
                                          DigestTime digest_time) {
  RETURN_IF_ERROR(EndRetirement());
  Digest state_digest;
  if (digest_time == DigestTime::kImmediately ||
      HasCheckpointOf(resident.host().position)) {
    ASSIGN_OR_RETURN(state_digest, resident.NewestDigest());
  }
  SaveAttempt attempt = NewAttempt(resident.host(), state_digest, {});
  attempt.digest_time = digest_time;
  if (digest_time == DigestTime::kInBackground) attempt.state_digest.reset();
  times_.Lap(TimePart::kDigest);
  RETURN_IF_ERROR(AgreeOnBegin(attempt));
  return attempt;
}

// Returns true if a checkpoint of this position exists. If so, the digest of
// the state decides whether there is anything to save.
bool CollectiveSave::HasCheckpointOf(const Position& position) const {
  return std::ranges::any_of(store_->lineage(),
                             [&](const CommittedCheckpoint& there) {
                               return there.ref.step == position.step &&
                                      there.phase == position.phase_of();
                             });
}

SaveAttempt CollectiveSave::NewAttempt(
    const TrainState& state, const Digest& state_digest,
    std::span<const std::string> only_parameters) const {
  const Position& position = state.position;
  SaveAttempt attempt = {
      .head = {.step = position.step,
               .epoch = position.epoch,
               .position = position.sample,
               .phase = position.phase_of(),
               .state_digest = state_digest,
               .job_json = job_json_},
      .state_digest = state_digest,
      .key = {.step = position.step, .phase = position.phase_of()},
      .not_finite_since = state.not_finite_since.value_or(position.step),
  };
  if (!LossIsFinite(state)) {
    attempt.head.not_finite_since = attempt.not_finite_since;
  }
  const auto take = [&](std::span<const TensorView> tensors) {
    attempt.own_tensors = OwnPartOf(tensors);
    attempt.shards = ShardsOf(tensors);
  };
  if (only_parameters.empty()) {
    take(state.View());
  } else {
    const std::vector<TensorView> tensors = state.TensorsOf(only_parameters);
    take(tensors);
    attempt.head.state_digest = StateDigest(tensors);
  }
  // On the chief, the store reaches this fault point.
  if (!is_chief()) {
    attempt.begin_status = world_->faults.Hit(
        Point::kSaveBegin, {.step = position.step, .epoch = position.epoch});
  }
  return attempt;
}

// Returns the number of shards: at least one, and at most one per tensor. Empty
// shards would only cost time: each rank that restores the state opens all
// shards.
int CollectiveSave::ShardsOf(std::span<const TensorView> tensors) const {
  const int most = max_shards_ > 0 ? std::min(max_shards_, size_) : size_;
  const size_t filled = std::min(tensors.size(), kMaxShards);
  return std::clamp(static_cast<int>(filled), 1, most);
}

std::vector<TensorView> CollectiveSave::OwnPartOf(
    std::span<const TensorView> tensors) const {
  const std::vector<size_t> shard_of =
      PartitionTensors(tensors, ShardsOf(tensors));
  const auto own_shard = static_cast<size_t>(rank_);
  std::vector<TensorView> own;
  own.reserve(static_cast<size_t>(std::ranges::count(shard_of, own_shard)));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (shard_of[i] == own_shard) own.push_back(tensors[i]);
  }
  return own;
}

Status CollectiveSave::AgreeOnBegin(SaveAttempt& attempt) {
  not_finite_.clear();
  refused_ = false;
  Status began;
  space_freed_ = false;
  if (is_chief()) {
    const Result<std::optional<std::string>> name =
        store_->BeginSave(attempt.head, generation_);
    if (name.ok()) attempt.name = name->value_or("");
    began = FreeSpaceAfter(name.status());
    times_.Lap(TimePart::kPrepare);
  }
  ASSIGN_OR_RETURN(
      const std::vector<std::string> all,
      AllGather(
          attempt,
          EncodeList({DigestText(attempt.state_digest), EncodeStatus(began),
                      attempt.name, SpaceFreedMessage(),
                      std::to_string(retirement_took_.count())})));
  std::vector<std::string_view> digests;
  digests.reserve(all.size());
  for (const std::string& item : all) {
    ASSIGN_OR_RETURN(const std::vector<std::string_view> fields,
                     ViewList(item));
    const auto took = fields.size() == kFieldsOfBegin
                          ? ParseNumber<int64_t>(fields.back())
                          : std::nullopt;
    if (!took) return DataLoss("save: malformed announcement");
    digests.push_back(fields[0]);
    if (digests.size() == 1) {
      retirement_took_ = Duration(*took);
      began = DecodeStatus(fields[1]);
      attempt.name = fields[2];
      attempt.space_freed = !fields[3].empty();
      RETURN_IF_ERROR(CheckSaveName(attempt.name, attempt.head.step));
    }
  }
  RETURN_IF_ERROR(CheckAgreement(attempt.head.step, digests));
  return began;
}

Result<WrittenPart> CollectiveSave::WritePart(
    const SaveAttempt& attempt, std::span<const TensorView> tensors,
    TimeSplit& times) {
  if (rank_ >= attempt.shards) return WrittenPart();
  ASSIGN_OR_RETURN(
      ShardFile shard,
      store_->WriteShard(attempt.name, rank_, attempt.shards, tensors, &times));
  return WrittenPart(std::move(shard));
}

Result<std::vector<std::string>> CollectiveSave::ExchangeParts(
    const SaveAttempt& attempt, Result<WrittenPart> own) {
  const Status agree = world_->faults.Hit(
      Point::kSaveAgree,
      {.step = attempt.head.step, .epoch = attempt.head.epoch});
  if (own.ok() && !agree.ok()) own = agree;
  std::vector<std::string> report = {
      EncodeStatus(own.status()), own.ok() && *own ? EncodeShard(**own) : ""};
  if (attempt.digest_time == DigestTime::kInBackground) {
    report.push_back(DigestText(attempt.state_digest));
  }
  Result<std::vector<std::string>> reports =
      AllGather(attempt, EncodeList(report));
  if (reports.ok()) not_finite_ = NotFiniteIn(*reports);
  return reports;
}

Status CollectiveSave::Refusal(const SaveAttempt& attempt) {
  refused_ = refuses_not_finite_ &&
             (!not_finite_.empty() || attempt.head.not_finite_since);
  if (!refused_) return OkStatus();
  return FailedPrecondition(
      fmt::format("step {}: {} not finite: not saved", attempt.head.step,
                  not_finite_.empty() ? "the loss is"
                                      : not_finite_ + " has values that are"));
}

std::string CollectiveSave::NewestFinite() const {
  const auto lineage = store_->lineage();
  const auto newest = std::find_if(
      lineage.rbegin(), lineage.rend(),
      [](const auto& checkpoint) { return !checkpoint.not_finite_since; });
  return newest == lineage.rend() ? "" : newest->ref.name;
}

Result<std::vector<std::string>> CollectiveSave::AllGather(
    const SaveAttempt& attempt, const std::string& payload) {
  Result<std::vector<std::string>> all =
      ring_->AllGather(attempt.key, payload, timeout_);
  times_.Lap(TimePart::kExchange);
  return all;
}

Result<SaveNeed> CollectiveSave::AnySaveNeed(const Position& position,
                                             SaveNeed own_need) {
  ASSIGN_OR_RETURN(
      const std::vector<std::string> all,
      ring_->AllGather({.step = position.step, .phase = position.phase_of()},
                       own_need == SaveNeed::kRequired ? "a save is owed" : "",
                       timeout_));
  const bool any = std::ranges::any_of(
      all, [](const std::string& payload) { return !payload.empty(); });
  return any ? SaveNeed::kRequired : SaveNeed::kNone;
}

Status CollectiveSave::CheckParts(const SaveAttempt& attempt,
                                  const std::vector<std::string>& reports) {
  RETURN_IF_ERROR(ShardsOfReports(reports, attempt.shards).status());
  if (attempt.digest_time == DigestTime::kImmediately) return OkStatus();
  std::vector<std::string_view> digests;
  for (const std::string& report : reports) {
    ASSIGN_OR_RETURN(const std::vector<std::string_view> fields,
                     ViewList(report));
    if (fields.size() != kFieldsWithDigest) {
      return DataLoss("save: malformed report");
    }
    digests.push_back(fields[kDigestField]);
  }
  return CheckAgreement(attempt.head.step, digests);
}

Status CollectiveSave::Commit(const SaveAttempt& attempt,
                              const std::vector<std::string>& reports,
                              TimeSplit& times) {
  const Result<std::vector<ShardFile>> shards =
      ShardsOfReports(reports, attempt.shards);
  if (!shards.ok()) {
    const Status aborted = store_->AbortSave(attempt.name, shards.status());
    return FreeSpaceAfter(aborted.ok() ? shards.status() : aborted);
  }
  CheckpointHead head = attempt.head;
  if (!NotFiniteIn(reports).empty()) {
    head.not_finite_since = attempt.not_finite_since;
  }
  // A failed commit removes its own remains.
  const Status committed =
      store_->Commit(attempt.name, head, generation_, *shards, &times).status();
  newest_finite_ = NewestFinite();
  return FreeSpaceAfter(committed);
}

Status CollectiveSave::FreeSpaceAfter(Status why) {
  if (why.code() != Code::kResourceExhausted) return why;
  const Result<bool> freed = store_->FreeSpace();
  if (!freed.ok()) return freed.status();
  space_freed_ = *freed;
  return why;
}

Status CollectiveSave::Abort(const SaveAttempt& attempt,
                             const Status& failure) {
  const Status aborted = store_->AbortSave(attempt.name, failure);
  times_.Lap(TimePart::kCommit);
  return FreeSpaceAfter(aborted.ok() ? failure : aborted);
}

void CollectiveSave::End(const SaveAttempt& attempt) {
  // On the chief, RetireOldCheckpoints reaches this fault point. An error is
  // ignored, as the save is already acknowledged.
  if (is_chief()) return;
  static_cast<void>(world_->faults.Hit(
      Point::kSaveEnd,
      {.step = attempt.head.step, .epoch = attempt.head.epoch}));
}

Status CollectiveSave::CommitAndRetire(const SaveAttempt& attempt,
                                       const std::vector<std::string>& reports,
                                       RetirementTime retirement_time) {
  RETURN_IF_ERROR(Commit(attempt, reports, times_));
  switch (retirement_time) {
    case RetirementTime::kImmediately:
      return RetireOldCheckpoints(attempt, times_);
    case RetirementTime::kInBackground:
      // Starts the task before the outcome is exchanged, so that task and
      // exchange overlap.
      StartRetirement(attempt.head);
      return OkStatus();
  }
  return OkStatus();
}

void CollectiveSave::StartRetirement(const CheckpointHead& head) {
  KeepWarnings();
  retirement_step_ = head.step;
  retirement_times_.Restart();
  retirement_.Start([this, head] {
    retirement_status_ =
        Annotate(store_->RetireOldCheckpoints(head, &retirement_times_),
                 fmt::format("after the save of step {}", head.step));
    retired_at_ = world_->clock.Now();
  });
}

bool CollectiveSave::MayEndRetirement() const {
  return retirement_.is_joinable() &&
         (retirement_.is_done() || retirement_.IsOverdue(timeout_));
}

Status CollectiveSave::EndRetirement() {
  if (!has_retirement_task()) return OkStatus();
  const Status ended = retirement_.WaitWithin(
      timeout_,
      fmt::format("the writing of the state file or the removal of old "
                  "checkpoints after the save of step {}",
                  retirement_step_));
  times_.Lap(TimePart::kWait);
  RETURN_IF_ERROR(ended);
  retirement_took_ = retired_at_ - retirement_.started_at();
  EmitPendingTimes();
  return retirement_status_;
}

Status CollectiveSave::EndTask() {
  if (!has_retirement_task()) return OkStatus();
  if (!retirement_.WaitUntil(retirement_.started_at() + timeout_)) {
    return DeadlineExceeded(
        "the task that writes the state file and removes old checkpoints "
        "hangs");
  }
  EmitPendingTimes();
  return retirement_status_;
}

void CollectiveSave::KeepWarnings() {
  for (std::string& warning : store_->TakeWarnings()) {
    warnings_.push_back(std::move(warning));
  }
}

std::vector<std::string> CollectiveSave::TakeWarnings() {
  if (!has_retirement_task()) KeepWarnings();
  return std::exchange(warnings_, {});
}

void CollectiveSave::EmitTimes(Ended ended, const Status& outcome) {
  times_.Lap(TimePart::kOther);
  LogEvent times = {.kind = EventKind::kSaveTimes,
                    .generation = generation_,
                    .step = ended.attempt.head.step,
                    .phase = ended.attempt.head.phase,
                    .count = static_cast<int64_t>(ended.bytes),
                    .reason = ReasonOf(outcome.code()),
                    .parts = times_.Take(),
                    .background = std::move(ended.background)};
  if (has_retirement_task()) {
    pending_times_ = std::move(times);
  } else {
    ReportTimes(std::move(times));
  }
}

void CollectiveSave::EmitPendingTimes() {
  if (!pending_times_) return;
  pending_times_->background = retirement_times_.Take();
  ReportTimes(*std::exchange(pending_times_, std::nullopt));
}

void CollectiveSave::ReportTimes(LogEvent times) {
  timed_.push_back({.committed = times.reason == Reason::kNone,
                    .bytes = static_cast<uint64_t>(times.count),
                    .parts = times.parts,
                    .background = times.background});
  world_->events.Emit(std::move(times));
}

}  // namespace gauntlet
