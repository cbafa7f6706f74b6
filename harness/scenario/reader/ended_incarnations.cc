#include "harness/scenario/reader/ended_incarnations.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/world/fault_point.h"
#include "harness/scenario/reader/reachable.h"
#include "harness/scenario/save_schedule.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns true iff the fault ends its process at once, exactly at its point.
bool EndsItsProcess(const Fault& fault) {
  return InfoOf(fault.kind).effects.ends_process && !fault.with.kill_latency;
}

// Progress of the first incarnation when a fault fires in it; nullopt: not
// known.
struct Progress {
  std::optional<uint64_t> step;
  std::optional<uint64_t> save;
};

class Warner {
 public:
  Warner(const Case& one, const std::vector<PlacedFault>& faults,
         Diagnostics& diagnostics)
      : case_(one), faults_(faults), diagnostics_(diagnostics) {}

  void Check(const PlacedFault& waiting) {
    if (waiting.fault.site.incarnation != 1) return;
    CheckRepetition(waiting);
    for (const PlacedFault& ending : faults_) {
      if (ending.node == waiting.node || !EndsItsProcess(ending.fault)) {
        continue;
      }
      const std::optional<Progress> end = ProgressAt(ending.fault.site);
      if (!end || !ending.fault.after.empty()) continue;
      const FaultSite& site = waiting.fault.site;
      if (IsBehind(site, waiting.fault, ending.fault, *end)) {
        return Warn(waiting, ending.fault, *end);
      }
      if (DamagesFileOfNextSave(waiting.fault) &&
          IsBehind(SiteInNextSave(site), waiting.fault, ending.fault, *end)) {
        return WarnOfNextFile(
            waiting,
            fmt::format("incarnation 1 ends with fault `{}` {}",
                        ending.fault.id, PlaceText(ending.fault, *end)));
      }
    }
    CheckLastSave(waiting);
  }

 private:
  bool EndsAllWorkers() const {
    return case_.cluster.policy == RestartPolicy::kWholeJob &&
           case_.cluster.hosts == HostsChoice::kOne;
  }

  // A fault that ends incarnation 1 cannot fire there again, although it has
  // `repeat`. If it names no worker, it may still fire in another worker.
  void CheckRepetition(const PlacedFault& placed) {
    const Fault& fault = placed.fault;
    if (fault.with.times != FaultTimes::kAlways || fault.site.worker < 0 ||
        !EndsItsProcess(fault)) {
      return;
    }
    diagnostics_.Warning(
        placed.node->place,
        fmt::format("fault `{}` fires only once: it ends incarnation 1 of "
                    "worker {}, and `repeat` does not select later ones",
                    fault.id, fault.site.worker),
        "add `incarnation: any` inside `at`");
  }

  // Returns the step after which an undisturbed run makes save number `save`.
  std::optional<uint64_t> StepOfSave(uint64_t save) const {
    std::optional<uint64_t> step = 0;
    for (uint64_t i = 0; i < save && step; ++i) {
      const std::optional<NearestSaves> nearest = SavesNextTo(case_, *step);
      step = nearest ? nearest->after : std::nullopt;
    }
    return step;
  }

  // Returns the progress at which a fault at this site fires; nullopt if the
  // fault may not fire, or if its place is not certain.
  std::optional<Progress> ProgressAt(const FaultSite& site) const {
    const PointInfo& point = InfoOf(site.point);
    const bool may_be_behind_the_file =
        site.block != 0 ||
        (site.offset && site.offset->unit == OffsetUnit::kBytes);
    if (site.incarnation != 1 || site.epoch || site.occurrence != 1 ||
        may_be_behind_the_file) {
      return std::nullopt;
    }
    if (point.rate == HitRate::kEachStep && point.part != RunPart::kHeartbeat) {
      return Progress{.step = site.step.value_or(1), .save = {}};
    }
    const bool in_each_save =
        point.part == RunPart::kSave && point.rate != HitRate::kSeldom;
    if (!in_each_save || case_.store == StoreChoice::kNone ||
        case_.train.checkpoint.mode != SaveMode::kSync) {
      return std::nullopt;
    }
    const uint64_t save = site.save.value_or(1);
    if (IsTailOfSave(site.point)) {
      // Training may have reached a later step than that of the save.
      return site.step ? std::nullopt
                       : std::optional(Progress{.step = {}, .save = save});
    }
    if (!site.step) {
      return Progress{.step = StepOfSave(save), .save = save};
    }
    const std::optional<NearestSaves> nearest = SavesNextTo(case_, *site.step);
    if (site.save || !nearest || nearest->at_or_before != site.step) {
      return std::nullopt;
    }
    return Progress{.step = site.step, .save = {}};
  }

  // Returns true iff the fault can damage only the file of the worker's next
  // save. This holds at points after a worker's shard is written. A worker
  // other than the chief writes no other file.
  bool DamagesFileOfNextSave(const Fault& fault) const {
    const bool may_be_chief = fault.site.worker <= 0 ||
                              case_.cluster.policy == RestartPolicy::kRejoin;
    const int shards = case_.train.checkpoint.shards;
    const bool writes_shards = shards == 0 || fault.site.worker < shards;
    if (!InfoOf(fault.kind).effects.damages_file || may_be_chief ||
        !writes_shards || fault.site.epoch ||
        case_.train.checkpoint.mode != SaveMode::kSync) {
      return false;
    }
    switch (fault.site.point) {
      case Point::kShardSync:
      case Point::kShardDone:
      case Point::kSaveAgree:
      case Point::kSaveEnd:
        return true;
      default:
        return false;
    }
  }

  // Returns a site in a save, moved to the next save. If the run makes no later
  // save, the step of the site stays the same.
  FaultSite SiteInNextSave(FaultSite site) const {
    if (!site.step) {
      site.save = site.save.value_or(site.occurrence) + 1;
      return site;
    }
    const std::optional<NearestSaves> nearest = SavesNextTo(case_, *site.step);
    if (nearest && nearest->after) site.step = nearest->after;
    return site;
  }

  // Warns if the scenario's only fault waits for a file after the last save. A
  // full disk or a planted bug may lead to more saves.
  void CheckLastSave(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    if (faults_.size() != 1 || !DamagesFileOfNextSave(placed.fault) ||
        case_.store == StoreChoice::kNone || !case_.plan.bugs.empty() ||
        case_.disk_capacity != Case().disk_capacity) {
      return;
    }
    bool is_last = false;
    if (site.step) {
      const std::optional<NearestSaves> nearest =
          SavesNextTo(case_, *site.step);
      is_last = nearest && !nearest->after;
    } else if (const std::optional<uint64_t> saves = ScheduledSaves(case_)) {
      is_last = *SiteInNextSave(site).save > *saves;
    }
    if (is_last) WarnOfNextFile(placed, "the run ends");
  }

  // Returns true iff `ending` is certain to end the incarnation, at `end`,
  // before `waiting` can fire at `site`.
  bool IsBehind(const FaultSite& site, const Fault& waiting,
                const Fault& ending, const Progress& end) const {
    const bool is_same = site.worker == ending.site.worker &&
                         (site.worker >= 0 || case_.cluster.workers == 1);
    if (!is_same && !EndsAllWorkers()) return false;
    if (is_same && waiting.after == ending.id) return true;
    // A worker may read samples before the step that uses them.
    if (site.point == Point::kDataNext) return false;
    // While one worker ends in a step, another one may already be in the next
    // step.
    const uint64_t lead = is_same ? 0 : 1;
    if (site.step && end.step) return *site.step > *end.step + lead;
    if (!site.save || case_.train.checkpoint.mode != SaveMode::kSync) {
      return false;
    }
    if (is_same && end.save) return *site.save > *end.save;
    // Further faults may cause saves that are not scheduled, so that the number
    // of a save says nothing about its step.
    if (faults_.size() != 2 || !end.step) return false;
    const std::optional<uint64_t> step = StepOfSave(*site.save);
    return step && *step > *end.step + lead;
  }

  // Returns "in save 2" or "at step 10".
  static std::string PlaceText(const Fault& ending, const Progress& end) {
    return ending.site.save || !end.step ? fmt::format("in save {}", *end.save)
                                         : fmt::format("at step {}", *end.step);
  }

  // Warns that `waiting` can never fire. `ends`: clause with the reason why the
  // worker writes no further file: "the run ends".
  void WarnOfNextFile(const PlacedFault& waiting, std::string_view ends) {
    const FaultSite& site = waiting.fault.site;
    diagnostics_.Warning(
        waiting.node->place,
        fmt::format("fault `{}` can never fire: at {} worker {} has written "
                    "its file, and {} before it writes the next",
                    waiting.fault.id, PointName(site.point), site.worker, ends),
        fmt::format("use point {}, which comes before the file is written",
                    PointName(Point::kShardWrite)));
  }

  void Warn(const PlacedFault& waiting, const Fault& ending,
            const Progress& end) {
    const FaultSite& site = waiting.fault.site;
    const std::string owner = site.worker >= 0
                                  ? fmt::format("worker {}", site.worker)
                                  : std::string("each worker");
    diagnostics_.Warning(
        waiting.node->place,
        fmt::format("fault `{}` can never fire: incarnation 1 of {} ends with "
                    "fault `{}` {}",
                    waiting.fault.id, owner, ending.id, PlaceText(ending, end)),
        waiting.fault.after.empty()
            ? fmt::format("add `after: {}`, or `incarnation: any` inside `at`",
                          ending.id)
            : "use `incarnation: any`");
  }

  const Case& case_;
  const std::vector<PlacedFault>& faults_;
  Diagnostics& diagnostics_;
};

}  // namespace

void WarnOfEndedIncarnations(const Case& one,
                             const std::vector<PlacedFault>& faults,
                             Diagnostics& diagnostics) {
  if (one.cluster.policy == RestartPolicy::kNone || !one.launches.empty()) {
    return;
  }
  // If there is a third fault, a notice may cause saves that are not scheduled.
  if (faults.size() > 2 &&
      std::ranges::any_of(faults, IsNotice, &PlacedFault::fault)) {
    return;
  }
  Warner warner(one, faults, diagnostics);
  for (const PlacedFault& placed : faults) warner.Check(placed);
}

}  // namespace gauntlet
