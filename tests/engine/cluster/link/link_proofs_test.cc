// A proof covers every field of its message, its connection, and both ends.
#include "engine/cluster/link/link_proofs.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

const std::optional<JobToken> kToken = *JobToken::Parse(std::string(64, 'a'));
const LinkProofs kProofs(kToken);

Nonce NonceOf(int value) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(value));
  return nonce;
}

Hello SignedHello() {
  Hello hello = {.role = ChannelRole::kControl,
                 .rank = 3,
                 .incarnation = 4,
                 .generation = 5,
                 .host = "host",
                 .address = "a:1",
                 .payload = "i",
                 .nonce = "n"};
  kProofs.Sign(NonceOf(1), 0, hello);
  return hello;
}

TEST(LinkProofsTest, AcceptsItsOwnHello) {
  EXPECT_TRUE(kProofs.Accepts(NonceOf(1), 0, SignedHello()));
}

TEST(LinkProofsTest, RefusesAReplayedHello) {
  EXPECT_FALSE(kProofs.Accepts(NonceOf(2), 0, SignedHello()));
  EXPECT_FALSE(kProofs.Accepts(NonceOf(1), 1, SignedHello()));
}

TEST(LinkProofsTest, RefusesAHelloWithAnyChange) {
  const std::vector<std::function<void(Hello&)>> changes = {
      [](Hello& hello) { hello.role = ChannelRole::kRing; },
      [](Hello& hello) { hello.rank = 0; },
      [](Hello& hello) { ++hello.incarnation; },
      [](Hello& hello) { ++hello.generation; },
      [](Hello& hello) { hello.host += "x"; },
      [](Hello& hello) { hello.address += "x"; },
      [](Hello& hello) { hello.payload += "x"; },
      [](Hello& hello) { hello.nonce += "x"; },
      [](Hello& hello) { std::swap(hello.host, hello.address); },
      [](Hello& hello) { hello.proof.clear(); },
      [](Hello& hello) { hello.proof[5] ^= 1; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    Hello hello = SignedHello();
    changes[i](hello);
    EXPECT_FALSE(kProofs.Accepts(NonceOf(1), 0, hello)) << i;
  }
}

class ChiefsAnswerTest : public testing::Test {
 protected:
  const Nonce nonce_ = NonceOf(1);
  const Nonce other_ = NonceOf(2);
  const std::string hello_nonce_ = "n";
  const std::string other_hello_nonce_ = "m";
  const LinkContext link_ = {nonce_, hello_nonce_, 3, 0};
  const std::vector<LinkContext> others_ = {{other_, hello_nonce_, 3, 0},
                                            {nonce_, other_hello_nonce_, 3, 0},
                                            {nonce_, hello_nonce_, 2, 0},
                                            {nonce_, hello_nonce_, 3, 1}};
};

TEST_F(ChiefsAnswerTest, AcceptedHoldsForItsConnection) {
  Accepted accepted;
  kProofs.Sign(link_, accepted);
  EXPECT_TRUE(kProofs.Accepts(link_, accepted));
  for (const LinkContext& other : others_) {
    EXPECT_FALSE(kProofs.Accepts(other, accepted));
  }
  EXPECT_FALSE(kProofs.Accepts(link_, Accepted{}));
}

TEST_F(ChiefsAnswerTest, WelcomeHoldsForItsConnectionAsItIs) {
  Welcome welcome = {
      .generation = 1, .addresses = {"a:1", "b:2"}, .decision = "go"};
  kProofs.Sign(link_, welcome);
  EXPECT_TRUE(kProofs.Accepts(link_, welcome));
  for (const LinkContext& other : others_) {
    EXPECT_FALSE(kProofs.Accepts(other, welcome));
  }
  const std::vector<std::function<void(Welcome&)>> changes = {
      [](Welcome& one) { ++one.generation; },
      [](Welcome& one) { one.addresses[1] = "evil:2"; },
      [](Welcome& one) { one.addresses = {"a:1b:2"}; },
      [](Welcome& one) { one.decision = "stop"; },
      [](Welcome& one) { one.proof.clear(); }};
  for (size_t i = 0; i < changes.size(); ++i) {
    Welcome changed = welcome;
    changes[i](changed);
    EXPECT_FALSE(kProofs.Accepts(link_, changed)) << i;
  }
}

TEST_F(ChiefsAnswerTest, RefusalHoldsForItsConnectionAsItIs) {
  Refusal refusal = {.code = Code::kInvalidArgument, .message = "no"};
  kProofs.Sign(link_, refusal);
  EXPECT_TRUE(kProofs.Accepts(link_, refusal));
  for (const LinkContext& other : others_) {
    EXPECT_FALSE(kProofs.Accepts(other, refusal));
  }
  refusal.code = Code::kUnavailable;
  EXPECT_FALSE(kProofs.Accepts(link_, refusal));
}

// A proof that a stranger observes for one purpose is not valid for another.
TEST_F(ChiefsAnswerTest, RejectsReflectedProofs) {
  Hello hello = SignedHello();
  Welcome welcome = {.proof = hello.proof};
  Refusal refusal = {.proof = hello.proof};
  EXPECT_FALSE(kProofs.Accepts(link_, welcome));
  EXPECT_FALSE(kProofs.Accepts(link_, refusal));
  Accepted accepted = {.proof = hello.proof};
  EXPECT_FALSE(kProofs.Accepts(link_, accepted));
  kProofs.Sign(link_, accepted);
  welcome.proof = accepted.proof;
  EXPECT_FALSE(kProofs.Accepts(link_, welcome));
  kProofs.Sign(link_, welcome);
  hello.proof = welcome.proof;
  EXPECT_FALSE(kProofs.Accepts(nonce_, 0, hello));
}

TEST_F(ChiefsAnswerTest, WithoutATokenNothingIsProven) {
  const LinkProofs none{std::nullopt};
  Hello hello = {.rank = 1};
  none.Sign(nonce_, 0, hello);
  EXPECT_EQ(hello.proof, "");
  EXPECT_TRUE(none.Accepts(other_, 0, hello));
  EXPECT_TRUE(none.Accepts(link_, Welcome{}));
}

}  // namespace
}  // namespace gauntlet
