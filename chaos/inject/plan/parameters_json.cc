#include "chaos/inject/plan/parameters_json.h"

#include <algorithm>
#include <vector>

#include "chaos/inject/plan/fault_parameters.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = ObjectReader::Json;

constexpr std::string_view RepeatName(FaultTimes times) {
  return times == FaultTimes::kOnce ? "once" : "always";
}

// Returns the key of a parameter: its name and, for a duration, "_ns".
std::string KeyOf(const FaultParameterInfo& parameter) {
  return fmt::format("{}{}", parameter.name,
                     IsDuration(parameter) ? "_ns" : "");
}

Status ReadRepeat(ObjectReader& with, FaultTimes& out) {
  std::string repeat(RepeatName(out));
  RETURN_IF_ERROR(with.String("repeat", repeat));
  if (repeat != "once" && repeat != "always") {
    return BadJson(with.Where("repeat"), "once or always", FoundJson(repeat));
  }
  out = repeat == "once" ? FaultTimes::kOnce : FaultTimes::kAlways;
  return OkStatus();
}

Status ReadChoice(ObjectReader& with, const std::string& key,
                  const ChoicePlace& place, FaultParameters& out) {
  const std::vector<std::string_view> names = place.names();
  std::string name(names[place.get(out)]);
  RETURN_IF_ERROR(with.String(key, name));
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    return BadJson(with.Where(key),
                   fmt::format("one of {}", fmt::join(names, ", ")),
                   FoundJson(name));
  }
  place.set(static_cast<size_t>(found - names.begin()), out);
  return OkStatus();
}

// Reads an array of block numbers: [0, 3] sets bits 0 and 3 of `out`.
Status ReadBlocks(ObjectReader& with, const std::string& key, uint64_t high,
                  uint64_t& out) {
  const Json* found = with.Find(key);
  if (found == nullptr) return OkStatus();
  if (!found->is_array()) {
    return BadJson(with.Where(key), "an array of block numbers",
                   FoundJson(*found));
  }
  out = 0;
  for (const Json& block : *found) {
    if (!block.is_number_unsigned() || block.get<uint64_t>() > high) {
      return BadJson(with.Where(key),
                     fmt::format("block numbers from 0 to {}", high),
                     FoundJson(block));
    }
    out |= uint64_t{1} << block.get<uint64_t>();
  }
  return OkStatus();
}

Json BlocksToJson(uint64_t mask) {
  Json blocks = Json::array();
  for (int i = 0; i < 64; ++i) {
    if ((mask >> i & 1) != 0) blocks.push_back(i);
  }
  return blocks;
}

// Reads groups of workers, such as [[0, 1], [2]].
Status ReadGroups(ObjectReader& with, const std::string& key, uint64_t high,
                  std::vector<std::vector<int>>& out) {
  const Json* found = with.Find(key);
  if (found == nullptr) return OkStatus();
  const auto bad = [&](const Json& what) {
    return BadJson(with.Where(key), "an array of arrays of workers",
                   FoundJson(what));
  };
  if (!found->is_array()) return bad(*found);
  for (const Json& group : *found) {
    if (!group.is_array()) return bad(group);
    std::vector<int>& workers = out.emplace_back();
    for (const Json& worker : group) {
      if (!worker.is_number_unsigned() || worker.get<uint64_t>() > high) {
        return bad(worker);
      }
      workers.push_back(worker.get<int>());
    }
  }
  return OkStatus();
}

// Reads a parameter and checks its lower bound. Validate checks upper bounds,
// and ranges that depend on other values.
Status ReadParameter(ObjectReader& with, const FaultParameterInfo& parameter,
                     FaultParameters& out) {
  const std::string key = KeyOf(parameter);
  return std::visit(
      OnPlace{[&](Duration FaultParameters::*duration) {
                return with.Nanoseconds(key, out.*duration);
              },
              [&](std::optional<Duration> FaultParameters::*duration) {
                if (with.Find(key) == nullptr) return OkStatus();
                return with.Nanoseconds(key, (out.*duration).emplace());
              },
              [&](int FaultParameters::*number) {
                return with.Integer(key, static_cast<int>(parameter.low),
                                    out.*number);
              },
              [&](uint64_t FaultParameters::*number) {
                return with.Integer(key, parameter.low, out.*number);
              },
              [&](FileOffset FaultParameters::*offset) {
                return ReadOffset(with, key, out.*offset);
              },
              [&](const BytesPlace& place) {
                return with.Integer<uint64_t>(key, 0, out.*place.bytes);
              },
              [&](const ChoicePlace& place) {
                return ReadChoice(with, key, place, out);
              },
              [&](const BlocksPlace& place) {
                return ReadBlocks(with, key, parameter.high, out.*place.mask);
              },
              [&](const GroupsPlace& place) {
                return ReadGroups(with, key, parameter.high, out.*place.groups);
              }},
      parameter.place);
}

Json ParameterToJson(const FaultParameterInfo& parameter,
                     const FaultParameters& with) {
  return std::visit(
      OnPlace{
          [&](Duration FaultParameters::*duration) -> Json {
            return (with.*duration).count();
          },
          [&](std::optional<Duration> FaultParameters::*duration) -> Json {
            return (with.*duration)->count();  // not the default, so set
          },
          [&](int FaultParameters::*number) -> Json { return with.*number; },
          [&](uint64_t FaultParameters::*number) -> Json {
            return with.*number;
          },
          [&](FileOffset FaultParameters::*offset) -> Json {
            return OffsetToJson(with.*offset);
          },
          [&](const BytesPlace& place) -> Json { return with.*place.bytes; },
          [&](const ChoicePlace& place) -> Json {
            return place.names()[place.get(with)];
          },
          [&](const BlocksPlace& place) -> Json {
            return BlocksToJson(with.*place.mask);
          },
          [&](const GroupsPlace& place) -> Json { return with.*place.groups; }},
      parameter.place);
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

ObjectReader::Json ParametersToJson(FaultKind kind,
                                    const FaultParameters& with) {
  Json json = Json::object();
  if (with.times != FaultTimes::kOnce) json["repeat"] = RepeatName(with.times);
  if (with.until_step) json["until_step"] = *with.until_step;
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    if (IsDefault(parameter, with)) continue;
    json[KeyOf(parameter)] = ParameterToJson(parameter, with);
  }
  return json;
}

Status ReadParameters(const ObjectReader::Json& json, const std::string& where,
                      FaultKind kind, FaultParameters& out) {
  ObjectReader with(json, where);
  RETURN_IF_ERROR(with.Begin());
  RETURN_IF_ERROR(ReadRepeat(with, out.times));
  RETURN_IF_ERROR(with.Integer<uint64_t>("until_step", 0, out.until_step));
  for (const FaultParameterInfo& parameter : ParametersOf(kind)) {
    RETURN_IF_ERROR(ReadParameter(with, parameter, out));
  }
  return with.End(fmt::format("repeat, until_step or a parameter of {} ({})",
                              FaultKindName(kind), ParameterNames(kind)));
}

}  // namespace gauntlet
