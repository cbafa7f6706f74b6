#include "engine/app/cluster/cluster_flags.h"

#include <string>
#include <utility>

#include "engine/cluster/address_text.h"
#include "engine/cluster/resolver/tf_config.h"

namespace gauntlet {
namespace {

// Returns "::1" for "[::1]".
std::string WithoutBrackets(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

void AddTlsFlags(Flags& flags, TlsFiles& tls) {
  flags.Value({"--tls-cert", "FILE",
               "Encrypt connections between workers with this worker's "
               "certificate (PEM)."},
              ReadText(tls.cert));
  flags.Value({"--tls-key", "FILE", "Private key of that certificate (PEM)."},
              ReadText(tls.key));
  flags.Value({"--tls-ca", "FILE",
               "CA certificates (PEM). Only workers with a certificate signed "
               "by one of them can connect."},
              ReadText(tls.ca));
  flags.Value({"--tls-name", "NAME",
               "DNS name in the certificate of every worker (default: the host "
               "or address that the others use for it)."},
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
               "Launcher whose environment variables give rank and size: auto, "
               "none, torchrun, tf-config, slurm, mpi or kubernetes (auto)."},
              ReadChoice(cluster.rule, std::move(rules)));
  flags.Value({"--rank", "N", "Rank of this process, if no launcher sets it."},
              ReadWhole(cluster.rank, 0, kMaxClusterSize - 1));
  flags.Value({"--cluster-size", "N",
               "Number of workers, if no launcher sets it (WORLD_SIZE)."},
              ReadWhole(cluster.size, 1, kMaxClusterSize));
  flags.Value({"--rendezvous", "HOST:PORT",
               "Address of rank 0, which the others connect to first."},
              [&cluster](const std::string& text) {
                cluster.rendezvous = text;
                return CheckAddress(text);
              });
  flags.Value({"--service", "NAME",
               "Kubernetes: headless service of the pods (GAUNTLET_SERVICE)."},
              [&cluster](const std::string& text) {
                cluster.service = text;
                return CheckHost(text);
              });
  flags.Value({"--listen", "ADDRESS",
               "Local address to listen on; 0.0.0.0: all interfaces (the "
               "address that the other workers use)."},
              [&cluster](const std::string& text) {
                RETURN_IF_ERROR(CheckHost(text));
                cluster.listen = WithoutBrackets(text);
                return OkStatus();
              });
  flags.Value({"--rendezvous-timeout", "N",
               "Seconds to wait for the other workers (30; in a cluster 300)."},
              [&command](const std::string& text) -> Status {
                ASSIGN_OR_RETURN(const int seconds, ParseWhole(text, 1, 86400));
                command.rendezvous_timeout = std::chrono::seconds(seconds);
                return OkStatus();
              });
  flags.Switch({"--explain-cluster", "",
                "Print rank, size, addresses, token source and TLS, and exit.",
                "--print-cluster"},
               [&command] { command.task = TrainTask::kPrintCluster; });
}

void AddSecurityFlags(Flags& flags, TrainCommand& command) {
  flags.Switch({"--insecure", "",
                "Disable the job token: anyone who can connect can join."},
               [&command] { command.insecure = true; });
  AddTlsFlags(flags, command.options.cluster.tls);
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
  const bool has_place_flag =
      cluster.rank || cluster.size || !cluster.rendezvous.empty() ||
      !cluster.service.empty() || !cluster.listen.empty() || command.insecure ||
      cluster.rule.value_or(ClusterRule::kNone) != ClusterRule::kNone;
  if (command.workers && has_place_flag) {
    return InvalidArgument(
        "--workers starts workers on this host: it cannot be combined with "
        "--cluster, --rank, --cluster-size, --rendezvous, --service, --listen "
        "or --insecure");
  }
  return OkStatus();
}

}  // namespace gauntlet
