#include "harness/cli/cluster_flags.h"

#include <string>
#include <utility>

#include "engine/cluster/address_text.h"
#include "engine/cluster/tf_config.h"

namespace gauntlet {
namespace {

// "[::1]" → "::1".
std::string WithoutBrackets(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

void AddTlsFlags(Flags& flags, TlsFiles& tls) {
  flags.Value({"--tls-cert", "FILE",
               "encrypt connections between workers: this worker's certificate "
               "(PEM)"},
              ReadText(tls.cert));
  flags.Value({"--tls-key", "FILE", "its private key"}, ReadText(tls.key));
  flags.Value({"--tls-ca", "FILE",
               "certificates that sign those of all workers; no other worker "
               "is let in"},
              ReadText(tls.ca));
  flags.Value({"--tls-name", "NAME",
               "name in every worker's certificate (the host or address under "
               "which the others call it)"},
              [&tls](const std::string& text) {
                tls.name = text;
                return CheckHost(text);
              });
}

Status CheckTls(const TlsFiles& tls) {
  const bool all = !tls.cert.empty() && !tls.key.empty() && !tls.ca.empty();
  const bool none = tls.cert.empty() && tls.key.empty() && tls.ca.empty();
  if (all || (none && tls.name.empty())) return OkStatus();
  return InvalidArgument(
      "--tls-cert, --tls-key, --tls-ca: expected all three of them");
}

}  // namespace

void AddClusterFlags(Flags& flags, TrainCommand& command) {
  ClusterFlags& cluster = command.cluster;
  NamedChoices<std::optional<ClusterRule>> rules = {{"auto", std::nullopt}};
  for (const ClusterRule rule :
       {ClusterRule::kNone, ClusterRule::kTorchrun, ClusterRule::kTfConfig,
        ClusterRule::kSlurm, ClusterRule::kMpi, ClusterRule::kKubernetes}) {
    rules.emplace_back(ClusterRuleName(rule), rule);
  }
  flags.Value({"--cluster", "RULE",
               "whose variables tell this process its place: auto, none, "
               "torchrun, tf-config, slurm, mpi, kubernetes (auto)"},
              ReadChoice(cluster.rule, std::move(rules)));
  flags.Value({"--rank", "N", "this process's place, if no variable tells it"},
              ReadWhole(cluster.rank, 0, kMaxClusterSize - 1));
  flags.Value({"--cluster-size", "N",
               "workers of the cluster, where no variable tells (WORLD_SIZE)"},
              ReadWhole(cluster.size, 1, kMaxClusterSize));
  flags.Value({"--rendezvous", "HOST:PORT",
               "where the workers meet: rank 0 listens there"},
              [&cluster](const std::string& text) {
                cluster.rendezvous = text;
                return CheckAddress(text);
              });
  flags.Value({"--service", "NAME",
               "of Kubernetes: the pods' headless service (GAUNTLET_SERVICE)"},
              [&cluster](const std::string& text) {
                cluster.service = text;
                return CheckHost(text);
              });
  flags.Value({"--listen", "ADDRESS",
               "this host's address to listen on; 0.0.0.0: on all interfaces "
               "(where the others are told to find this worker)"},
              [&cluster](const std::string& text) {
                RETURN_IF_ERROR(CheckHost(text));
                cluster.listen = WithoutBrackets(text);
                return OkStatus();
              });
  flags.Switch(
      {"--insecure", "", "let whoever reaches a worker join the job: no token"},
      [&command] { command.insecure = true; });
  AddTlsFlags(flags, command.options.cluster.tls);
  flags.Value({"--rendezvous-timeout", "N",
               "seconds to wait for the other workers (30; of a cluster 300)"},
              [&command](const std::string& text) -> Status {
                ASSIGN_OR_RETURN(const int seconds, ParseWhole(text, 1, 86400));
                command.rendezvous_timeout = std::chrono::seconds(seconds);
                return OkStatus();
              });
  flags.Switch({"--print-cluster", "", "say which rule won, and why; leave"},
               [&command] { command.task = TrainTask::kPrintCluster; });
}

Status TakeCluster(TrainCommand& command) {
  const ClusterFlags& cluster = command.cluster;
  if (command.rendezvous_timeout) {
    command.options.cluster.rendezvous_timeout = *command.rendezvous_timeout;
  }
  if (cluster.rank && cluster.rule) {
    return InvalidArgument("--rank: expected no --cluster beside it");
  }
  if (cluster.rank && !cluster.size) {
    return InvalidArgument("--rank: expected --cluster-size N beside it");
  }
  RETURN_IF_ERROR(CheckTls(command.options.cluster.tls));
  const bool said =
      cluster.rank || cluster.size || !cluster.rendezvous.empty() ||
      !cluster.service.empty() || !cluster.listen.empty() || command.insecure ||
      cluster.rule.value_or(ClusterRule::kNone) != ClusterRule::kNone;
  if (command.workers && said) {
    return InvalidArgument(
        "--workers: expected none of --cluster, --rank, --cluster-size, "
        "--rendezvous, --service, --listen, --insecure beside it (it starts "
        "workers here)");
  }
  return OkStatus();
}

}  // namespace gauntlet
