#include "harness/scenario/fault_text.h"

#include <optional>
#include <variant>
#include <vector>

#include "engine/text/units.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string BlocksToText(uint64_t mask) {
  std::vector<int> blocks;
  for (int block = 0; block < 64; ++block) {
    if ((mask >> block & 1) != 0) blocks.push_back(block);
  }
  return fmt::format("[{}]", fmt::join(blocks, ", "));
}

std::string GroupsToText(const std::vector<std::vector<int>>& all) {
  std::vector<std::string> groups;
  for (const auto& group : all) {
    groups.push_back(fmt::format("[{}]", fmt::join(group, ", ")));
  }
  return fmt::format("[{}]", fmt::join(groups, ", "));
}

}  // namespace

std::string OffsetText(const FileOffset& offset) {
  return fmt::format("{}{}", offset.value,
                     offset.unit == OffsetUnit::kPercent ? "%" : "");
}

std::string FaultParameterText(const FaultParameterInfo& parameter,
                               const FaultParameters& with) {
  return std::visit(
      OnPlace{[&](Duration FaultParameters::*duration) {
                return DurationToText(with.*duration);
              },
              [&](std::optional<Duration> FaultParameters::*duration) {
                return DurationToText((with.*duration).value_or(Duration(0)));
              },
              [&](FileOffset FaultParameters::*offset) {
                return OffsetText(with.*offset);
              },
              [&](const BytesPlace& place) {
                return fmt::format("{}B", with.*place.bytes);
              },
              [&](const ChoicePlace& place) {
                return std::string(place.names()[place.get(with)]);
              },
              [&](const BlocksPlace& place) {
                return BlocksToText(with.*place.mask);
              },
              [&](const GroupsPlace& place) {
                return GroupsToText(with.*place.groups);
              },
              [&](auto number) { return fmt::format("{}", with.*number); }},
      parameter.place);
}

}  // namespace gauntlet
