#include "harness/scenario/reader/reachable.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "engine/text/counted.h"
#include "engine/world/fault_point.h"
#include "harness/scenario/reader/ended_incarnations.h"
#include "harness/scenario/save_schedule.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns true iff the fault may end the launcher too, so that the job has to
// be started again.
bool EndsTheJob(const Fault& fault) {
  return InfoOf(fault.kind).effects.gives_notice ||
         fault.kind == FaultKind::kKillLauncher || CutsPower(fault);
}

RunPart PartOf(const FaultSite& site) { return InfoOf(site.point).part; }

constexpr std::string_view kNameTheSave =
    "`save: N` selects the N-th save instead";

bool NeedsCompany(Point point) {
  const PointNeeds needs = InfoOf(point).needs;
  return needs == PointNeeds::kCompany || needs == PointNeeds::kRejoin;
}

class Checker {
 public:
  Checker(const Case& one, const std::vector<PlacedFault>& faults,
          Diagnostics& diagnostics)
      : case_(one), faults_(faults), diagnostics_(diagnostics) {}

  void Check(const PlacedFault& placed) {
    CheckWorker(placed);
    CheckIncarnation(placed);
    CheckPosition(placed);
    CheckOccurrence(placed);
    CheckCompany(placed);
    CheckGroups(placed);
    CheckDevice(placed);
    CheckPoint(placed);
    CheckSaves(placed);
    CheckStepOfSave(placed);
    CheckChance(placed);
  }

 private:
  void Never(const PlacedFault& placed, std::string_view key,
             const std::string& why, std::string hint = "") {
    diagnostics_.Error(placed.AtPlace(key),
                       fmt::format("can never match: {}", why),
                       std::move(hint));
  }

  // The case of a matrix, as another one may have more workers.
  std::string Cluster() const {
    return case_.name == case_.scenario ? "the cluster" : case_.name;
  }

  void CheckWorker(const PlacedFault& placed) {
    const int workers = case_.cluster.workers;
    const int worker = placed.fault.site.worker;
    const int incarnation = placed.fault.site.incarnation;
    const int most = MostWorkersIn(case_.cluster, incarnation);
    if (worker < workers && worker >= most) {
      Never(placed, "worker",
            fmt::format("worker {}, but {} has workers 0 to {}{}", worker,
                        Cluster(), most - 1,
                        incarnation == kAnyIncarnation
                            ? std::string()
                            : fmt::format(" in incarnation {}", incarnation)));
    } else if (worker >= workers) {
      Never(placed, "worker",
            fmt::format("worker {}, but {} has workers 0 to {}", worker,
                        Cluster(), workers - 1));
    } else if (worker > 0 && IsOfChief(placed) && !AnyMayBeLeftOut()) {
      Never(placed, "worker",
            fmt::format("only the chief gets to {}, and worker {} is not it",
                        PointName(placed.fault.site.point), worker),
            "worker: chief");
    }
  }

  static bool IsOfChief(const PlacedFault& placed) {
    return InfoOf(placed.fault.site.point).reached_by == ReachedBy::kChief;
  }

  // Returns true iff the cluster may continue without some workers. Then
  // another worker than 0 may become the chief.
  bool AnyMayBeLeftOut() const {
    return case_.cluster.min_workers > 0 &&
           case_.cluster.min_workers < case_.cluster.workers;
  }

  bool AnyOther(const PlacedFault& placed,
                const std::function<bool(const Fault&)>& is_so) const {
    return std::ranges::any_of(faults_, [&](const PlacedFault& other) {
      return other.node != placed.node && is_so(other.fault);
    });
  }

  void CheckIncarnation(const PlacedFault& placed) {
    const int incarnation = placed.fault.site.incarnation;
    if (incarnation == kAnyIncarnation || incarnation == 1) return;
    const ClusterSetup& cluster = case_.cluster;
    const bool restarts = cluster.policy != RestartPolicy::kNone;
    const int requeues =
        AnyOther(placed, EndsTheJob) ? cluster.max_requeues : 0;
    const int64_t starts =
        requeues + std::max<int64_t>(std::ssize(case_.launches), 1);
    const int64_t incarnations =
        (int64_t{restarts ? cluster.max_restarts : 0} + 1) * starts;
    if (!restarts && starts == 1) {
      Never(placed, "incarnation",
            fmt::format("incarnation {}, but nothing restarts", incarnation));
    } else if (incarnation > incarnations) {
      Never(placed, "incarnation",
            fmt::format("incarnation {}, but there are at most {}", incarnation,
                        incarnations));
    } else if (case_.launches.size() < 2 &&
               !AnyOther(placed, [](const Fault& other) {
                 return InfoOf(other.kind).effects.may_end_incarnation;
               })) {
      Never(placed, "incarnation",
            fmt::format("incarnation {}, but no other fault ends one",
                        incarnation));
    }
  }

  // Returns true iff a kill with a latency finds the process still at its
  // point: a slow fault keeps it there for longer, or it waits at the
  // rendezvous for another worker that a slow fault keeps there.
  bool IsHeld(const PlacedFault& placed) const {
    const FaultSite& site = placed.fault.site;
    const Duration latency = *placed.fault.with.kill_latency;
    return AnyOther(placed, [&](const Fault& other) {
      const bool holds_long_enough =
          other.kind == FaultKind::kSlow && other.with.latency > latency;
      const bool keeps_it_waiting = site.point == Point::kRendezvous &&
                                    other.site.point == Point::kRendezvous;
      return holds_long_enough && (other.site == site || keeps_it_waiting);
    });
  }

  // Warns of a fault for which timing decides if it fires, or what it
  // interrupts.
  void CheckChance(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    if (placed.fault.with.kill_latency && !IsHeld(placed)) {
      const YamlNode* with = placed.node->Find("with");
      diagnostics_.Warning(
          (with == nullptr ? placed.node : with)->place,
          "what the process does in the time before this kill is not "
          "controlled, and differs in the two worlds",
          "without latency it is killed exactly at the point; a slow fault at "
          "the same place holds it there");
    }
    if (!site.step) return;
    if (PartOf(site) == RunPart::kHeartbeat) {
      diagnostics_.Warning(
          placed.AtPlace("step"),
          fmt::format("fires only by chance: heartbeats have a time of their "
                      "own, and whether it comes to {} in step {} is a matter "
                      "of timing",
                      PointName(site.point), *site.step),
          "leave step out");
    } else if (IsInBackground(site) && !IsOfFirstClaim(site)) {
      diagnostics_.Warning(
          placed.AtPlace("step"),
          fmt::format("`step` at {} is the step that training has reached, not "
                      "that of the checkpoint: timing decides in which save "
                      "the fault fires, if in any",
                      PointName(site.point)),
          std::string(kNameTheSave));
    }
  }

  // Returns true iff training may continue while a worker is at the site. In
  // an asynchronous save, training waits only at its begin and while the state
  // is copied. In a synchronous save, training waits until the commit, and the
  // chief retires old checkpoints after it.
  bool IsInBackground(const FaultSite& site) const {
    const PointInfo& point = InfoOf(site.point);
    if (case_.train.checkpoint.mode != SaveMode::kSync) {
      return IsOfSave(site.point) && site.point != Point::kSaveBegin &&
             point.needs != PointNeeds::kAsyncSaves;
    }
    const bool may_be_chief = point.reached_by == ReachedBy::kChief ||
                              site.worker <= 0 || AnyMayBeLeftOut();
    return IsTailOfSave(site.point) && may_be_chief;
  }

  // Returns true iff the site is in the claim of a new process. This claim
  // writes the state file before training reaches any step.
  static bool IsOfFirstClaim(const FaultSite& site) {
    return PartOf(site) == RunPart::kStateFile && site.step == 0u;
  }

  void CheckPosition(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    const std::optional<uint64_t> steps = TotalSteps(case_);
    const bool is_capped = steps == case_.train.horizon.max_steps;
    if (site.step && steps && *site.step > *steps) {
      Never(placed, "step",
            fmt::format("step {}, but the run has {}", *site.step, *steps),
            fmt::format("name an earlier step, or raise {}",
                        is_capped ? "job.max_steps" : "job.epochs"));
    }
    const uint64_t epochs = case_.train.horizon.epochs;
    if (site.epoch && *site.epoch >= epochs) {
      Never(placed, "epoch",
            fmt::format("epoch {}, but the run has {}, the first is 0",
                        *site.epoch, epochs),
            "name an earlier epoch, or raise job.epochs");
    }
  }

  // Checks that an incarnation reaches the occurrence of a fault at the begin
  // or end of a step. It reaches each step only once, unless workers rejoin and
  // repeat steps. If there are other faults, reports only a warning: a plan
  // that was found by chance may contain a fault that never fires.
  void CheckOccurrence(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    const std::optional<uint64_t> total = TotalSteps(case_);
    const bool is_once_a_step =
        site.point == Point::kStepBegin || site.point == Point::kStepEnd;
    if (!is_once_a_step || !total || !case_.launches.empty() ||
        case_.cluster.policy == RestartPolicy::kRejoin) {
      return;
    }
    uint64_t steps = *total;
    std::string within = "the run";
    if (site.step) {
      steps = 1;
      within = fmt::format("step {}", *site.step);
    } else if (const uint64_t an_epoch = ShapeOfEpoch(case_.train.job).steps;
               site.epoch && an_epoch > 0) {
      steps = std::min(steps, an_epoch);
      within = fmt::format("epoch {}", *site.epoch);
    }
    if (site.occurrence <= steps) return;
    const std::string why = fmt::format(
        "occurrence {} of {}, but an incarnation comes to it {} in "
        "{}",
        site.occurrence, PointName(site.point), Counted(steps, "time"), within);
    if (faults_.size() == 1) return Never(placed, "occurrence", why);
    diagnostics_.Warning(placed.AtPlace("occurrence"),
                         fmt::format("never fires: {}", why), "");
  }

  void CheckCompany(const PlacedFault& placed) {
    const FaultKind kind = placed.fault.kind;
    if (!IsNetworkFault(kind) ||
        HasSomebodyToCutOff(
            kind, MostWorkersIn(case_.cluster, placed.fault.site.incarnation),
            case_.cluster.hosts)) {
      return;
    }
    diagnostics_.Error(
        placed.node->place,
        fmt::format("{} of a single worker has no effect: expected at "
                    "least 2 workers, found 1",
                    FaultKindName(kind)));
  }

  // Reports a group that contains a worker which the case does not have.
  void CheckGroups(const PlacedFault& placed) {
    const int most =
        MostWorkersIn(case_.cluster, placed.fault.site.incarnation);
    for (const std::vector<int>& group : placed.fault.with.groups) {
      for (const int worker : group) {
        if (worker < most) continue;
        diagnostics_.Error(
            placed.node->place,
            fmt::format("groups: worker {}, but {} has workers 0 to {}", worker,
                        Cluster(), most - 1));
        return;
      }
    }
  }

  void CheckDevice(const PlacedFault& placed) {
    if (HasDevice(case_)) return;
    const DeviceKind device = case_.train.kernels.device;
    constexpr std::string_view kHint = "cluster: {device: emulated}";
    if (IsOfDevice(placed.fault.kind)) {
      diagnostics_.Error(
          placed.node->place,
          fmt::format("{} needs a device: expected cluster.device cuda or "
                      "emulated, found {}",
                      FaultKindName(placed.fault.kind), DeviceKindName(device)),
          std::string(kHint));
    } else if (InfoOf(placed.fault.site.point).needs == PointNeeds::kDevice) {
      Never(placed, "point",
            fmt::format("workers that compute on {} open no device",
                        DeviceKindName(device)),
            std::string(kHint));
    }
  }

  void CheckPoint(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    const PointNeeds needs = InfoOf(site.point).needs;
    // In two cases, a first incarnation may load a checkpoint. If workers
    // rejoin, those that were not lost load in their first incarnation. If
    // hosts are separate, a worker that was cut off may claim after its
    // successors have saved.
    if (PartOf(site) == RunPart::kLoad && site.incarnation == 1 &&
        case_.cluster.policy != RestartPolicy::kRejoin &&
        case_.cluster.hosts == HostsChoice::kOne) {
      Never(placed, "point",
            fmt::format(
                "the first incarnation has nothing to load, so it does not "
                "get to {}",
                PointName(site.point)),
            "incarnation: 2, or any");
    } else if (needs == PointNeeds::kRejoin &&
               case_.cluster.policy != RestartPolicy::kRejoin) {
      Never(placed, "point", "workers start anew instead of rejoining",
            "cluster: {restart: {policy: rejoin}}");
    } else if (NeedsCompany(site.point) && case_.cluster.workers == 1) {
      Never(placed, "point",
            fmt::format("a single worker does not get to {}",
                        PointName(site.point)));
    } else if (needs == PointNeeds::kAsyncSaves &&
               case_.train.checkpoint.mode == SaveMode::kSync) {
      Never(placed, "point", "training waits for its saves, which need no copy",
            "checkpoint: {mode: async}");
    } else if (needs == PointNeeds::kDeletion &&
               case_.train.checkpoint.at_success !=
                   AtSuccess::kDeleteCheckpoints) {
      Never(placed, "point",
            fmt::format("a finished run keeps its checkpoints, and only one "
                        "that deletes them gets to {}",
                        PointName(site.point)),
            "checkpoint: {on_success: delete}");
    } else if (needs == PointNeeds::kExport && !case_.outputs.exports) {
      Never(placed, "point", "a finished run exports no model",
            "outputs: {export: true}");
    }
  }

  void CheckSaves(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    if (case_.store == StoreChoice::kNone) {
      if (!NeedsAStore(site.point)) return;
      return Never(placed, "point", "the job stores no checkpoint",
                   "checkpoint: {directory: own}");
    }
    // A notice causes unscheduled saves.
    const bool notices = std::any_of(
        faults_.begin(), faults_.end(),
        [](const PlacedFault& other) { return IsNotice(other.fault); });
    const std::optional<uint64_t> saves = ScheduledSaves(case_);
    if (!IsOfSave(site.point) || PartOf(site) == RunPart::kStateFile ||
        notices || !saves) {
      return;
    }
    // If workers rejoin, they may repeat a save that was lost.
    const bool again =
        case_.cluster.policy == RestartPolicy::kRejoin && faults_.size() > 1;
    const bool once =
        InfoOf(site.point).rate == HitRate::kOncePerSave && !again;
    constexpr const char* kSavesHint =
        "checkpoint.every sets when saves are due";
    if (*saves == 0 || (once && site.occurrence > *saves)) {
      Never(placed, *saves == 0 ? "point" : "occurrence",
            fmt::format("occurrence {} of {}, but the run makes {} saves",
                        site.occurrence, PointName(site.point), *saves),
            kSavesHint);
    } else if (site.save && !again && *site.save > *saves) {
      Never(placed, "save",
            fmt::format("save {}, but the run makes {}", *site.save, *saves),
            kSavesHint);
    }
    const auto retires = [](const PlacedFault& one) {
      return PartOf(one.fault.site) == RunPart::kRetirement;
    };
    const auto keep = static_cast<uint64_t>(case_.train.checkpoint.keep);
    const bool deletes =
        case_.train.checkpoint.at_success == AtSuccess::kDeleteCheckpoints;
    // Other faults may leave entries to remove.
    if (*saves != 0 && *saves <= keep && !deletes &&
        std::all_of(faults_.begin(), faults_.end(), retires)) {
      Never(placed, "point",
            fmt::format("{} saves, of which {} are kept, retire none", *saves,
                        keep));
    }
  }

  // Checks that the case saves at the step of a fault in a save. Accepts a site
  // in the background from the step of the first save on, because training may
  // have reached any later step. If there are other faults, reports only a
  // warning: they may cause saves that are not scheduled. If one of them is a
  // notice, reports nothing: the notice is there to cause such a save.
  void CheckStepOfSave(const PlacedFault& placed) {
    const FaultSite& site = placed.fault.site;
    const std::optional<uint64_t> steps = TotalSteps(case_);
    if (!site.step || !steps || *site.step > *steps || !IsOfSave(site.point) ||
        ScheduledSaves(case_).value_or(0) == 0 || MayBeInClaim(site) ||
        AnyOther(placed, IsNotice)) {
      return;
    }
    const std::optional<NearestSaves> nearest = SavesNextTo(case_, *site.step);
    if (!nearest || nearest->at_or_before == site.step) return;
    const bool is_in_background = IsInBackground(site);
    if (is_in_background && nearest->at_or_before) return;
    const std::string why =
        fmt::format("step {}, but {}", *site.step, NearestSavesText(*nearest));
    const std::string hint = is_in_background ? std::string(kNameTheSave)
                                              : NearestSavesHint(*nearest);
    if (faults_.size() == 1) return Never(placed, "step", why, hint);
    diagnostics_.Warning(
        placed.AtPlace("step"),
        fmt::format("fires only if another fault leads to a save there: {}",
                    why),
        hint);
  }

  // Returns true iff a claim may reach the site. A claim writes the state file
  // and completes removals that were interrupted, before its process trains. If
  // workers rejoin, a claim may also follow a step.
  bool MayBeInClaim(const FaultSite& site) const {
    const bool is_of_state_file = PartOf(site) == RunPart::kStateFile;
    if (site.step == 0u) {
      return is_of_state_file ||
             (PartOf(site) == RunPart::kRetirement && faults_.size() > 1);
    }
    return is_of_state_file && case_.cluster.policy == RestartPolicy::kRejoin;
  }

  const Case& case_;
  const std::vector<PlacedFault>& faults_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool NeedsAStore(Point point) {
  switch (InfoOf(point).part) {
    case RunPart::kSave:
    case RunPart::kStateFile:
    case RunPart::kRetirement:
    case RunPart::kLoad:
    case RunPart::kDeletion:
      return true;
    default:
      return point == Point::kClaimCreate || point == Point::kClaimRecord;
  }
}

bool IsNotice(const Fault& fault) {
  return InfoOf(fault.kind).effects.gives_notice;
}

void CheckReachable(const Case& one, const std::vector<PlacedFault>& faults,
                    Diagnostics& diagnostics) {
  Checker checker(one, faults, diagnostics);
  for (const PlacedFault& placed : faults) checker.Check(placed);
  WarnOfEndedIncarnations(one, faults, diagnostics);
}

}  // namespace gauntlet
