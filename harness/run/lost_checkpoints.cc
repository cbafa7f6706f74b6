#include "harness/run/lost_checkpoints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/oracle/fault_traits.h"
#include "harness/record/base_name.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kStore = "store";
constexpr std::string_view kDoesNotVerify = "does-not-verify";

// A checkpoint that does not verify, though its save was acknowledged.
struct Lost {
  std::string_view name;
  std::string_view reason;
  int64_t acknowledged_ns = 0;
  int64_t found_ns = INT64_MAX;  // after the run
};

class LostCheckpointFinder {
 public:
  explicit LostCheckpointFinder(const Record& record) : record_(record) {
    ForEachEvent(&LostCheckpointFinder::Note);
    ForEachEvent(&LostCheckpointFinder::NoteRejected);
    for (const StoredCheckpoint& left : record.left.checkpoints) {
      if (!left.valid) Add({.name = left.name, .reason = left.reason});
    }
  }

  // In the order in which they were found to be lost.
  const std::vector<Lost>& lost() const { return lost_; }

  // The power cut that came between the acknowledgement and the discovery.
  const RecordEvent* PowerCutOf(const Lost& one) const {
    for (const RecordEvent& event : record_.machine) {
      if (event.kind == RecordKind::kPowerCut && !event.about &&
          event.detail != kLyingDisk && event.t_ns >= one.acknowledged_ns &&
          event.t_ns <= one.found_ns) {
        return &event;
      }
    }
    return nullptr;
  }

  // Step at which a fault cut the power.
  std::optional<uint64_t> StepOf(const RecordEvent& cut) const {
    const RecordEvent* newest = nullptr;
    for (const RecordEvent* fired : fired_) {
      const RecordFault* const fault = FindFault(record_, fired->detail);
      if (fault == nullptr || !TraitsOf(*fault).cuts_power) continue;
      if (fired->t_ns > cut.t_ns) continue;
      if (newest == nullptr || fired->t_ns >= newest->t_ns) newest = fired;
    }
    return newest == nullptr ? std::nullopt : std::optional(newest->step);
  }

  bool IsTakenForFenced(const Lost& one) const {
    return std::ranges::find(fenced_, one.name) != fenced_.end();
  }

 private:
  void ForEachEvent(void (LostCheckpointFinder::*visit)(const RecordEvent&)) {
    for (const LifeEvents& life : record_.lives) {
      for (const RecordEvent& event : life.events) (this->*visit)(event);
    }
  }

  void Note(const RecordEvent& event) {
    switch (event.kind) {
      case RecordKind::kSaveAcknowledged:
        acknowledged_ns_[BaseName(event.path)] = event.t_ns;
        return;
      case RecordKind::kDamaged:
        damaged_.push_back(event.path);
        return;
      case RecordKind::kFaultFired:
        fired_.push_back(&event);
        return;
      case RecordKind::kFencedFound:
        fenced_.push_back(BaseName(event.path));
        return;
      default:
        return;
    }
  }

  void NoteRejected(const RecordEvent& event) {
    if (event.kind != RecordKind::kRejected) return;
    Add({.name = BaseName(event.path),
         .reason = event.detail,
         .found_ns = event.t_ns});
  }

  void Add(Lost one) {
    const auto acknowledged = acknowledged_ns_.find(one.name);
    if (acknowledged == acknowledged_ns_.end()) return;
    one.acknowledged_ns = acknowledged->second;
    const auto is_of_it = [&](std::string_view path) {
      return path.find(one.name) != path.npos;
    };
    const auto is_it = [&](const Lost& other) {
      return other.name == one.name;
    };
    if (std::ranges::any_of(damaged_, is_of_it) ||
        std::ranges::any_of(lost_, is_it)) {
      return;
    }
    lost_.push_back(one);
  }

  const Record& record_;
  std::map<std::string_view, int64_t> acknowledged_ns_;  // by name
  std::vector<std::string_view> damaged_;                // files, by faults
  std::vector<const RecordEvent*> fired_;
  std::vector<std::string_view> fenced_;
  std::vector<Lost> lost_;
};

// Returns true iff the text has the name, not as the begin of a longer one:
// step-000000010-g1 is not in step-000000010-g12.
bool Mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

// Returns true iff each violation of `store` is about one of the checkpoints.
bool AreAbout(const std::vector<Lost>& lost, const InvariantReport& report) {
  return report.breaches == report.findings.size() &&
         std::ranges::all_of(report.findings, [&](const Finding& finding) {
           return std::ranges::any_of(lost, [&](const Lost& one) {
             return Mentions(finding.message, one.name);
           });
         });
}

// Returns the checkpoints that had to verify, as the oracle says. Others have
// an excuse: a removal had begun, say.
std::vector<Lost> InFindings(const std::vector<Lost>& lost,
                             const InvariantReport& report) {
  std::vector<Lost> owed;
  std::ranges::copy_if(lost, std::back_inserter(owed), [&](const Lost& one) {
    return std::ranges::any_of(report.findings, [&](const Finding& finding) {
      return finding.name == kDoesNotVerify &&
             Mentions(finding.message, one.name);
    });
  });
  return owed;
}

std::string WhyStore(const LostCheckpointFinder& finder,
                     const std::vector<Lost>& lost, bool by_power_cut) {
  std::vector<std::string_view> others;
  for (size_t i = 1; i < lost.size(); ++i) others.push_back(lost[i].name);
  std::string why = fmt::format("all are about {}", lost.front().name);
  if (!others.empty()) {
    why += fmt::format(
        " and {}, which {}", fmt::join(others, ", "),
        by_power_cut ? "the power cut damaged too" : "do not verify either");
  }
  const bool any_fenced = std::ranges::any_of(
      lost, [&](const Lost& one) { return finder.IsTakenForFenced(one); });
  if (any_fenced) {
    why +=
        "; a new generation takes a checkpoint for fenced if it cannot read "
        "its manifest";
  }
  return why;
}

}  // namespace

LostCheckpoints FindLostCheckpoints(const Record& record,
                                    const Verdict& verdict) {
  const auto store = std::ranges::find(verdict.invariants, kStore,
                                       &InvariantReport::invariant);
  if (store == verdict.invariants.end() || store->breaches == 0) return {};
  const LostCheckpointFinder finder(record);
  const std::vector<Lost> owed = InFindings(finder.lost(), *store);
  if (owed.empty()) return {};
  const Lost& first = owed.front();
  const RecordEvent* const cut = finder.PowerCutOf(first);
  LostCheckpoints lost;
  if (cut == nullptr) {
    lost.cause = fmt::format(
        "{} was acknowledged and does not verify ({}), though no fault damaged "
        "it",
        first.name, first.reason);
  } else {
    const std::optional<uint64_t> step = finder.StepOf(*cut);
    lost.cause = fmt::format(
        "the power cut{} damaged {}, although its save had been acknowledged "
        "({})",
        step ? fmt::format(" at step {}", *step) : "", first.name,
        first.reason);
  }
  if (AreAbout(owed, *store)) {
    lost.why_store = WhyStore(finder, owed, cut != nullptr);
  }
  return lost;
}

}  // namespace gauntlet
