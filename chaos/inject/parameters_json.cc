#include "chaos/inject/parameters_json.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = ObjectReader::Json;

constexpr std::string_view TimesName(FaultTimes times) {
  return times == FaultTimes::kOnce ? "once" : "always";
}

constexpr std::string_view WayName(LinkWay way) {
  return way == LinkWay::kOut ? "out" : "in";
}

constexpr std::string_view DirectionName(JumpDirection direction) {
  return direction == JumpDirection::kForward ? "forward" : "back";
}

Status ReadTimes(ObjectReader& with, FaultTimes& out) {
  std::string times(TimesName(out));
  RETURN_IF_ERROR(with.String("times", times));
  if (times != "once" && times != "always") {
    return BadJson(with.Where("times"), "once or always", FoundJson(times));
  }
  out = times == "once" ? FaultTimes::kOnce : FaultTimes::kAlways;
  return OkStatus();
}

Status ReadThen(ObjectReader& with, AfterTear& out) {
  std::string then(AfterTearName(out));
  RETURN_IF_ERROR(with.String("then", then));
  for (const AfterTear known :
       {AfterTear::kCrash, AfterTear::kPowerLoss, AfterTear::kNothing}) {
    if (then == AfterTearName(known)) {
      out = known;
      return OkStatus();
    }
  }
  return BadJson(with.Where("then"), "crash, power_loss or nothing",
                 FoundJson(then));
}

Status ReadNoticeBy(ObjectReader& with, NoticeBy& out) {
  std::string name(NoticeByName(out));
  RETURN_IF_ERROR(with.String("by", name));
  for (const NoticeBy known :
       {NoticeBy::kSignal, NoticeBy::kFile, NoticeBy::kHttp}) {
    if (name == NoticeByName(known)) {
      out = known;
      return OkStatus();
    }
  }
  return BadJson(with.Where("by"), "signal, file or http", FoundJson(name));
}

Status ReadError(ObjectReader& with, int& out) {
  std::string name;
  RETURN_IF_ERROR(with.String("error", name));
  if (name.empty()) return OkStatus();
  for (const FaultErrorInfo& known : AllFaultErrors()) {
    if (name == known.name) {
      out = known.number;
      return OkStatus();
    }
  }
  return BadJson(with.Where("error"), "an error like EIO or ENOSPC",
                 FoundJson(name));
}

Status ReadDeviceError(ObjectReader& with, DeviceError& out) {
  std::string name;
  RETURN_IF_ERROR(with.String("error", name));
  if (name.empty()) return OkStatus();
  for (const DeviceErrorInfo& known : AllDeviceErrors()) {
    if (name == known.name) {
      out = known.error;
      return OkStatus();
    }
  }
  return BadJson(with.Where("error"),
                 "an error of a device like cudaErrorLaunchFailure",
                 FoundJson(name));
}

// [0, 3]: blocks 0 and 3.
Status ReadKeep(ObjectReader& with, uint64_t& out) {
  const Json* found = with.Find("keep");
  if (found == nullptr) return OkStatus();
  if (!found->is_array()) {
    return BadJson(with.Where("keep"), "an array of block numbers",
                   FoundJson(*found));
  }
  out = 0;
  for (const Json& block : *found) {
    if (!block.is_number_unsigned() || block.get<uint64_t>() > 63) {
      return BadJson(with.Where("keep"), "block numbers from 0 to 63",
                     FoundJson(block));
    }
    out |= uint64_t{1} << block.get<uint64_t>();
  }
  return OkStatus();
}

// [[0, 1], [2]]
Status ReadGroups(ObjectReader& with, std::vector<std::vector<int>>& out) {
  const Json* found = with.Find("groups");
  if (found == nullptr) return OkStatus();
  const auto bad = [&](const Json& what) {
    return BadJson(with.Where("groups"), "an array of arrays of workers",
                   FoundJson(what));
  };
  if (!found->is_array()) return bad(*found);
  for (const Json& group : *found) {
    if (!group.is_array()) return bad(group);
    std::vector<int>& workers = out.emplace_back();
    for (const Json& worker : group) {
      constexpr uint64_t kMaxWorker = 1'000'000;
      if (!worker.is_number_unsigned() || worker.get<uint64_t>() > kMaxWorker) {
        return bad(worker);
      }
      workers.push_back(worker.get<int>());
    }
  }
  return OkStatus();
}

// The one of two names that the key has.
template <typename Choice, typename NameOf>
Status ReadEither(ObjectReader& with, std::string_view key, NameOf name_of,
                  Choice& out) {
  std::string name(name_of(out));
  RETURN_IF_ERROR(with.String(key, name));
  for (const Choice known : {Choice{0}, Choice{1}}) {
    if (name != name_of(known)) continue;
    out = known;
    return OkStatus();
  }
  return BadJson(
      with.Where(key),
      fmt::format("{} or {}", name_of(Choice{0}), name_of(Choice{1})),
      FoundJson(name));
}

Status ReadLinkParameters(ObjectReader& with, FaultKind kind,
                          FaultParameters& out) {
  if (kind == FaultKind::kPartition) {
    RETURN_IF_ERROR(ReadGroups(with, out.groups));
  }
  if (kind == FaultKind::kOneWay) {
    RETURN_IF_ERROR(ReadEither(with, "way", WayName, out.way));
  }
  if (kind == FaultKind::kDrop) {
    RETURN_IF_ERROR(with.Integer("percent", 1, out.percent));
  }
  if (kind == FaultKind::kDelay) {
    RETURN_IF_ERROR(with.Nanoseconds("jitter_ns", out.jitter));
  }
  if (kind == FaultKind::kClockJump) {
    RETURN_IF_ERROR(with.Nanoseconds("by_ns", out.by));
    RETURN_IF_ERROR(
        ReadEither(with, "direction", DirectionName, out.direction));
  }
  return OkStatus();
}

}  // namespace

ObjectReader::Json OffsetToJson(const FileOffset& offset) {
  if (offset.unit == OffsetUnit::kBytes) return offset.value;
  return fmt::format("{}%", offset.value);
}

Status ReadOffset(ObjectReader& reader, std::string_view key, FileOffset& out) {
  const Json* found = reader.Find(key);
  if (found == nullptr) return OkStatus();
  if (found->is_number_unsigned()) {
    out = {.value = found->get<uint64_t>(), .unit = OffsetUnit::kBytes};
    return OkStatus();
  }
  const std::string text =
      found->is_string() ? found->get<std::string>() : std::string();
  const bool percent =
      text.size() >= 2 && text.size() <= 4 && text.back() == '%' &&
      std::ranges::all_of(text.begin(), text.end() - 1,
                          [](char c) { return c >= '0' && c <= '9'; });
  if (!percent) {
    return BadJson(reader.Where(key), "bytes, or a percentage like \"50%\"",
                   FoundJson(*found));
  }
  uint64_t value = 0;
  for (const char c : std::string_view(text).substr(0, text.size() - 1)) {
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  out = {.value = value, .unit = OffsetUnit::kPercent};
  return OkStatus();
}

ObjectReader::Json ParametersToJson(const FaultParameters& with) {
  const FaultParameters defaults;
  Json json = Json::object();
  const auto put = [&json](std::string_view key, const auto& value,
                           const auto& standard) {
    if (value != standard) json[std::string(key)] = value;
  };
  put("times", TimesName(with.times), TimesName(defaults.times));
  if (with.until_step) json["until_step"] = *with.until_step;
  put("latency_ns", with.latency.count(), defaults.latency.count());
  put("duration_ns", with.duration.count(), defaults.duration.count());
  put("grace_ns", with.grace.count(), defaults.grace.count());
  put("by", NoticeByName(with.notice), NoticeByName(defaults.notice));
  put("exit_code", with.exit_code, defaults.exit_code);
  if (with.error != defaults.error) {
    json["error"] =
        std::ranges::find(AllFaultErrors(), with.error, &FaultErrorInfo::number)
            ->name;
  }
  put("hits", with.hits, defaults.hits);
  if (with.device_error != defaults.device_error) {
    json["error"] =
        AllDeviceErrors()[static_cast<size_t>(with.device_error)].name;
  }
  put("blocks", with.blocks, defaults.blocks);
  if (with.keep != defaults.keep) {
    Json& keep = json["keep"] = Json::array();
    for (int i = 0; i < 64; ++i) {
      if ((with.keep >> i & 1) != 0) keep.push_back(i);
    }
  }
  put("then", AfterTearName(with.then), AfterTearName(defaults.then));
  put("bytes", with.bytes, defaults.bytes);
  if (with.offset != defaults.offset) {
    json["offset"] = OffsetToJson(with.offset);
  }
  put("bit", with.bit, defaults.bit);
  if (!with.groups.empty()) json["groups"] = with.groups;
  put("way", WayName(with.way), WayName(defaults.way));
  put("percent", with.percent, defaults.percent);
  put("jitter_ns", with.jitter.count(), defaults.jitter.count());
  put("by_ns", with.by.count(), defaults.by.count());
  put("direction", DirectionName(with.direction),
      DirectionName(defaults.direction));
  return json;
}

Status ReadParameters(const ObjectReader::Json& json, const std::string& where,
                      FaultKind kind, FaultParameters& out) {
  ObjectReader with(json, where);
  RETURN_IF_ERROR(with.Begin());
  const std::string names = fmt::format(" {} ", ParametersOf(kind));
  const auto takes = [&names](std::string_view name) {
    return names.find(fmt::format(" {} ", name)) != std::string::npos;
  };
  RETURN_IF_ERROR(ReadTimes(with, out.times));
  RETURN_IF_ERROR(with.Integer<uint64_t>("until_step", 0, out.until_step));
  if (takes("latency")) {
    RETURN_IF_ERROR(with.Nanoseconds("latency_ns", out.latency));
  }
  if (takes("duration")) {
    RETURN_IF_ERROR(with.Nanoseconds("duration_ns", out.duration));
  }
  if (takes("grace")) {
    RETURN_IF_ERROR(with.Nanoseconds("grace_ns", out.grace));
    RETURN_IF_ERROR(ReadNoticeBy(with, out.notice));
  }
  if (takes("exit_code")) {
    RETURN_IF_ERROR(with.Integer("exit_code", 1, out.exit_code));
  }
  if (kind == FaultKind::kGpuError) {
    RETURN_IF_ERROR(ReadDeviceError(with, out.device_error));
  } else if (takes("error")) {
    RETURN_IF_ERROR(ReadError(with, out.error));
  }
  if (takes("hits")) {
    RETURN_IF_ERROR(with.Integer<uint64_t>("hits", 1, out.hits));
  }
  if (takes("blocks")) {
    RETURN_IF_ERROR(with.Integer("blocks", 1, out.blocks));
    RETURN_IF_ERROR(ReadKeep(with, out.keep));
    RETURN_IF_ERROR(ReadThen(with, out.then));
  }
  if (takes("bytes")) {
    RETURN_IF_ERROR(with.Integer<uint64_t>("bytes", 0, out.bytes));
  }
  if (takes("offset")) RETURN_IF_ERROR(ReadOffset(with, "offset", out.offset));
  if (takes("bit")) RETURN_IF_ERROR(with.Integer("bit", 0, out.bit));
  RETURN_IF_ERROR(ReadLinkParameters(with, kind, out));
  return with.End(fmt::format("times, until_step or a parameter of {} ({})",
                              FaultKindName(kind), ParametersOf(kind)));
}

}  // namespace gauntlet
