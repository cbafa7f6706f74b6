#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/data/sample_schedule.h"
#include "engine/text/nearest_names.h"
#include "engine/text/units.h"
#include "harness/scenario/format/map_reader.h"
#include "harness/scenario/reader/fault_reader.h"
#include "harness/scenario/reader/matrix.h"
#include "harness/scenario/reader/reachable.h"
#include "harness/scenario/reader/read_launches.h"
#include "harness/scenario/reader/read_setup.h"
#include "harness/scenario/reader/read_trainer.h"
#include "harness/scenario/requirements.h"
#include "harness/scenario/save_schedule.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/time_limits.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

void ReadBefore(const MapReader& document, Case& one) {
  if (document.Find("warm_start") == nullptr) return;
  const MapReader map = document.Map("warm_start");
  EarlierSetup& before = one.before.emplace();
  map.Count("workers", before.workers);
  map.Count("epochs", before.epochs);
  map.Count("steps_per_epoch", before.steps_per_epoch);
}

void ReadExpectedInvariants(const MapReader& map, Expectation& out) {
  const YamlNode* node = map.Find("invariants");
  const bool all = node == nullptr || node->scalar == "all";
  if (!all) map.NameList("invariants", out.invariants);
  const bool none =
      node != nullptr && node->kind == YamlKind::kList && node->items.empty();
  if (none) map.Error(node->place, "expected at least one invariant");
  if (out.outcome == Outcome::kViolates && all) {
    map.Error(map.PlaceOf("outcome"),
              "`violates` needs the invariants that are to be broken",
              "invariants: [trajectory]");
  }
}

void ReadExpectedEnd(const MapReader& map, Expectation& out) {
  const MapReader end = map.Map("ends_at");
  end.Count("epoch", out.ends_at_epoch);
  end.Count("step", out.ends_at_step);
  map.Map("saves").Count("exactly", out.saves_exactly);
  std::vector<uint64_t> left;
  if (map.CountList("checkpoints", left)) out.checkpoints_left = left;
  map.Map("epochs_after_restart")
      .Count("exactly", out.epochs_after_restart_exactly);
  map.Choice("loss", out.loss_falls);
  map.Choice("accuracy", out.accuracy_rises);
}

// Reports an error for each empty map in `expect`, as it would check nothing.
void RefuseEmptyMaps(const MapReader& expect) {
  for (const std::string& key : KeysOf("expect")) {
    const YamlNode* node = expect.Find(key);
    if (node == nullptr || node->kind != YamlKind::kMap ||
        !node->entries.empty()) {
      continue;
    }
    const std::vector<std::string> keys = KeysOf("expect." + key);
    if (keys.empty()) continue;  // the reader of the key reports the error
    expect.Error(node->place, fmt::format("expected {}{}, found an empty map",
                                          keys.size() > 1 ? "one of " : "",
                                          fmt::join(keys, ", ")));
  }
}

// Returns true iff the scenario has something besides faults that may interrupt
// the run: a planted bug, a second launch, a disk of limited capacity, or a
// step time. Long steps may exceed a time limit.
bool MayBeInterruptedWithoutFaults(const Case& one) {
  return !one.plan.bugs.empty() || !one.launches.empty() ||
         one.disk_capacity != Case().disk_capacity ||
         one.cluster.step_time > Duration();
}

// Returns the outcome to suggest where none can be read: `completes` if nothing
// interrupts the run. REQUIRES: `one` has all but its faults.
std::string_view LikelyOutcome(const MapReader& document, const Case& one) {
  const YamlNode* const faults = document.Find("faults");
  const bool has_faults =
      faults != nullptr &&
      (faults->kind != YamlKind::kList || !faults->items.empty());
  return OutcomeName(has_faults || MayBeInterruptedWithoutFaults(one)
                         ? Outcome::kRecovers
                         : Outcome::kCompletes);
}

void ReadExpectation(const MapReader& document, Case& one) {
  if (document.Find("expect") == nullptr) {
    document.Error(
        document.PlaceOf("name"),
        "`expect` is missing: it states the outcome that the run "
        "must have",
        fmt::format("expect: {{outcome: {}}}", LikelyOutcome(document, one)));
    return;
  }
  const YamlNode& node = *document.Find("expect");
  if (node.kind != YamlKind::kMap) {
    const std::vector<std::string> outcomes =
        ChoicesOf(*FindKey("expect.outcome"));
    const std::string meant = NearestName(node.scalar, outcomes);
    document.Error(
        node.place,
        fmt::format("expected a map with an `outcome`, found {}",
                    DescribeYaml(node)),
        fmt::format("expect: {{outcome: {}}}",
                    meant.empty() ? LikelyOutcome(document, one) : meant));
    return;
  }
  const MapReader map = document.Map("expect");
  RefuseEmptyMaps(map);
  Expectation& out = one.expect;
  if (map.Find("outcome") == nullptr) {
    map.Error(document.PlaceOf("expect"), "expected an `outcome`");
  }
  map.Choice("outcome", out.outcome);
  ReadExpectedInvariants(map, out);
  if (out.outcome == Outcome::kViolates && one.plan.bugs.empty()) {
    const PlantedBugInfo& bug = InfoOf(PlantedBug::kLoseRngKey);
    map.Error(map.PlaceOf("outcome"),
              "`violates` is for mutation tests: expected a planted bug",
              fmt::format("planted_bugs: {}, with invariants: [{}] under "
                          "expect; it shows when {}",
                          bug.name, bug.caught_by, bug.shows_when));
  }
  const MapReader restarts = map.Map("restarts");
  restarts.Count("exactly", out.restarts_exactly);
  restarts.Count("max", out.restarts_max);
  if (out.restarts_exactly && out.restarts_max &&
      *out.restarts_exactly > *out.restarts_max) {
    restarts.Error(restarts.PlaceOf("max"),
                   fmt::format("expected at least `exactly` ({}), found {}",
                               *out.restarts_exactly, *out.restarts_max));
  }
  map.Map("resumed_from").Count("step", out.resumed_from_step);
  map.Map("recomputed_steps").Count("max", out.recomputed_steps_max);
  Duration detected{0};
  if (map.Map("detected_in").Time("max", detected)) {
    out.detected_in_max_ns = detected.count();
  }
  map.Map("failed_saves").Count("exactly", out.failed_saves_exactly);
  ReadExpectedEnd(map, out);
  std::optional<uint64_t> exit_code;
  map.Count("exit_code", exit_code);
  if (exit_code) out.exit_code = static_cast<int64_t>(*exit_code);
}

void ReadTimeouts(const MapReader& map, Timeouts& out) {
  map.Time("slow", out.slow);
  Duration limit{0};
  if (map.Time("hang", limit)) out.hang = limit;
  if (map.Time("total", limit)) out.total = limit;
  if (!out.hang || !out.total || *out.hang < *out.total) return;
  map.Error(map.PlaceOf("hang"),
            fmt::format("expected less than `total` ({}), which stops the case "
                        "first, found {}",
                        DurationToText(*out.total), DurationToText(*out.hang)));
}

// Refuses several labels without brackets, which YAML reads as a single one.
void ReadLabels(const MapReader& document, Case& one) {
  const YamlNode* const node = document.Find("labels");
  if (node != nullptr && node->kind == YamlKind::kScalar && !node->quoted &&
      node->scalar.find(',') != std::string::npos) {
    document.Error(
        node->place,
        fmt::format("expected a list of labels, found {}", DescribeYaml(*node)),
        fmt::format("put them in brackets: [{}]", node->scalar.substr(0, 80)));
    return;
  }
  document.NameList("labels", one.labels);
}

void ReadRest(const MapReader& document, Case& one) {
  ReadLabels(document, one);
  const MapReader needs = document.Map("requires");
  needs.Count("gpus", one.needs.gpus);
  needs.Size("disk", one.needs.disk_bytes);
  needs.NameList("features", one.needs.features);
  ReadTimeouts(document.Map("timeout"), one.timeouts);
  std::vector<std::string> bugs;
  document.NameList("planted_bugs", bugs);
  for (const std::string& bug : bugs) {
    one.plan.bugs.push_back(*FindPlantedBug(bug));
  }
}

void CheckCollective(const YamlNode& document, const Case& one,
                     Diagnostics& diagnostics) {
  if (!LacksDeviceForNccl(one)) return;
  const YamlNode* const cluster = document.Find("cluster");
  const YamlNode* const collective =
      cluster == nullptr ? nullptr : cluster->Find("collective");
  diagnostics.Error(collective == nullptr ? document.place : collective->place,
                    "collective nccl needs a device in each attempt: expected "
                    "cluster.device cuda or emulated, found cpu",
                    "cluster: {device: emulated}");
}

// Returns true iff the case may save after steps at which no save is due: after
// a notice, at the end of an earlier launch, or when workers rejoin.
bool MaySaveAtAnyStep(const Case& one) {
  return !one.launches.empty() || one.before ||
         one.cluster.policy == RestartPolicy::kRejoin ||
         std::ranges::any_of(one.plan.faults, IsNotice);
}

// Returns the advice for a case that is expected to resume from the step: the
// trigger that makes a save due there. If no save can be due there, advises to
// remove resumed_from.
std::string TriggerDueAt(uint64_t step, const Case& one) {
  if (step == 0 || step > TotalSteps(one).value_or(step)) {
    return "remove resumed_from";
  }
  return fmt::format("checkpoint: {{every: {{steps: {}}}}}", step);
}

// Returns the text of a warning about an expectation that no run meets. It is
// not an error, because the run itself is possible.
std::string CannotBeMet(std::string_view why) {
  return fmt::format("cannot be met: {}", why);
}

// Checks that the run can save at the step from which the scenario expects a
// resume. Reports an error if there is no store or no trigger of saves, and
// warns if the trigger is due at other steps. Without a trigger, there is still
// the save at the end of training.
void CheckExpectedResume(const MapReader& document, const Case& one,
                         Diagnostics& diagnostics) {
  const std::optional<uint64_t> step = one.expect.resumed_from_step;
  const MapReader resumed = document.Map("expect").Map("resumed_from");
  if (!step) return;
  const Place place = resumed.PlaceOf("step");
  const auto but = [step](std::string_view why) {
    return fmt::format("step {}, but {}", *step, why);
  };
  const auto never = [&but](std::string_view why) {
    return "can never match: " + but(why);
  };
  if (one.store == StoreChoice::kNone) {
    return diagnostics.Error(place, never("the job stores no checkpoint"),
                             "checkpoint: {directory: own}");
  }
  if (MaySaveAtAnyStep(one)) return;
  if (one.train.checkpoint.trigger.unit == SaveUnit::kNone &&
      *step < TotalSteps(one).value_or(0)) {
    return diagnostics.Error(place, never("checkpoint.every is never"),
                             TriggerDueAt(*step, one));
  }
  const std::optional<NearestSaves> nearest = SavesNextTo(one, *step);
  if (!nearest || nearest->at_or_before == step || !one.plan.bugs.empty()) {
    return;
  }
  const bool has_saves = nearest->at_or_before || nearest->after;
  diagnostics.Warning(place, CannotBeMet(but(NearestSavesText(*nearest))),
                      *step != 0 && has_saves ? NearestSavesHint(*nearest)
                                              : TriggerDueAt(*step, one));
}

// Warns of a notice whose grace period is shorter than preemption.grace. The
// worker relies on preemption.grace, so it trains for too long, and is killed
// before the job has stopped.
void WarnOfShorterGrace(const std::vector<PlacedFault>& faults, const Case& one,
                        Diagnostics& diagnostics) {
  const Duration told = one.train.preemption.grace;
  for (const PlacedFault& placed : faults) {
    const Duration granted = placed.fault.with.grace;
    if (placed.fault.kind != FaultKind::kPreempt || granted <= Duration() ||
        granted >= told) {
      continue;
    }
    const YamlNode* with = placed.node->Find("with");
    diagnostics.Warning(
        (with == nullptr ? placed.node : with)->place,
        fmt::format("fault `{}` kills its worker {} after the notice, but "
                    "preemption.grace tells the trainer {}: it trains on and "
                    "may be killed before it stops",
                    placed.fault.id, DurationToText(granted),
                    DurationToText(told)),
        fmt::format("preemption: {{grace: {}}}", DurationToText(granted)));
  }
}

bool PlansAnInterruption(const Case& one) {
  return !one.plan.faults.empty() || MayBeInterruptedWithoutFaults(one);
}

// Returns true iff one notice is all that may interrupt the run, and the job
// does not start again after its stop. A notice by file or http lasts, so it
// may stop the job after a restart, too.
bool HasOnlyOneStop(const Case& one) {
  if (one.cluster.max_requeues > 0 || one.trainer ||
      one.plan.faults.size() != 1 || MayBeInterruptedWithoutFaults(one)) {
    return false;
  }
  const Fault& fault = one.plan.faults.front();
  return fault.kind == FaultKind::kPreempt &&
         fault.with.notice == NoticeBy::kSignal &&
         fault.with.times == FaultTimes::kOnce &&
         fault.site.worker != kAllWorkers;
}

// Warns of an expected outcome that the run cannot have: `recovers` if nothing
// interrupts the run or no restart is expected, `completes` if a restart is
// expected, or an outcome with another exit code than the expected `exit_code`.
void WarnOfOutcome(const YamlNode& document, const Case& one,
                   Diagnostics& diagnostics) {
  const YamlNode* const expect = document.Find("expect");
  if (expect == nullptr) return;
  const Expectation& expected = one.expect;
  if (const YamlNode* place = expect->Find("outcome");
      place != nullptr && expected.outcome == Outcome::kRecovers &&
      !PlansAnInterruption(one)) {
    diagnostics.Warning(place->place,
                        "`recovers` needs an interruption, but the scenario "
                        "has no fault",
                        "add `faults`, or expect: {outcome: completes}");
  }
  const bool permits_restart = expected.restarts_exactly != uint64_t{0} &&
                               expected.restarts_max != uint64_t{0};
  if (const YamlNode* place = expect->Find("restarts");
      place != nullptr && expected.outcome == Outcome::kRecovers &&
      !permits_restart) {
    diagnostics.Warning(place->place,
                        "`recovers` needs a restart, but `restarts` excludes "
                        "it",
                        "remove restarts, or expect: {outcome: completes}");
  }
  if (const YamlNode* place = expect->Find("restarts");
      place != nullptr && expected.outcome == Outcome::kCompletes &&
      expected.restarts_exactly.value_or(0) > 0) {
    diagnostics.Warning(place->place,
                        "`restarts` needs a restart, but a run that restarts "
                        "does not complete, it recovers",
                        "remove restarts, or expect: {outcome: recovers}");
  }
  const std::optional<int> code = ExitCodeAfter(expected.outcome);
  if (!expected.exit_code || !code || *expected.exit_code == *code) return;
  diagnostics.Warning(
      expect->Find("exit_code")->place,
      CannotBeMet(fmt::format("exit code {}, but that of {} is {}",
                              *expected.exit_code,
                              OutcomeName(expected.outcome), *code)),
      fmt::format("exit_code: {}", *code));
}

// Warns of an end of training after the last step or epoch of the job. Reports
// nothing for a planted bug, as it may change where training ends.
void WarnOfLateEnd(const YamlNode& document, const Case& one,
                   Diagnostics& diagnostics) {
  const YamlNode* const expect = document.Find("expect");
  const YamlNode* const end =
      expect == nullptr ? nullptr : expect->Find("ends_at");
  const std::optional<uint64_t> steps = TotalSteps(one);
  if (end == nullptr || !steps || !one.plan.bugs.empty()) return;
  const uint64_t an_epoch = ShapeOfEpoch(one.train.job).steps;
  const uint64_t epochs =
      an_epoch == 0 ? one.train.horizon.epochs : *steps / an_epoch;
  const auto check = [&](std::string_view key,
                         const std::optional<uint64_t>& expected,
                         uint64_t most) {
    if (!expected || *expected <= most) return;
    diagnostics.Warning(end->Find(key)->place,
                        CannotBeMet(fmt::format("{} {}, but the run has {}",
                                                key, *expected, most)),
                        fmt::format("{}: {}", key, most));
  };
  check("step", one.expect.ends_at_step, *steps);
  check("epoch", one.expect.ends_at_epoch, epochs);
}

// Warns if the expected outcome excludes a resume: `completes` always,
// `stops-cleanly` if nothing restarts the job before its stop. If workers
// rejoin, they may load without a restart.
void WarnOfResumeWithoutRestart(const YamlNode& document, const Case& one,
                                Diagnostics& diagnostics) {
  const YamlNode* const expect = document.Find("expect");
  const YamlNode* const place =
      expect == nullptr ? nullptr : expect->Find("resumed_from");
  if (place == nullptr || !one.expect.resumed_from_step) return;
  if (one.expect.outcome == Outcome::kStopsCleanly && HasOnlyOneStop(one)) {
    diagnostics.Warning(place->place,
                        "`resumed_from` needs a restart before the stop, but "
                        "the scenario has only a notice, and "
                        "preemption.requeue is 0",
                        "remove resumed_from, or add a fault that ends a "
                        "worker");
  }
  if (one.expect.outcome == Outcome::kCompletes &&
      one.cluster.policy != RestartPolicy::kRejoin) {
    diagnostics.Warning(place->place,
                        "`resumed_from` needs a restart, but a run that "
                        "restarts does not complete, it recovers",
                        "remove resumed_from, or expect: {outcome: recovers}");
  }
}

// Reads the plan, and checks it against the rest of the case. Makes no checks
// if the scenario has other errors, as these may make a valid fault look wrong.
// `errors`: number of errors before the scenario was read.
void ReadPlan(const YamlNode& document, size_t errors, Case& one,
              Diagnostics& diagnostics) {
  const std::vector<PlacedFault> faults =
      ReadFaults(document.Find("faults"), diagnostics);
  one.plan.seed = one.seed;
  for (const PlacedFault& placed : faults) {
    one.plan.faults.push_back(placed.fault);
  }
  if (diagnostics.size() != errors) return;
  CheckReachable(one, faults, diagnostics);
  WarnOfShorterGrace(faults, one, diagnostics);
  WarnOfOutcome(document, one, diagnostics);
  WarnOfResumeWithoutRestart(document, one, diagnostics);
  CheckExpectedResume(MapReader(&document, "", diagnostics), one, diagnostics);
  WarnOfLateEnd(document, one, diagnostics);
  const YamlNode* timeout = document.Find("timeout");
  CheckTimeLimits(one, timeout == nullptr ? document.place : timeout->place,
                  diagnostics);
  // Checks the rules for all plans: for example, that no duration is too long.
  if (const Status status = Validate(one.plan); !status.ok()) {
    const YamlNode* node = document.Find("faults");
    diagnostics.Error(node == nullptr ? document.place : node->place,
                      status.message());
  }
}

Case ReadCase(const Scenario& scenario, const Combination& combination,
              size_t errors, Diagnostics& diagnostics) {
  Case one;
  one.scenario = scenario.name;
  one.name = scenario.name + combination.label;
  one.file = scenario.file;
  one.line = scenario.place.line;
  one.data_place = scenario.place;
  for (const YamlEntry& entry : combination.document.entries) {
    if (entry.key == "expect") one.expect_line = entry.place.line;
  }
  // The judge checks the digest and the samples of every step.
  one.train.digest_every = 1;
  one.train.log_samples = true;
  const MapReader document(&combination.document, "", diagnostics);
  document.Count("seed", one.seed);
  ReadRest(document, one);
  if (document.Find("trainer") != nullptr) {
    ReadTrainer(document, combination.document, one);
    return one;
  }
  one.train.horizon.epochs = 3;
  ReadSetup(document, one, diagnostics);
  CheckCollective(combination.document, one, diagnostics);
  ReadBefore(document, one);
  ReadLaunches(document, one);
  const MapReader disk = document.Map("disk");
  disk.Choice("profile", one.disk);
  disk.Size("capacity", one.disk_capacity);
  ReadExpectation(document, one);
  ReadPlan(combination.document, errors, one, diagnostics);
  return one;
}

}  // namespace

LauncherOptions LauncherOf(const ClusterSetup& cluster) {
  return {.workers = cluster.workers,
          .min_workers = cluster.min_workers,
          .workers_per_attempt = cluster.workers_per_attempt,
          .restart = cluster.policy,
          .max_restarts = cluster.max_restarts,
          .backoff = cluster.backoff,
          .start_timeout = cluster.start_timeout};
}

int MostWorkersIn(const ClusterSetup& cluster, int incarnation) {
  const std::vector<int>& per_attempt = cluster.workers_per_attempt;
  if (per_attempt.empty()) return cluster.workers;
  if (incarnation == kAnyIncarnation)
    return *std::ranges::max_element(per_attempt);
  const auto index = static_cast<size_t>(incarnation) - 1;
  return per_attempt[std::min(index, per_attempt.size() - 1)];
}

std::vector<Case> Resolve(const Scenario& scenario, Diagnostics& diagnostics) {
  const size_t errors = diagnostics.size();
  std::vector<Case> cases;
  for (const Combination& combination :
       ExpandMatrix(scenario.document, diagnostics)) {
    cases.push_back(ReadCase(scenario, combination, errors, diagnostics));
    for (size_t i = 0; i + 1 < cases.size(); ++i) {
      if (cases[i].name != cases.back().name) continue;
      diagnostics.Error(
          scenario.document.Find("matrix")->place,
          fmt::format("the case {} stands there twice", cases.back().name));
    }
  }
  return cases;
}

EpochShape ShapeOfEpoch(const JobSpec& job) {
  if (job.data.kind != DataKind::kDigits) return {};
  const Result<SampleSchedule> schedule = SampleSchedule::Make(
      job, {.samples = static_cast<uint32_t>(std::max(job.data.samples, 0)),
            .samples_of_files = {}});
  if (!schedule.ok()) return {};
  return {.steps = schedule->steps_per_epoch(),
          .samples = schedule->samples_per_epoch()};
}

}  // namespace gauntlet
