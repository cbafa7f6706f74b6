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
               "CA certificates (PEM); only workers with a certificate signed "
               "by one of them can connect"},
              ReadText(tls.ca));
  flags.Value({"--tls-name", "NAME",
               "DNS name that every worker's certificate has (by default each "
               "has the host or address that the others use for its worker)"},
              [&tls](const std::string& text) {
                tls.name = text;
                return CheckHost(text);
              });
}

Status CheckTls(const TlsFiles& tls) {
  const bool all = !tls.cert.empty() && !tls.key.empty() && !tls.ca.empty();
  const bool none = tls.cert.empty() && tls.key.empty() && tls.ca.empty();
  if (all || (none && tls.name.empty())) return OkStatus();
  if (none) {
    return InvalidArgument(
        "--tls-name requires --tls-cert, --tls-key and --tls-ca");
  }
  return InvalidArgument(
      "--tls-cert, --tls-key and --tls-ca must be given together");
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
               "launcher whose environment variables give rank and size: auto, "
               "none, torchrun, tf-config, slurm, mpi, kubernetes (auto)"},
              ReadChoice(cluster.rule, std::move(rules)));
  flags.Value({"--rank", "N", "rank of this process, if not set by a launcher"},
              ReadWhole(cluster.rank, 0, kMaxClusterSize - 1));
  flags.Value({"--cluster-size", "N",
               "number of workers, if not set by a launcher (WORLD_SIZE)"},
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
               "local address to listen on, 0.0.0.0 for all interfaces "
               "(the address that the other workers use)"},
              [&cluster](const std::string& text) {
                RETURN_IF_ERROR(CheckHost(text));
                cluster.listen = WithoutBrackets(text);
                return OkStatus();
              });
  flags.Switch({"--insecure", "",
                "disable the job token: anyone who can connect can join"},
               [&command] { command.insecure = true; });
  AddTlsFlags(flags, command.options.cluster.tls);
  flags.Value({"--rendezvous-timeout", "N",
               "seconds to wait for the other workers (30; of a cluster 300)"},
              [&command](const std::string& text) -> Status {
                ASSIGN_OR_RETURN(const int seconds, ParseWhole(text, 1, 86400));
                command.rendezvous_timeout = std::chrono::seconds(seconds);
                return OkStatus();
              });
  flags.Switch({"--explain-cluster", "",
                "print rank, size, addresses, token source and TLS, then exit",
                "--print-cluster"},
               [&command] { command.task = TrainTask::kPrintCluster; });
}

Status TakeCluster(TrainCommand& command) {
  const ClusterFlags& cluster = command.cluster;
  if (command.rendezvous_timeout) {
    command.options.cluster.rendezvous_timeout = *command.rendezvous_timeout;
  }
  if (cluster.rank && cluster.rule) {
    return InvalidArgument("--rank cannot be combined with --cluster");
  }
  if (cluster.rank && !cluster.size) {
    return InvalidArgument("--rank requires --cluster-size N");
  }
  RETURN_IF_ERROR(CheckTls(command.options.cluster.tls));
  const bool said =
      cluster.rank || cluster.size || !cluster.rendezvous.empty() ||
      !cluster.service.empty() || !cluster.listen.empty() || command.insecure ||
      cluster.rule.value_or(ClusterRule::kNone) != ClusterRule::kNone;
  if (command.workers && said) {
    return InvalidArgument(
        "--workers starts workers on this host: it cannot be combined with "
        "--cluster, --rank, --cluster-size, --rendezvous, --service, --listen "
        "or --insecure");
  }
  return OkStatus();
}

}  // namespace gauntlet
