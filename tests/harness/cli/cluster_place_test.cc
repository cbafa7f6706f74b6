#include "harness/cli/cluster_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/real/real_host.h"
#include "engine/real/system_clock.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<ReachablePlace> Reach(const ResolvedCluster& cluster) {
  const RealHost host;
  SystemClock clock;
  return MakeReachable(cluster, host, clock, clock.Now());
}

ResolvedCluster Torchrun(std::vector<std::string> addresses, int rank) {
  return {.rule = ClusterRule::kTorchrun,
          .place = {.addresses = std::move(addresses), .rank = rank}};
}

TEST(ClusterPlaceTest, AWorkerByItselfIsReachedByNobody) {
  const auto place = Reach({});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->spec.addresses.size(), 1u);
  EXPECT_EQ(place->spec.address_book, AddressBook::kKnown);
}

TEST(ClusterPlaceTest, AClusterOnLoopbackStaysThere) {
  const auto chief = Reach(Torchrun({"127.0.0.1:2000", ""}, 0));
  ASSERT_TRUE(chief.ok()) << chief.status().ToString();
  EXPECT_EQ(chief->spec.listen_on, "127.0.0.1:2000");
  EXPECT_EQ(chief->spec.address_book, AddressBook::kToldByChief);
  const auto other = Reach(Torchrun({"127.0.0.1:2000", ""}, 1));
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_THAT(other->spec.addresses[1], StartsWith("127.0.0.1:"));
  EXPECT_EQ(other->spec.listen_on, other->spec.addresses[1]);
}

TEST(ClusterPlaceTest, ANamedChiefListensOnAllInterfaces) {
  const RealHost host;
  for (const std::string& name :
       {host.Name(), std::string("not-known-yet.invalid")}) {
    const auto chief = Reach(Torchrun({name + ":2000", ""}, 0));
    ASSERT_TRUE(chief.ok()) << chief.status().ToString();
    EXPECT_THAT((std::vector<std::string>{"0.0.0.0:2000", "[::]:2000"}),
                testing::Contains(chief->spec.listen_on));
  }
  const auto ipv6 = Reach(Torchrun({"[fd00::1]:2000", ""}, 0));
  ASSERT_TRUE(ipv6.ok());
  EXPECT_EQ(ipv6->spec.listen_on, "[::]:2000");
}

// On the chief's host its name may lead to loopback, where no other host is.
TEST(ClusterPlaceTest, NoWorkerOfSeveralHostsTellsALoopbackAddress) {
  const RealHost host;
  const auto place = Reach(Torchrun({host.Name() + ":2000", ""}, 1));
  ASSERT_TRUE(place.ok()) << place.status().ToString();
  EXPECT_FALSE(place->spec.addresses[1].starts_with("127."));
}

TEST(ClusterPlaceTest, AChiefWhoseNameNobodyKnowsIsWaitedFor) {
  const auto place = Reach(Torchrun({"not-known.invalid:2000", ""}, 1));
  EXPECT_EQ(place.status().code(), Code::kDeadlineExceeded);
  EXPECT_THAT(
      place.status().message(),
      HasSubstr("rank 1: waiting for the chief (not-known.invalid:2000)"));
}

TEST(ClusterPlaceTest, TfConfigsAddressesAreAllKnown) {
  const auto place = Reach({.rule = ClusterRule::kTfConfig,
                            .place = {.addresses = {"10.9.8.7:1", "h:2"}}});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->spec.address_book, AddressBook::kKnown);
  EXPECT_EQ(place->spec.listen_on, "0.0.0.0:1");
}

}  // namespace
}  // namespace gauntlet
