#include <map>
#include <utility>

#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

using Leaves = std::map<std::string, std::string>;

// Without the quotes of a string, but with its escapes: never two lines.
std::string OneLine(const Json& value) {
  const std::string text =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return value.is_string() ? text.substr(1, text.size() - 2) : text;
}

// Every scalar under its dotted path. The parse bounds the depth.
void CollectLeaves(const Json& value, const std::string& path, Leaves& leaves) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      CollectLeaves(child, path.empty() ? key : path + "." + key, leaves);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      CollectLeaves(value[i], fmt::format("{}[{}]", path, i), leaves);
    }
  } else {
    leaves[path] = OneLine(value);
  }
}

std::string LeafOr(const Leaves& leaves, const std::string& path) {
  const auto found = leaves.find(path);
  return found == leaves.end() ? "nothing" : found->second;
}

}  // namespace

std::string DescribeJobDifference(std::string_view stored_json,
                                  std::string_view present_json) {
  return DescribeJsonDifference(
      {.json = stored_json, .where = "in the checkpoint"},
      {.json = present_json, .where = "now"});
}

std::string DescribeJsonDifference(const NamedJson& one,
                                   const NamedJson& other) {
  Leaves before;
  Leaves now;
  for (const auto& [named, leaves] :
       {std::pair(&one, &before), std::pair(&other, &now)}) {
    const Result<Json> parsed = ParseStrictJson(named->json, "job");
    if (!parsed.ok()) {
      return fmt::format("{}: {}", named->where, parsed.status().message());
    }
    CollectLeaves(*parsed, "", *leaves);
  }
  Leaves paths = before;
  paths.insert(now.begin(), now.end());
  paths.erase("data.path");  // not part of the job, see JobDigest
  paths.erase("data.validation_path");
  std::vector<std::string> parts;
  for (const auto& [path, unused] : paths) {
    const std::string was = LeafOr(before, path);
    const std::string is = LeafOr(now, path);
    if (was != is) {
      parts.push_back(fmt::format("{}: {} {}, {} {}", path, was, one.where, is,
                                  other.where));
    }
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace gauntlet
