// Control messages: round trips, and bytes that are not messages.
#include "engine/cluster/link/control_messages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gauntlet {
namespace {

// Returns one message of each kind, with every field set.
std::vector<ControlMessage> OneOfEach() {
  Challenge challenge;
  challenge.nonce.fill(std::byte{7});
  return {challenge,
          Hello{.role = ChannelRole::kRing,
                .rank = 1,
                .incarnation = 2,
                .generation = 3,
                .host = "machine",
                .address = "machine:1",
                .payload = std::string("\0\xff", 2),
                .proof = "proof"},
          Accepted{.proof = "proof"},
          Welcome{.generation = 4,
                  .addresses = {"a:1", "b:1"},
                  .decision = "decision",
                  .proof = "proof"},
          Refusal{.code = Code::kCancelled, .message = "na\xc3\xafve"},
          Beat{.rank = 5, .generation = 6},
          Bye{.rank = 7, .generation = 8},
          LaneOffer{.process = 9, .descriptor = 10},
          LaneTaken()};
}

TEST(ControlMessagesTest, ComeBackAsTheyWere) {
  for (const ControlMessage& message : OneOfEach()) {
    const Frame frame = EncodeControl(message);
    const Result<ControlMessage> back = DecodeControl(frame);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(EncodeControl(*back), frame);
  }
}

TEST(ControlMessagesTest, RefusesEveryTruncation_OrReadsAMessage) {
  for (const ControlMessage& message : OneOfEach()) {
    const Frame frame = EncodeControl(message);
    for (size_t size = 0; size < frame.size(); ++size) {
      EXPECT_EQ(DecodeControl(frame.substr(0, size)).status().code(),
                Code::kDataLoss)
          << "message " << message.index() << " cut to " << size;
    }
  }
}

RC_GTEST_PROP(ControlMessagesProperty, NoBytesCrashTheReader, ()) {
  const Status status =
      DecodeControl(*rc::gen::arbitrary<std::string>()).status();
  RC_ASSERT(status.ok() || status.code() == Code::kDataLoss);
}

TEST(ControlMessagesTest, NamesExpectedAndReceivedMessages) {
  const Status status = DecodeControlAs<Hello>(EncodeControl(Beat())).status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.message(),
            "frame: not a message of this protocol: expected a hello, found a "
            "beat");
}

TEST(ControlMessagesTest, ShortensARefusalAtTheEndOfACharacter) {
  std::string novel;
  while (novel.size() < 9000) novel += "\xe2\x82\xac";  // a euro sign
  const auto back = DecodeControl(EncodeControl(Refusal{.message = novel}));
  const std::string& shown = std::get<Refusal>(back.value()).message;
  EXPECT_LE(shown.size(), 4000u);
  EXPECT_EQ(shown.size() % 3, 0u);
}

TEST(ControlMessagesTest, RejectsAMalformedRefusal) {
  EXPECT_FALSE(DecodeControl(EncodeControl(Refusal{.code = Code::kOk})).ok());
}

}  // namespace
}  // namespace gauntlet
