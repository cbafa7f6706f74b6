#include "engine/train/rendezvous/collective_decision.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/ring/emulated_collective.h"
#include "engine/train/rendezvous/rendezvous.pb.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

using Offers = std::vector<CollectiveOffer>;

CollectiveOffer Gpu(const std::string& device) {
  return {.unavailable_reason = {}, .version = "nccl 2.28.9", .device = device};
}
CollectiveOffer Cpu() { return OfferOf(DeviceKind::kCpu, {}); }
CollectiveOffer Emulated() {
  return OfferOf(DeviceKind::kEmulated, EmulatedPlace());
}
CollectiveOffer WithoutLibrary() {
  gpu::DevicePlace place = EmulatedPlace();
  place.collective = nullptr;
  place.no_collective = "libnccl.so.2 does not load";
  return OfferOf(DeviceKind::kCuda, place);
}
CollectiveOffer OlderGpu(const std::string& device) {
  CollectiveOffer offer = Gpu(device);
  offer.version = "nccl 2.21.5";
  return offer;
}

TEST(CollectiveDecisionTest, AutoUsesDevices_IfEachWorkerHasItsOwn) {
  const struct {
    Offers offers;
    bool by_devices;
    const char* line;
  } cases[] = {
      {{Gpu("a"), Gpu("b")},
       true,
       "collective: nccl 2.28.9 (each worker has a device of its own)"},
      {{Gpu("a")}, false, ""},
      {{Gpu("a"), Gpu("b"), Gpu("a")},
       false,
       "collective: ring (ranks 0 and 2 share the device a)"},
      {{Gpu("a"), Cpu()},
       false,
       "collective: ring (rank 1 computes on the CPU)"},
      {{WithoutLibrary(), Gpu("a")},
       false,
       "collective: ring (rank 0 has no NCCL: libnccl.so.2 does not load)"},
      {{Gpu("a"), OlderGpu("b")},
       false,
       "collective: ring (rank 0 has nccl 2.28.9, rank 1 has nccl 2.21.5)"},
      {{Emulated(), Emulated()},
       false,
       "collective: ring (the devices are emulated)"},
      {{Cpu(), Cpu()}, false, ""},
  };
  for (const auto& c : cases) {
    const auto decision = DecideCollective(CollectiveChoice::kAuto, c.offers);
    ASSERT_TRUE(decision.ok());
    EXPECT_EQ(decision->communicator.has_value(), c.by_devices) << c.line;
    EXPECT_EQ(decision->line, c.line);
  }
}

TEST(CollectiveDecisionTest, RequestIsFulfilledOrRefused) {
  const Offers own = {Gpu("a"), Gpu("b")};
  EXPECT_TRUE(
      DecideCollective(CollectiveChoice::kNccl, own)->communicator.has_value());
  EXPECT_FALSE(
      DecideCollective(CollectiveChoice::kRing, own)->communicator.has_value());
  const Offers emulated = {Emulated(), Emulated()};
  EXPECT_TRUE(DecideCollective(CollectiveChoice::kNccl, emulated)
                  ->communicator.has_value());
  const struct {
    Offers offers;
    const char* why;
  } cases[] = {
      {{Gpu("a"), Gpu("a")}, "ranks 0 and 1 share the device a"},
      {{Gpu("a"), Cpu()}, "rank 1 computes on the CPU"},
      {{WithoutLibrary()}, "rank 0 has no NCCL: libnccl.so.2 does not load"},
      {{Gpu("a"), OlderGpu("b")}, "rank 1 has nccl 2.21.5"},
  };
  for (const auto& c : cases) {
    const Status status =
        DecideCollective(CollectiveChoice::kNccl, c.offers).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("collective nccl: expected"));
    EXPECT_THAT(status.message(), HasSubstr(c.why));
  }
}

TEST(CollectiveDecisionTest, OffersAndDecisionsComeBackFromTheirBytes) {
  for (const CollectiveOffer& offer :
       {Gpu("a"), Cpu(), Emulated(), WithoutLibrary()}) {
    EXPECT_EQ(DecodeOffer(EncodeOffer(offer)).value(), offer);
  }
  CollectiveDecision sent = {.communicator = gpu::CommunicatorId(),
                             .line = "line"};
  sent.communicator->bytes[127] = 'x';
  const auto decision = DecodeCollective(EncodeCollective(sent));
  EXPECT_EQ(decision->communicator->bytes[127], 'x');
  EXPECT_EQ(decision->line, "line");
  EXPECT_FALSE(
      DecodeCollective(EncodeCollective({}))->communicator.has_value());
}

TEST(CollectiveDecisionTest, RefusesHostileBytes) {
  wire::CollectiveOffer lines;
  lines.set_unavailable_reason("two\nlines");
  wire::CollectiveOffer novel;
  novel.set_version(std::string(1000, 'x'));
  for (const std::string& bytes :
       {std::string("torn"), lines.SerializeAsString(),
        novel.SerializeAsString()}) {
    EXPECT_EQ(DecodeOffer(bytes).status().code(), Code::kDataLoss) << bytes;
  }
  wire::CollectiveDecision cut;
  cut.set_communicator("short");
  wire::CollectiveDecision longer;
  longer.set_communicator(std::string(129, 'x'));
  for (const std::string& bytes : {std::string("torn"), cut.SerializeAsString(),
                                   longer.SerializeAsString()}) {
    EXPECT_EQ(DecodeCollective(bytes).status().code(), Code::kDataLoss);
  }
}

}  // namespace
}  // namespace gauntlet
