#include "engine/api/custom_training.h"

#include <utility>

#include "engine/train/rendezvous/rendezvous.h"

namespace gauntlet {

Result<std::unique_ptr<CustomTraining>> CustomTraining::Create(
    World& world, const CustomTrainingOptions& options) {
  std::unique_ptr<CustomTraining> training(new CustomTraining(world, options));
  RETURN_IF_ERROR(training->Build());
  RETURN_IF_ERROR(training->JoinOtherWorkers());
  return training;
}

Status CustomTraining::Build() {
  const JobSpec& job = options_.job;
  RETURN_IF_ERROR(Validate(job));
  ASSIGN_OR_RETURN(data_, LoadData(world_->storage, job.data));
  RETURN_IF_ERROR(CheckCluster(job, options_.place.addresses.size()));
  ASSIGN_OR_RETURN(
      schedule_, SampleSchedule::Make(
                     job, {.samples = data_->train.samples,
                           .samples_of_files = data_->train.samples_of_files}));
  ASSIGN_OR_RETURN(
      built_, BuildJobModel(job, data_->train.shape(), data_->train.classes,
                            options_.kernels));
  state_.emplace(*built_.model, *built_.optimizer, job);
  resident_.emplace(*state_, *built_.kernels, world_->faults);
  return OkStatus();
}

Status CustomTraining::JoinOtherWorkers() {
  const auto incarnation = static_cast<uint64_t>(options_.place.incarnation);
  ASSIGN_OR_RETURN(
      session_,
      Session::Form(*world_, built_.kernels_for_host(),
                    RendezvousOptions(options_.place, options_.cluster),
                    [incarnation](const std::vector<JoinedWorker>&) {
                      return Decision{.generation = incarnation};
                    }));
  session_->StartRejectingLateConnections();
  trainer_.emplace(*world_, session_->ring(),
                   Trainer::Parts{.job = options_.job,
                                  .data = *data_,
                                  .schedule = *schedule_,
                                  .optimizer = *built_.optimizer,
                                  .model = *built_.model,
                                  .kernels = *built_.kernels});
  return OkStatus();
}

Result<float> CustomTraining::Step(const Trainer::Requests& requests) {
  if (EpochDone()) RETURN_IF_ERROR(EndEpoch().status());
  const Result<StepOutcome> outcome =
      trainer_->Step(*resident_, requests, options_.cluster.step_timeout);
  RETURN_IF_ERROR(Noted(outcome.status()));
  agreed_ = outcome->tally.requests;
  return outcome->loss;
}

bool CustomTraining::EpochDone() const {
  return state_->position.phase_of() != Phase::kInEpoch;
}

Result<EpochMetrics> CustomTraining::EndEpoch() {
  CHECK(EpochDone(), "the end of an epoch that has steps left");
  if (state_->position.phase_of() == Phase::kEvaluationDue) {
    const Result<StepOutcome> evaluated =
        trainer_->Evaluate(*resident_, nullptr, options_.cluster.step_timeout);
    RETURN_IF_ERROR(Noted(evaluated.status()));
  }
  RETURN_IF_ERROR(trainer_->EndEpoch(*resident_));
  return MetricsOf(state_->history, state_->history.loss.size() - 1);
}

std::string CustomTraining::JobJson(std::vector<std::string> saved) const {
  JobSpec job = options_.job;
  job.saved = std::move(saved);
  return JobToJson(job, data_->content);
}

Result<std::vector<std::string>> CustomTraining::AllGather(
    const std::string& payload) {
  Result<std::vector<std::string>> all = ring().AllGather(
      {.step = state_->position.step, .phase = state_->position.phase_of()},
      payload, options_.cluster.save_timeout);
  RETURN_IF_ERROR(Noted(all.status()));
  return all;
}

Status CustomTraining::Noted(Status status) {
  failed_ = failed_ || !status.ok();
  return status;
}

void CustomTraining::Leave() {
  if (failed_) {
    session_->Abort();
  } else {
    session_->Leave();
  }
}

}  // namespace gauntlet
