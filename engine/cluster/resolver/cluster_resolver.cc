#include "engine/cluster/resolver/cluster_resolver.h"

#include <array>
#include <utility>

#include "engine/check.h"
#include "engine/cluster/address_text.h"
#include "engine/cluster/resolver/cluster_candidates.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// In order of precedence.
constexpr std::array kRules = {ClusterRule::kTorchrun, ClusterRule::kTfConfig,
                               ClusterRule::kSlurm, ClusterRule::kMpi,
                               ClusterRule::kKubernetes};
constexpr int kMaxRestarts = 1'000'000;
constexpr int kMaxPort = 65535;
constexpr std::string_view kOrAlone = "or --cluster none for a worker alone";

bool HasOneWorker(const ClusterCandidate& candidate) {
  return candidate.size && candidate.size->value == 1;
}

class Resolver {
 public:
  Resolver(const Environment& environment, const ClusterFlags& flags)
      : environment_(environment), flags_(flags) {}

  Result<ResolvedCluster> Resolve();

 private:
  Status Read();
  bool IsAround(const ClusterCandidate& candidate) const;
  bool IsComplete(const ClusterCandidate& candidate) const;
  Result<const ClusterCandidate*> Choose() const;
  Status ExplainNoChoice() const;
  Status CheckOthers(const ClusterCandidate& winner) const;
  Result<ResolvedCluster> Place(const ClusterCandidate& winner) const;
  Result<SourcedNumber> SizeFor(const ClusterCandidate& winner) const;
  Status FindChief(const ClusterCandidate& winner,
                   ResolvedCluster& cluster) const;
  Result<int> MasterPort(const ClusterCandidate& winner,
                         ResolvedCluster& cluster) const;
  Result<int> Incarnation() const;
  const ClusterCandidate* Find(ClusterRule rule) const;

  const Environment& environment_;
  const ClusterFlags& flags_;
  std::vector<ClusterCandidate> candidates_;  // in order of precedence
};

const ClusterCandidate* Resolver::Find(ClusterRule rule) const {
  for (const ClusterCandidate& candidate : candidates_) {
    if (candidate.rule == rule) return &candidate;
  }
  return nullptr;
}

Status Resolver::Read() {
  for (const ClusterRule rule : kRules) {
    if (flags_.rule && *flags_.rule != rule) continue;
    Result<std::optional<ClusterCandidate>> candidate =
        ReadCandidate(rule, environment_, flags_);
    if (!candidate.ok()) {
      return Annotate(candidate.status(),
                      fmt::format("cluster rule {}", ClusterRuleName(rule)));
    }
    if (*candidate) candidates_.push_back(**std::move(candidate));
  }
  return OkStatus();
}

// Returns true if the candidate yields to all other candidates. It does in
// three cases: another launcher runs inside the candidate's and started this
// process; this process is Slurm's batch script; Slurm or mpirun started only
// one worker.
bool Resolver::IsAround(const ClusterCandidate& candidate) const {
  const ClusterCandidate* const torchrun = Find(ClusterRule::kTorchrun);
  const bool in_agent = torchrun != nullptr && torchrun->started_this_process;
  const ClusterCandidate* const mpi = Find(ClusterRule::kMpi);
  const bool in_mpirun = mpi != nullptr && mpi->started_this_process;
  switch (candidate.rule) {
    case ClusterRule::kSlurm:
      return in_agent || in_mpirun || candidate.is_batch_script ||
             HasOneWorker(candidate);
    case ClusterRule::kMpi:
      return in_agent || HasOneWorker(candidate);
    case ClusterRule::kKubernetes:
      return in_agent || in_mpirun;
    default:
      return false;
  }
}

bool Resolver::IsComplete(const ClusterCandidate& candidate) const {
  if (!candidate.rank) return false;
  if (candidate.size) return true;
  return candidate.rule != ClusterRule::kTorchrun && SizeFor(candidate).ok();
}

// Returns the number of workers: from the rule, else from --cluster-size, else
// from WORLD_SIZE.
Result<SourcedNumber> Resolver::SizeFor(
    const ClusterCandidate& candidate) const {
  if (candidate.size) {
    if (flags_.size && *flags_.size != candidate.size->value) {
      return InvalidArgument(fmt::format("--cluster-size={} contradicts {}",
                                         *flags_.size, candidate.size->source));
    }
    return *candidate.size;
  }
  if (flags_.size) {
    return SourcedNumber{*flags_.size,
                         fmt::format("--cluster-size={}", *flags_.size)};
  }
  ASSIGN_OR_RETURN(const std::optional<SourcedNumber> world,
                   FindNumber(environment_, "WORLD_SIZE", 1, kMaxClusterSize));
  if (world) return *world;
  return InvalidArgument(
      fmt::format("{}: expected the number of workers beside it, in WORLD_SIZE "
                  "or --cluster-size N; {}",
                  candidate.rank->source, kOrAlone));
}

// Returns the candidate that wins; null if this process is the only worker.
Result<const ClusterCandidate*> Resolver::Choose() const {
  for (const ClusterCandidate& candidate : candidates_) {
    if (!IsAround(candidate) && IsComplete(candidate)) return &candidate;
  }
  RETURN_IF_ERROR(ExplainNoChoice());
  for (const ClusterCandidate& candidate : candidates_) {
    if (candidate.rank && HasOneWorker(candidate)) return &candidate;
  }
  return nullptr;
}

// Called if no rule applies. Returns an error that names the missing variable
// if some variables describe a cluster; Ok if this process is meant to be the
// only worker.
Status Resolver::ExplainNoChoice() const {
  for (const ClusterCandidate& candidate : candidates_) {
    if (candidate.is_batch_script && !HasOneWorker(candidate) &&
        candidate.size) {
      return InvalidArgument(
          fmt::format("{} in the batch script itself: start the workers with "
                      "srun, or here with --workers N; {}",
                      candidate.size->source, kOrAlone));
    }
    if (IsAround(candidate) || HasOneWorker(candidate)) continue;
    if (candidate.rank && candidate.rule != ClusterRule::kTorchrun) {
      return SizeFor(candidate).status();
    }
    return InvalidArgument(fmt::format(
        "{}: expected {} beside it; {}",
        candidate.rank ? candidate.rank->source : candidate.size->source,
        candidate.rule == ClusterRule::kMpi ? "OMPI_COMM_WORLD_RANK"
        : candidate.rank                    ? "WORLD_SIZE"
                                            : "RANK",
        kOrAlone));
  }
  if (flags_.rule && *flags_.rule != ClusterRule::kNone &&
      candidates_.empty()) {
    return InvalidArgument(
        fmt::format("--cluster {}: none of its variables is set",
                    ClusterRuleName(*flags_.rule)));
  }
  return OkStatus();
}

Status Contradiction(const ClusterCandidate& one, const SourcedNumber& given,
                     const ClusterCandidate& other,
                     const SourcedNumber& other_given) {
  return InvalidArgument(fmt::format(
      "{} contradicts {}: choose one with --cluster {} or --cluster {}",
      given.source, other_given.source, ClusterRuleName(one.rule),
      ClusterRuleName(other.rule)));
}

// Returns true if the Kubernetes index is not the worker's rank but its index
// within its task type. A Kubernetes job may contain the tasks of one type
// only, so the two may differ.
bool IsIndexOfTask(const ClusterCandidate& one, const ClusterCandidate& other) {
  return one.place && other.rule == ClusterRule::kKubernetes &&
         one.place->task_index == other.rank->value;
}

Status Resolver::CheckOthers(const ClusterCandidate& winner) const {
  // An evaluator is not a worker, so the other rules' ranks and sizes do not
  // apply.
  if (winner.rank->value == kNoRank) return OkStatus();
  for (const ClusterCandidate& other : candidates_) {
    if (&other == &winner || IsAround(other)) continue;
    if (other.rank && other.rank->value != winner.rank->value &&
        !IsIndexOfTask(winner, other)) {
      return Contradiction(winner, *winner.rank, other, *other.rank);
    }
    if (!other.size) continue;
    ASSIGN_OR_RETURN(const SourcedNumber size, SizeFor(winner));
    if (other.size->value != size.value) {
      return Contradiction(winner, size, other, *other.size);
    }
  }
  return OkStatus();
}

// Returns the chief's port: MASTER_PORT or, if it is not set, the port of the
// rule. If torchrun's agent serves the store itself, it occupies MASTER_PORT,
// before and after a restart, so the chief takes the next port.
Result<int> Resolver::MasterPort(const ClusterCandidate& winner,
                                 ResolvedCluster& cluster) const {
  ASSIGN_OR_RETURN(const std::optional<SourcedNumber> given,
                   FindNumber(environment_, "MASTER_PORT", 1, kMaxPort));
  if (!given) return winner.chief_port;
  cluster.from.push_back(given->source);
  if (FindVariable(environment_, "TORCHELASTIC_USE_AGENT_STORE") != "True") {
    return given->value;
  }
  cluster.from.emplace_back("TORCHELASTIC_USE_AGENT_STORE=True");
  return given->value == kMaxPort ? kMaxPort - 1 : given->value + 1;
}

Status Resolver::FindChief(const ClusterCandidate& winner,
                           ResolvedCluster& cluster) const {
  std::string& address = cluster.place.addresses.front();
  if (!flags_.rendezvous.empty()) {
    address = flags_.rendezvous;
    cluster.from.push_back("--rendezvous=" + address);
    return Annotate(CheckAddress(address), "--rendezvous");
  }
  std::string host = winner.chief_host;
  if (const auto master = FindVariable(environment_, "MASTER_ADDR")) {
    host = *master;
    cluster.from.push_back("MASTER_ADDR=" + host);
  }
  ASSIGN_OR_RETURN(const int port, MasterPort(winner, cluster));
  if (host.empty() || port == 0) {
    const std::string why = host.empty() ? winner.missing_host_reason : "";
    return InvalidArgument(fmt::format(
        "{}: expected where rank 0 is beside it: {} is not set{}{}; set it or "
        "say --rendezvous HOST:PORT",
        winner.rank->source, host.empty() ? "MASTER_ADDR" : "MASTER_PORT",
        why.empty() ? "" : ", ", why));
  }
  address = AddressOf(host, port);
  return Annotate(CheckAddress(address), "MASTER_ADDR, MASTER_PORT");
}

Result<int> Resolver::Incarnation() const {
  int incarnation = 1;
  for (const std::string_view name :
       {"TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    ASSIGN_OR_RETURN(const std::optional<SourcedNumber> restarts,
                     FindNumber(environment_, name, 0, kMaxRestarts));
    if (restarts) incarnation += restarts->value;
  }
  return incarnation;
}

Result<ResolvedCluster> Resolver::Place(const ClusterCandidate& winner) const {
  ResolvedCluster cluster{.rule = winner.rule,
                          .from = winner.from,
                          .local_rank = winner.local_rank,
                          .all_on_this_host = winner.all_on_this_host,
                          .listen = flags_.listen};
  ASSIGN_OR_RETURN(const SourcedNumber size, SizeFor(winner));
  ASSIGN_OR_RETURN(cluster.incarnation, Incarnation());
  if (winner.place) {
    if (!flags_.rendezvous.empty()) {
      return InvalidArgument(fmt::format(
          "--rendezvous={}: expected none beside TF_CONFIG, which says where "
          "all workers are; --cluster RULE leaves it alone",
          flags_.rendezvous));
    }
    cluster.place = *winner.place;
    return cluster;
  }
  if (!winner.size) cluster.from.push_back(size.source);
  if (size.value > kMaxClusterSize) {
    return InvalidArgument(fmt::format("{}: expected at most {} workers",
                                       size.source, kMaxClusterSize));
  }
  if (winner.rank->value >= size.value) {
    return InvalidArgument(fmt::format("{}: expected a rank from 0 to {} ({})",
                                       winner.rank->source, size.value - 1,
                                       size.source));
  }
  cluster.place.rank = winner.rank->value;
  cluster.place.task_index = winner.rank->value;
  if (size.value == 1) return cluster;
  cluster.place.addresses.resize(static_cast<size_t>(size.value));
  RETURN_IF_ERROR(FindChief(winner, cluster));
  return cluster;
}

Result<ResolvedCluster> Resolver::Resolve() {
  if (flags_.rule == ClusterRule::kNone) return ResolvedCluster{};
  if (flags_.rank) {
    ClusterCandidate candidate{.rule = ClusterRule::kFlags};
    candidate.rank =
        SourcedNumber{*flags_.rank, fmt::format("--rank={}", *flags_.rank)};
    candidate.from = {candidate.rank->source};
    return Place(candidate);
  }
  RETURN_IF_ERROR(Read());
  ASSIGN_OR_RETURN(const ClusterCandidate* const winner, Choose());
  ResolvedCluster cluster;
  if (winner != nullptr) {
    RETURN_IF_ERROR(CheckOthers(*winner));
    ASSIGN_OR_RETURN(cluster, Place(*winner));
  } else if (flags_.size.value_or(1) > 1 || !flags_.rendezvous.empty()) {
    return InvalidArgument(
        "--cluster-size, --rendezvous: expected --rank N, or the variables of "
        "a launcher in the environment");
  }
  for (const ClusterCandidate& candidate : candidates_) {
    if (&candidate == winner || !IsAround(candidate)) continue;
    cluster.ignored_variables.insert(cluster.ignored_variables.end(),
                                     candidate.from.begin(),
                                     candidate.from.end());
  }
  return cluster;
}

}  // namespace

std::string_view ClusterRuleName(ClusterRule rule) {
  switch (rule) {
    case ClusterRule::kNone:
      return "none";
    case ClusterRule::kFlags:
      return "flags";
    case ClusterRule::kTorchrun:
      return "torchrun";
    case ClusterRule::kTfConfig:
      return "tf-config";
    case ClusterRule::kSlurm:
      return "slurm";
    case ClusterRule::kMpi:
      return "mpi";
    case ClusterRule::kKubernetes:
      return "kubernetes";
  }
  return "?";
}

Result<ResolvedCluster> ResolveCluster(const Environment& environment,
                                       const ClusterFlags& flags) {
  return Resolver(environment, flags).Resolve();
}

}  // namespace gauntlet
