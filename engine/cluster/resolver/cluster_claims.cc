#include "engine/cluster/resolver/cluster_claims.h"

#include <array>
#include <limits>
#include <utility>

#include "engine/check.h"
#include "engine/cluster/address_text.h"
#include "engine/cluster/resolver/host_list.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using MaybeClaim = Result<std::optional<ClusterClaim>>;

constexpr int kMaxClaimedNumber = std::numeric_limits<int>::max();
constexpr int64_t kMaxId = std::numeric_limits<uint32_t>::max();
// The ports from here on are below those that Linux assigns automatically.
constexpr int kFirstPort = 20000;
constexpr uint64_t kPorts = 10000;
constexpr uint64_t kPortsOfAJob = 16;
constexpr int kKubernetesPort = 29500;

int PortOf(uint64_t key) { return kFirstPort + static_cast<int>(key % kPorts); }

// FNV-1a hash (Fowler, Noll, Vo): the same in every process of a cluster.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return hash;
}

// Reads the variables of one claim, and records which variables were used.
class ClaimReader {
 public:
  ClaimReader(ClusterRule rule, const Environment& environment)
      : environment_(environment) {
    claim_.rule = rule;
  }

  ClusterClaim& claim() { return claim_; }
  bool Has(std::string_view name) const {
    return FindVariable(environment_, name).has_value();
  }

  Result<std::optional<SourcedNumber>> Number(std::string_view name, int low) {
    ASSIGN_OR_RETURN(std::optional<SourcedNumber> given,
                     FindNumber(environment_, name, low, kMaxClaimedNumber));
    if (given) claim_.from.push_back(given->source);
    return given;
  }

  // Reads an id of Slurm from 0 to kMaxId. Ids of jobs in a federation, and of
  // steps that srun did not create, exceed INT32_MAX.
  Result<std::optional<uint64_t>> Id(std::string_view name) {
    const auto text = FindVariable(environment_, name);
    if (!text) return std::optional<uint64_t>();
    const Result<int64_t> id = ParseNumberText(*text, 0, kMaxId);
    RETURN_IF_ERROR(Annotate(id.status(), name));
    claim_.from.push_back(fmt::format("{}={}", name, *text));
    return std::optional(static_cast<uint64_t>(*id));
  }

  // Returns the first of these variables that is set: its name and value.
  template <size_t N>
  std::optional<std::pair<std::string_view, std::string_view>> FirstOf(
      const std::array<std::string_view, N>& names) {
    for (const std::string_view name : names) {
      if (const auto value = FindVariable(environment_, name)) {
        claim_.from.push_back(fmt::format("{}={}", name, *value));
        return std::pair(name, *value);
      }
    }
    return std::nullopt;
  }

 private:
  const Environment& environment_;
  ClusterClaim claim_;
};

MaybeClaim ReadTorchrun(const Environment& environment) {
  ClaimReader reader(ClusterRule::kTorchrun, environment);
  ClusterClaim& claim = reader.claim();
  ASSIGN_OR_RETURN(claim.rank, reader.Number("RANK", 0));
  ASSIGN_OR_RETURN(claim.size, reader.Number("WORLD_SIZE", 1));
  if (!claim.rank && !claim.size) return std::optional<ClusterClaim>();
  ASSIGN_OR_RETURN(const auto local, reader.Number("LOCAL_RANK", 0));
  if (local) claim.local_rank = local->value;
  ASSIGN_OR_RETURN(const auto here, reader.Number("LOCAL_WORLD_SIZE", 1));
  claim.all_on_this_host =
      here && claim.size && here->value == claim.size->value;
  claim.started_this = reader.Has("TORCHELASTIC_RUN_ID");
  return std::optional(std::move(claim));
}

MaybeClaim ReadTfConfig(const Environment& environment) {
  const auto text = FindVariable(environment, "TF_CONFIG");
  if (!text) return std::optional<ClusterClaim>();
  ClusterClaim claim{.rule = ClusterRule::kTfConfig};
  ASSIGN_OR_RETURN(ClusterPlace place, ParseTfConfig(*text));
  if (place.addresses.empty()) return std::optional<ClusterClaim>();
  const std::string task =
      fmt::format("{} {}", place.task_type, place.task_index);
  claim.rank =
      SourcedNumber{place.rank, fmt::format("TF_CONFIG's task {}", task)};
  claim.size = SourcedNumber{
      place.size(), fmt::format("TF_CONFIG's {} workers", place.size())};
  claim.from.push_back(
      fmt::format("TF_CONFIG (task {} of {} workers)", task, place.size()));
  claim.place = std::move(place);
  return std::optional(std::move(claim));
}

// Reads the name of the chief's host from Slurm's variables.
Status ReadSlurmHosts(ClaimReader& reader) {
  constexpr std::array<std::string_view, 3> kLists = {
      "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"};
  const auto list = reader.FirstOf(kLists);
  if (!list) return OkStatus();
  const Result<HostListHead> head = ReadHostList(list->second);
  RETURN_IF_ERROR(Annotate(head.status(), list->first));
  reader.claim().chief_host = head->first;
  reader.claim().all_on_this_host = head->hosts == 1;
  return OkStatus();
}

Status ReadSlurmPort(ClaimReader& reader) {
  ASSIGN_OR_RETURN(const auto job, reader.Id("SLURM_JOB_ID"));
  if (!job) return OkStatus();
  ASSIGN_OR_RETURN(const auto step, reader.Id("SLURM_STEP_ID"));
  reader.claim().chief_port = PortOf(kPortsOfAJob * *job + step.value_or(0));
  return OkStatus();
}

MaybeClaim ReadSlurm(const Environment& environment) {
  ClaimReader reader(ClusterRule::kSlurm, environment);
  ClusterClaim& claim = reader.claim();
  ASSIGN_OR_RETURN(claim.rank, reader.Number("SLURM_PROCID", 0));
  if (!claim.rank) return std::optional<ClusterClaim>();
  ASSIGN_OR_RETURN(claim.size, reader.Number("SLURM_STEP_NUM_TASKS", 1));
  if (!claim.size) {
    ASSIGN_OR_RETURN(claim.size, reader.Number("SLURM_NTASKS", 1));
  }
  ASSIGN_OR_RETURN(const auto local, reader.Number("SLURM_LOCALID", 0));
  if (local) claim.local_rank = local->value;
  RETURN_IF_ERROR(ReadSlurmHosts(reader));
  RETURN_IF_ERROR(ReadSlurmPort(reader));
  claim.batch_script = FindVariable(environment, "ENVIRONMENT") == "BATCH" &&
                       !reader.Has("SLURM_STEP_ID");
  return std::optional(std::move(claim));
}

// Reads the chief's host and port from the variables of mpirun, and the host
// also from Slurm's list. Leaves unset what the variables do not state.
Status ReadMpiChief(const Environment& environment, ClaimReader& reader) {
  ClusterClaim& claim = reader.claim();
  ASSIGN_OR_RETURN(const auto here,
                   reader.Number("OMPI_COMM_WORLD_LOCAL_SIZE", 1));
  if (here && claim.size && here->value == claim.size->value) {
    claim.chief_host = "127.0.0.1";
    claim.all_on_this_host = true;
  } else if (reader.Has("SLURM_JOB_NODELIST")) {
    RETURN_IF_ERROR(ReadSlurmHosts(reader));
  }
  const auto name = FindVariable(environment, "PMIX_NAMESPACE");
  if (!name) return OkStatus();
  claim.from.push_back(fmt::format("PMIX_NAMESPACE={}", *name));
  claim.chief_port = PortOf(HashOf(*name));
  return OkStatus();
}

MaybeClaim ReadMpi(const Environment& environment) {
  ClaimReader reader(ClusterRule::kMpi, environment);
  ClusterClaim& claim = reader.claim();
  ASSIGN_OR_RETURN(claim.rank, reader.Number("OMPI_COMM_WORLD_RANK", 0));
  ASSIGN_OR_RETURN(claim.size, reader.Number("OMPI_COMM_WORLD_SIZE", 1));
  claim.started_this = claim.rank && (reader.Has("PMIX_NAMESPACE") ||
                                      reader.Has("OMPI_UNIVERSE_SIZE"));
  ASSIGN_OR_RETURN(std::optional<SourcedNumber> pmix,
                   reader.Number("PMIX_RANK", 0));
  if (claim.rank && pmix && claim.rank->value != pmix->value) {
    return InvalidArgument(
        fmt::format("{} contradicts {}: set one of them only, or say another "
                    "rule with --cluster",
                    claim.rank->source, pmix->source));
  }
  if (!claim.rank) claim.rank = std::move(pmix);
  if (!claim.rank && !claim.size) return std::optional<ClusterClaim>();
  ASSIGN_OR_RETURN(const auto local,
                   reader.Number("OMPI_COMM_WORLD_LOCAL_RANK", 0));
  if (local) claim.local_rank = local->value;
  RETURN_IF_ERROR(ReadMpiChief(environment, reader));
  return std::optional(std::move(claim));
}

// Derives the chief's host name: the pods of an indexed job are named
// JOB-INDEX, and resolvable as JOB-INDEX.SERVICE.
void ReadFirstPod(const Environment& environment, const ClusterFlags& flags,
                  ClusterClaim& claim) {
  const auto variable = FindVariable(environment, "GAUNTLET_SERVICE");
  const std::string service = flags.service.empty()
                                  ? std::string(variable.value_or(""))
                                  : flags.service;
  if (service.empty()) {
    claim.why_no_host = "nor --service NAME, nor GAUNTLET_SERVICE";
    return;
  }
  claim.from.push_back(flags.service.empty() ? "GAUNTLET_SERVICE=" + service
                                             : "--service=" + service);
  const std::string ending = fmt::format("-{}", claim.rank->value);
  const std::string_view pod =
      FindVariable(environment, "HOSTNAME").value_or("");
  if (!pod.ends_with(ending) || pod.size() == ending.size()) {
    claim.why_no_host = fmt::format("and HOSTNAME is not JOB{} but {}", ending,
                                    QuotedText(pod));
    return;
  }
  claim.from.push_back(fmt::format("HOSTNAME={}", pod));
  claim.chief_host = fmt::format(
      "{}-0.{}", pod.substr(0, pod.size() - ending.size()), service);
}

MaybeClaim ReadKubernetes(const Environment& environment,
                          const ClusterFlags& flags) {
  ClaimReader reader(ClusterRule::kKubernetes, environment);
  ClusterClaim& claim = reader.claim();
  ASSIGN_OR_RETURN(claim.rank, reader.Number("JOB_COMPLETION_INDEX", 0));
  if (!claim.rank) return std::optional<ClusterClaim>();
  ReadFirstPod(environment, flags, claim);
  claim.chief_port = kKubernetesPort;
  return std::optional(std::move(claim));
}

}  // namespace

std::optional<std::string_view> FindVariable(const Environment& environment,
                                             std::string_view name) {
  const auto at = environment.find(name);
  if (at == environment.end() || at->second.empty()) return std::nullopt;
  return at->second;
}

Result<std::optional<SourcedNumber>> FindNumber(const Environment& environment,
                                                std::string_view name, int low,
                                                int high) {
  const auto text = FindVariable(environment, name);
  if (!text) return std::optional<SourcedNumber>();
  const Result<int64_t> value = ParseNumberText(*text, low, high);
  RETURN_IF_ERROR(Annotate(value.status(), name));
  return std::optional(
      SourcedNumber{.value = static_cast<int>(*value),
                    .source = fmt::format("{}={}", name, *text)});
}

MaybeClaim ReadClaim(ClusterRule rule, const Environment& environment,
                     const ClusterFlags& flags) {
  switch (rule) {
    case ClusterRule::kTorchrun:
      return ReadTorchrun(environment);
    case ClusterRule::kTfConfig:
      return ReadTfConfig(environment);
    case ClusterRule::kSlurm:
      return ReadSlurm(environment);
    case ClusterRule::kMpi:
      return ReadMpi(environment);
    case ClusterRule::kKubernetes:
      return ReadKubernetes(environment, flags);
    case ClusterRule::kNone:
    case ClusterRule::kFlags:
      break;
  }
  CHECK(false, "a rule that no variables speak for");
}

}  // namespace gauntlet
