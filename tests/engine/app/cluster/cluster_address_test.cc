#include "engine/app/cluster/cluster_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/address_text.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<ReachableWorker> Reach(const ResolvedCluster& cluster) {
  const RealHost host;
  SystemClock clock;
  return MakeReachable(cluster, host, clock, clock.Now());
}

ResolvedCluster Torchrun(std::vector<std::string> addresses, int rank) {
  return {.rule = ClusterRule::kTorchrun,
          .place = {.addresses = std::move(addresses), .rank = rank}};
}

TEST(ClusterAddressTest, SingleWorkerHasOneKnownAddress) {
  const auto place = Reach({});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->spec.addresses.size(), 1u);
  EXPECT_EQ(place->spec.address_book, AddressBook::kKnown);
}

TEST(ClusterAddressTest, ClusterOnLoopbackStaysThere) {
  const auto chief = Reach(Torchrun({"127.0.0.1:2000", ""}, 0));
  ASSERT_TRUE(chief.ok()) << chief.status().ToString();
  EXPECT_EQ(chief->spec.listen_on, "127.0.0.1:2000");
  EXPECT_EQ(chief->spec.address_book, AddressBook::kSentByChief);
  const auto other = Reach(Torchrun({"127.0.0.1:2000", ""}, 1));
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_THAT(other->spec.addresses[1], StartsWith("127.0.0.1:"));
  EXPECT_EQ(other->spec.listen_on, other->spec.addresses[1]);
}

// These addresses belong to no host (RFC 5737), as the address of a load
// balancer does not belong to this host.
TEST(ClusterAddressTest, ChiefRefusesAnAddressOfAnotherHost) {
  for (const std::string chief : {"192.0.2.1:2000", "[2001:db8::1]:2000"}) {
    const auto place = Reach(Torchrun({chief, ""}, 0));
    EXPECT_EQ(place.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(place.status().message(), HasSubstr(chief));
    EXPECT_THAT(place.status().message(), HasSubstr("--listen ADDRESS"));
  }
}

TEST(ClusterAddressTest, ChiefListensAtTheGivenAddress) {
  ResolvedCluster cluster = Torchrun({"192.0.2.1:2000", ""}, 0);
  cluster.listen = "0.0.0.0";
  const auto place = Reach(cluster);
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_EQ(place->spec.listen_on, "0.0.0.0:2000");
  cluster.listen = "::";
  EXPECT_EQ(Reach(cluster)->spec.listen_on, "[::]:2000");
}

TEST(ClusterAddressTest, NamedChiefListensOnTheAddressOfItsName) {
  const RealHost host;
  ResolvedCluster cluster = Torchrun({host.Name() + ":2000", ""}, 0);
  cluster.all_on_this_host = true;
  const auto place = Reach(cluster);
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  const std::string own = *LocalAddressOf(host.Name());
  EXPECT_EQ(place->spec.listen_on, AddressOf(own, 2000));
}

// If the host's own name resolves to loopback, other hosts would not find the
// worker. This is an error, unless the whole cluster is on this host.
TEST(ClusterAddressTest, NoWorkerOfSeveralHostsAdvertisesALoopbackAddress) {
  const RealHost host;
  ResolvedCluster cluster = Torchrun({host.Name() + ":2000", ""}, 0);
  for (const int rank : {0, 1}) {
    cluster.place.rank = rank;
    cluster.listen.clear();
    const auto place = Reach(cluster);
    if (IsLoopbackHost(*LocalAddressOf(host.Name()))) {
      EXPECT_EQ(place.status().code(), Code::kInvalidArgument);
      EXPECT_THAT(place.status().message(), HasSubstr("--listen ADDRESS"));
    } else {
      ASSERT_TRUE(place.ok()) << place.status().ToString();
      EXPECT_FALSE(IsLoopbackHost(HostOf(place->spec.addresses[rank])));
    }
    cluster.listen = "0.0.0.0";
    const auto anywhere = Reach(cluster);
    ASSERT_TRUE(anywhere.ok()) << anywhere.status().ToString();
    EXPECT_FALSE(IsLoopbackHost(HostOf(anywhere->spec.addresses[rank])));
  }
}

TEST(ClusterAddressTest, WorkerAdvertisesTheAddressThatItListensOn) {
  ResolvedCluster cluster = Torchrun({"127.0.0.1:2000", ""}, 1);
  cluster.listen = "127.0.0.2";
  const auto place = Reach(cluster);
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_THAT(place->spec.listen_on, StartsWith("127.0.0.2:"));
  EXPECT_EQ(place->spec.addresses[1], place->spec.listen_on);
}

TEST(ClusterAddressTest, ChiefWaitsForItsOwnName) {
  const auto place = Reach(Torchrun({"not-known-yet.invalid:2000", ""}, 0));
  EXPECT_EQ(place.status().code(), Code::kDeadlineExceeded);
  EXPECT_THAT(place.status().message(), HasSubstr("--listen ADDRESS"));
}

TEST(ClusterAddressTest, Waits_IfTheChiefsNameDoesNotResolve) {
  const auto place = Reach(Torchrun({"not-known.invalid:2000", ""}, 1));
  EXPECT_EQ(place.status().code(), Code::kDeadlineExceeded);
  EXPECT_THAT(
      place.status().message(),
      HasSubstr("rank 1: waiting for the chief (not-known.invalid:2000)"));
}

TEST(ClusterAddressTest, TfConfigsAddressesAreAllKnown) {
  const auto place = Reach({.rule = ClusterRule::kTfConfig,
                            .place = {.addresses = {"10.9.8.7:1", "h:2"}},
                            .listen = "0.0.0.0"});
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_EQ(place->spec.address_book, AddressBook::kKnown);
  EXPECT_EQ(place->spec.listen_on, "0.0.0.0:1");
}

}  // namespace
}  // namespace gauntlet
