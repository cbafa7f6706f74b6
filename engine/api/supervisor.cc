#include "engine/api/supervisor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/ckpt/format/store_names.h"
#include "engine/train/state/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string StoreOf(const SupervisorOptions& options) {
  return fmt::format("{}/{}", options.logdir, options.checkpoint_basename);
}

// Returns true if a generation has claimed the directory.
bool IsStore(Storage& storage, const std::string& directory) {
  const Result<std::vector<DirectoryEntry>> entries = storage.List(directory);
  return entries.ok() && std::ranges::any_of(*entries, [](const auto& entry) {
           return ParseEntryName(entry.name).kind == EntryKind::kClaim;
         });
}

// Returns an error if checkpoint_basename cannot be the name of a folder, or if
// it names a folder without checkpoints while another folder has some.
Status CheckBaseName(Storage& storage, const SupervisorOptions& options) {
  const std::string& name = options.checkpoint_basename;
  if (name.empty() || name == "." || name == ".." ||
      name.find('/') != std::string::npos) {
    return InvalidArgument(fmt::format(
        "checkpoint_basename: expected the name of a folder, found '{}'",
        name));
  }
  if (options.cold_start == ColdStart::kAllow ||
      IsStore(storage, StoreOf(options))) {
    return OkStatus();
  }
  const Result<std::vector<DirectoryEntry>> entries =
      storage.List(options.logdir);
  if (entries.status().code() == Code::kNotFound) return OkStatus();
  RETURN_IF_ERROR(entries.status());
  for (const DirectoryEntry& entry : *entries) {
    if (!IsStore(storage, fmt::format("{}/{}", options.logdir, entry.name))) {
      continue;
    }
    return FailedPrecondition(fmt::format(
        "checkpoint_basename: expected the checkpoints of {} in {}, found some "
        "in {}",
        options.logdir, name, entry.name));
  }
  return OkStatus();
}

}  // namespace

Status WeightsAreFinite(const CustomTraining& training, ReadyWhen /*when*/) {
  const auto weights = training.weights();
  const auto bad = std::ranges::find_if(
      weights, [](float weight) { return !std::isfinite(weight); });
  if (bad == weights.end()) return OkStatus();
  return FailedPrecondition(
      fmt::format("weights: expected finite numbers, found {} at {}", *bad,
                  bad - weights.begin()));
}

Result<std::unique_ptr<ManagedSession>> Supervisor::PrepareSession() {
  std::unique_ptr<ManagedSession> session(
      new ManagedSession(*training_, options_));
  RETURN_IF_ERROR(session->Prepare());
  return session;
}

ManagedSession::ManagedSession(CustomTraining& training,
                               const SupervisorOptions& options)
    : training_(&training),
      options_(options),
      coordinator_(training.world()),
      watch_(training.world(), options.preemption),
      notices_(watch_.world(), options.preemption.grace,
               options.logdir.empty() ? SavesBeforeExit::kNone
                                      : SavesBeforeExit::kOne) {}

Status ManagedSession::Ready(ReadyWhen when) const {
  if (!options_.ready) return OkStatus();
  return Annotate(options_.ready(*training_, when), "not ready");
}

Status ManagedSession::Prepare() {
  if (options_.local_init) RETURN_IF_ERROR(options_.local_init(*training_));
  RETURN_IF_ERROR(Ready(ReadyWhen::kBeforeLoad));
  RETURN_IF_ERROR(LoadOrInitialize());
  RETURN_IF_ERROR(Ready(ReadyWhen::kAfterLoad));
  steps_done_ = training_->step();
  RETURN_IF_ERROR(StartServices());
  // Starts the watch for notices last, because nothing stops the watch after an
  // error of a call above.
  watch_.Start();
  return OkStatus();
}

Status ManagedSession::Initialize() {
  return options_.init_fn ? options_.init_fn(*training_) : OkStatus();
}

Status ManagedSession::OpenCheckpoints() {
  const Status own = training_->is_chief()
                         ? CheckBaseName(training_->world().storage, options_)
                         : OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training_->AllGather(EncodeStatus(own)));
  RETURN_IF_ERROR(DecodeStatus(all[0]));
  ASSIGN_OR_RETURN(manager_,
                   CheckpointManager::Create(
                       *training_, {.directory = StoreOf(options_),
                                    .max_to_keep = options_.max_to_keep,
                                    .variables = options_.save_variables,
                                    .cold_start = options_.cold_start,
                                    .on_not_finite = options_.on_not_finite}));
  return OkStatus();
}

Status ManagedSession::LoadOrInitialize() {
  const bool in_part = !options_.save_variables.empty();
  if (in_part) RETURN_IF_ERROR(Initialize());
  if (!options_.logdir.empty()) {
    RETURN_IF_ERROR(OpenCheckpoints());
    ASSIGN_OR_RETURN(recovered_, manager_->RestoreOrInitialize());
  }
  return recovered_ || in_part ? OkStatus() : Initialize();
}

Status ManagedSession::StartServices() {
  if (!training_->is_chief()) return OkStatus();
  RETURN_IF_ERROR(StartSummaries());
  if (manager_ != nullptr && options_.save_model_every > Duration(0)) {
    coordinator_.Loop("save service", options_.save_model_every, [this] {
      save_due_ = true;
      return OkStatus();
    });
  }
  if (options_.count_steps_every > Duration(0)) {
    coordinator_.Loop("step counter", options_.count_steps_every, [this] {
      CountSteps();
      return OkStatus();
    });
  }
  return OkStatus();
}

Status ManagedSession::StartSummaries() {
  if (options_.logdir.empty() || options_.save_summaries_every <= Duration(0)) {
    return OkStatus();
  }
  summarized_step_ = step();
  ASSIGN_OR_RETURN(summaries_,
                   SummaryService::Open(training_->world(), options_.logdir,
                                        summarized_step_ + 1));
  coordinator_.Loop("summary service", options_.save_summaries_every,
                    [this] { return WriteSummaries(); });
  return OkStatus();
}

void ManagedSession::CountSteps() {
  const Time now = training_->world().clock.Now();
  const uint64_t steps = steps_done_;
  if (counted_at_) {
    const std::chrono::duration<double> seconds = now - *counted_at_;
    steps_per_second_ =
        static_cast<double>(steps - counted_steps_) / seconds.count();
  }
  counted_steps_ = steps;
  counted_at_ = now;
}

Status ManagedSession::WriteSummaries() {
  const uint64_t newest = steps_done_;
  if (newest > summarized_step_) {
    summarized_step_ = newest;
    std::vector<Scalar> scalars = {{.tag = "loss", .value = loss_}};
    if (steps_per_second_ > 0.0) {
      scalars.push_back({.tag = "global_step/sec",
                         .value = static_cast<float>(steps_per_second_)});
    }
    summaries_->Add(newest, std::move(scalars));
  }
  return summaries_->Write();
}

void ManagedSession::SummaryComputed(std::vector<Scalar> scalars) {
  if (summaries_ != nullptr) summaries_->Add(step(), std::move(scalars));
}

void ManagedSession::Loop(std::string name, Duration period,
                          std::function<Status()> body) {
  coordinator_.Loop(std::move(name), period, std::move(body));
}

uint64_t ManagedSession::step() const { return training_->step(); }

// Returns this worker's requests to all workers.
uint32_t ManagedSession::Requests() {
  // Operations of the next two steps: an evaluation follows the last step of an
  // epoch.
  std::vector<Operation> ahead;
  uint64_t left = training_->steps_left();
  for (int i = 0; i < 2; ++i) {
    ahead.push_back(Operation::kStep);
    if (--left == 0) {
      ahead.push_back(Operation::kEvaluation);
      left = training_->schedule().steps_per_epoch();
    }
  }
  uint32_t requests =
      notices_.NextRequests(training_->generation(), step(), ahead);
  if (save_due_.exchange(false)) requests |= kRequestSave;
  if (coordinator_.ShouldStop()) requests |= kRequestEnd;
  return requests;
}

Result<float> ManagedSession::Step() {
  float loss = 0.0f;
  const Status status = TakeStep(loss);
  broken_ = broken_ || !status.ok();
  RETURN_IF_ERROR(status);
  return loss;
}

Status ManagedSession::TakeStep(float& loss) {
  const Clock& clock = training_->world().clock;
  const Time begin = clock.Now();
  ASSIGN_OR_RETURN(loss, training_->Step([this] { return Requests(); }));
  const Time stepped = clock.Now();
  notices_.RecordOperation(Operation::kStep, stepped - begin);
  const uint32_t agreed = training_->agreed();
  if (training_->EpochDone()) {
    RETURN_IF_ERROR(training_->EndEpoch().status());
    notices_.RecordOperation(Operation::kEvaluation, clock.Now() - stepped);
  }
  loss_ = loss;
  steps_done_ = step();
  // All workers have the same loss, and so make the same decision.
  if (options_.on_not_finite == OnNotFinite::kStop &&
      !LossIsFinite(training_->state())) {
    not_finite_ = stopping_ = true;
    return OkStatus();
  }
  preempted_ = preempted_ || (agreed & kRequestStop) != 0;
  stopping_ = stopping_ || (agreed & (kRequestStop | kRequestEnd)) != 0;
  // Saves now rather than in Stop: Stop first waits for the services, which may
  // use up the grace period.
  const bool leaves = (agreed & (kRequestStop | kRequestEnd)) == kRequestStop;
  return leaves || (agreed & kRequestSave) != 0 ? MakeAgreedSave() : OkStatus();
}

// Makes the save that was agreed on. A failed save counts as a failed service.
Status ManagedSession::MakeAgreedSave() {
  if (manager_ == nullptr) return OkStatus();
  const Clock& clock = training_->world().clock;
  const Time begin = clock.Now();
  const Status saved = Save();
  notices_.RecordSave(clock.Now() - begin);
  if (saved.ok()) {
    saved_step_ = step();
    return saved;
  }
  if (!CanContinueAfter(saved)) return saved;
  coordinator_.RequestStop(Annotate(saved, "save service"));
  stopping_ = true;
  return OkStatus();
}

// Saves the state. If the manager refuses it as not finite, stops the session
// and returns Ok.
Status ManagedSession::Save() {
  const Status saved = manager_->Save().status();
  if (saved.ok() || !manager_->RefusedNotFinite()) return saved;
  not_finite_ = stopping_ = true;
  return OkStatus();
}

// Exchanges the outcomes of all workers' services. Returns an error on all
// workers if one failed, so that none of them saves.
Status ManagedSession::ExchangeOutcomes(const Status& own) {
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   training_->AllGather(EncodeStatus(own)));
  RETURN_IF_ERROR(own);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    RETURN_IF_ERROR(
        Annotate(DecodeStatus(all[rank]), fmt::format("rank {}", rank)));
  }
  return OkStatus();
}

Status ManagedSession::Stop() {
  watch_.Stop();
  Status outcome = coordinator_.Join(options_.stop_grace);
  if (outcome.ok() && summaries_ != nullptr) outcome = WriteSummaries();
  if (!broken_) {
    outcome = ExchangeOutcomes(outcome);
    if (outcome.ok() && manager_ != nullptr && !not_finite_ &&
        saved_step_ != step()) {
      outcome = Save();
    }
  }
  training_->Leave();
  return outcome;
}

}  // namespace gauntlet
