#include "engine/cluster/resolver/tf_config.h"

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

TEST(TfConfigTest, EmptyText_MeansOneWorkerAsChief) {
  for (const char* text : {"", "{}"}) {
    const Result<ClusterPlace> place = ParseTfConfig(text);
    ASSERT_TRUE(place.ok()) << place.status().ToString();
    EXPECT_THAT(place->addresses, IsEmpty());
    EXPECT_EQ(place->size(), 1);
    EXPECT_EQ(place->rank, 0);
  }
}

TEST(TfConfigTest, WithoutAChiefRanksAreWorkerIndices) {
  const Result<ClusterPlace> place = ParseTfConfig(
      R"({"cluster": {"worker": ["a:1", "b:2", "c:3"]},
          "task": {"type": "worker", "index": 2}})");
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_THAT(place->addresses, ElementsAre("a:1", "b:2", "c:3"));
  EXPECT_EQ(place->rank, 2);
  EXPECT_EQ(place->size(), 3);
}

TEST(TfConfigTest, ChiefHasRankZeroWhereverItStands) {
  const std::string cluster =
      R"({"cluster": {"worker": ["a:1", "b:2"], "chief": ["z:9"]}, "task": )";
  const Result<ClusterPlace> chief =
      ParseTfConfig(cluster + R"({"type": "chief", "index": 0}})");
  const Result<ClusterPlace> worker =
      ParseTfConfig(cluster + R"({"type": "worker", "index": 1}})");
  ASSERT_TRUE(chief.ok() && worker.ok());
  EXPECT_THAT(chief->addresses, ElementsAre("z:9", "a:1", "b:2"));
  EXPECT_EQ(worker->addresses, chief->addresses);
  EXPECT_EQ(chief->rank, 0);
  EXPECT_EQ(worker->rank, 2);
  EXPECT_EQ(worker->task_index, 1);
}

TEST(TfConfigTest, EvaluatorIsNotCountedAsAWorker) {
  const Result<ClusterPlace> place = ParseTfConfig(
      R"({"cluster": {"worker": ["a:1"], "evaluator": ["e:5"]},
          "task": {"type": "worker", "index": 0}, "environment": "cloud"})");
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_THAT(place->addresses, ElementsAre("a:1"));
}

TEST(TfConfigTest, EvaluatorHasTheWorkersAndNoRank) {
  for (const char* listed : {"", R"(, "evaluator": ["e:5"])"}) {
    const Result<ClusterPlace> place = ParseTfConfig(
        std::string(R"({"cluster": {"worker": ["a:1", "b:1"])") + listed +
        R"(}, "task": {"type": "evaluator", "index": 0}})");
    ASSERT_TRUE(place.ok()) << place.status().ToString();
    EXPECT_THAT(place->addresses, ElementsAre("a:1", "b:1"));
    EXPECT_EQ(place->rank, kNoRank);
    EXPECT_EQ(place->task_type, "evaluator");
  }
}

TEST(TfConfigTest, HostsMayBeNamesOrAddressesOfEitherKind) {
  for (const char* address : {"localhost:1", "10.0.0.7:65535", "[::1]:4711",
                              "job-0.svc.cluster.local:2222"}) {
    const Result<ClusterPlace> place =
        ParseTfConfig(MakeTfConfig({address}, 0));
    ASSERT_TRUE(place.ok()) << place.status().ToString();
    EXPECT_THAT(place->addresses, ElementsAre(address));
  }
}

TEST(TfConfigTest, ReadsWhatTheLauncherWrites) {
  const std::vector<std::string> addresses = {"h:1", "h:2", "h:3"};
  for (int rank = 0; rank < 3; ++rank) {
    const Result<ClusterPlace> place =
        ParseTfConfig(MakeTfConfig(addresses, rank));
    ASSERT_TRUE(place.ok()) << place.status().ToString();
    EXPECT_EQ(place->addresses, addresses);
    EXPECT_EQ(place->rank, rank);
  }
}

struct BadText {
  std::string text;
  std::string message;
};

std::string Worker(const std::string& cluster, const std::string& task) {
  return R"({"cluster": )" + cluster + R"(, "task": )" + task + "}";
}

TEST(TfConfigTest, Refusal_NamesThePlaceAndTheFoundValue) {
  const std::string task = R"({"type": "worker", "index": 0})";
  const std::string cluster = R"({"worker": ["a:1", "b:2"]})";
  const std::vector<BadText> cases = {
      {"{", "TF_CONFIG: expected JSON"},
      {"[]", "TF_CONFIG: top level: expected an object, found []"},
      {R"({"task": {}})", "TF_CONFIG: cluster: missing"},
      {R"({"cluster": {"worker": ["a:1"]}})", "TF_CONFIG: task: missing"},
      {Worker("7", task), "TF_CONFIG: cluster: expected an object of jobs"},
      {Worker("{}", task),
       "TF_CONFIG: task.type: there is no job 'worker' in the cluster"},
      {Worker(R"({"ps": ["a:1"]})", task), "parameter servers (ps)"},
      {Worker(R"({"wroker": ["a:1"]})", task),
       "TF_CONFIG: cluster: expected the jobs chief and worker, found "
       "'wroker'"},
      {Worker(R"({"worker": []})", task),
       "TF_CONFIG: cluster.worker: expected a list of 1 to 4096 addresses, "
       "found 0 of them"},
      {Worker(R"({"worker": "a:1"})", task), "found string"},
      {Worker(R"({"worker": ["a:1", 7]})", task),
       "TF_CONFIG: cluster.worker[1]: expected a text host:port, found number"},
      {Worker(R"({"worker": ["a:1", "a:1"]})", task),
       "TF_CONFIG: cluster.worker: 'a:1' stands in the cluster twice"},
      {Worker(R"({"chief": ["a:1"], "worker": ["a:1"]})", task),
       "'a:1' stands in the cluster twice"},
      {Worker(R"({"chief": ["a:1", "b:2"]})", task),
       "TF_CONFIG: cluster.chief: expected one address, found 2"},
      {Worker(cluster, R"({"type": "worker", "index": 2})"),
       "TF_CONFIG: task.index: expected 0 to 1 (cluster.worker has 2 "
       "addresses), found 2"},
      {Worker(cluster, R"({"type": "worker", "index": -1})"), "task.index"},
      {Worker(cluster, R"({"type": "worker", "index": "0"})"), "task.index"},
      {Worker(cluster, R"({"type": "worker", "index": 99999999999999999999})"),
       "task.index"},
      {Worker(cluster, R"({"type": "worker"})"), "task.index: missing"},
      {Worker(cluster, R"({"type": "ps", "index": 0})"),
       "parameter servers (ps)"},
      {Worker(R"({"evaluator": ["e:1"]})",
              R"({"type": "evaluator", "index": 0})"),
       "TF_CONFIG: cluster: expected a chief or workers, found none"},
      {Worker(cluster, R"({"type": "chief", "index": 0})"),
       "TF_CONFIG: task.type: there is no job 'chief' in the cluster"},
      {Worker(cluster, R"({"type": "worker", "index": 0, "rank": 1})"),
       "unknown key"},
      {R"({"cluster": {}, "cluster": {}, "task": {}})", "appears twice"},
  };
  for (const auto& [text, message] : cases) {
    const Result<ClusterPlace> place = ParseTfConfig(text);
    ASSERT_FALSE(place.ok()) << text;
    EXPECT_EQ(place.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(place.status().message(), HasSubstr(message)) << text;
    EXPECT_THAT(place.status().message(), Not(HasSubstr("\n")));
  }
}

TEST(TfConfigTest, MalformedAddressIsShown) {
  const std::string long_host(400, 'h');
  for (const std::string& address :
       {std::string(), std::string("host"), std::string("host:"),
        std::string(":80"), std::string("host:0"), std::string("host:65536"),
        std::string("host:-1"), std::string("host:8x"),
        std::string("host:99999999999999999999"), std::string("a b:80"),
        std::string("http://a:80"), std::string("::1:80"),
        std::string("a\n:80"), std::string("[]:80"), long_host + ":80"}) {
    const Result<ClusterPlace> place =
        ParseTfConfig(MakeTfConfig({address}, 0));
    ASSERT_FALSE(place.ok()) << address;
    EXPECT_THAT(place.status().message(),
                HasSubstr("TF_CONFIG: cluster.worker[0]: expected host:port "
                          "with a port from 1 to 65535, found '"));
    EXPECT_THAT(place.status().message(), Not(HasSubstr("\n")));
    EXPECT_LT(place.status().message().size(), 200u);
  }
}

TEST(TfConfigTest, HostileTextIsRefusedInOneShortLine) {
  std::string many = R"({"cluster": {"worker": ["h:1")";
  for (int i = 2; i < 6000; ++i) many += ", \"h:" + std::to_string(i) + '"';
  many += R"(]}, "task": {"type": "worker", "index": 0}})";
  for (const std::string& text :
       {std::string(100'000'000, '['), std::string(100'000, '['),
        std::string(2'000'000, ' '), std::string("\0\xff\xfe", 3), many,
        std::string(R"({"cluster": {"worker": ["h:1)")}) {
    const Result<ClusterPlace> place = ParseTfConfig(text);
    ASSERT_FALSE(place.ok());
    EXPECT_THAT(place.status().message(), Not(HasSubstr("\n")));
    EXPECT_LT(place.status().message().size(), 200u);
  }
}

TEST(TfConfigTest, NoTruncationIsAccepted) {
  const std::string whole = MakeTfConfig({"h:1", "h:2"}, 1);
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseTfConfig(whole.substr(0, size)).ok()) << size;
  }
  EXPECT_TRUE(ParseTfConfig(whole).ok());
}

}  // namespace
}  // namespace gauntlet
