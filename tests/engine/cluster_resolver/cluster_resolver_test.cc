// Each rule on its own: the variables that it reads, and those that it refuses.
#include "engine/cluster/resolver/cluster_resolver.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwoWorkers =
    R"({"cluster": {"worker": ["a:1", "b:2"]},
        "task": {"type": "worker", "index": 1}})";

ResolvedCluster Resolved(const Environment& environment,
                         const ClusterFlags& flags = {}) {
  const Result<ResolvedCluster> cluster = ResolveCluster(environment, flags);
  EXPECT_TRUE(cluster.ok()) << cluster.status().ToString();
  return cluster.ok() ? *cluster : ResolvedCluster{};
}

struct Refused {
  Environment environment;
  std::string message;
};

void ExpectRefused(const std::vector<Refused>& cases) {
  for (const auto& [environment, message] : cases) {
    const Result<ResolvedCluster> cluster = ResolveCluster(environment, {});
    ASSERT_FALSE(cluster.ok()) << message;
    EXPECT_EQ(cluster.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(cluster.status().message(), HasSubstr(message));
    EXPECT_THAT(cluster.status().message(), Not(HasSubstr("\n")));
    EXPECT_LT(cluster.status().message().size(), 400u);
  }
}

TEST(ClusterResolverTest, WorkerIsAloneWithoutVariables) {
  const ResolvedCluster cluster = Resolved({{"PATH", "/bin"}, {"RANK", ""}});
  EXPECT_EQ(cluster.rule, ClusterRule::kNone);
  EXPECT_THAT(cluster.from, IsEmpty());
  EXPECT_EQ(cluster.place.size(), 1);
  EXPECT_EQ(cluster.place.rank, 0);
}

TEST(ClusterResolverTest, RendezvousAndAllAddresses_IsRefused) {
  const Result<ResolvedCluster> cluster = ResolveCluster(
      {{"TF_CONFIG", kTwoWorkers}}, {.rendezvous = "elsewhere:3"});
  EXPECT_EQ(cluster.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(cluster.status().message(),
              HasSubstr("--rendezvous=elsewhere:3: expected none beside "
                        "TF_CONFIG"));
}

TEST(ClusterResolverTest, TorchrunsVariablesGiveRankSizeAndTheChief) {
  const ResolvedCluster cluster = Resolved({{"RANK", "1"},
                                            {"WORLD_SIZE", "3"},
                                            {"LOCAL_RANK", "0"},
                                            {"MASTER_ADDR", "10.0.0.1"},
                                            {"MASTER_PORT", "29500"}});
  EXPECT_EQ(cluster.rule, ClusterRule::kTorchrun);
  EXPECT_THAT(cluster.from,
              ElementsAre("RANK=1", "WORLD_SIZE=3", "LOCAL_RANK=0",
                          "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500"));
  EXPECT_EQ(cluster.place.rank, 1);
  EXPECT_THAT(cluster.place.addresses, ElementsAre("10.0.0.1:29500", "", ""));
  EXPECT_EQ(cluster.local_rank, 0);
}

TEST(ClusterResolverTest, ChiefHasTheNextPort_WhenTheAgentHasTheStore) {
  Environment environment = {{"RANK", "0"},
                             {"WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "fd00::1"},
                             {"MASTER_PORT", "65535"},
                             {"TORCHELASTIC_RESTART_COUNT", "4"},
                             {"TORCHELASTIC_RUN_ID", "r"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  EXPECT_EQ(Resolved(environment).place.addresses[0], "[fd00::1]:65534");
  EXPECT_EQ(Resolved(environment).incarnation, 5);
  environment["MASTER_PORT"] = "400";
  EXPECT_EQ(Resolved(environment).place.addresses[0], "[fd00::1]:401");
}

TEST(ClusterResolverTest, TfConfigHasAllAddresses) {
  const ResolvedCluster cluster = Resolved({{"TF_CONFIG", kTwoWorkers}});
  EXPECT_EQ(cluster.rule, ClusterRule::kTfConfig);
  EXPECT_THAT(cluster.from,
              ElementsAre("TF_CONFIG (task worker 1 of 2 workers)"));
  EXPECT_THAT(cluster.place.addresses, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(cluster.place.rank, 1);
}

TEST(ClusterResolverTest, EvaluatorHasNoRankAndContradictsNobody) {
  const ResolvedCluster cluster = Resolved(
      {{"TF_CONFIG", R"({"cluster": {"chief": ["c:1"], "worker": ["a:1"]},
                         "task": {"type": "evaluator", "index": 0}})"},
       {"JOB_COMPLETION_INDEX", "5"}});
  EXPECT_EQ(cluster.place.task_type, "evaluator");
  EXPECT_EQ(cluster.place.rank, kNoRank);
  EXPECT_EQ(cluster.place.size(), 2);
}

TEST(ClusterResolverTest, SlurmsStepGivesTheFirstHostAndAPortOfTheJob) {
  Environment environment = {{"SLURM_PROCID", "3"},
                             {"SLURM_NTASKS", "4"},
                             {"SLURM_LOCALID", "1"},
                             {"SLURM_JOB_ID", "1234"},
                             {"SLURM_JOB_NODELIST", "n[01-08]"}};
  const ResolvedCluster whole = Resolved(environment);
  EXPECT_EQ(whole.rule, ClusterRule::kSlurm);
  EXPECT_EQ(whole.place.rank, 3);
  EXPECT_EQ(whole.place.size(), 4);
  EXPECT_EQ(whole.local_rank, 1);
  EXPECT_EQ(whole.place.addresses[0], "n01:29744");

  environment["SLURM_STEP_ID"] = "2";
  environment["SLURM_STEP_NODELIST"] = "n[05-06]";
  environment["SLURM_RESTART_COUNT"] = "7";
  const ResolvedCluster step = Resolved(environment);
  EXPECT_EQ(step.place.addresses[0], "n05:29746");
  EXPECT_EQ(step.incarnation, 8);
}

// Large ids occur in the shell of salloc, whose step is 2^32 - 6, and in a
// federation.
TEST(ClusterResolverTest, SlurmsIdsHaveThirtyTwoBits) {
  Environment environment = {{"SLURM_PROCID", "0"},
                             {"SLURM_NTASKS", "2"},
                             {"SLURM_JOB_ID", "4294967295"},
                             {"SLURM_STEP_ID", "4294967290"},
                             {"SLURM_JOB_NODELIST", "n1"}};
  EXPECT_EQ(Resolved(environment).place.addresses[0], "n1:24010");
  environment["SLURM_STEP_ID"] = "4294967296";
  ExpectRefused({{environment,
                  "SLURM_STEP_ID: expected a whole number from 0 to 4294967295"
                  ", found '4294967296'"}});
}

TEST(ClusterResolverTest, MasterVariables_GiveTheAddressForEveryRule) {
  const Environment environment = {{"SLURM_PROCID", "0"},
                                   {"SLURM_NTASKS", "2"},
                                   {"MASTER_ADDR", "ib0.n1"},
                                   {"MASTER_PORT", "7000"}};
  EXPECT_EQ(Resolved(environment).place.addresses[0], "ib0.n1:7000");
  EXPECT_EQ(Resolved(environment, {.rendezvous = "x:9"}).place.addresses[0],
            "x:9");
}

TEST(ClusterResolverTest, MpirunOnOneHostNeedsNoAddress) {
  Environment environment = {
      {"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"PMIX_NAMESPACE", "496173057"},     {"PMIX_RANK", "1"}};
  const ResolvedCluster one = Resolved(environment);
  EXPECT_EQ(one.rule, ClusterRule::kMpi);
  EXPECT_EQ(one.place.rank, 1);
  EXPECT_THAT(one.place.addresses[0], testing::MatchesRegex("127.0.0.1:2...."));
  environment["PMIX_NAMESPACE"] = "496173058";
  EXPECT_NE(Resolved(environment).place.addresses[0], one.place.addresses[0]);
}

TEST(ClusterResolverTest, PmixGivesTheRankAndFlagsTheRest) {
  const ResolvedCluster cluster =
      Resolved({{"PMIX_RANK", "2"}}, {.size = 3, .rendezvous = "h:1"});
  EXPECT_EQ(cluster.rule, ClusterRule::kMpi);
  EXPECT_EQ(cluster.place.rank, 2);
  EXPECT_THAT(cluster.from, ElementsAre("PMIX_RANK=2", "--cluster-size=3",
                                        "--rendezvous=h:1"));
}

TEST(ClusterResolverTest, IndexedJobMeetsAtItsFirstPod) {
  const Environment environment = {{"JOB_COMPLETION_INDEX", "1"},
                                   {"HOSTNAME", "train-x-1"},
                                   {"WORLD_SIZE", "2"},
                                   {"GAUNTLET_SERVICE", "svc"}};
  const ResolvedCluster cluster = Resolved(environment);
  EXPECT_EQ(cluster.rule, ClusterRule::kKubernetes);
  EXPECT_THAT(cluster.place.addresses, ElementsAre("train-x-0.svc:29500", ""));
  EXPECT_EQ(Resolved(environment, {.service = "other.ns"}).place.addresses[0],
            "train-x-0.other.ns:29500");
}

TEST(ClusterResolverTest, FlagsAreAClusterOfTheirOwn) {
  const ResolvedCluster cluster =
      Resolved({{"RANK", "0"}, {"WORLD_SIZE", "8"}},
               {.rank = 1, .size = 2, .rendezvous = "h:1"});
  EXPECT_EQ(cluster.rule, ClusterRule::kFlags);
  EXPECT_EQ(cluster.place.rank, 1);
  EXPECT_EQ(cluster.place.size(), 2);
}

TEST(ClusterResolverTest, RulesApplyInTheDocumentedOrder) {
  Environment environment = {{"RANK", "1"},
                             {"WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "h"},
                             {"MASTER_PORT", "1"},
                             {"TF_CONFIG", kTwoWorkers},
                             {"SLURM_PROCID", "1"},
                             {"SLURM_NTASKS", "2"},
                             {"OMPI_COMM_WORLD_RANK", "1"},
                             {"OMPI_COMM_WORLD_SIZE", "2"},
                             {"JOB_COMPLETION_INDEX", "1"}};
  const std::vector<std::pair<ClusterRule, std::vector<const char*>>> order = {
      {ClusterRule::kTorchrun, {"RANK"}},
      {ClusterRule::kTfConfig, {"TF_CONFIG"}},
      {ClusterRule::kSlurm, {"SLURM_PROCID"}},
      {ClusterRule::kMpi, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}},
      {ClusterRule::kKubernetes, {"JOB_COMPLETION_INDEX", "WORLD_SIZE"}}};
  for (const auto& [rule, names] : order) {
    EXPECT_EQ(Resolved(environment).rule, rule);
    for (const char* name : names) environment.erase(name);
  }
  EXPECT_EQ(Resolved(environment).rule, ClusterRule::kNone);
}

TEST(ClusterResolverTest, ValueThatIsNoNumberInRangeIsRefusedByName) {
  const std::string digits(1 << 20, '9');
  for (const char* name :
       {"RANK", "WORLD_SIZE", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "JOB_COMPLETION_INDEX"}) {
    for (const std::string& value :
         {std::string("-1"), std::string("+1"), std::string("1x"),
          std::string(" 1"), std::string("1.5"), std::string("0x1"),
          std::string("99999999999999999999"), std::string("a\nb"), digits}) {
      ExpectRefused({{{{name, value}},
                      std::string(name) + ": expected a whole number from "}});
    }
  }
}

TEST(ClusterResolverTest, RankOutsideOfItsClusterIsRefused) {
  ExpectRefused({
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}},
       "RANK=2: expected a rank from 0 to 1 (WORLD_SIZE=2)"},
      {{{"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "9"}},
       "SLURM_PROCID=9: expected a rank from 0 to 8 (SLURM_NTASKS=9)"},
      {{{"JOB_COMPLETION_INDEX", "3"}, {"WORLD_SIZE", "2"}},
       "JOB_COMPLETION_INDEX=3: expected a rank from 0 to 1 (WORLD_SIZE=2)"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}},
       "WORLD_SIZE: expected a whole number from 1 to"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "1000000"}},
       "WORLD_SIZE=1000000: expected at most 4096 workers"},
  });
}

TEST(ClusterResolverTest, RefusalOfHalfADescriptionNamesTheMissingPart) {
  ExpectRefused({
      {{{"RANK", "0"}}, "RANK=0: expected WORLD_SIZE beside it; or --cluster"},
      {{{"WORLD_SIZE", "2"}}, "WORLD_SIZE=2: expected RANK beside it"},
      {{{"OMPI_COMM_WORLD_SIZE", "2"}}, "expected OMPI_COMM_WORLD_RANK"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}},
       "RANK=0: expected where rank 0 is beside it: MASTER_ADDR is not set; "
       "set it or say --rendezvous HOST:PORT"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}},
       "MASTER_PORT is not set"},
      {{{"JOB_COMPLETION_INDEX", "0"}},
       "JOB_COMPLETION_INDEX=0: expected the number of workers beside it, in "
       "WORLD_SIZE or --cluster-size N; or --cluster none"},
      {{{"JOB_COMPLETION_INDEX", "0"}, {"WORLD_SIZE", "2"}},
       "MASTER_ADDR is not set, nor --service NAME, nor GAUNTLET_SERVICE"},
      {{{"JOB_COMPLETION_INDEX", "0"},
        {"WORLD_SIZE", "2"},
        {"GAUNTLET_SERVICE", "s"},
        {"HOSTNAME", "laptop"}},
       "HOSTNAME is not JOB-0 but 'laptop'"},
      {{{"PMIX_RANK", "0"}}, "PMIX_RANK=0: expected the number of workers"},
      {{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       "MASTER_ADDR is not set; set it or say --rendezvous"},
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "1"}},
       "MASTER_ADDR is not set"},
  });
}

TEST(ClusterResolverTest, JunkAddressOrHostListIsRefusedByName) {
  const Environment torchrun = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  for (const char* host : {"a b", "h/x", "[::1", "ü", "h\nh"}) {
    Environment environment = torchrun;
    environment["MASTER_ADDR"] = host;
    environment["MASTER_PORT"] = "1";
    ExpectRefused({{environment, "MASTER_ADDR, MASTER_PORT: expected host"}});
  }
  for (const char* port : {"0", "-1", "65536", "http"}) {
    Environment environment = torchrun;
    environment["MASTER_ADDR"] = "h";
    environment["MASTER_PORT"] = port;
    ExpectRefused({{environment, "MASTER_PORT: expected a whole number"}});
  }
  for (const char* list : {"n[", "n[1-", "n[[1]]", "n[2-1]", "a,,b"}) {
    ExpectRefused({{{{"SLURM_PROCID", "0"},
                     {"SLURM_NTASKS", "2"},
                     {"SLURM_JOB_ID", "1"},
                     {"SLURM_STEP_NODELIST", list}},
                    "SLURM_STEP_NODELIST: host list: "}});
  }
}

TEST(ClusterResolverTest, MillionHostsCostNothing) {
  EXPECT_EQ(Resolved({{"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "2"},
                      {"SLURM_JOB_ID", "1"},
                      {"SLURM_JOB_NODELIST", "n[000001-1000000]"}})
                .place.addresses[0],
            "n000001:20016");
}

}  // namespace
}  // namespace gauntlet
