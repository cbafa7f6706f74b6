#include "engine/train/worker/generation_join.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/ckpt/format/text_record.h"
#include "engine/ckpt/protocol/ownership.h"
#include "engine/epoch_text.h"
#include "engine/train/rendezvous/common_settings.h"
#include "engine/train/rendezvous/rendezvous.h"
#include "engine/train/rendezvous/rendezvous_messages.h"
#include "engine/train/rendezvous/state_transfer.h"
#include "engine/train/save/resume.h"
#include <fmt/format.h>

namespace gauntlet {
SessionOptions GenerationJoin::JoinOptions(Time rendezvous_deadline) const {
  const ClusterOptions& cluster = parts_.options().cluster;
  SessionOptions options = RendezvousOptions(parts_.place, cluster);
  const CollectiveOffer offer =
      OfferOf(parts_.options().kernels.device, parts_.inputs.device);
  options.hello_payload = EncodeIntroduction(
      {.settings = settings_, .held = held_, .offer = offer});
  options.check_hello_payload = [this](std::string_view bytes) {
    return CheckIntroduction(bytes, settings_);
  };
  options.log = [&reporter = parts_.reporter](const std::string& line) {
    reporter.Progress({.line = line});
  };
  if (!parts_.rejoins()) return options;
  options.rendezvous_timeout = rendezvous_deadline - parts_.world.clock.Now();
  options.ring_timeout = cluster.lost_after;
  options.incarnation = static_cast<uint64_t>(parts_.place.incarnation);
  options.generation = last_generation_;
  options.latest_incarnation = latest_incarnation_;
  return options;
}

void GenerationJoin::SetSilentRank(int rank) {
  silent_rank_ = rank < 0 ? std::nullopt : std::optional(rank);
}

Status GenerationJoin::Rendezvous(Time rendezvous_deadline) {
  const ClusterOptions& cluster = parts_.options().cluster;
  if (settings_.empty()) {
    settings_ = EncodeCommonSettings(parts_.options(), parts_.inputs.job_json);
  }
  const Duration limit = parts_.rejoins()
                             ? rendezvous_deadline - parts_.world.clock.Now()
                             : cluster.rendezvous_timeout;
  parts_.AnnounceReportWithin(limit + cluster.save_timeout);
  if (parts_.rejoins()) {
    parts_.reporter.Progress(
        {.step = held_ ? held_->step : 0,
         .rendezvous = last_generation_,
         .silent_rank = std::exchange(silent_rank_, std::nullopt)});
  }
  ASSIGN_OR_RETURN(
      parts_.session,
      Session::Form(parts_.world, parts_.built.kernels_for_host(),
                    JoinOptions(rendezvous_deadline),
                    [this](const std::vector<JoinedWorker>& by_rank) {
                      return Decide(by_rank);
                    }));
  last_generation_ = parts_.generation();
  if (parts_.is_chief()) {
    latest_incarnation_ = parts_.session->latest_incarnation();
  }
  return OkStatus();
}

// Decodes the introductions of all ranks. Returns an error, before anything is
// claimed, if their settings differ.
Result<GenerationJoin::Reports> GenerationJoin::CollectReports(
    const std::vector<JoinedWorker>& by_rank) const {
  Reports reports;
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    Result<Introduction> read = DecodeIntroduction(by_rank[rank].hello_payload);
    if (!read.ok()) {
      return Unavailable(
          fmt::format("rank {}: {}", rank, read.status().message()));
    }
    RETURN_IF_ERROR(CompareSettings(settings_, read->settings, rank));
    reports.held.push_back(std::move(read->held));
    reports.offers.push_back(std::move(read->offer));
  }
  return reports;
}

// Decides on the collective. For NCCL, creates a new communicator: each
// generation has its own.
Result<CollectiveDecision> GenerationJoin::ChooseCollective(
    std::span<const CollectiveOffer> offers) const {
  ASSIGN_OR_RETURN(
      CollectiveDecision decision,
      DecideCollective(parts_.options().cluster.collective, offers));
  if (!decision.communicator) return decision;
  gpu::DeviceText why;
  if (parts_.inputs.device.collective->make_id(&*decision.communicator, &why)) {
    return decision;
  }
  const std::string reason = fmt::format(
      "no communicator: {}: {}", offers[0].version, std::string_view(why.text));
  if (parts_.options().cluster.collective != CollectiveChoice::kAuto) {
    return Unavailable(reason);
  }
  return FallBackToRing(reason);
}

// Called on the chief once all ranks have arrived, so that none is in its
// previous generation any more. Claims the new generation, then chooses the
// state to resume from.
Result<Decision> GenerationJoin::Decide(
    const std::vector<JoinedWorker>& by_rank) {
  ASSIGN_OR_RETURN(const Reports reports, CollectReports(by_rank));
  ASSIGN_OR_RETURN(const CollectiveDecision collective,
                   ChooseCollective(reports.offers));
  uint64_t known = 0;
  for (const JoinedWorker& joined_worker : by_rank) {
    known = std::max(known, joined_worker.generation);
  }
  // Without a store, the launcher's incarnation numbers serve as generations.
  if (!parts_.store) {
    const auto incarnation = static_cast<uint64_t>(parts_.place.incarnation);
    return Decision{
        .generation = std::max(incarnation, known + 1),
        .text = EncodeDecision({.start = DecideStart(reports.held, {}, {}),
                                .collective = collective})};
  }
  const bool holds = std::ranges::any_of(
      reports.held, [](const auto& state) { return state.has_value(); });
  parts_.times.Lap(TimePart::kJoin);
  ASSIGN_OR_RETURN(const Claim claim, MakeClaim(holds ? StateInMemory::kHeld
                                                      : StateInMemory::kNone));
  parts_.times.Lap(TimePart::kClaim);
  parts_.launch_hold.claimed = claim.generation;
  parts_.reporter.Progress({.claimed = claim.generation});
  for (std::string& line : parts_.store->TakeWarnings()) {
    parts_.reporter.Progress({.line = std::move(line)});
  }
  std::optional<HeldState> parent_state;
  if (claim.parent) {
    parent_state = {.step = claim.parent->step,
                    .phase = claim.parent_phase,
                    .digest = claim.parent_digest};
  }
  StartDecision start = DecideStart(reports.held, claim.parent, parent_state);
  if (start.from_memory) {
    start.from_memory->is_only_copy = claim.all_are_invalid;
  }
  return Decision{.generation = claim.generation,
                  .text = EncodeDecision(
                      {.start = std::move(start), .collective = collective})};
}

// Claims a generation. If disk space or permission is missing, tries again:
// three tries in total or, if workers hold a state in memory, six within about
// three seconds. A failed try may leave an incomplete claim, which readers
// ignore. A lack of permission at the last try is a permanent error.
Result<Claim> GenerationJoin::MakeClaim(StateInMemory memory) {
  const bool holds = memory == StateInMemory::kHeld;
  const int tries = holds ? 6 : 3;
  claimed_state_.reset();
  TensorPlaces places;
  if (!holds) {
    places = [this](const TensorView& tensor) {
      if (!claimed_state_) claimed_state_ = NewState(StartFrom::kCheckpoint);
      return claimed_state_->PlaceToRestore(tensor);
    };
  }
  const std::string& job = parts_.inputs.job_json;
  Duration pause = std::chrono::milliseconds(100);
  Result<Claim> claim = parts_.store->ClaimGeneration(job, memory, places);
  for (int i = 1; i < tries; ++i) {
    const Code code = claim.status().code();
    if (code != Code::kResourceExhausted && code != Code::kForbidden) break;
    parts_.world.clock.SleepUntil(parts_.world.clock.Now() + pause);
    pause *= 2;
    claim = parts_.store->ClaimGeneration(job, memory, places);
  }
  const Status& status = claim.status();
  if (status.code() == Code::kForbidden) {
    return InvalidArgument(status.message());
  }
  if (status.code() == Code::kResourceExhausted) {
    return ResourceExhausted(
        status.message() +
        " (make room, then start again: a start writes a small file there)");
  }
  return claim;
}

Result<StartDecision> GenerationJoin::DecodeWelcome() {
  Result<RendezvousDecision> welcome =
      DecodeDecision(parts_.session->decision().text);
  if (!welcome.ok()) {
    return Unavailable("the chief's welcome: " + welcome.status().message());
  }
  const auto& memory = welcome->start.from_memory;
  if (memory && memory->holder >= parts_.session->ring().size()) {
    return Unavailable(fmt::format(
        "the chief's welcome: expected a rank below {} that holds the state, "
        "found {}",
        parts_.session->ring().size(), memory->holder));
  }
  collective_ = std::move(welcome->collective);
  if (parts_.is_chief() && collective_.line != collective_line_) {
    collective_line_ = collective_.line;
    parts_.reporter.Progress({.line = collective_line_});
  }
  return std::move(welcome->start);
}

Status GenerationJoin::Resume() {
  store_mismatch_.clear();
  parts_.AnnounceReportWithin(parts_.options().cluster.save_timeout);
  ASSIGN_OR_RETURN(const StartDecision start, DecodeWelcome());
  resumes_from_memory_ = start.from_memory.has_value();
  saves_first_ = resumes_from_memory_ && start.from_memory->is_only_copy;
  if (parts_.store && !parts_.is_chief()) {
    const Status seen = WaitUntilClaimVisible(
        parts_.world, parts_.options().checkpoint.directory,
        parts_.generation(),
        parts_.world.clock.Now() + parts_.options().cluster.lost_after);
    if (seen.code() == Code::kInvalidArgument) {
      store_mismatch_ = seen.message();
    } else {
      RETURN_IF_ERROR(seen);
    }
  }
  parts_.times.Lap(TimePart::kClaim);
  // This rank takes part in the transfer even if store_mismatch_ has an error:
  // the other ranks need this rank to forward the state.
  if (resumes_from_memory_) {
    const Status resumed = ResumeFromMemory(*start.from_memory);
    parts_.times.Lap(TimePart::kTransfer);
    return resumed;
  }
  if (!store_mismatch_.empty()) return OkStatus();
  held_.reset();
  if (start.checkpoint) {
    const Status loaded = Load(*start.checkpoint);
    parts_.times.Lap(TimePart::kLoad);
    return loaded;
  }
  Initialize();
  parts_.times.Lap(TimePart::kBuild);
  return OkStatus();
}

TrainState GenerationJoin::NewState(StartFrom start) const {
  const JobModel& built = parts_.built;
  LoopHooks* const hooks = parts_.inputs.hooks;
  const JobSpec& job = parts_.options().job;
  const ModelExtent extent = {
      .parameters = built.model->parameter_count(),
      .replica_state = built.model->replica_state_size() *
                       static_cast<size_t>(job.replicas)};
  const std::vector<HookState> hook_states =
      hooks == nullptr ? std::vector<HookState>() : hooks->states(extent);
  return TrainState(*built.model, *built.optimizer, job, start, hook_states);
}

void GenerationJoin::MakeState(StartFrom start) {
  parts_.DropState();  // first: memory may not suffice for two states
  parts_.SetState(NewState(start));
}

void GenerationJoin::Initialize() {
  claimed_state_.reset();
  MakeState(StartFrom::kInitialParameters);
  if (parts_.options().job.start.weights) {
    StartFromValues(*parts_.built.model, parts_.inputs.weights, *parts_.state);
  }
  start_digest_ = parts_.state->ComputeDigest();
  parts_.world.events.Emit({.kind = EventKind::kInitialized,
                            .generation = parts_.generation(),
                            .digest = start_digest_});
}

Status GenerationJoin::Load(const CheckpointRef& parent) {
  if (claimed_state_) {
    parts_.DropState();
    // The claim has already read tensors into the arrays of this state. A move
    // keeps the arrays.
    parts_.SetState(*std::exchange(claimed_state_, std::nullopt));
  } else {
    MakeState(StartFrom::kCheckpoint);
  }
  const Status loaded = LoadState(parts_.world, *parts_.store, parent,
                                  *parts_.schedule, *parts_.state);
  if (!loaded.ok()) {
    parts_.DropState();
    return loaded;
  }
  resumed_from_ = parts_.step();
  start_digest_ = parts_.state->ComputeDigest();
  LogEvent event = StartEvent(EventKind::kResumed);
  event.count =
      static_cast<int64_t>(parts_.state->not_finite_since.value_or(0));
  event.path = parent.name;
  parts_.world.events.Emit(std::move(event));
  const std::optional<uint64_t>& stop = parts_.options().horizon.stop_at_step;
  ReportStart("resumed " + parent.name,
              stop && *stop <= *resumed_from_
                  ? fmt::format("; step {} to stop at is past", *stop)
                  : "");
  return OkStatus();
}

// Returns an event with the position of the state that training starts from.
LogEvent GenerationJoin::StartEvent(EventKind kind) const {
  const Position& position = parts_.state->position;
  return {.kind = kind,
          .generation = parts_.generation(),
          .step = position.step,
          .epoch = position.epoch,
          .position = position.sample,
          .phase = position.phase_of(),
          .digest = start_digest_};
}

void GenerationJoin::ReportStart(const std::string& how,
                                 const std::string& suffix) {
  if (!parts_.is_chief()) return;
  const Position& position = parts_.state->position;
  parts_.reporter.Progress(
      {.step = position.step,
       .epoch = position.epoch,
       .line = fmt::format("{}: step {}, {}{}", how, position.step,
                           EpochPosition(position.epoch, position.sample),
                           suffix)});
}

// Resumes from the state that a worker holds in memory. An error of the ring
// leaves the state that this worker holds unchanged.
Status GenerationJoin::ResumeFromMemory(const StartDecision::Memory& memory) {
  const HeldState& decided = memory.state;
  if (held_ && IsSamePosition(*held_, decided) && *held_ != decided) {
    parts_.stage = Stage::kTraining;
    return FailedPrecondition(fmt::format(
        "step {}: state digests differ between workers: rank {} has {}, rank "
        "{} has {}",
        decided.step, memory.holder, decided.digest.ToString(),
        parts_.place.rank, held_->digest.ToString()));
  }
  const Ring& ring = parts_.session->ring();
  const bool receives = Receives(memory, ring.rank());
  if (!receives && held_ != decided) {
    return DataLoss(fmt::format(
        "the chief's decision sends rank {} no state, but the rank does not "
        "hold step {}",
        ring.rank(), decided.step));
  }
  if (!held_) MakeState(StartFrom::kCheckpoint);
  RETURN_IF_ERROR(TransferHeldState(memory));
  held_ = decided;
  start_digest_ = decided.digest;
  EmitResumedFromMemory(
      receives ? fmt::format("from rank {}",
                             SenderTo(memory, ring.rank(), ring.size()))
               : "kept");
  return OkStatus();
}

Status GenerationJoin::TransferHeldState(const StartDecision::Memory& memory) {
  Status shared =
      TransferState(parts_.world, parts_.session->ring(),
                    {.memory = memory,
                     .is_new = !held_,
                     .timeout = parts_.options().cluster.save_timeout},
                    *parts_.resident);
  if (shared.code() == Code::kDataLoss) {
    held_.reset();
    state_is_unusable_ = true;
    shared = Unavailable(shared.message());
  }
  if (!shared.ok() && !held_) {
    // The state is empty, or was received only in part.
    parts_.DropState();
  }
  return shared;
}

void GenerationJoin::EmitResumedFromMemory(const std::string& from) {
  LogEvent event = StartEvent(EventKind::kResumedFromMemory);
  event.detail = from;
  parts_.world.events.Emit(std::move(event));
  ReportStart("rejoined", fmt::format(" ({})", from));
}

// Sends `payload` to all workers before the first step. Returns the payloads of
// all workers, by rank.
Result<std::vector<std::string>> GenerationJoin::AllGather(
    const std::string& payload) {
  return parts_.session->ring().AllGather(
      {}, payload, parts_.options().cluster.save_timeout);
}

// Ends the session together with the other ranks, and returns `why`, an error
// that all ranks detect. Leave makes sure that no rank exits before the others
// have detected the error.
Status GenerationJoin::Refuse(Status why) {
  parts_.session->Leave();
  return why;
}

namespace {
std::string NotFiniteSince(const std::optional<TrainState>& state) {
  if (!state || !state->not_finite_since) return "";
  return std::to_string(*state->not_finite_since);
}
}  // namespace

Status GenerationJoin::AgreeOnStart() {
  parts_.AnnounceReportWithin(parts_.options().cluster.save_timeout);
  const std::string here =
      store_mismatch_.empty() ? start_digest_.ToString() : "";
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   AllGather(EncodeList(
                       {here, store_mismatch_, NotFiniteSince(parts_.state)})));
  std::vector<std::string_view> states;
  std::optional<uint64_t> not_finite_since;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    ASSIGN_OR_RETURN(const std::vector<std::string_view> fields,
                     ViewList(all[rank]));
    if (fields.size() != 3) {
      return Unavailable(fmt::format("rank {}: malformed start", rank));
    }
    if (!fields[1].empty()) {
      return Refuse(
          InvalidArgument(fmt::format("rank {}: {}", rank, fields[1])));
    }
    states.push_back(fields[0]);
    if (const auto since = ParseNumber<uint64_t>(fields[2])) {
      not_finite_since = std::min(*since, not_finite_since.value_or(*since));
    }
  }
  for (size_t rank = 0; rank < states.size(); ++rank) {
    if (states[rank] == states[0]) continue;
    return Refuse(FailedPrecondition(
        fmt::format("rank {} starts from another state than the chief", rank)));
  }
  // Sets the value on every rank: the transfer of a state does not include it.
  parts_.state->not_finite_since = not_finite_since;
  RETURN_IF_ERROR(JoinDevices());
  parts_.session->StartRejectingLateConnections();
  if (parts_.rejoins() && parts_.is_chief()) {
    parts_.reporter.Progress({.formed = parts_.generation()});
  }
  return OkStatus();
}

// Connects the devices. All ranks are present: they have just exchanged the
// digests of their states.
Status GenerationJoin::JoinDevices() {
  if (!collective_.communicator) return OkStatus();
  const gpu::CollectiveApi* const api = parts_.inputs.device.collective;
  const Kernels& kernels = *parts_.built.kernels;
  if (api == nullptr || gpu::DeviceOf(kernels) == nullptr) {
    return Unavailable(
        fmt::format("rank {}: the chief wants an exchange between devices, and "
                    "there is no way to it",
                    parts_.place.rank));
  }
  const ClusterOptions& cluster = parts_.options().cluster;
  const Duration timeout =
      parts_.rejoins()
          ? std::min(cluster.step_timeout, cluster.rendezvous_timeout)
          : cluster.rendezvous_timeout;
  // There are three waits, each up to `timeout`: this rank connects to another
  // one, another rank connects to this one, and all join the communicator.
  parts_.AnnounceReportWithin(3 * timeout);
  std::unique_ptr<CollectiveLinks> links;
  if (api->needs_links) {
    ASSIGN_OR_RETURN(links, parts_.session->OpenLinks());
  }
  ASSIGN_OR_RETURN(
      parts_.device_ring,
      DeviceRing::Create({.world = parts_.world,
                          .ring = parts_.session->ring(),
                          .kernels = kernels,
                          .api = *api},
                         *collective_.communicator, std::move(links), timeout));
  return OkStatus();
}

void GenerationJoin::HoldState() {
  const Status synced = parts_.resident->SyncToHost();
  CHECK(synced.ok(), synced.message());
  const TrainState& state = *parts_.state;
  held_ = HeldState{.step = state.position.step,
                    .phase = state.position.phase_of(),
                    .digest = state.ComputeDigest()};
}

}  // namespace gauntlet
