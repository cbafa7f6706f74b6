#include "engine/app/cluster/cluster_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

// Replaces control characters, as values from the environment may contain line
// breaks.
std::string OnOneLine(std::string text) {
  for (char& c : text) {
    const bool control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    if (control) c = '?';
  }
  return text;
}

std::string ChiefText(const ResolvedCluster& cluster) {
  const ClusterPlace& place = cluster.place;
  const std::string who = place.rank == 0 ? "this worker" : "rank 0";
  return place.addresses.empty() || place.addresses.front().empty()
             ? who
             : fmt::format("{} at {}", who, place.addresses.front());
}

}  // namespace

std::string SourcesText(const ResolvedCluster& cluster) {
  return OnOneLine(fmt::format("{}", fmt::join(cluster.from, ", ")));
}

std::string ClusterToText(const ResolvedCluster& cluster,
                          const TrustText& trust) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& what) {
    if (!what.empty()) {
      text += fmt::format("{:<9} {}\n", name, OnOneLine(what));
    }
  };
  const ClusterPlace& place = cluster.place;
  add("rule", std::string(ClusterRuleName(cluster.rule)));
  add("from", SourcesText(cluster));
  add("task", fmt::format("{} {}, incarnation {}", place.task_type,
                          place.task_index, cluster.incarnation));
  add("workers", std::to_string(place.size()));
  add("chief", ChiefText(cluster));
  add("listen", cluster.listen);
  add("token", trust.token);
  add("tls", trust.tls);
  if (!cluster.ignored_variables.empty()) {
    add("passed", fmt::format("{} (of a launcher around this one)",
                              fmt::join(cluster.ignored_variables, ", ")));
  }
  return text;
}

std::string ClusterToJson(const ResolvedCluster& cluster,
                          const TrustText& trust) {
  const ClusterPlace& place = cluster.place;
  Json addresses = Json::array();
  for (const std::string& address : place.addresses) {
    addresses.push_back(address.empty() ? Json(nullptr) : Json(address));
  }
  Json json = {
      {"rule", ClusterRuleName(cluster.rule)},
      {"from", cluster.from},
      {"passed_over", cluster.ignored_variables},
      {"task", {{"type", place.task_type}, {"index", place.task_index}}},
      {"rank", place.rank == kNoRank ? Json(nullptr) : Json(place.rank)},
      {"workers", place.size()},
      {"chief", place.rank == 0},
      {"addresses", std::move(addresses)},
      {"local_rank",
       cluster.local_rank ? Json(*cluster.local_rank) : Json(nullptr)},
      {"incarnation", cluster.incarnation},
      {"listen", cluster.listen.empty() ? Json(nullptr) : Json(cluster.listen)},
      {"token", trust.token},
      {"tls", trust.tls}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gauntlet
