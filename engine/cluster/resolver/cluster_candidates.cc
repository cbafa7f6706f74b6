#include "engine/cluster/resolver/cluster_candidates.h"

#include <array>
#include <limits>
#include <utility>

#include "engine/check.h"
#include "engine/cluster/address_text.h"
#include "engine/cluster/resolver/host_list.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using MaybeCandidate = Result<std::optional<ClusterCandidate>>;

constexpr int kMaxNumber = std::numeric_limits<int>::max();
constexpr int64_t kMaxId = std::numeric_limits<uint32_t>::max();
// The kPorts ports from kFirstPort on are below those that Linux assigns
// automatically.
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

// Reads the variables of one candidate, and records which variables were used.
class CandidateReader {
 public:
  CandidateReader(ClusterRule rule, const Environment& environment)
      : environment_(environment) {
    candidate_.rule = rule;
  }

  ClusterCandidate& candidate() { return candidate_; }
  bool Has(std::string_view name) const {
    return FindVariable(environment_, name).has_value();
  }

  Result<std::optional<SourcedNumber>> Number(std::string_view name, int low) {
    ASSIGN_OR_RETURN(std::optional<SourcedNumber> given,
                     FindNumber(environment_, name, low, kMaxNumber));
    if (given) candidate_.from.push_back(given->source);
    return given;
  }

  // Reads an id of Slurm from 0 to kMaxId. Ids of jobs in a federation, and of
  // steps that srun did not create, exceed INT32_MAX.
  Result<std::optional<uint64_t>> Id(std::string_view name) {
    const auto text = FindVariable(environment_, name);
    if (!text) return std::optional<uint64_t>();
    const Result<int64_t> id = ParseNumberText(*text, 0, kMaxId);
    RETURN_IF_ERROR(Annotate(id.status(), name));
    candidate_.from.push_back(fmt::format("{}={}", name, *text));
    return std::optional(static_cast<uint64_t>(*id));
  }

  // Returns the first of these variables that is set: its name and value.
  template <size_t N>
  std::optional<std::pair<std::string_view, std::string_view>> FirstOf(
      const std::array<std::string_view, N>& names) {
    for (const std::string_view name : names) {
      if (const auto value = FindVariable(environment_, name)) {
        candidate_.from.push_back(fmt::format("{}={}", name, *value));
        return std::pair(name, *value);
      }
    }
    return std::nullopt;
  }

 private:
  const Environment& environment_;
  ClusterCandidate candidate_;
};

MaybeCandidate ReadTorchrun(const Environment& environment) {
  CandidateReader reader(ClusterRule::kTorchrun, environment);
  ClusterCandidate& candidate = reader.candidate();
  ASSIGN_OR_RETURN(candidate.rank, reader.Number("RANK", 0));
  ASSIGN_OR_RETURN(candidate.size, reader.Number("WORLD_SIZE", 1));
  if (!candidate.rank && !candidate.size)
    return std::optional<ClusterCandidate>();
  ASSIGN_OR_RETURN(const auto local, reader.Number("LOCAL_RANK", 0));
  if (local) candidate.local_rank = local->value;
  ASSIGN_OR_RETURN(const auto here, reader.Number("LOCAL_WORLD_SIZE", 1));
  candidate.all_on_this_host =
      here && candidate.size && here->value == candidate.size->value;
  candidate.started_this_process = reader.Has("TORCHELASTIC_RUN_ID");
  return std::optional(std::move(candidate));
}

MaybeCandidate ReadTfConfig(const Environment& environment) {
  const auto text = FindVariable(environment, "TF_CONFIG");
  if (!text) return std::optional<ClusterCandidate>();
  ClusterCandidate candidate{.rule = ClusterRule::kTfConfig};
  ASSIGN_OR_RETURN(ClusterPlace place, ParseTfConfig(*text));
  if (place.addresses.empty()) return std::optional<ClusterCandidate>();
  const std::string task =
      fmt::format("{} {}", place.task_type, place.task_index);
  candidate.rank =
      SourcedNumber{place.rank, fmt::format("TF_CONFIG's task {}", task)};
  candidate.size = SourcedNumber{
      place.size(), fmt::format("TF_CONFIG's {} workers", place.size())};
  candidate.from.push_back(
      fmt::format("TF_CONFIG (task {} of {} workers)", task, place.size()));
  candidate.place = std::move(place);
  return std::optional(std::move(candidate));
}

// Reads the name of the chief's host from Slurm's variables.
Status ReadSlurmHosts(CandidateReader& reader) {
  constexpr std::array<std::string_view, 3> kLists = {
      "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"};
  const auto list = reader.FirstOf(kLists);
  if (!list) return OkStatus();
  const Result<HostListHead> head = ReadHostList(list->second);
  RETURN_IF_ERROR(Annotate(head.status(), list->first));
  reader.candidate().chief_host = head->first;
  reader.candidate().all_on_this_host = head->hosts == 1;
  return OkStatus();
}

Status ReadSlurmPort(CandidateReader& reader) {
  ASSIGN_OR_RETURN(const auto job, reader.Id("SLURM_JOB_ID"));
  if (!job) return OkStatus();
  ASSIGN_OR_RETURN(const auto step, reader.Id("SLURM_STEP_ID"));
  reader.candidate().chief_port =
      PortOf(kPortsOfAJob * *job + step.value_or(0));
  return OkStatus();
}

MaybeCandidate ReadSlurm(const Environment& environment) {
  CandidateReader reader(ClusterRule::kSlurm, environment);
  ClusterCandidate& candidate = reader.candidate();
  ASSIGN_OR_RETURN(candidate.rank, reader.Number("SLURM_PROCID", 0));
  if (!candidate.rank) return std::optional<ClusterCandidate>();
  ASSIGN_OR_RETURN(candidate.size, reader.Number("SLURM_STEP_NUM_TASKS", 1));
  if (!candidate.size) {
    ASSIGN_OR_RETURN(candidate.size, reader.Number("SLURM_NTASKS", 1));
  }
  ASSIGN_OR_RETURN(const auto local, reader.Number("SLURM_LOCALID", 0));
  if (local) candidate.local_rank = local->value;
  RETURN_IF_ERROR(ReadSlurmHosts(reader));
  RETURN_IF_ERROR(ReadSlurmPort(reader));
  candidate.is_batch_script =
      FindVariable(environment, "ENVIRONMENT") == "BATCH" &&
      !reader.Has("SLURM_STEP_ID");
  return std::optional(std::move(candidate));
}

// Reads the chief's host and port from the variables of mpirun, and the host
// also from Slurm's list. Leaves unset what the variables do not state.
Status ReadMpiChief(const Environment& environment, CandidateReader& reader) {
  ClusterCandidate& candidate = reader.candidate();
  ASSIGN_OR_RETURN(const auto here,
                   reader.Number("OMPI_COMM_WORLD_LOCAL_SIZE", 1));
  if (here && candidate.size && here->value == candidate.size->value) {
    candidate.chief_host = "127.0.0.1";
    candidate.all_on_this_host = true;
  } else if (reader.Has("SLURM_JOB_NODELIST")) {
    RETURN_IF_ERROR(ReadSlurmHosts(reader));
  }
  const auto name = FindVariable(environment, "PMIX_NAMESPACE");
  if (!name) return OkStatus();
  candidate.from.push_back(fmt::format("PMIX_NAMESPACE={}", *name));
  candidate.chief_port = PortOf(HashOf(*name));
  return OkStatus();
}

MaybeCandidate ReadMpi(const Environment& environment) {
  CandidateReader reader(ClusterRule::kMpi, environment);
  ClusterCandidate& candidate = reader.candidate();
  ASSIGN_OR_RETURN(candidate.rank, reader.Number("OMPI_COMM_WORLD_RANK", 0));
  ASSIGN_OR_RETURN(candidate.size, reader.Number("OMPI_COMM_WORLD_SIZE", 1));
  candidate.started_this_process =
      candidate.rank &&
      (reader.Has("PMIX_NAMESPACE") || reader.Has("OMPI_UNIVERSE_SIZE"));
  ASSIGN_OR_RETURN(std::optional<SourcedNumber> pmix,
                   reader.Number("PMIX_RANK", 0));
  if (candidate.rank && pmix && candidate.rank->value != pmix->value) {
    return InvalidArgument(
        fmt::format("{} contradicts {}: set one of them only, or say another "
                    "rule with --cluster",
                    candidate.rank->source, pmix->source));
  }
  if (!candidate.rank) candidate.rank = std::move(pmix);
  if (!candidate.rank && !candidate.size)
    return std::optional<ClusterCandidate>();
  ASSIGN_OR_RETURN(const auto local,
                   reader.Number("OMPI_COMM_WORLD_LOCAL_RANK", 0));
  if (local) candidate.local_rank = local->value;
  RETURN_IF_ERROR(ReadMpiChief(environment, reader));
  return std::optional(std::move(candidate));
}

// Derives the chief's host name: the pods of an indexed job are named
// JOB-INDEX, and resolvable as JOB-INDEX.SERVICE.
void ReadFirstPod(const Environment& environment, const ClusterFlags& flags,
                  ClusterCandidate& candidate) {
  const auto variable = FindVariable(environment, "GAUNTLET_SERVICE");
  const std::string service = flags.service.empty()
                                  ? std::string(variable.value_or(""))
                                  : flags.service;
  if (service.empty()) {
    candidate.missing_host_reason = "nor --service NAME, nor GAUNTLET_SERVICE";
    return;
  }
  candidate.from.push_back(flags.service.empty() ? "GAUNTLET_SERVICE=" + service
                                                 : "--service=" + service);
  const std::string ending = fmt::format("-{}", candidate.rank->value);
  const std::string_view pod =
      FindVariable(environment, "HOSTNAME").value_or("");
  if (!pod.ends_with(ending) || pod.size() == ending.size()) {
    candidate.missing_host_reason = fmt::format(
        "and HOSTNAME is not JOB{} but {}", ending, QuotedText(pod));
    return;
  }
  candidate.from.push_back(fmt::format("HOSTNAME={}", pod));
  candidate.chief_host = fmt::format(
      "{}-0.{}", pod.substr(0, pod.size() - ending.size()), service);
}

MaybeCandidate ReadKubernetes(const Environment& environment,
                              const ClusterFlags& flags) {
  CandidateReader reader(ClusterRule::kKubernetes, environment);
  ClusterCandidate& candidate = reader.candidate();
  ASSIGN_OR_RETURN(candidate.rank, reader.Number("JOB_COMPLETION_INDEX", 0));
  if (!candidate.rank) return std::optional<ClusterCandidate>();
  ReadFirstPod(environment, flags, candidate);
  candidate.chief_port = kKubernetesPort;
  return std::optional(std::move(candidate));
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

MaybeCandidate ReadCandidate(ClusterRule rule, const Environment& environment,
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
