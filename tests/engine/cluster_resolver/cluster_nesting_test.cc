// Nested launchers: the choice of the one that describes this process, and
// contradictions between them.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/resolver/cluster_resolver.h"

namespace gauntlet {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Environment With(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

const Environment& ByHand() {
  static const Environment environment = {{"RANK", "1"},
                                          {"WORLD_SIZE", "2"},
                                          {"MASTER_ADDR", "h"},
                                          {"MASTER_PORT", "1"}};
  return environment;
}

const Environment& Step() {
  static const Environment environment = {{"SLURM_PROCID", "0"},
                                          {"SLURM_NTASKS", "4"},
                                          {"SLURM_STEP_ID", "0"},
                                          {"SLURM_JOB_ID", "7"},
                                          {"SLURM_JOB_NODELIST", "n[1-2]"}};
  return environment;
}

const Environment& Mpirun() {
  static const Environment environment = {{"OMPI_COMM_WORLD_RANK", "2"},
                                          {"OMPI_COMM_WORLD_SIZE", "3"},
                                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                                          {"PMIX_NAMESPACE", "5"}};
  return environment;
}

std::string TfConfig(const std::string& task) {
  return R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"]},
             "task": )" +
         task + "}";
}

struct Contradicted {
  Environment environment;
  std::string first;
  std::string second;
  std::string flags;
};

TEST(ClusterNestingTest, Contradiction_NamesBothSourcesAndTheFlags) {
  const std::string worker_0 = TfConfig(R"({"type": "worker", "index": 0})");
  const std::vector<Contradicted> cases = {
      {With(ByHand(), {{"TF_CONFIG",
                        R"({"cluster": {"worker": ["a:1", "b:1"]},
                            "task": {"type": "worker", "index": 0}})"}}),
       "RANK=1", "TF_CONFIG's task worker 0",
       "--cluster torchrun or --cluster tf-config"},
      {With(ByHand(), {{"TF_CONFIG", worker_0}}), "WORLD_SIZE=2",
       "TF_CONFIG's 3 workers", "--cluster torchrun or --cluster tf-config"},
      {With(ByHand(), With(Step(), {{"SLURM_PROCID", "1"}})), "WORLD_SIZE=2",
       "SLURM_NTASKS=4", "--cluster torchrun or --cluster slurm"},
      {With(ByHand(), {{"JOB_COMPLETION_INDEX", "0"}}), "RANK=1",
       "JOB_COMPLETION_INDEX=0", "--cluster torchrun or --cluster kubernetes"},
      {With(Step(), {{"WORLD_SIZE", "2"}}), "SLURM_NTASKS=4", "WORLD_SIZE=2",
       "--cluster slurm or --cluster torchrun"},
      {With(Step(), {{"RANK", "3"}}), "SLURM_PROCID=0", "RANK=3",
       "--cluster slurm or --cluster torchrun"},
      {With(Step(), {{"PMIX_RANK", "1"}}), "SLURM_PROCID=0", "PMIX_RANK=1",
       "--cluster slurm or --cluster mpi"},
      {With(Step(),
            {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
       "SLURM_NTASKS=4", "OMPI_COMM_WORLD_SIZE=2",
       "--cluster slurm or --cluster mpi"},
      {With(Mpirun(), {{"PMIX_RANK", "1"}}), "OMPI_COMM_WORLD_RANK=2",
       "PMIX_RANK=1", "--cluster"},
      {With(Step(), {{"TF_CONFIG", worker_0}}), "TF_CONFIG's task worker 0",
       "SLURM_PROCID=0", "--cluster tf-config or --cluster slurm"},
  };
  for (const auto& [environment, first, second, flags] : cases) {
    const Result<ResolvedCluster> cluster = ResolveCluster(environment, {});
    ASSERT_FALSE(cluster.ok()) << first << " " << second;
    EXPECT_EQ(cluster.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(cluster.status().message(),
                HasSubstr(first + " contradicts " + second));
    EXPECT_THAT(cluster.status().message(), HasSubstr(flags));
  }
}

TEST(ClusterNestingTest, FlagDecidesAContradiction) {
  const Environment both = With(ByHand(), Step());
  ASSERT_FALSE(ResolveCluster(both, {}).ok());
  const auto torchrun = ResolveCluster(both, {.rule = ClusterRule::kTorchrun});
  ASSERT_TRUE(torchrun.ok()) << torchrun.status().ToString();
  EXPECT_EQ(torchrun->place.rank, 1);
  const auto slurm = ResolveCluster(both, {.rule = ClusterRule::kSlurm});
  ASSERT_TRUE(slurm.ok()) << slurm.status().ToString();
  EXPECT_EQ(slurm->place.size(), 4);
  const auto none = ResolveCluster(both, {.rule = ClusterRule::kNone});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->place.size(), 1);
}

TEST(ClusterNestingTest, RequestedRuleMustHaveItsVariables) {
  const auto cluster = ResolveCluster(ByHand(), {.rule = ClusterRule::kSlurm});
  EXPECT_THAT(cluster.status().message(),
              HasSubstr("--cluster slurm: none of its variables is set"));
  EXPECT_THAT(ResolveCluster({}, {.size = 2}).status().message(),
              HasSubstr("expected --rank N"));
}

TEST(ClusterNestingTest, SizeOfTheFlagsMustBeTheLaunchers) {
  EXPECT_THAT(ResolveCluster(Step(), {.size = 2}).status().message(),
              HasSubstr("--cluster-size=2 contradicts SLURM_NTASKS=4"));
}

struct Nested {
  std::string what;
  Environment environment;
  ClusterRule rule;
  int size = 0;
  std::string ignored_variables;
};

TEST(ClusterNestingTest, InnerLauncherSpeaksOfThisProcess) {
  const Environment agent = With(ByHand(), {{"TORCHELASTIC_RUN_ID", "r"}});
  const Environment batch = {{"ENVIRONMENT", "BATCH"},
                             {"SLURM_PROCID", "0"},
                             {"SLURM_NTASKS", "2"},
                             {"SLURM_JOB_ID", "7"},
                             {"SLURM_JOB_NODELIST", "n1"}};
  const std::vector<Nested> cases = {
      {"srun torchrun", With(agent, Step()), ClusterRule::kTorchrun, 2,
       "SLURM_NTASKS=4"},
      {"mpirun torchrun", With(agent, Mpirun()), ClusterRule::kTorchrun, 2,
       "OMPI_COMM_WORLD_SIZE=3"},
      {"torchrun in a pod", With(agent, {{"JOB_COMPLETION_INDEX", "0"}}),
       ClusterRule::kTorchrun, 2, "JOB_COMPLETION_INDEX=0"},
      {"mpirun in a batch script", With(batch, Mpirun()), ClusterRule::kMpi, 3,
       "SLURM_NTASKS=2"},
      {"mpirun's daemon started by srun", With(Step(), Mpirun()),
       ClusterRule::kMpi, 3, "SLURM_NTASKS=4"},
      {"mpirun in a pod", With(Mpirun(), {{"JOB_COMPLETION_INDEX", "0"}}),
       ClusterRule::kMpi, 3, "JOB_COMPLETION_INDEX=0"},
      {"variables by hand in a batch script", With(batch, ByHand()),
       ClusterRule::kTorchrun, 2, "SLURM_NTASKS=2"},
      {"variables by hand in a shell that srun gave",
       With(ByHand(), With(Step(), {{"SLURM_NTASKS", "1"}})),
       ClusterRule::kTorchrun, 2, "SLURM_NTASKS=1"},
  };
  for (const Nested& nested : cases) {
    const auto cluster = ResolveCluster(nested.environment, {});
    ASSERT_TRUE(cluster.ok())
        << nested.what << ": " << cluster.status().ToString();
    EXPECT_EQ(cluster->rule, nested.rule) << nested.what;
    EXPECT_EQ(cluster->place.size(), nested.size) << nested.what;
    EXPECT_THAT(cluster->ignored_variables, Contains(nested.ignored_variables));
  }
}

TEST(ClusterNestingTest, StepInABatchScriptIsAStep) {
  const auto cluster =
      ResolveCluster(With(Step(), {{"ENVIRONMENT", "BATCH"}}), {});
  ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
  EXPECT_EQ(cluster->rule, ClusterRule::kSlurm);
  EXPECT_EQ(cluster->place.size(), 4);
  EXPECT_THAT(cluster->ignored_variables, IsEmpty());
}

// All ranks must choose the same rule, and so the same address of the chief.
TEST(ClusterNestingTest, MpirunInABatchScriptIsOneRuleForEveryRank) {
  Environment environment = With(Mpirun(), {{"ENVIRONMENT", "BATCH"},
                                            {"SLURM_PROCID", "0"},
                                            {"SLURM_NTASKS", "3"},
                                            {"SLURM_JOB_ID", "7"}});
  std::string chief;
  for (const char* rank : {"0", "1", "2"}) {
    environment["OMPI_COMM_WORLD_RANK"] = rank;
    const auto cluster = ResolveCluster(environment, {});
    ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
    EXPECT_EQ(cluster->rule, ClusterRule::kMpi);
    if (chief.empty()) chief = cluster->place.addresses[0];
    EXPECT_EQ(cluster->place.addresses[0], chief);
  }
}

TEST(ClusterNestingTest, OneTaskOfAnAllocationIsAWorkerByItself) {
  const auto slurm = ResolveCluster(With(Step(), {{"SLURM_NTASKS", "1"}}), {});
  ASSERT_TRUE(slurm.ok()) << slurm.status().ToString();
  EXPECT_EQ(slurm->rule, ClusterRule::kSlurm);
  EXPECT_EQ(slurm->place.size(), 1);
  EXPECT_THAT(slurm->ignored_variables, IsEmpty());
}

TEST(ClusterNestingTest, BatchScriptByItselfIsAdvisedToUseSrun) {
  const Environment batch = {{"ENVIRONMENT", "BATCH"},
                             {"SLURM_PROCID", "0"},
                             {"SLURM_NTASKS", "2"},
                             {"SLURM_JOB_ID", "7"}};
  for (const ClusterFlags& flags :
       {ClusterFlags{}, ClusterFlags{.rule = ClusterRule::kSlurm}}) {
    EXPECT_THAT(
        ResolveCluster(batch, flags).status().message(),
        HasSubstr("SLURM_NTASKS=2 in the batch script itself: start the "
                  "workers with srun, or here with --workers N"));
  }
}

TEST(ClusterNestingTest, AllocationWithoutATaskReportsNothing) {
  const auto cluster =
      ResolveCluster({{"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}, {});
  ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
  EXPECT_EQ(cluster->rule, ClusterRule::kNone);
}

TEST(ClusterNestingTest, IndexMayCountTheTasksOfOneTypeOnly) {
  const auto cluster = ResolveCluster(
      {{"TF_CONFIG", TfConfig(R"({"type": "worker", "index": 1})")},
       {"JOB_COMPLETION_INDEX", "1"}},
      {});
  ASSERT_TRUE(cluster.ok()) << cluster.status().ToString();
  EXPECT_EQ(cluster->place.rank, 2);
}

}  // namespace
}  // namespace gauntlet
