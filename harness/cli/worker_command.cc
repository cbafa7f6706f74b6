#include "harness/cli/worker_command.h"

#include <cstdlib>
#include <memory>

#include "chaos/inject/faulty_clock.h"
#include "chaos/inject/faulty_network.h"
#include "chaos/inject/faulty_storage.h"
#include "chaos/inject/fiu_points.h"
#include "chaos/inject/injector.h"
#include "chaos/inject/process_effects.h"
#include "engine/cluster/tf_config.h"
#include "engine/data/dataset.h"
#include "engine/real/notice_pipe.h"
#include "engine/real/real_world.h"
#include "engine/train/worker.h"
#include "harness/cli/exit_code.h"
#include "harness/run/metadata_server.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 20;

struct PlanPlaces {
  std::string plan_file;
  std::string notice_file;  // that the worker looks for
};

// A fault plan brought to this process: what stands between engine and world.
struct PlannedFaults {
  PlannedFaults(FaultPlan told, const PlanPlaces& places,
                const ProcessIdentity& self, RealWorld& real, EventLog& events)
      : plan(std::move(told)),
        network(real.network, real.clock, real.tasks, plan.seed),
        clock(real.clock),
        effects(network, clock,
                {.file = places.notice_file,
                 .http = MetadataFile(places.plan_file)}),
        fired(FiredDirectory(places.plan_file)),
        injector(plan, self, effects, fired, events),
        points(injector, plan, ExternalControlFromEnvironment()),
        storage(real.storage, injector) {}

  const FaultPlan plan;
  FaultyNetwork network;
  FaultyClock clock;
  ProcessEffects effects;
  FiredFaultFiles fired;
  Injector injector;
  FiuPoints points;
  FaultyStorage storage;
};

Result<WorkerSpec> PlaceOf(const WorkerCommand& command) {
  const char* tf_config = std::getenv("TF_CONFIG");
  ASSIGN_OR_RETURN(ClusterPlace place,
                   ParseTfConfig(tf_config == nullptr ? "" : tf_config));
  // By itself it is reached by nobody, on any port.
  if (place.addresses.empty()) place.addresses = {"127.0.0.1:0"};
  return WorkerSpec{
      .worker = command.worker.value_or(place.rank),
      .life = command.life,
      .rank = place.rank,
      .addresses = std::move(place.addresses),
      .tenure = {.launch = command.launch, .claimed = command.claimed}};
}

Result<TrainOptions> ReadOptions(Storage& storage, const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(storage, file, kMaxFile));
  Result<TrainOptions> options = TrainOptionsFromJson(text);
  if (!options.ok()) return Annotate(options.status(), file);
  return options;
}

// A notice that nobody looks for would be none.
Status CheckNotices(const FaultPlan& plan, const PreemptionOptions& told) {
  for (const Fault& fault : plan.faults) {
    if (fault.kind != FaultKind::kPreempt) continue;
    const bool missing =
        (fault.with.notice == NoticeBy::kFile && told.file.empty()) ||
        (fault.with.notice == NoticeBy::kHttp && told.url.empty());
    if (!missing) continue;
    return InvalidArgument(
        fmt::format("fault {}: expected workers that look for notices by {}",
                    fault.id, NoticeByName(fault.with.notice)));
  }
  return OkStatus();
}

Result<std::unique_ptr<PlannedFaults>> ReadPlan(const std::string& file,
                                                const PreemptionOptions& told,
                                                const ProcessIdentity& self,
                                                RealWorld& real,
                                                EventLog& events) {
  if (file.empty()) return std::unique_ptr<PlannedFaults>();
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(real.storage, file, kMaxFile));
  Result<FaultPlan> plan = PlanFromJson(text);
  if (!plan.ok()) return Annotate(plan.status(), file);
  const Status looked_for = CheckNotices(*plan, told);
  if (!looked_for.ok()) return Annotate(looked_for, file);
  const Status made = real.storage.MakeDirectory(FiredDirectory(file));
  if (!made.ok() && made.code() != Code::kAlreadyExists) return made;
  const PlanPlaces places = {.plan_file = file, .notice_file = told.file};
  return std::make_unique<PlannedFaults>(*std::move(plan), places, self, real,
                                         events);
}

Result<std::unique_ptr<EventLog>> OpenEvents(const WorkerCommand& command,
                                             const WorkerSpec& place,
                                             const Clock& clock) {
  if (command.events_file.empty()) {
    return std::unique_ptr<EventLog>(std::make_unique<NullEventLog>());
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<EventFile> file,
      EventFile::Open(command.events_file,
                      {.worker = place.worker, .life = place.life}, clock));
  return std::unique_ptr<EventLog>(std::move(file));
}

Result<std::unique_ptr<ProgressReporter>> OpenReporter(int fd) {
  if (fd < 0) {
    return std::unique_ptr<ProgressReporter>(
        std::make_unique<NoProgressReporter>());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<WorkerNotices> notices,
                   WorkerNotices::Open(fd));
  return std::unique_ptr<ProgressReporter>(std::move(notices));
}

// Returns only with what kept the worker from beginning.
Status Work(const WorkerCommand& command, RealWorld& real, Console& console) {
  ASSIGN_OR_RETURN(const TrainOptions options,
                   ReadOptions(real.storage, command.options_file));
  if (!options.preemption.signal.empty()) {
    InstallNoticeSignal(options.preemption.signal);
  }
  ASSIGN_OR_RETURN(const WorkerSpec place, PlaceOf(command));
  ASSIGN_OR_RETURN(const auto reporter, OpenReporter(command.notices_fd));
  ASSIGN_OR_RETURN(const auto events, OpenEvents(command, place, real.clock));
  const ProcessIdentity self = {
      .worker = place.worker, .life = place.life, .rank = place.rank};
  ASSIGN_OR_RETURN(
      const auto faults,
      ReadPlan(command.plan_file, options.preemption, self, real, *events));
  ASSIGN_OR_RETURN(const auto data, LoadData(real.storage, options.job.data));
  Storage& storage = faults ? static_cast<Storage&>(faults->storage)
                            : static_cast<Storage&>(real.storage);
  FaultPoints& points = faults ? static_cast<FaultPoints&>(faults->points)
                               : static_cast<FaultPoints&>(real.faults);
  Network& network = faults ? static_cast<Network&>(faults->network)
                            : static_cast<Network&>(real.network);
  Clock& clock = faults ? static_cast<Clock&>(faults->clock)
                        : static_cast<Clock&>(real.clock);
  World world{clock, storage, network, real.tasks, real.host, points, *events};
  const std::string job_json = JobToJson(options.job, data->content);
  const TrainInputs inputs = {
      .options = options, .data = *data, .job_json = job_json};
  RunWorker(world, inputs, place, *reporter, [&](const WorkerEnd& end) {
    if (end.reason.empty()) return;
    reporter->Progress({.failure = end.reason});
    // Where a launcher listens, it says so.
    if (command.notices_fd >= 0) return;
    fmt::print(console.err, "worker {}: {}\n", place.worker, end.reason);
    console.err << std::flush;
  });
}

}  // namespace

std::string FiredDirectory(const std::string& plan_file) {
  return plan_file + ".fired";
}

int RunWorkerProcess(const WorkerCommand& command, Console& console) {
  InstallSignalHandlers();
  RealWorld real;
  const Status status = Work(command, real, console);
  fmt::print(console.err, "gauntlet worker: {}\n", status.message());
  return static_cast<int>(WorkerExit::kBadInput);
}

}  // namespace gauntlet
