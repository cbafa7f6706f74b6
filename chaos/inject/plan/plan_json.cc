#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "chaos/inject/plan/object_reader.h"
#include "chaos/inject/plan/parameters_json.h"
#include "chaos/inject/plan/plan.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = ObjectReader::Json;

constexpr std::string_view kFormat = "gauntlet-plan-v3";
// The previous format. It calls an occurrence `hit`; at points with blocks
// (HasBlocks), each block is a hit unless the site has an offset. Its kill
// without a latency is asynchronous.
constexpr std::string_view kFormatBefore = "gauntlet-plan-v2";
enum class PlanFormat : uint8_t { kNow, kBefore };
constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr int kMaxDepth = 8;

Json WorkerToJson(int worker) {
  if (worker < 0) return WorkerName(worker);
  return worker;
}

Status ReadWorker(ObjectReader& at, int& out) {
  const Json* found = at.Find("worker");
  if (found == nullptr) return OkStatus();
  if (!found->is_string()) return at.Integer("worker", 0, out);
  if (const auto symbol =
          FindWorkerSymbol(found->get_ref<const std::string&>())) {
    out = *symbol;
    return OkStatus();
  }
  return BadJson(at.Where("worker"), "an integer, any, all or chief",
                 FoundJson(*found));
}

Status ReadIncarnation(ObjectReader& at, int& out) {
  const Json* found = at.Find("incarnation");
  if (found == nullptr) return OkStatus();
  if (*found == "any") {
    out = kAnyIncarnation;
    return OkStatus();
  }
  return at.Integer("incarnation", 1, out);
}

Json SiteToJson(const FaultSite& site) {
  Json json;
  json["worker"] = WorkerToJson(site.worker);
  if (site.incarnation == kAnyIncarnation) {
    json["incarnation"] = "any";
  } else {
    json["incarnation"] = site.incarnation;
  }
  if (site.step) json["step"] = *site.step;
  if (site.epoch) json["epoch"] = *site.epoch;
  json["point"] = PointName(site.point);
  if (site.save) json["save"] = *site.save;
  json["occurrence"] = site.occurrence;
  if (site.block == kAnyBlock) {
    json["block"] = "any";
  } else if (site.block != 0) {
    json["block"] = site.block;
  }
  if (site.offset) json["offset"] = OffsetToJson(*site.offset);
  return json;
}

Status ReadBlock(ObjectReader& at, uint64_t& out) {
  const Json* found = at.Find("block");
  if (found == nullptr) return OkStatus();
  if (*found == "any") {
    out = kAnyBlock;
    return OkStatus();
  }
  return at.Integer<uint64_t>("block", 0, out);
}

Status ReadSite(const Json& json, const std::string& where, PlanFormat format,
                FaultSite& site) {
  ObjectReader at(json, where);
  RETURN_IF_ERROR(at.Begin());
  RETURN_IF_ERROR(ReadWorker(at, site.worker));
  RETURN_IF_ERROR(ReadIncarnation(at, site.incarnation));
  RETURN_IF_ERROR(at.Integer<uint64_t>("step", 0, site.step));
  RETURN_IF_ERROR(at.Integer<uint64_t>("epoch", 0, site.epoch));
  std::string point;
  RETURN_IF_ERROR(at.Need("point").status());
  RETURN_IF_ERROR(at.String("point", point));
  const std::optional<Point> found = FindPoint(point);
  if (!found) {
    return BadJson(at.Where("point"), "the name of a fault point",
                   FoundJson(point));
  }
  site.point = *found;
  if (at.Find("offset") != nullptr) {
    RETURN_IF_ERROR(ReadOffset(at, "offset", site.offset.emplace()));
  }
  if (format == PlanFormat::kBefore) {
    RETURN_IF_ERROR(at.Integer<uint64_t>("hit", 1, site.occurrence));
    if (HasBlocks(site.point) && !site.offset) site.block = kAnyBlock;
    return at.End();
  }
  RETURN_IF_ERROR(at.Integer<uint64_t>("save", 1, site.save));
  RETURN_IF_ERROR(at.Integer<uint64_t>("occurrence", 1, site.occurrence));
  RETURN_IF_ERROR(ReadBlock(at, site.block));
  return at.End();
}

Json FaultToJson(const Fault& fault) {
  Json json;
  json["id"] = fault.id;
  json["at"] = SiteToJson(fault.site);
  json["do"] = FaultKindName(fault.kind);
  if (!fault.after.empty()) json["after"] = fault.after;
  Json with = ParametersToJson(fault.kind, fault.with);
  if (!with.empty()) json["with"] = std::move(with);
  return json;
}

Status ReadFault(const Json& json, const std::string& where, PlanFormat format,
                 Fault& fault) {
  ObjectReader reader(json, where);
  RETURN_IF_ERROR(reader.Begin());
  RETURN_IF_ERROR(reader.Need("id").status());
  RETURN_IF_ERROR(reader.String("id", fault.id));
  ASSIGN_OR_RETURN(const Json* at, reader.Need("at"));
  RETURN_IF_ERROR(ReadSite(*at, reader.Where("at"), format, fault.site));
  RETURN_IF_ERROR(reader.Need("do").status());
  std::string kind;
  RETURN_IF_ERROR(reader.String("do", kind));
  const std::optional<FaultKind> found = FindFaultKind(kind);
  if (!found) {
    return BadJson(reader.Where("do"), "the name of a fault kind",
                   FoundJson(kind));
  }
  fault.kind = *found;
  RETURN_IF_ERROR(reader.String("after", fault.after));
  if (const Json* with = reader.Find("with")) {
    RETURN_IF_ERROR(
        ReadParameters(*with, reader.Where("with"), fault.kind, fault.with));
  }
  if (format == PlanFormat::kBefore && fault.kind == FaultKind::kKill &&
      !fault.with.kill_latency) {
    fault.with.kill_latency = Duration::zero();
  }
  return reader.End();
}

Result<const Json*> Array(ObjectReader& reader, std::string_view key) {
  ASSIGN_OR_RETURN(const Json* found, reader.Need(key));
  if (!found->is_array()) {
    return BadJson(reader.Where(key), "an array", FoundJson(*found));
  }
  return found;
}

Result<FaultPlan> ReadPlan(const Json& json) {
  ObjectReader reader(json, "");
  RETURN_IF_ERROR(reader.Begin());
  std::string format;
  RETURN_IF_ERROR(reader.String("format", format));
  const PlanFormat as =
      format == kFormatBefore ? PlanFormat::kBefore : PlanFormat::kNow;
  if (format == "gauntlet-plan-v1") {
    return BadJson(
        "format",
        fmt::format("{} (replay the scenario that was written beside "
                    "the plan, or explore again)",
                    kFormat),
        FoundJson(format));
  }
  if (format != kFormat && format != kFormatBefore) {
    return BadJson("format", kFormat, FoundJson(format));
  }
  FaultPlan plan;
  RETURN_IF_ERROR(reader.Need("seed").status());
  RETURN_IF_ERROR(reader.Integer<uint64_t>("seed", 0, plan.seed));
  ASSIGN_OR_RETURN(const Json* faults, Array(reader, "faults"));
  for (const Json& fault : *faults) {
    const std::string where = fmt::format("faults[{}]", plan.faults.size());
    RETURN_IF_ERROR(ReadFault(fault, where, as, plan.faults.emplace_back()));
  }
  ASSIGN_OR_RETURN(const Json* bugs, Array(reader, "bugs"));
  for (const Json& name : *bugs) {
    const std::optional<PlantedBug> bug =
        name.is_string() ? FindPlantedBug(name.get<std::string>())
                         : std::nullopt;
    if (!bug)
      return BadJson("bugs", "the name of a planted bug", FoundJson(name));
    plan.bugs.push_back(*bug);
  }
  RETURN_IF_ERROR(reader.End());
  RETURN_IF_ERROR(Annotate(Validate(plan), "plan"));
  return plan;
}

// Checks, during parsing, the properties that the parsed value no longer shows:
// repeated keys, and depth.
class StructureWatch {
 public:
  bool Accept(int depth, Json::parse_event_t event, Json& parsed) {
    using Parse = Json::parse_event_t;
    if (depth > kMaxDepth) {
      problem_ =
          fmt::format("expected at most {} levels, found more", kMaxDepth);
    } else if (event == Parse::object_start) {
      keys_.emplace_back();
    } else if (event == Parse::object_end) {
      keys_.pop_back();
    } else if (event == Parse::key &&
               !keys_.back().insert(parsed.get<std::string>()).second) {
      problem_ =
          fmt::format("key {}: expected once, found twice", FoundJson(parsed));
    }
    return depth <= kMaxDepth;
  }
  const std::string& problem() const { return problem_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string problem_;
};

}  // namespace

std::string PlanToJson(const FaultPlan& plan) {
  Json json;
  json["format"] = kFormat;
  json["seed"] = plan.seed;
  json["faults"] = Json::array();
  for (const Fault& fault : plan.faults) {
    json["faults"].push_back(FaultToJson(fault));
  }
  json["bugs"] = Json::array();
  for (const PlantedBug bug : plan.bugs) {
    json["bugs"].push_back(AllPlantedBugs()[static_cast<size_t>(bug)].name);
  }
  return json.dump(2) + "\n";
}

Result<FaultPlan> PlanFromJson(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return InvalidArgument(fmt::format(
        "plan: expected at most {} bytes, found {}", kMaxBytes, text.size()));
  }
  StructureWatch watch;
  try {
    const Json json = Json::parse(
        text, [&watch](int depth, Json::parse_event_t event, Json& parsed) {
          return watch.Accept(depth, event, parsed);
        });
    if (!watch.problem().empty()) {
      return InvalidArgument("plan: " + watch.problem());
    }
    return ReadPlan(json);
  } catch (const Json::exception& error) {
    if (!watch.problem().empty()) {
      return InvalidArgument("plan: " + watch.problem());
    }
    const auto* const syntax = dynamic_cast<const Json::parse_error*>(&error);
    return InvalidArgument(
        syntax == nullptr
            ? "plan: a number is too large for JSON"
            : fmt::format("plan: expected JSON, found something else at byte "
                          "{}",
                          syntax->byte));
  }
}

}  // namespace gauntlet
