#include "engine/train/collective_save.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/ckpt/shard_plan.h"
#include "engine/ckpt/state_digest.h"
#include "engine/ckpt/text_record.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Two ranks disagree: names those that are not with the most.
Status DescribeDisagreement(uint64_t step,
                            const std::vector<std::string>& digests) {
  std::map<std::string, int> votes;
  for (const std::string& digest : digests) ++votes[digest];
  const auto most = std::max_element(
      votes.begin(), votes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string odd;
  for (size_t rank = 0; rank < digests.size(); ++rank) {
    if (digests[rank] == most->first) continue;
    odd += fmt::format("{}rank {} has {}", odd.empty() ? "" : ", ", rank,
                       digests[rank]);
  }
  return FailedPrecondition(
      fmt::format("step {}: state digests differ between workers: {} have {}, "
                  "{}",
                  step, most->second, most->first, odd));
}

std::string EncodeShard(const ShardFile& shard) {
  std::vector<std::string> fields = {shard.name, std::to_string(shard.bytes),
                                     shard.digest.ToString()};
  fields.insert(fields.end(), shard.tensors.begin(), shard.tensors.end());
  return EncodeList(fields);
}

Result<ShardFile> DecodeShard(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<std::string> fields, DecodeList(bytes));
  if (fields.size() < 3) return DataLoss("shard report: too few fields");
  const auto size = ParseNumber<uint64_t>(fields[1]);
  const std::optional<Digest> digest = Digest::Parse(fields[2]);
  if (!size || !digest) {
    return DataLoss("shard report: malformed size or digest");
  }
  ShardFile shard = {.name = fields[0], .bytes = *size};
  shard.digest = *digest;
  shard.tensors.assign(fields.begin() + 3, fields.end());
  return shard;
}

}  // namespace

bool MayGoOnAfter(const Status& save) {
  return save.code() == Code::kIoError ||
         save.code() == Code::kResourceExhausted ||
         save.code() == Code::kNotFound || save.code() == Code::kAlreadyExists;
}

std::string EncodeStatus(const Status& status) {
  return static_cast<char>(status.code()) + status.message();
}

Status DecodeStatus(std::string_view bytes) {
  if (bytes.empty() ||
      static_cast<uint8_t>(bytes[0]) > static_cast<uint8_t>(Code::kCancelled)) {
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
      job_json_(std::move(job_json)),
      generation_(generation),
      timeout_(timeout) {}

Status CollectiveSave::Save(const TrainState& state,
                            std::span<const std::string> of_parameters) {
  const Position& position = state.position;
  const std::vector<TensorView> tensors = state.TensorsOf(of_parameters);
  Attempt attempt = {
      .head = {.step = position.step,
               .epoch = position.epoch,
               .position = position.sample,
               .phase = position.phase_of(),
               .job_json = job_json_},
      .whole = state.ComputeDigest(),
      .tensors = tensors,
      .key = {.step = position.step, .phase = position.phase_of()},
  };
  const PointContext here = {.step = position.step, .epoch = position.epoch};
  // The chief's store hits these two itself.
  const bool chief = ring_->rank() == 0;
  if (!chief) attempt.ready = world_->faults.Hit(Point::kSaveBegin, here);
  attempt.head.state_digest =
      of_parameters.empty() ? attempt.whole : StateDigest(tensors);
  ASSIGN_OR_RETURN(const std::string save, Begin(attempt));
  if (save.empty()) return OkStatus();
  RETURN_IF_ERROR(WriteAndCommit(attempt, save));
  // As in the chief's store, nothing takes the acknowledgement back.
  if (!chief) static_cast<void>(world_->faults.Hit(Point::kSaveEnd, here));
  return OkStatus();
}

Result<std::string> CollectiveSave::Begin(const Attempt& attempt) {
  std::string save;
  Status began;
  if (ring_->rank() == 0) {
    const Result<std::optional<std::string>> name =
        store_->BeginSave(attempt.head, generation_);
    began = name.status();
    if (name.ok()) save = name->value_or("");
  }
  const std::string digest = attempt.whole.ToString();
  const std::vector<std::string> said = {digest, EncodeStatus(began), save};
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   ring_->AllGather(attempt.key, EncodeList(said), timeout_));
  std::vector<std::string> digests;
  for (const std::string& item : all) {
    ASSIGN_OR_RETURN(const std::vector<std::string> fields, DecodeList(item));
    if (fields.size() != 3) return DataLoss("save: malformed announcement");
    digests.push_back(fields[0]);
    if (digests.size() == 1) {
      began = DecodeStatus(fields[1]);
      save = fields[2];
    }
  }
  if (std::any_of(digests.begin(), digests.end(),
                  [&](const std::string& d) { return d != digests[0]; })) {
    return DescribeDisagreement(attempt.head.step, digests);
  }
  if (!began.ok()) return began;
  return save;
}

Status CollectiveSave::WriteAndCommit(const Attempt& attempt,
                                      const std::string& save) {
  const std::vector<std::vector<size_t>> plan =
      PartitionTensors(attempt.tensors, ring_->size());
  std::vector<TensorView> mine;
  for (const size_t index : plan[static_cast<size_t>(ring_->rank())]) {
    mine.push_back(attempt.tensors[index]);
  }
  Result<ShardFile> shard =
      attempt.ready.ok()
          ? store_->WriteShard(save, ring_->rank(), ring_->size(), mine)
          : attempt.ready;
  const Status agree = world_->faults.Hit(
      Point::kSaveAgree,
      {.step = attempt.head.step, .epoch = attempt.head.epoch});
  if (shard.ok() && !agree.ok()) shard = agree;
  const std::vector<std::string> said = {EncodeStatus(shard.status()),
                                         shard.ok() ? EncodeShard(*shard) : ""};
  ASSIGN_OR_RETURN(const std::vector<std::string> reports,
                   ring_->AllGather(attempt.key, EncodeList(said), timeout_));
  Status outcome;
  if (ring_->rank() == 0) outcome = CommitAsChief(attempt, save, reports);
  ASSIGN_OR_RETURN(
      const std::vector<std::string> outcomes,
      ring_->AllGather(attempt.key, EncodeStatus(outcome), timeout_));
  return DecodeStatus(outcomes[0]);
}

Status CollectiveSave::CommitAsChief(const Attempt& attempt,
                                     const std::string& save,
                                     const std::vector<std::string>& reports) {
  std::vector<ShardFile> shards;
  Status outcome;
  for (size_t rank = 0; rank < reports.size() && outcome.ok(); ++rank) {
    const Result<std::vector<std::string>> fields = DecodeList(reports[rank]);
    outcome = fields.status();
    if (outcome.ok() && fields->size() != 2) {
      outcome = DataLoss("save: malformed report");
    }
    if (outcome.ok()) {
      outcome = Annotate(DecodeStatus((*fields)[0]),
                         fmt::format("rank {}'s shard", rank));
    }
    if (!outcome.ok()) break;
    Result<ShardFile> shard = DecodeShard((*fields)[1]);
    outcome = shard.status();
    if (outcome.ok()) shards.push_back(std::move(*shard));
  }
  // A commit that fails clears up after itself.
  if (outcome.ok()) {
    return store_->Commit(save, attempt.head, generation_, shards).status();
  }
  const Status abandoned = store_->AbandonSave(save);
  return abandoned.ok() ? outcome : abandoned;
}

}  // namespace gauntlet
