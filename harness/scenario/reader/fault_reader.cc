#include "harness/scenario/reader/fault_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/job/job.h"
#include "engine/text/units.h"
#include "engine/train/worker_exit.h"
#include "engine/world/fault_point.h"
#include "harness/scenario/format/map_reader.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr Duration kASecond = std::chrono::seconds(1);

// Returns the time from notice to kill, according to the platform's
// documentation.
std::optional<Duration> GraceOf(std::string_view profile) {
  if (profile == "aws-spot") return std::chrono::seconds(120);
  if (profile.empty()) return std::nullopt;
  return std::chrono::seconds(30);
}

void ReadWorker(const MapReader& at, int& worker) {
  const YamlNode* node = at.Find("worker");
  if (node == nullptr) return;
  const std::string& text = node->scalar;
  const auto number = ParseWholeNumber(text);
  if (const auto symbol = FindWorkerSymbol(text)) {
    worker = *symbol;
  } else if (number && *number < uint64_t{kMaxReplicas}) {
    worker = static_cast<int>(*number);
  } else {
    at.Error(node->place,
             fmt::format("expected a worker's number, all, any or chief, "
                         "found {}",
                         DescribeYaml(*node)));
  }
}

void ReadIncarnation(const MapReader& at, int& incarnation) {
  const YamlNode* node = at.Find("incarnation");
  if (node != nullptr && node->scalar == "any") {
    incarnation = kAnyIncarnation;
  } else {
    at.Count("incarnation", incarnation);
  }
}

// Reads `block` and `offset`. Each of them selects one write of a file, so only
// one may be given. REQUIRES: the point was read.
void ReadBlock(const MapReader& at, FaultSite& site) {
  const YamlNode* block = at.Find("block");
  if (block != nullptr && block->scalar == "any") {
    site.block = kAnyBlock;
  } else {
    at.Count("block", site.block);
  }
  FileOffset offset;
  if (at.Offset("offset", offset)) site.offset = offset;
  if (block != nullptr && site.offset) {
    at.Error(at.PlaceOf("block"),
             "expected a block or an offset, found both: each chooses a write");
  }
}

// Reports a block or an offset at a point without blocks, and a save at a point
// that is not in a save. Reports nothing if the point in the file is wrong
// (`point_is_known` is false).
void CheckBlock(const MapReader& at, const FaultSite& site,
                bool point_is_known) {
  if (!point_is_known) return;
  for (const std::string_view key : {"block", "offset"}) {
    if (HasBlocks(site.point) || at.Find(key) == nullptr) continue;
    at.Error(
        at.PlaceOf(key),
        fmt::format("{} {} at {} can never match", key == "block" ? "a" : "an",
                    key, PointName(site.point)),
        "only the points of writes have one, such as ckpt.shard.write");
  }
  if (at.Find("save") == nullptr || IsOfSave(site.point)) return;
  at.Error(at.PlaceOf("save"),
           fmt::format("a save at {} can never match", PointName(site.point)),
           "only the points of a save are in one, such as ckpt.rename");
}

void ReadSite(const MapReader& at, const std::string& after, FaultSite& site) {
  // For a fault with `after`, the default is any incarnation, because the fault
  // before it often causes a restart.
  site.incarnation = after.empty() ? 1 : kAnyIncarnation;
  ReadWorker(at, site.worker);
  ReadIncarnation(at, site.incarnation);
  std::string point;
  const bool has_point = at.Choice("point", point);
  if (has_point) site.point = *FindPoint(point);
  const bool point_is_known = has_point || at.Find("point") == nullptr;
  // Accepts step 0 only at points outside training: a claim reaches some of
  // these before the first step.
  const bool is_in_training =
      point_is_known && InfoOf(site.point).part == RunPart::kTraining;
  at.CountFrom(is_in_training ? 1 : 0, "step", site.step);
  at.Count("epoch", site.epoch);
  at.Count("save", site.save);
  at.Count("occurrence", site.occurrence);
  ReadBlock(at, site);
  CheckBlock(at, site, point_is_known);
}

void ReadBlocks(const MapReader& with, std::string_view key,
                FaultParameters& out) {
  const YamlNode* keep = with.Find(key);
  if (keep == nullptr) return;
  if (keep->kind != YamlKind::kList) {
    with.Error(keep->place, fmt::format("expected a list of blocks, found {}",
                                        DescribeYaml(*keep)));
    return;
  }
  out.keep = 0;
  for (const YamlNode& item : keep->items) {
    const auto block = ParseWholeNumber(item.scalar);
    if (!block || *block >= static_cast<uint64_t>(out.blocks)) {
      with.Error(item.place,
                 fmt::format("expected a block from 0 to {}, found {}",
                             out.blocks - 1, DescribeYaml(item)));
      continue;
    }
    out.keep |= uint64_t{1} << *block;
  }
}

void ReadGroups(const MapReader& with, const FaultParameterInfo& parameter,
                std::vector<std::vector<int>>& out) {
  const YamlNode* groups = with.Find(parameter.name);
  if (groups == nullptr) return;
  const auto bad = [&](const YamlNode& node) {
    with.Error(
        node.place,
        fmt::format("expected lists of workers, found {}", DescribeYaml(node)),
        "groups: [[0, 1], [2]]");
  };
  if (groups->kind != YamlKind::kList) return bad(*groups);
  for (const YamlNode& group : groups->items) {
    if (group.kind != YamlKind::kList) return bad(group);
    std::vector<int>& workers = out.emplace_back();
    for (const YamlNode& item : group.items) {
      const auto worker = ParseWholeNumber(item.scalar);
      if (!worker || *worker > parameter.high) return bad(item);
      workers.push_back(static_cast<int>(*worker));
    }
  }
}

void ReadChoice(const MapReader& with, std::string_view key,
                const ChoicePlace& place, FaultParameters& out) {
  std::string name;
  if (!with.Choice(key, name)) return;
  const std::vector<std::string_view> names = place.names();
  const auto found = std::ranges::find(names, name);
  place.set(static_cast<size_t>(found - names.begin()), out);
}

void ReadParameter(const MapReader& with, const FaultParameterInfo& parameter,
                   FaultParameters& out) {
  const std::string_view key = parameter.name;
  std::visit(
      OnPlace{
          [&](Duration FaultParameters::*duration) {
            with.Time(key, out.*duration);
          },
          [&](std::optional<Duration> FaultParameters::*duration) {
            Duration time{0};
            if (with.Time(key, time)) out.*duration = time;
          },
          [&](FileOffset FaultParameters::*offset) {
            with.Offset(key, out.*offset);
          },
          [&](const BytesPlace& place) { with.Size(key, out.*place.bytes); },
          [&](const ChoicePlace& place) { ReadChoice(with, key, place, out); },
          [&](const BlocksPlace&) { ReadBlocks(with, key, out); },
          [&](const GroupsPlace& place) {
            ReadGroups(with, parameter, out.*place.groups);
          },
          [&](auto number) { with.Count(key, out.*number); }},
      parameter.place);
}

// Refuses the exit codes that workers use themselves: with one of these, the
// launcher would not see a crash.
void CheckExitCode(const MapReader& with, const FaultParameters& out) {
  if (!IsWorkerExit(out.exit_code)) return;
  with.Error(with.PlaceOf("exit_code"),
             fmt::format("expected none of the exit codes by which workers say "
                         "how they ended ({}), found {}",
                         fmt::join(AllWorkerExits(), ", "), out.exit_code));
}

// Reads `profile`, which names a grace period.
void ReadProfile(const MapReader& with, FaultParameters& out) {
  std::string profile;
  with.Choice("profile", profile);
  if (with.Find("grace") != nullptr && !profile.empty()) {
    with.Error(with.PlaceOf("grace"),
               "expected either a grace or a profile for preempt");
  }
  if (const auto given = GraceOf(profile)) out.grace = *given;
}

void CheckJump(const MapReader& with, const FaultParameters& out) {
  if (out.by >= kASecond && out.by % kASecond == Duration::zero()) return;
  with.Error(with.PlaceOf("by"),
             fmt::format("expected whole seconds, at least 1s, found {}",
                         DurationToText(out.by)));
}

void ReadParameters(const MapReader& with, FaultKind kind,
                    FaultParameters& out) {
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    ReadParameter(with, parameter, out);
  }
  if (kind == FaultKind::kCrash) CheckExitCode(with, out);
  if (kind == FaultKind::kPreempt) ReadProfile(with, out);
  if (kind == FaultKind::kWallClockJump) CheckJump(with, out);
  with.Choice("repeat", out.times);
}

// Reports an error if the parameters stand in a map of the fault's kind, `with:
// {slow: {latency: 2s}}`, instead of directly in `with`. Returns true iff it
// reported one.
bool RefuseNestedParameters(const YamlNode* with, std::string_view kind,
                            Diagnostics& diagnostics) {
  const YamlNode* below = with == nullptr ? nullptr : with->Find(kind);
  if (below == nullptr || below->kind != YamlKind::kMap) return false;
  diagnostics.Error(
      below->place,
      fmt::format("expected the parameters of {0} directly in `with`, found "
                  "them below '{0}'",
                  kind),
      fmt::format("with: {}", YamlToText(*below)));
  return true;
}

// Reads `with` and `until` of a fault. REQUIRES: fault.kind has been read.
void ReadHow(const MapReader& map, Diagnostics& diagnostics, Fault& fault) {
  const std::string_view kind = FaultKindName(fault.kind);
  const YamlNode* node = map.Find("with");
  if (RefuseNestedParameters(node, kind, diagnostics)) return;
  const MapReader with(node, fmt::format("with.{}", kind), diagnostics);
  if (map.Find("until") != nullptr) {
    const MapReader until = map.Map("until");
    until.Count("step", fault.with.until_step);
    fault.with.times = FaultTimes::kAlways;
  }
  const size_t errors = diagnostics.size();
  ReadParameters(with, fault.kind, fault.with);
  const bool parameters_are_valid = diagnostics.size() == errors;
  const Place place = node == nullptr ? map.PlaceOf("do") : node->place;
  // A parameter beside `with` is not missing: its place has been reported.
  const auto has = [&](std::string_view key) {
    return with.Find(key) != nullptr || map.Find(key) != nullptr;
  };
  for (const FaultParameterInfo& parameter : ParametersOf(fault.kind)) {
    if (parameter.example.empty()) continue;
    const std::string hint =
        fmt::format("with: {{{}: {}}}", parameter.name, parameter.example);
    if (!has(parameter.name)) {
      diagnostics.Error(
          place, fmt::format("{} needs a {}", kind, parameter.name), hint);
    } else if (with.Find(parameter.name) != nullptr && parameters_are_valid &&
               parameter.has_effect != nullptr &&
               !parameter.has_effect(fault.with)) {
      diagnostics.Error(with.PlaceOf(parameter.name),
                        fmt::format("{} by nothing has no effect: expected a "
                                    "{} above 0",
                                    kind, parameter.name),
                        hint);
    }
  }
  if (fault.kind == FaultKind::kPreempt && !has("grace") && !has("profile")) {
    diagnostics.Error(place, "preempt needs a grace or a profile",
                      "with: {profile: k8s}");
  }
  if (fault.with.until_step && fault.with.times == FaultTimes::kOnce) {
    diagnostics.Error(map.PlaceOf("until"),
                      "`until` needs `repeat: always`, found once");
  }
}

Fault ReadFault(const YamlNode& node, size_t number, Diagnostics& diagnostics) {
  const MapReader map(&node, "faults", diagnostics);
  Fault fault;
  fault.id = fmt::format("fault-{}", number);
  map.Text("id", fault.id);
  if (!IsFaultId(fault.id)) {
    map.Error(map.PlaceOf("id"),
              fmt::format("expected an id of 1 to 64 letters, digits, '-', '_' "
                          "and '.', found {}",
                          DescribeYaml(*map.Find("id"))));
  }
  map.Text("after", fault.after);
  if (map.Find("at") == nullptr) {
    map.Error(node.place, "expected `at`: where the fault happens");
  }
  const MapReader at = map.Map("at");
  ReadSite(at, fault.after, fault.site);
  std::string kind;
  if (map.Choice("do", kind)) {
    fault.kind = *FindFaultKind(kind);
    ReadHow(map, diagnostics, fault);
  } else if (map.Find("do") == nullptr && at.Find("do") == nullptr) {
    map.Error(node.place, "expected `do`: what happens");
  }
  return fault;
}

Place AfterPlace(const PlacedFault& placed) {
  const YamlNode* after = placed.node->Find("after");
  return after == nullptr ? placed.node->place : after->place;
}

void CheckIds(const std::vector<PlacedFault>& faults,
              Diagnostics& diagnostics) {
  std::set<std::string_view> ids;
  for (const PlacedFault& placed : faults) {
    if (ids.insert(placed.fault.id).second) continue;
    const YamlNode* id = placed.node->Find("id");
    diagnostics.Error(id == nullptr ? placed.node->place : id->place,
                      fmt::format("duplicate fault id '{}'", placed.fault.id));
  }
}

void CheckFaultOrder(const std::vector<PlacedFault>& faults,
                     Diagnostics& diagnostics) {
  std::map<std::string, std::string> after;
  std::vector<std::string> ids;
  for (const PlacedFault& placed : faults) {
    after[placed.fault.id] = placed.fault.after;
    ids.push_back(placed.fault.id);
  }
  for (const PlacedFault& placed : faults) {
    const Fault& fault = placed.fault;
    if (fault.after.empty()) continue;
    if (!after.contains(fault.after)) {
      std::vector<std::string> others = ids;
      std::erase(others, fault.id);
      diagnostics.Error(
          AfterPlace(placed),
          fmt::format("no fault has the id '{}'", fault.after.substr(0, 80)),
          others.empty() ? "remove `after`, as there is no other fault"
                         : SuggestName(fault.after, others));
      continue;
    }
    // Follows the chain of `after`. If the fault is in a cycle, the chain
    // returns to it after at most as many steps as there are faults.
    std::string next = fault.after;
    for (size_t i = 0; i < faults.size() && !next.empty(); ++i) {
      if (next == fault.id) {
        diagnostics.Error(AfterPlace(placed),
                          fmt::format("'{}' comes after itself: a circle of "
                                      "`after`",
                                      fault.id));
        break;
      }
      const auto found = after.find(next);
      next = found == after.end() ? "" : found->second;
    }
  }
}

}  // namespace

Place PlacedFault::AtPlace(std::string_view key) const {
  const YamlNode* at = node->Find("at");
  const YamlNode* found = at == nullptr ? nullptr : at->Find(key);
  return found == nullptr ? node->place : found->place;
}

std::vector<PlacedFault> ReadFaults(const YamlNode* node,
                                    Diagnostics& diagnostics) {
  std::vector<PlacedFault> faults;
  if (node == nullptr) return faults;
  if (node->kind != YamlKind::kList) {
    diagnostics.Error(
        node->place,
        fmt::format("expected a list of faults, found {}", DescribeYaml(*node)),
        HintOnList(*node));
    return faults;
  }
  constexpr size_t kMaxFaults = 1000;
  if (node->items.size() > kMaxFaults) {
    diagnostics.Error(node->place,
                      fmt::format("expected at most {} faults, found {}",
                                  kMaxFaults, node->items.size()));
    return faults;
  }
  for (const YamlNode& item : node->items) {
    const size_t errors = diagnostics.size();
    const Fault fault = ReadFault(item, faults.size() + 1, diagnostics);
    if (diagnostics.size() == errors) faults.push_back({fault, &item});
  }
  if (faults.size() == node->items.size()) {
    CheckIds(faults, diagnostics);
    CheckFaultOrder(faults, diagnostics);
  }
  return faults;
}

}  // namespace gauntlet
