#include <map>
#include <utility>

#include "engine/job/job.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

using Leaves = std::map<std::string, std::string>;

// Returns the value on one line. A string has no quotes around it, but keeps
// its escapes.
std::string OneLine(const Json& value) {
  const std::string text =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return value.is_string() ? text.substr(1, text.size() - 2) : text;
}

// Stores every scalar in `leaves`, with its dotted path as the key. The
// recursion is bounded, as the parser limits the depth.
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

// Removes the callbacks from a job and returns them.
Json TakeCallbacks(Json& job) {
  Json callbacks = Json::object();
  if (!job.is_object() || !job.contains("callbacks")) return callbacks;
  std::swap(callbacks, job["callbacks"]);
  job.erase("callbacks");
  return callbacks.is_object() ? callbacks : Json::object();
}

// Appends "callback early_stopping: monitor: val_loss in the checkpoint, loss
// now".
void DescribeCallbacks(const Json& stored, const Json& present,
                       std::vector<std::string>& parts) {
  for (const auto& [name, options] : stored.items()) {
    if (!present.contains(name)) {
      parts.push_back(
          fmt::format("callback {}: in the checkpoint, none now", name));
      continue;
    }
    const std::string differences = DescribeJsonDifference(
        {.json = options.dump(), .where = "in the checkpoint"},
        {.json = present[name].dump(), .where = "now"});
    if (differences.empty()) continue;
    parts.push_back(fmt::format("callback {}: {}", name, differences));
  }
  for (const auto& [name, unused] : present.items()) {
    if (stored.contains(name)) continue;
    parts.push_back(
        fmt::format("callback {}: none in the checkpoint, one now", name));
  }
}

}  // namespace

bool DiffersOnlyInUnrecordedCallbacks(std::string_view stored_json,
                                      std::string_view present_json) {
  const Result<Json> stored = ParseStrictJson(stored_json, "job");
  Result<Json> present = ParseStrictJson(present_json, "job");
  if (!stored.ok() || !present.ok()) return false;
  const Json unknown = TakeCallbacks(*present);
  return !stored->contains("callbacks") && !unknown.empty() &&
         JobDigest(stored->dump()) == JobDigest(present->dump());
}

std::string DescribeJobDifference(std::string_view stored_json,
                                  std::string_view present_json) {
  Result<Json> stored = ParseStrictJson(stored_json, "job");
  Result<Json> present = ParseStrictJson(present_json, "job");
  if (!stored.ok() || !present.ok()) {
    return DescribeJsonDifference(
        {.json = stored_json, .where = "in the checkpoint"},
        {.json = present_json, .where = "now"});
  }
  std::vector<std::string> parts;
  DescribeCallbacks(TakeCallbacks(*stored), TakeCallbacks(*present), parts);
  const std::string others = DescribeJsonDifference(
      {.json = stored->dump(), .where = "in the checkpoint"},
      {.json = present->dump(), .where = "now"});
  if (!others.empty()) parts.insert(parts.begin(), others);
  return fmt::format("{}", fmt::join(parts, "; "));
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
  constexpr size_t kMaxNamed = 24;  // differences that fit on one readable line
  size_t unnamed = 0;
  Leaves paths = before;
  paths.insert(now.begin(), now.end());
  paths.erase("data.path");  // not part of the job, see JobDigest
  paths.erase("data.validation_path");
  std::vector<std::string> parts;
  for (const auto& [path, unused] : paths) {
    const std::string was = LeafOr(before, path);
    const std::string is = LeafOr(now, path);
    if (was == is) continue;
    if (parts.size() == kMaxNamed) {
      ++unnamed;
      continue;
    }
    parts.push_back(
        fmt::format("{}: {} {}, {} {}", path, was, one.where, is, other.where));
  }
  if (unnamed > 0) parts.push_back(fmt::format("and {} more", unnamed));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace gauntlet
