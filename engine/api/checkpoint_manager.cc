#include "engine/api/checkpoint_manager.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "engine/ckpt/format/text_record.h"
#include "engine/cluster/link/chunk_format.h"
#include "engine/train/options.h"
#include "engine/train/rendezvous/held_state.h"
#include "engine/train/save/resume.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Encodes a claim for the other ranks: its status, generation and parent.
std::string EncodeClaimResult(const Result<Claim>& claim) {
  std::vector<std::string> fields = {EncodeStatus(claim.status())};
  if (claim.ok()) {
    fields.push_back(std::to_string(claim->generation));
    fields.push_back(EncodeStart({.checkpoint = claim->parent}));
  }
  return EncodeList(fields);
}

Result<Claim> DecodeClaim(const std::string& bytes) {
  ASSIGN_OR_RETURN(const std::vector<std::string> fields, DecodeList(bytes));
  if (fields.empty()) return DataLoss("the chief's claim is malformed");
  RETURN_IF_ERROR(DecodeStatus(fields[0]));
  Claim claim;
  if (fields.size() != 3) return DataLoss("the chief's claim is malformed");
  const auto generation = ParseNumber<uint64_t>(fields[1]);
  if (!generation) return DataLoss("the chief's claim is malformed");
  claim.generation = *generation;
  ASSIGN_OR_RETURN(const StartDecision start, DecodeStart(fields[2]));
  claim.parent = start.checkpoint;
  return claim;
}

// Returns the variables in name order; an empty list if they are all
// parameters. kInvalidArgument: a variable is listed twice or is no parameter.
Result<std::vector<std::string>> CheckVariables(
    std::span<const ParameterInfo> parameters,
    std::vector<std::string> variables) {
  std::ranges::sort(variables);
  if (const auto twice = std::ranges::adjacent_find(variables);
      twice != variables.end()) {
    return InvalidArgument(
        fmt::format("variables: expected each once, found {} twice", *twice));
  }
  for (const std::string& variable : variables) {
    if (std::ranges::find(parameters, variable, &ParameterInfo::name) !=
        parameters.end()) {
      continue;
    }
    std::vector<std::string> known;
    for (const ParameterInfo& info : parameters) known.push_back(info.name);
    return InvalidArgument(
        fmt::format("variables: expected parameters of the model ({}), found "
                    "'{}'",
                    fmt::join(known, ", "), variable));
  }
  if (variables.size() == parameters.size()) variables.clear();
  return variables;
}

}  // namespace

CheckpointManager::CheckpointManager(CustomTraining& training,
                                     const CheckpointManagerOptions& options,
                                     StoreHold hold, CheckpointStore store)
    : training_(&training),
      options_(options),
      hold_(std::move(hold)),
      store_(std::move(store)),
      job_json_(training.JobJson(options.variables)) {}

Result<std::unique_ptr<CheckpointManager>> CheckpointManager::Create(
    CustomTraining& training, const CheckpointManagerOptions& options) {
  if (options.checkpoint_interval == 0) {
    return InvalidArgument("checkpoint_interval: expected at least 1, found 0");
  }
  if (options.mode != SaveMode::kSync) {
    return InvalidArgument(fmt::format(
        "mode: expected sync, as a loop of one's own waits for its saves, "
        "found {}",
        kSaveModeNames[static_cast<size_t>(options.mode)]));
  }
  if (options.keep_checkpoint_every_n_hours > kMaxKeepHours) {
    return InvalidArgument(fmt::format(
        "keep_checkpoint_every_n_hours: expected at most {}, found {}",
        kMaxKeepHours, options.keep_checkpoint_every_n_hours));
  }
  CheckpointManagerOptions checked = options;
  ASSIGN_OR_RETURN(checked.variables,
                   CheckVariables(training.parameters(), options.variables));
  WorkerSpec place = training.place();
  Result<StoreHold> hold = HoldStore(training.world(), options.directory, place,
                                     training.cluster().rendezvous_timeout);
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training.AllGather(EncodeStatus(hold.status())));
  RETURN_IF_ERROR(hold.status());
  RETURN_IF_ERROR(DecodeStatus(all[0]));
  const auto seconds =
      static_cast<int64_t>(options.keep_checkpoint_every_n_hours * 3600);
  ASSIGN_OR_RETURN(CheckpointStore store,
                   CheckpointStore::Open(training.world(),
                                         {.directory = options.directory,
                                          .keep = options.max_to_keep,
                                          .keep_every_seconds = seconds,
                                          .cold_start = options.cold_start,
                                          .launch_hold = place.launch_hold}));
  return std::unique_ptr<CheckpointManager>(new CheckpointManager(
      training, checked, *std::move(hold), std::move(store)));
}

Result<std::string> CheckpointManager::FromChief(const std::string& payload) {
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training_->AllGather(payload));
  return all[0];
}

Result<bool> CheckpointManager::RestoreOrInitialize() {
  CHECK(!save_, "restored once already");
  std::string payload;
  if (training_->is_chief()) {
    payload = EncodeClaimResult(store_.ClaimGeneration(job_json_));
  }
  ASSIGN_OR_RETURN(const std::string claimed, FromChief(payload));
  ASSIGN_OR_RETURN(const Claim claim, DecodeClaim(claimed));
  if (claim.parent) RETURN_IF_ERROR(LoadTogether(*claim.parent));
  save_.emplace(training_->world(), store_, training_->ring(), job_json_,
                claim.generation, training_->cluster().save_timeout);
  if (options_.on_not_finite == OnNotFinite::kStop) save_->RefuseNotFinite();
  RETURN_IF_ERROR(LearnPaths());
  return claim.parent.has_value();
}

// Loads the checkpoint on all workers. Returns an error on all of them if one
// fails.
Status CheckpointManager::LoadTogether(const CheckpointRef& parent) {
  Status own = training_->resident().SyncForHostUpdate();
  if (own.ok()) {
    own = LoadState(training_->world(), {store_, parent, options_.variables},
                    training_->schedule(), training_->state());
  }
  const std::string payload =
      own.ok() ? training_->StateDigest().ToString() : EncodeStatus(own);
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training_->AllGather(payload));
  RETURN_IF_ERROR(own);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == payload) continue;
    return Unavailable(
        fmt::format("rank {} did not restore {}", rank, parent.name));
  }
  return OkStatus();
}

// Sends the chief's list of paths to the other workers: only the chief has one.
Status CheckpointManager::LearnPaths() {
  std::vector<std::string> paths;
  for (const CommittedCheckpoint& checkpoint : store_.lineage()) {
    paths.push_back(store_.PathOf(checkpoint.ref));
  }
  ASSIGN_OR_RETURN(const std::string list, FromChief(EncodeList(paths)));
  ASSIGN_OR_RETURN(paths_, DecodeList(list));
  return OkStatus();
}

Status CheckpointManager::AskListeners() {
  if (listeners_.empty()) return OkStatus();
  Status own;
  for (SaveListener* listener : listeners_) {
    if (own.ok()) own = listener->BeforeSave(training_->step());
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training_->AllGather(EncodeStatus(own)));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    RETURN_IF_ERROR(Annotate(DecodeStatus(all[rank]),
                             fmt::format("rank {}'s save listener", rank)));
  }
  return OkStatus();
}

Result<std::string> CheckpointManager::Save() {
  CHECK(save_.has_value(), "Save before RestoreOrInitialize");
  RETURN_IF_ERROR(AskListeners());
  const Status saved = save_->Save(
      training_->resident(), RetirementTime::kImmediately, options_.variables);
  if (save_->refused()) return saved;
  if (CanContinueAfter(saved)) {
    // After kResourceExhausted the chief may have removed older checkpoints.
    RETURN_IF_ERROR(LearnPaths());
    return saved;
  }
  RETURN_IF_ERROR(training_->Noted(saved));
  RETURN_IF_ERROR(LearnPaths());
  const std::string path = paths_.empty() ? "" : paths_.back();
  for (SaveListener* listener : listeners_) {
    listener->AfterSave(training_->step(), path);
  }
  return path;
}

Result<std::string> CheckpointManager::SaveIfDue() {
  if (training_->step() % options_.checkpoint_interval != 0) {
    return std::string();
  }
  return Save();
}

std::string CheckpointManager::latest_checkpoint() const {
  return paths_.empty() ? std::string() : paths_.back();
}

}  // namespace gauntlet
