#include "harness/oracle/model/outputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "harness/oracle/model/reference.h"
#include "harness/record/text/value_text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kStepLoss = "batch_loss";
constexpr std::string_view kEpochLoss = "epoch_loss";
constexpr std::string_view kSpeed = "global_step/sec";
constexpr std::string_view kTimePrefix = "time/";
constexpr std::string_view kEventFile = "events.out.tfevents.";

// Returns true iff a fault damaged a file whose path contains the text.
bool IsDamaged(const Record& record, std::string_view part_of_path) {
  return std::ranges::any_of(
      record.incarnations, [&](const IncarnationEvents& incarnation) {
        return std::ranges::any_of(
            incarnation.events, [&](const RecordEvent& event) {
              return event.kind == RecordKind::kDamaged &&
                     event.path.find(part_of_path) != event.path.npos;
            });
      });
}

class Outputs {
 public:
  Outputs(const Outline& outline, Check& check)
      : outline_(outline),
        record_(outline.record),
        reference_(outline.record.golden),
        check_(check) {}

  void CheckCurves() {
    if (record_.setup.curve_every == 0 || IsDamaged(record_, kEventFile)) {
      return;
    }
    std::map<std::string_view, std::optional<uint64_t>> last;  // by tag
    for (const CurvePoint& point : record_.left.curves) {
      std::optional<uint64_t>& before = last[point.tag];
      check_.Count();
      if (before && point.step <= *before) {
        Fail("repeated", point, fmt::format("follows one of step {}", *before));
      }
      before = point.step;
      CheckValue(point);
    }
    CheckReadable();
    if (!outline_.IsDone() || !MustBeComplete()) return;
    CheckComplete(kStepLoss, RecordKind::kStep, record_.setup.curve_every);
    CheckComplete(kEpochLoss, RecordKind::kEpochEnd, 1);
  }

  void CheckExport() {
    if (!record_.setup.exports || IsDamaged(record_, "/trained")) return;
    const std::optional<ExportedModel>& exported = record_.left.exported;
    check_.Count();
    if (exported && !exported->is_complete) {
      if (HasForgotten()) return;
      return check_.Fail("half-exported",
                         fmt::format("the exported model cannot be read: {}",
                                     exported->reason));
    }
    if (!outline_.IsDone() || record_.golden.final_digest.empty()) return;
    // The model is compared with the result only: CheckIsComplete compares the
    // result with the reference.
    const std::string& last = record_.launchers.back().result->digest;
    if (!exported) {
      check_.Fail("not-exported",
                  "the run is done, but there is no exported model");
    } else if (exported->digest != last) {
      check_.Fail(
          "other-model",
          fmt::format("the exported model has state {} (step {}), expected "
                      "{}",
                      exported->digest, exported->step, last));
    }
  }

 private:
  void Fail(std::string_view name, const CurvePoint& point,
            const std::string& what) {
    check_.Fail(name, fmt::format("a point of {} at step {} {}", point.tag,
                                  point.step, what));
  }

  // Checks that the reference run has the step of the point and, for a point of
  // a loss curve, the same loss.
  void CheckValue(const CurvePoint& point) {
    if (reference_.is_empty() || point.tag == kSpeed) return;
    const bool is_of_a_step =
        point.tag == kStepLoss || point.tag.starts_with(kTimePrefix);
    const RecordKind kind =
        is_of_a_step ? RecordKind::kStep : RecordKind::kEpochEnd;
    const GoldenEntry* const expected = reference_.FindOfStep(kind, point.step);
    if (expected == nullptr) {
      return Fail("no-such-step", point, "has none in the reference run");
    }
    const bool is_loss = point.tag == kStepLoss || point.tag == kEpochLoss;
    if (!is_loss || expected->loss_bits == point.bits) return;
    Fail("value", point,
         fmt::format("is {}, expected {}", FloatText(point.bits),
                     FloatText(expected->loss_bits)));
  }

  void CheckReadable() {
    if (IsDiskDisturbed() || MayHaveTwoWriters() || IsAnyWriteTorn()) return;
    check_.Count();
    const std::string& damage = record_.left.curves_damage;
    if (!damage.empty()) check_.Fail("unreadable", damage);
  }

  // Returns true iff a write to any file was torn.
  bool IsAnyWriteTorn() const {
    return std::ranges::any_of(outline_.occurrences,
                               [](const FaultOccurrence& occurrence) {
                                 return occurrence.fault->kind == "torn_write";
                               });
  }

  // Returns false if points may be missing. The disk, an asynchronous save, or
  // two processes that append to one file may lose them. So may a rejoin: a new
  // chief takes over the state of another worker, but not its points.
  bool MustBeComplete() const {
    return !record_.setup.rejoins && !record_.setup.async_saves &&
           !MayHaveTwoWriters() && !IsDiskDisturbed();
  }

  // Returns true iff a write may have failed, or written bytes may be lost.
  bool IsDiskDisturbed() const {
    if (record_.setup.limited_disk) return true;
    return std::ranges::any_of(
        outline_.occurrences, [](const FaultOccurrence& occurrence) {
          const FaultTraits& traits = occurrence.traits;
          return traits.reports_error || traits.damages_store ||
                 traits.cuts_power || occurrence.fault->of_one_host;
        });
  }

  // Returns true iff a launcher declared a worker unreachable. That worker may
  // still append to event files, as no process owns them.
  bool MayHaveTwoWriters() const {
    return std::ranges::any_of(record_.launchers, [](const LauncherRun& run) {
      return std::ranges::any_of(run.events, [](const RecordEvent& event) {
        return event.reason == RecordReason::kUnreachable;
      });
    });
  }

  bool HasForgotten() const {
    return std::ranges::any_of(outline_.occurrences,
                               [](const FaultOccurrence& occurrence) {
                                 return occurrence.traits.cuts_power &&
                                        occurrence.traits.damages_store;
                               });
  }

  // Checks that no point is missing. Exception: a generation that starts within
  // the end of an epoch (after the last step) removes the points of that step.
  void CheckComplete(std::string_view tag, RecordKind kind, uint64_t every) {
    std::set<uint64_t> there;
    for (const CurvePoint& point : record_.left.curves) {
      if (point.tag == tag) there.insert(point.step);
    }
    for (const Generation& generation : outline_.generations) {
      const auto start = generation.started_at();
      if (start && start->phase != RecordPhase::kInEpoch) {
        there.insert(start->step);
      }
    }
    for (const GoldenEntry& entry : record_.golden.entries) {
      if (entry.kind != kind || entry.step % every != 0) continue;
      if (entry.step > record_.launchers.back().result->steps) break;
      check_.Count();
      if (there.contains(entry.step)) continue;
      check_.Fail("missing",
                  fmt::format("{} has no point at step {}", tag, entry.step));
    }
  }

  const Outline& outline_;
  const Record& record_;
  const Reference reference_;
  Check& check_;
};

}  // namespace

void CheckOutputs(const Outline& outline, Check& check) {
  if (!outline.record.left.outputs_listed) return;
  Outputs outputs(outline, check);
  outputs.CheckCurves();
  outputs.CheckExport();
}

}  // namespace gauntlet
