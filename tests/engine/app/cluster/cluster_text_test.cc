#include "engine/app/cluster/cluster_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TrustText kTrust = {.token = "GAUNTLET_JOB_TOKEN", .tls = "none"};

TEST(ClusterTextTest, LoneWorkerNeedsNoReason) {
  EXPECT_EQ(ClusterToText({}, {}),
            "rule      none\n"
            "task      worker 0, incarnation 1\n"
            "workers   1\n"
            "chief     this worker\n");
}

TEST(ClusterTextTest, HasOneFactALineAndTheIgnoredVariables) {
  const ResolvedCluster cluster{
      .rule = ClusterRule::kMpi,
      .from = {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"},
      .ignored_variables = {"SLURM_PROCID=0"},
      .place = {.addresses = {"h:1", ""}},
      .incarnation = 3,
      .listen = "10.0.0.1"};
  EXPECT_EQ(ClusterToText(cluster, kTrust),
            "rule      mpi\n"
            "from      OMPI_COMM_WORLD_RANK=0, OMPI_COMM_WORLD_SIZE=2\n"
            "task      worker 0, incarnation 3\n"
            "workers   2\n"
            "chief     this worker at h:1\n"
            "listen    10.0.0.1\n"
            "token     GAUNTLET_JOB_TOKEN\n"
            "tls       none\n"
            "passed    SLURM_PROCID=0 (of a launcher around this one)\n");
}

TEST(ClusterTextTest, ValuesOfTheEnvironmentStayInTheirLine) {
  const ResolvedCluster cluster{.from = {"PMIX_NAMESPACE=a\nrule none\x1b["}};
  EXPECT_EQ(SourcesText(cluster), "PMIX_NAMESPACE=a?rule none?[");
  EXPECT_THAT(ClusterToText(cluster, kTrust),
              HasSubstr("from      PMIX_NAMESPACE=a?rule none?[\n"));
  EXPECT_THAT(ClusterToJson(cluster, kTrust), Not(HasSubstr("\n")));
}

TEST(ClusterTextTest, EvaluatorHasNoRankInJson) {
  const ResolvedCluster cluster{.place = {.addresses = {"h:1"},
                                          .rank = kNoRank,
                                          .task_type = "evaluator"}};
  EXPECT_THAT(ClusterToJson(cluster, kTrust), HasSubstr("\"rank\":null"));
  EXPECT_THAT(ClusterToJson(cluster, kTrust),
              HasSubstr("\"type\":\"evaluator\""));
}

}  // namespace
}  // namespace gauntlet
