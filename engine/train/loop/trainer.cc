#include "engine/train/loop/trainer.h"

#include <algorithm>

#include "engine/model/optimizers/clip.h"
#include "engine/numerics.h"
#include "engine/train/state/finiteness.h"
#include <fmt/format.h>

namespace gauntlet {

ReplicaBlock ReplicasOf(int replicas, int rank, int size) {
  CHECK(size >= 1 && size <= replicas, "every worker hosts a replica");
  const int first = replicas * rank / size;
  return {.first = first, .count = replicas * (rank + 1) / size - first};
}

uint32_t EvaluatedSamples(const JobSpec& job, uint32_t samples) {
  if (job.data.validation_steps == 0) return samples;
  const uint64_t wanted = static_cast<uint64_t>(job.data.validation_steps) *
                          static_cast<uint64_t>(job.replicas) *
                          static_cast<uint64_t>(job.batch);
  return static_cast<uint32_t>(std::min<uint64_t>(wanted, samples));
}

EvaluatedPart EvaluateReplicas(const ReplicaBlock& block, const JobSpec& job,
                               const Dataset& validation,
                               const EvaluatedModel& evaluated_model) {
  const size_t width = validation.features_per_sample();
  const uint32_t evaluated = EvaluatedSamples(job, validation.samples);
  EvaluatedPart part;
  for (int i = 0; i < block.count; ++i) {
    const SampleRange range =
        EvaluationSamples(evaluated, static_cast<uint64_t>(job.replicas),
                          static_cast<uint64_t>(block.first + i));
    const ReplicaResult result = evaluated_model.model.Evaluate(
        evaluated_model.parameters,
        {.features = std::span(validation.features)
                         .subspan(range.first * width, range.count * width),
         .labels =
             std::span(validation.labels).subspan(range.first, range.count),
         .loss_scale = evaluated == 0 ? 0.0f : numerics::LossScale(evaluated),
         .state = evaluated_model.replica_state});
    part.losses.push_back(result.loss);
    part.correct += result.correct;
    part.samples += static_cast<int64_t>(range.count);
  }
  return part;
}

namespace {

// Returns the sizes of the arrays that replicas send: see Trainer::exchange_.
GradientExchange::Sizes SizesOf(const Trainer::Parts& parts,
                                const ReplicaBlock& block) {
  return {.replicas = static_cast<size_t>(block.count),
          .gradients = parts.model.parameter_count(),
          .extra = parts.model.replica_state_size() *
                       static_cast<size_t>(parts.job.replicas) +
                   1,
          .first_layer = parts.model.first_layer_size()};
}

}  // namespace

Status CheckCluster(const JobSpec& job, size_t workers) {
  if (workers > static_cast<size_t>(job.replicas)) {
    return InvalidArgument(
        fmt::format("{} workers: expected at most one for each of the {} "
                    "replicas",
                    workers, job.replicas));
  }
  return OkStatus();
}

Trainer::Trainer(World& world, Ring& ring, const Parts& parts)
    : world_(&world),
      job_(&parts.job),
      data_(&parts.data),
      schedule_(&parts.schedule),
      optimizer_(&parts.optimizer),
      ring_(&ring),
      model_(&parts.model),
      kernels_(&parts.kernels),
      memo_(parts.memo),
      probe_(parts.probe),
      block_(ReplicasOf(parts.job.replicas, ring.rank(), ring.size())),
      exchange_({.world = world,
                 .ring = ring,
                 .device_ring = parts.device_ring,
                 .kernels = parts.kernels},
                SizesOf(parts, block_)),
      state_before_(parts.model.replica_state_size()),
      state_after_(parts.model.replica_state_size()),
      gathered_(parts.data.train),
      times_(world.clock) {}

void Trainer::Rejoin(Ring& ring, DeviceRing* device_ring) {
  CHECK(ReplicasOf(job_->replicas, ring.rank(), ring.size()) == block_,
        "a worker keeps its replicas");
  ring_ = &ring;
  exchange_.Rejoin(ring, device_ring);
}

template <typename Move>
void Trainer::ForReplicaState(int replica, const Move& move) const {
  for (const ParameterInfo& info : model_->replica_state()) {
    const size_t first = info.offset * static_cast<size_t>(job_->replicas);
    move(first + static_cast<size_t>(replica) * info.size, info.offset,
         info.size);
  }
}

SampleOrder Trainer::OrderOf(const TrainState& state, uint32_t stream) const {
  const uint32_t samples = schedule_->SamplesOfStream(stream);
  const uint64_t key = schedule_->OrderKey(state.position.epoch, stream);
  if (memo_ != nullptr) return memo_->OrderOf(state.rng_key, key, samples);
  return SampleOrder(state.rng_key, key, samples);
}

void Trainer::ChooseSamples(const TrainState& state, uint32_t replica,
                            std::vector<uint32_t>& uses) {
  const auto [stream, range] =
      schedule_->RangeOf(state.position.sample, replica);
  const SampleOrder order = OrderOf(state, stream);
  const bool shuffled = job_->data.shuffle == Shuffle::kOn;
  gathered_.Clear();
  for (uint64_t i = 0; i < range.count; ++i) {
    const uint64_t place = range.first + i;
    const uint32_t sample =
        schedule_->SampleAt(stream, shuffled ? order.SampleAt(place)
                                             : static_cast<uint32_t>(place));
    gathered_.Add(sample);
    uses.push_back(schedule_->UseOf(stream, sample));
  }
}

Result<StepProbe*> Trainer::ProbeFor(ResidentState& resident) const {
  RETURN_IF_ERROR(resident.device_status());
  if (probe_ == nullptr) return nullptr;
  RETURN_IF_ERROR(resident.SyncToHost());
  const TrainState& state = resident.host();
  const bool wanted = probe_->Begin(state.position.step,
                                    state.position.phase_of(), state.Tensors());
  return wanted ? probe_ : nullptr;
}

Status Trainer::DeviceStatus() const {
  if (world_->faults.Planted(PlantedBug::kTrustAFailedDevice)) {
    return OkStatus();
  }
  return kernels_->status();
}

Status Trainer::EndProbe(StepProbe* probe, ResidentState& resident) {
  if (probe == nullptr) return OkStatus();
  RETURN_IF_ERROR(resident.SyncToHost());
  probe->End(resident.host().Tensors());
  return OkStatus();
}

void Trainer::ProbeReducedGradients(StepProbe& probe) {
  const std::span<float> total = exchange_.FetchTotal();
  for (const ParameterInfo& info : model_->parameters()) {
    probe.Saw({.name = "sum over the replicas, gradient of " + info.name,
               .shape = info.shape},
              total.subspan(info.offset, info.size));
  }
  probe.Saw({.name = "sum over the replicas, loss"},
            exchange_.TotalExtra().last(1));
  exchange_.WriteBackTotal();
}

Status Trainer::LocalGradients(ResidentState& resident,
                               const StepPasses& passes, StepOutcome& outcome) {
  const TrainState& state = resident.host();
  const std::span<const float> parameters = resident.parameters();
  const auto batch = static_cast<uint64_t>(job_->batch);
  outcome.samples.reserve(static_cast<size_t>(block_.count) * batch);
  for (int i = 0; i < block_.count; ++i) {
    const auto replica = static_cast<uint64_t>(block_.first + i);
    ChooseSamples(state, static_cast<uint32_t>(replica), outcome.samples);
    const size_t taken = gathered_.numbers().size();
    if (passes.probe != nullptr) {
      passes.probe->Saw({.name = "samples of the batch",
                         .replica = static_cast<int>(replica),
                         .shape = {taken, data_->train.features_per_sample()}},
                        gathered_.MutableFeatures());
    }
    const std::span<float> extra = exchange_.Extra(static_cast<size_t>(i));
    ForReplicaState(block_.first + i,
                    [&](size_t from, size_t to, size_t count) {
                      std::copy_n(state.replica_state.data() + from, count,
                                  state_before_.data() + to);
                    });
    if (i + 1 == block_.count) {
      RETURN_IF_ERROR(
          exchange_.BeginBeforeLastPass(passes.key, passes.timeout));
    }
    KeptGradients kept;
    const ReplicaResult result =
        model_->Gradients(parameters,
                          {.samples = &gathered_,
                           .loss_scale = numerics::LossScale(passes.samples),
                           .rng_key = state.rng_key,
                           .step = state.position.step,
                           .first_global_row = replica * batch,
                           .state = state_before_,
                           .next_state = state_after_,
                           .kept = exchange_.AcceptsKept() ? &kept : nullptr,
                           .final_from = exchange_.FinalFromCallback(),
                           .probe = passes.probe,
                           .replica = static_cast<int>(replica)},
                          exchange_.GradientBuffer(static_cast<size_t>(i)));
    if (kept) {
      exchange_.AddKept(static_cast<size_t>(i), std::move(kept));
    } else {
      exchange_.Add(static_cast<size_t>(i));
      ForReplicaState(
          block_.first + i, [&](size_t to, size_t from, size_t count) {
            std::copy_n(state_after_.data() + from, count, extra.data() + to);
          });
      extra.back() = result.loss;
    }
    outcome.tally.correct += result.correct;
    outcome.tally.samples += static_cast<int64_t>(taken);
  }
  return OkStatus();
}

void Trainer::ApplyGradients(ResidentState& resident) {
  Memory& memory = kernels_->memory();
  TrainState& state = resident.host();
  resident.MarkChanged();
  const std::span<float> gradients = exchange_.Total();
  std::copy_n(exchange_.TotalExtra().data(), state.replica_state.size(),
              state.replica_state.data());
  const auto every = static_cast<uint64_t>(job_->accumulate);
  const uint64_t place = state.position.step % every;
  if (every > 1) {
    // Copies the first gradients: adding them to +0 would lose the sign of -0.
    const auto [before, sum] = resident.NextAccumulated();
    if (place == 0) {
      memory.Copy(sum.data(), gradients.data(), sum.size_bytes());
    } else {
      if (sum.data() != before.data()) {
        memory.Copy(sum.data(), before.data(), sum.size_bytes());
      }
      kernels_->Accumulate(gradients, sum);
    }
    if (place + 1 < every) return;
    memory.Copy(gradients.data(), sum.data(), sum.size_bytes());
    kernels_->Scale(numerics::AccumulationScale(static_cast<uint32_t>(every)),
                    gradients);
    memory.Clear(sum.data(), sum.size_bytes());
  }
  ClipGradients(job_->optimizer.clip, *kernels_, model_->parameters(),
                gradients);
  optimizer_->Apply(
      state.position.step / every, gradients, resident.NextParameters(),
      {.slots = resident.NextSlots(), .scalars = state.optimizer.scalars});
}

void Trainer::Advance(TrainState& state, uint64_t step_samples,
                      const StepOutcome& outcome) const {
  state.metrics.loss_sum =
      numerics::AddStepLoss(state.metrics.loss_sum, outcome.loss, step_samples);
  state.metrics.correct += outcome.tally.correct;
  state.metrics.samples += outcome.tally.samples;
  state.position.step += 1;
  if (!LossIsFinite(state) && !state.not_finite_since) {
    state.not_finite_since = state.position.step;
  }
  state.position.sample += step_samples;
  if (state.position.sample >= schedule_->samples_per_epoch()) {
    state.position.phase = static_cast<uint64_t>(Phase::kEvaluationDue);
  }
}

Result<StepOutcome> Trainer::Step(ResidentState& resident,
                                  const Requests& requests, Duration timeout) {
  TrainState& state = resident.host();
  const uint64_t step = state.position.step + 1;
  const PointContext here = {.step = step, .epoch = state.position.epoch};
  RETURN_IF_ERROR(world_->faults.Hit(Point::kStepBegin, here));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kDataNext, here));
  times_.Lap(TimePart::kOther);
  const uint64_t step_samples = schedule_->SamplesOfStep(state.position.sample);
  CHECK(step_samples > 0, "a step needs samples");
  StepOutcome outcome = {.first_position = state.position.sample};
  ASSIGN_OR_RETURN(StepProbe* const probe, ProbeFor(resident));
  const ExchangeKey key = {.step = step, .phase = Phase::kInEpoch};
  RETURN_IF_ERROR(LocalGradients(
      resident,
      {.key = key, .timeout = timeout, .samples = step_samples, .probe = probe},
      outcome));
  // If DeviceStatus returns an error, no exchange is running: an exchange
  // begins early only with the kernels of the host, which cannot fail.
  RETURN_IF_ERROR(DeviceStatus());
  times_.Lap(TimePart::kCompute);
  if (requests) outcome.tally.requests = requests();
  RETURN_IF_ERROR(exchange_.Sum(key, outcome.tally, timeout));
  times_.Lap(TimePart::kExchange);
  if (probe != nullptr) ProbeReducedGradients(*probe);
  outcome.loss = exchange_.TotalExtra().back();
  ApplyGradients(resident);
  RETURN_IF_ERROR(DeviceStatus());
  Advance(state, step_samples, outcome);
  times_.Lap(TimePart::kUpdate);
  RETURN_IF_ERROR(EndProbe(probe, resident));
  RETURN_IF_ERROR(world_->faults.Hit(Point::kStepEnd, here));
  return outcome;
}

Result<StepOutcome> Trainer::Evaluate(ResidentState& resident,
                                      const Requests& requests,
                                      Duration timeout) {
  TrainState& state = resident.host();
  RETURN_IF_ERROR(world_->faults.Hit(
      Point::kEvalBegin,
      {.step = state.position.step, .epoch = state.position.epoch}));
  StepOutcome outcome;
  ASSIGN_OR_RETURN(StepProbe* const probe, ProbeFor(resident));
  EvaluatedPart part =
      EvaluateReplicas(block_, *job_, data_->validation,
                       {.model = *model_,
                        .parameters = resident.parameters(),
                        .replica_state = CombinedReplicaState(*model_, state)});
  RETURN_IF_ERROR(DeviceStatus());
  outcome.tally.correct = part.correct;
  outcome.tally.samples = part.samples;
  std::vector<float>& losses = part.losses;
  for (size_t i = 0; probe != nullptr && i < losses.size(); ++i) {
    probe->Saw(
        {.name = "evaluation", .replica = block_.first + static_cast<int>(i)},
        std::span(losses).subspan(i, 1));
  }
  if (requests) outcome.tally.requests = requests();
  std::vector<std::span<const float>> views;
  for (const float& loss : losses) views.emplace_back(&loss, 1);
  const ExchangeKey key = {.step = state.position.step,
                           .phase = Phase::kEvaluationDue};
  RETURN_IF_ERROR(ring_->AllReduce(key, views, std::span(&outcome.loss, 1),
                                   outcome.tally, timeout));
  state.history.val_loss.push_back(outcome.loss);
  state.history.val_correct.push_back(outcome.tally.correct);
  state.history.val_samples.push_back(outcome.tally.samples);
  state.position.phase = static_cast<uint64_t>(Phase::kCallbacksDue);
  RETURN_IF_ERROR(EndProbe(probe, resident));
  return outcome;
}

Result<bool> Trainer::AnyVotesToFinish(const TrainState& state,
                                       LoopVote own_vote, Duration timeout) {
  const ExchangeKey key = {.step = state.position.step,
                           .phase = state.position.phase_of()};
  const std::string vote = own_vote == LoopVote::kFinish ? "finish" : "";
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   ring_->AllGather(key, vote, timeout));
  return std::ranges::any_of(
      all, [](const std::string& other) { return !other.empty(); });
}

Status Trainer::EndEpoch(ResidentState& resident) const {
  ASSIGN_OR_RETURN(StepProbe* const probe, ProbeFor(resident));
  TrainState& state = resident.host();
  const RunningMetrics& metrics = state.metrics;
  state.history.loss.push_back(numerics::EpochLoss(
      metrics.loss_sum, static_cast<uint64_t>(metrics.samples)));
  state.history.correct.push_back(metrics.correct);
  state.history.samples.push_back(metrics.samples);
  state.metrics = {};
  state.position.epoch += 1;
  state.position.sample = 0;
  state.position.phase = static_cast<uint64_t>(Phase::kInEpoch);
  return EndProbe(probe, resident);
}

}  // namespace gauntlet
