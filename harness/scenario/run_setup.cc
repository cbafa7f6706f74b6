#include "harness/scenario/run_setup.h"

#include <algorithm>

#include "engine/text/units.h"
#include "engine/train/launcher/deadlines.h"
#include "harness/scenario/fault_text.h"
#include "harness/scenario/save_schedule.h"
#include "harness/scenario/time_limits.h"
#include <fmt/format.h>

namespace gauntlet {

namespace {

// Returns true iff the plan may hang a process before its first rendezvous.
// Only the launcher detects such a hang.
bool HangsBeforeRendezvous(const FaultPlan& plan) {
  return std::ranges::any_of(plan.faults, [](const Fault& fault) {
    return InfoOf(fault.kind).effects.halts &&
           InfoOf(fault.site.point).part == RunPart::kStart;
  });
}

}  // namespace

void SetDeadlines(const Case& one, RunSetup& setup) {
  const Deadlines deadlines = DeadlinesOf(
      one.train.cluster, {.restart = one.cluster.policy,
                          .backoff = one.cluster.backoff,
                          .start_timeout = one.cluster.start_timeout});
  setup.detection_bound_ns = deadlines.detection_in_training.count();
  setup.detection_bound_saving_ns = deadlines.detection_in_a_save.count();
  setup.detection_bound_joining_ns =
      (HangsBeforeRendezvous(one.plan)
           ? std::max(deadlines.detection_in_joining,
                      deadlines.detection_before_joining)
           : deadlines.detection_in_joining)
          .count();
  setup.heartbeat_every_ns = one.train.cluster.heartbeat_every.count();
  setup.notice_grace_ns = one.train.preemption.grace.count();
  setup.poll_every_ns = one.train.preemption.poll_every.count();
  setup.steps_per_execution = one.train.steps_per_execution;
  setup.never_restarts = one.cluster.policy == RestartPolicy::kNone;
  setup.max_restarts = setup.never_restarts ? 0 : one.cluster.max_restarts;
  setup.silence_limit_ns = deadlines.silence.count();
  setup.hang_limit_ns = deadlines.shortest_hang.count();
  setup.orphans_end_ns = deadlines.orphans_end.count();
  setup.restart_pause_ns = deadlines.longest_restart_pause.count();
  if (!setup.rejoins) {
    setup.first_restart_pause_ns = deadlines.first_restart_pause.count();
  }
}

namespace {

RunSetup SetupOf(const Case& one) {
  const CheckpointOptions& checkpoint = one.train.checkpoint;
  const EpochShape epoch = ShapeOfEpoch(one.train.job);
  RunSetup setup{.workers = one.cluster.workers,
                 .min_workers = one.cluster.min_workers,
                 .workers_per_attempt = one.cluster.workers_per_attempt,
                 .rejoins = one.cluster.policy == RestartPolicy::kRejoin,
                 .epochs = one.train.horizon.epochs,
                 .rows_per_epoch = epoch.samples,
                 .save_interval_steps = SaveIntervalSteps(one),
                 .async_saves = checkpoint.mode != SaveMode::kSync,
                 .keep = checkpoint.keep,
                 .delete_at_success =
                     checkpoint.at_success == AtSuccess::kDeleteCheckpoints,
                 .allow_cold_start = checkpoint.allow_cold_start,
                 .no_store = one.store == StoreChoice::kNone,
                 .curve_every = one.outputs.curve_every,
                 .exports = one.outputs.exports,
                 .limited_disk = one.disk_capacity != Case().disk_capacity,
                 .step_timeout_ns = one.train.cluster.step_timeout.count(),
                 .save_timeout_ns = one.train.cluster.save_timeout.count(),
                 .start_timeout_ns = one.cluster.start_timeout.count(),
                 .longest_silence_ns = HangLimitOf(one).count(),
                 .longest_run_ns = TotalLimitOf(one).count(),
                 .planted_bugs = NamesOfBugs(one.plan.bugs)};
  SetDeadlines(one, setup);
  for (const LaunchSetup& launch : one.launches) {
    const Horizon horizon = OptionsOfLaunch(one.train, launch).horizon;
    setup.launches.push_back({.epochs = horizon.epochs,
                              .max_steps = horizon.max_steps.value_or(0),
                              .stop_at_step = horizon.stop_at_step.value_or(0),
                              .other_job = launch.changes_job()});
  }
  return setup;
}

RecordFault RecordFaultOf(const Fault& fault, const Case& one) {
  const FaultParameters& with = fault.with;
  RecordFault recorded = {
      .id = fault.id,
      .kind = std::string(FaultKindName(fault.kind)),
      .worker = WorkerName(fault.site.worker),
      .point = std::string(PointName(fault.site.point)),
      .step = fault.site.step,
      .epoch = fault.site.epoch,
      .save = fault.site.save,
      .summary = FaultSummary(fault),
      .always = with.times == FaultTimes::kAlways,
      .until_step = with.until_step,
      .hits = with.hits,
  };
  if (fault.kind == FaultKind::kTornWrite) {
    recorded.then = AfterTearName(with.then);
  }
  if (fault.kind == FaultKind::kSlow) {
    recorded.latency_ns = with.latency.count();
  } else if (fault.kind == FaultKind::kKill) {
    recorded.latency_ns = with.kill_latency.value_or(Duration()).count();
  } else if (fault.kind == FaultKind::kDelay) {
    recorded.latency_ns = (with.latency + with.jitter).count();
  }
  if (fault.kind == FaultKind::kPacketLoss || fault.kind == FaultKind::kDelay) {
    recorded.for_ever = with.duration == Duration::zero();
  }
  const RunPart part = InfoOf(fault.site.point).part;
  recorded.in_save = part == RunPart::kSave || part == RunPart::kStateFile ||
                     part == RunPart::kRetirement;
  recorded.polled =
      fault.kind == FaultKind::kPreempt && with.notice != NoticeBy::kSignal;
  recorded.duration_ns = with.duration.count();
  for (const std::vector<int>& group : with.groups) {
    recorded.groups.insert(recorded.groups.end(), group.begin(), group.end());
  }
  recorded.parts_others = !with.groups.empty();
  if (fault.kind == FaultKind::kBitFlip &&
      with.offset.unit == OffsetUnit::kBytes) {
    recorded.byte = with.offset.value;
  }
  if (fault.kind == FaultKind::kPreempt) recorded.grace_ns = with.grace.count();
  if (CutsPower(fault)) {
    recorded.disk = ProfileName(one.disk);
    recorded.of_one_host = LosesPowerAlone(one.cluster.hosts, one.disk);
  }
  return recorded;
}

// Returns true iff FaultSummary names the byte that the fault flips ("byte 40
// of the file").
bool NamesByteOfFile(const Fault& fault) {
  const FileOffset& byte = fault.with.offset;
  return fault.kind == FaultKind::kBitFlip && byte.unit == OffsetUnit::kBytes &&
         byte.value > 0;
}

// Returns the text of one parameter: ", error ENOSPC", ", for 2s" or ", 5ms
// later".
std::string ParameterText(const FaultParameterInfo& parameter,
                          const Fault& fault) {
  const std::string value = FaultParameterText(parameter, fault.with);
  if (parameter.name == "duration") return fmt::format(", for {}", value);
  if (fault.kind == FaultKind::kKill) return fmt::format(", {} later", value);
  return fmt::format(", {} {}", parameter.name, value);
}

// Returns the parameters of the fault: ", error ENOSPC, repeat always". Leaves
// out parameters with their default value, except for an error number. The site
// of the fault names its incarnation unless this is the first one.
std::string ParametersText(const Fault& fault) {
  const FaultParameters& with = fault.with;
  std::string text;
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    const bool is_shown =
        parameter.is_required || !IsDefault(parameter, with) ||
        (fault.kind == FaultKind::kErrno && parameter.name == "error");
    const bool is_named = parameter.name == "offset" && NamesByteOfFile(fault);
    if (is_shown && !is_named) text += ParameterText(parameter, fault);
  }
  if (with.times == FaultTimes::kOnce) return text;
  text += fault.site.incarnation == 1 ? ", repeat always in incarnation 1"
                                      : ", repeat always";
  if (with.until_step) text += fmt::format(", until step {}", *with.until_step);
  return text;
}

}  // namespace

std::vector<std::string> NamesOfBugs(const std::vector<PlantedBug>& bugs) {
  std::vector<std::string> names;
  for (const PlantedBugInfo& info : AllPlantedBugs()) {
    if (std::ranges::count(bugs, info.bug) > 0) names.emplace_back(info.name);
  }
  return names;
}

std::string FaultSummary(const Fault& fault) {
  const FaultSite& site = fault.site;
  std::string text =
      fmt::format("{} {}{} at {}", FaultKindName(fault.kind),
                  site.worker >= 0 ? "worker " : "", WorkerName(site.worker),
                  PointName(site.point));
  if (site.step) text += fmt::format(", step {}", *site.step);
  if (site.epoch) text += fmt::format(", epoch {}", *site.epoch);
  if (site.save) text += fmt::format(", save {}", *site.save);
  if (site.occurrence > 1) {
    text += fmt::format(", occurrence {}", site.occurrence);
  }
  if (site.block == kAnyBlock) {
    text += ", any block";
  } else if (site.block > 0) {
    text += fmt::format(", block {}", site.block);
  }
  if (site.offset) {
    text +=
        fmt::format(", offset {}{}", site.offset->value,
                    site.offset->unit == OffsetUnit::kPercent ? "%" : " bytes");
  }
  if (NamesByteOfFile(fault)) {
    text += fmt::format(", byte {} of the file", fault.with.offset.value);
  }
  if (site.incarnation == kAnyIncarnation) {
    text += ", incarnation any";
  } else if (site.incarnation > 1) {
    text += fmt::format(", incarnation {}", site.incarnation);
  }
  return text + ParametersText(fault) +
         (fault.after.empty() ? "" : fmt::format(", after {}", fault.after));
}

Record RecordHead(const Case& one) {
  Record record;
  record.scenario = one.scenario;
  record.case_name = one.name;
  record.file = one.file;
  record.line = one.line;
  record.expect = one.expect;
  record.setup = SetupOf(one);
  for (const Fault& fault : one.plan.faults) {
    record.faults.push_back(RecordFaultOf(fault, one));
  }
  return record;
}

}  // namespace gauntlet
