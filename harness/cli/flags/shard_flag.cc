#include "harness/cli/flags/shard_flag.h"

#include <array>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace gauntlet {
namespace {

// Variables of a test runner that select a shard. The index counts from 0. The
// program creates the status file to confirm that it supports shards.
struct ShardVariables {
  const char* total;
  const char* index;
  const char* status_file;
};
constexpr std::array kShardVariables = {
    ShardVariables{"TEST_TOTAL_SHARDS", "TEST_SHARD_INDEX",
                   "TEST_SHARD_STATUS_FILE"},  // Bazel
    ShardVariables{"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX",
                   "GTEST_SHARD_STATUS_FILE"}};

}  // namespace

FlagReader ReadShard(ShardChoice& target) {
  return [&target](const std::string& text) -> Status {
    const size_t slash = text.find('/');
    const std::string index = text.substr(0, slash);
    const std::string count =
        slash == std::string::npos ? "" : text.substr(slash + 1);
    const Result<int> parts = ParseWhole(count, 1, 100'000);
    const Result<int> part = ParseWhole(index, 1, parts.ok() ? *parts : 1);
    if (!parts.ok() || !part.ok()) {
      return ExpectedValue("I/N with I from 1 to N", text);
    }
    target = {.index = *part, .count = *parts};
    return OkStatus();
  };
}

Result<ShardChoice> ShardFromEnvironment(
    const std::function<const char*(const char*)>& variable) {
  for (const ShardVariables& names : kShardVariables) {
    const char* const total = variable(names.total);
    const char* const index = variable(names.index);
    if (total == nullptr && index == nullptr) continue;
    const Result<int> count =
        ParseWhole(total == nullptr ? "" : total, 1, 100'000);
    const Result<int> at = ParseWhole(index == nullptr ? "" : index, 0,
                                      count.ok() ? *count - 1 : 0);
    if (!count.ok() || !at.ok()) {
      return InvalidArgument(fmt::format(
          "expected {} from 1 and {} from 0 below it, found '{}' and '{}'",
          names.total, names.index, total == nullptr ? "" : total,
          index == nullptr ? "" : index));
    }
    if (const char* const file = variable(names.status_file)) {
      std::ofstream created(file);
    }
    return ShardChoice{.index = *at + 1, .count = *count};
  }
  return ShardChoice();
}

}  // namespace gauntlet
