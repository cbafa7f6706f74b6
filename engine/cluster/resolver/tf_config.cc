#include "engine/cluster/resolver/tf_config.h"

#include <map>
#include <set>

#include "engine/check.h"
#include "engine/cluster/address_text.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMaxTasks = kMaxClusterSize;

// Returns an error for a TF_CONFIG job that this program does not support.
Status CheckJob(std::string_view job) {
  if (job == "chief" || job == "worker" || job == "evaluator") {
    return OkStatus();
  }
  if (job == "ps") {
    return InvalidArgument(
        "parameter servers (ps) are not part of this program: "
        "workers reduce gradients among themselves");
  }
  return InvalidArgument(fmt::format(
      "expected the jobs chief and worker, found {}", QuotedText(job)));
}

using Cluster = std::map<std::string, std::vector<std::string>, std::less<>>;

Result<std::vector<std::string>> ReadAddresses(const Json& json,
                                               const std::string& where) {
  if (!json.is_array() || json.empty() || json.size() > kMaxTasks) {
    return InvalidArgument(fmt::format(
        "{}: expected a list of 1 to {} addresses, found {}", where, kMaxTasks,
        json.is_array() ? fmt::format("{} of them", json.size())
                        : json.type_name()));
  }
  std::vector<std::string> addresses;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string item = fmt::format("{}[{}]", where, i);
    if (!json[i].is_string()) {
      return InvalidArgument(
          fmt::format("{}: expected a text host:port, found {}", item,
                      json[i].type_name()));
    }
    addresses.push_back(json[i].get<std::string>());
    if (Status status = CheckAddress(addresses.back()); !status.ok()) {
      return Annotate(status, item);
    }
  }
  return addresses;
}

Result<Cluster> ReadCluster(const Json& json) {
  if (!json.is_object()) {
    return InvalidArgument(fmt::format(
        "cluster: expected an object of jobs, found {}", json.type_name()));
  }
  Cluster cluster;
  std::set<std::string> seen;
  for (const auto& [job, list] : json.items()) {
    if (Status status = CheckJob(job); !status.ok()) {
      return Annotate(status, "cluster");
    }
    const std::string where = "cluster." + job;
    ASSIGN_OR_RETURN(cluster[job], ReadAddresses(list, where));
    for (const std::string& address : cluster[job]) {
      if (!seen.insert(address).second) {
        return InvalidArgument(fmt::format("{}: {} stands in the cluster twice",
                                           where, QuotedText(address)));
      }
    }
  }
  if (cluster.contains("chief") && cluster["chief"].size() > 1) {
    return InvalidArgument(
        fmt::format("cluster.chief: expected one address, found {}",
                    cluster["chief"].size()));
  }
  return cluster;
}

struct TfTask {
  std::string type;
  int index = 0;
};

Result<TfTask> ReadTask(const Json& json) {
  JsonFields fields(json, "task");
  TfTask task;
  task.type = fields.String("type");
  task.index = static_cast<int>(fields.Integer("index", 0, kMaxTasks - 1));
  RETURN_IF_ERROR(fields.Finish());
  if (Status status = CheckJob(task.type); !status.ok()) {
    return Annotate(status, "task.type");
  }
  return task;
}

// Checks that the cluster has this task. TensorFlow does not list evaluators in
// the cluster.
Status CheckTask(const TfTask& task, const Cluster& cluster) {
  const auto job = cluster.find(task.type);
  if (job == cluster.end()) {
    if (task.type == "evaluator") return OkStatus();
    return InvalidArgument(fmt::format(
        "task.type: there is no job '{}' in the cluster", task.type));
  }
  const size_t tasks = job->second.size();
  if (static_cast<size_t>(task.index) < tasks) return OkStatus();
  return InvalidArgument(fmt::format(
      "task.index: expected 0 to {} (cluster.{} has {} "
      "address{}), found {}",
      tasks - 1, task.type, tasks, tasks == 1 ? "" : "es", task.index));
}

Result<ClusterPlace> PlaceOf(const TfTask& task, const Cluster& cluster) {
  RETURN_IF_ERROR(CheckTask(task, cluster));
  ClusterPlace place{.addresses = {},
                     .rank = task.index,
                     .task_type = task.type,
                     .task_index = task.index};
  if (const auto chief = cluster.find("chief"); chief != cluster.end()) {
    place.addresses = chief->second;
    if (task.type == "worker") ++place.rank;
  }
  if (task.type == "evaluator") place.rank = kNoRank;
  if (const auto workers = cluster.find("worker"); workers != cluster.end()) {
    place.addresses.insert(place.addresses.end(), workers->second.begin(),
                           workers->second.end());
  }
  if (place.addresses.empty()) {
    return InvalidArgument("cluster: expected a chief or workers, found none");
  }
  return place;
}

Result<ClusterPlace> PlaceFromObject(const Json& json) {
  if (json.is_object() && !json.contains("cluster")) {
    if (json.empty()) return ClusterPlace();
    return InvalidArgument("cluster: missing");
  }
  JsonFields fields(json, "");
  const Json& cluster_json = fields.Any("cluster");
  const Json& task_json = fields.Any("task");
  if (json.is_object() && json.contains("environment")) {
    fields.Any("environment");
  }
  RETURN_IF_ERROR(fields.Finish());
  ASSIGN_OR_RETURN(const Cluster cluster, ReadCluster(cluster_json));
  ASSIGN_OR_RETURN(const TfTask task, ReadTask(task_json));
  return PlaceOf(task, cluster);
}

}  // namespace

Result<ClusterPlace> ParseTfConfig(std::string_view json) {
  if (json.empty()) return ClusterPlace();
  ASSIGN_OR_RETURN(const Json value, ParseStrictJson(json, "TF_CONFIG"));
  Result<ClusterPlace> place = PlaceFromObject(value);
  if (!place.ok()) return Annotate(place.status(), "TF_CONFIG");
  return place;
}

std::string MakeTfConfig(const std::vector<std::string>& addresses, int rank) {
  CHECK(rank >= 0 && static_cast<size_t>(rank) < addresses.size(),
        "a rank has an address");
  const Json json = {{"cluster", {{"worker", addresses}}},
                     {"task", {{"type", "worker"}, {"index", rank}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gauntlet
