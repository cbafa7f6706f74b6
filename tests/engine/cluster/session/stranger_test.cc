// Strangers that connect to the port of a worker, or take the chief's place.
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/link_proofs.h"
#include "engine/cluster/link/numbered_channel.h"
#include "engine/cluster/session/session.h"
#include "tests/engine/cluster/cluster_fixture.h"

namespace gauntlet {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::optional<JobToken> kAnotherToken =
    *JobToken::Parse(std::string(64, 'b'));

Status GatherOnce(World&, Session& session) {
  return session.ring()
      .AllGather({.step = 1}, "x", std::chrono::seconds(5))
      .status();
}

Hello HelloOfRank1() {
  return {.role = ChannelRole::kControl,
          .rank = 1,
          .incarnation = 9,
          .address = "stranger:1",
          .nonce = std::string(kNonceBytes, 'n')};
}

// A cluster of three workers, and strangers.
class StrangerRun {
 public:
  StrangerRun() {
    cluster.options().log = [this](const std::string& line) {
      lines.push_back(line);
    };
  }
  StrangerRun(const StrangerRun&) = delete;
  StrangerRun& operator=(const StrangerRun&) = delete;

  // Returns the first frame of a stranger, on a connection with this nonce.
  using FirstFrame = std::function<Frame(const Nonce&)>;

  // Starts a stranger that connects to `address`, sends its frame and keeps the
  // answer.
  void StartStranger(const std::string& address, const FirstFrame& first) {
    cluster.simulation().Start(
        {.name = "stranger", .host = "stranger", .body = [=, this](World& w) {
           const Time deadline = w.clock.Now() + std::chrono::seconds(10);
           const auto channel = w.network.Connect(address, deadline);
           if (!channel.ok()) return 1;
           if (!(*channel)->Send(first((*channel)->nonce()), deadline).ok()) {
             return 1;
           }
           while (true) {
             Result<Frame> frame = (*channel)->Receive(deadline);
             if (!frame.ok()) return 0;
             answers.push_back(*std::move(frame));
           }
         }});
  }
  static FirstFrame SignedBy(const std::optional<JobToken>& token) {
    return [token](const Nonce& nonce) {
      Hello hello = HelloOfRank1();
      LinkProofs(token).Sign(nonce, 0, hello);
      return EncodeControl(hello);
    };
  }
  // Reaction of a stranger in the chief's place to a caller. The stranger keeps
  // the connection open unless the reaction closes it.
  using Trick = std::function<void(Channel& channel, const Hello& hello)>;
  static Trick Sending(Frame frame) {
    return [frame = std::move(frame)](Channel& channel, const Hello&) {
      static_cast<void>(channel.Send(frame, kNever));
    };
  }
  // Starts a stranger in the chief's place. The stranger leaves that place
  // after `leaves_after`, and keeps its connections for another minute.
  void StartFakeChief(Duration leaves_after, const Trick& trick) {
    cluster.simulation().Start(
        {.name = "fake", .host = "fake", .body = [=](World& world) {
           auto listener = *world.network.Listen("w0:1");
           const Time until = world.clock.Now() + leaves_after;
           std::vector<std::unique_ptr<Channel>> kept;
           while (true) {
             Result<Incoming> caller = listener->Accept(until);
             if (!caller.ok()) break;
             const Result<Hello> hello = DecodeControlAs<Hello>(caller->first);
             kept.push_back(NumberFrames(world.tasks, LinkEnd::kServer,
                                         std::move(caller->channel)));
             trick(*kept.back(), *hello);
           }
           listener.reset();
           world.clock.SleepUntil(until + std::chrono::seconds(60));
           return 0;
         }});
  }

  ClusterFixture cluster{3, 1};
  std::vector<std::string> lines;
  std::vector<Frame> answers;
};

TEST(StrangerTest, CostsALineAndItsConnection_NeverTheJob) {
  // A genuine hello, as recorded on another connection.
  Hello replayed = HelloOfRank1();
  LinkProofs(ClusterFixture::Token()).Sign(Nonce{}, 0, replayed);
  const std::vector<std::pair<StrangerRun::FirstFrame, std::string>> cases = {
      {[](const Nonce&) { return EncodeControl(HelloOfRank1()); },
       ": no job token"},
      {StrangerRun::SignedBy(kAnotherToken), ": another job token"},
      {[&](const Nonce&) { return EncodeControl(replayed); },
       ": another job token"},
      {[](const Nonce&) { return EncodeControl(Bye{}); }, "expected a hello"},
      {[](const Nonce&) { return Frame("GET / HTTP/1.1"); }, "frame"}};
  for (const auto& [first, reason] : cases) {
    StrangerRun run;
    run.StartStranger("w0:1", first);
    const auto& ends = run.cluster.RunAll(GatherOnce);
    for (const Status& end : ends) EXPECT_TRUE(end.ok()) << end.ToString();
    ASSERT_EQ(run.lines.size(), 1u) << reason;
    EXPECT_THAT(run.lines[0], HasSubstr("rank 0: rejected "));
    EXPECT_THAT(run.lines[0], HasSubstr(reason));
    ASSERT_EQ(run.answers.size(), 1u) << reason;
    EXPECT_TRUE(DecodeControlAs<Refusal>(run.answers[0]).ok()) << reason;
  }
}

TEST(StrangerTest, HelloWithTheTokenIsLetIn) {
  StrangerRun run;
  run.StartStranger("w0:1", StrangerRun::SignedBy(run.cluster.options().token));
  run.cluster.StartWorker(0, GatherOnce);
  run.cluster.StartWorker(2, GatherOnce);
  run.cluster.Run();
  EXPECT_THAT(run.lines, IsEmpty());
  ASSERT_EQ(run.answers.size(), 2u);
  EXPECT_TRUE(DecodeControlAs<Accepted>(run.answers[0]).ok());
  EXPECT_TRUE(DecodeControlAs<Welcome>(run.answers[1]).ok());
}

// Worker 1 accepts no connection while it waits for its welcome, and its queue
// of callers is short: the ring's connection must not be evicted from the
// queue.
TEST(StrangerTest, CrowdLeavesTheRingItsPlace) {
  StrangerRun run;
  for (const int rank : {0, 1}) run.cluster.StartWorker(rank, GatherOnce);
  for (size_t i = 0; i < 3 * kMaxWaitingCallers; ++i) {
    run.StartStranger("w1:1", StrangerRun::SignedBy(kAnotherToken));
  }
  Simulation& simulation = run.cluster.simulation();
  simulation.At(simulation.now() + std::chrono::seconds(5),
                [&run] { run.cluster.StartWorker(2, GatherOnce); });
  for (const Status& end : run.cluster.Run()) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
  ASSERT_EQ(run.lines.size(), 1u);
  EXPECT_THAT(run.lines[0], HasSubstr("others since the last line"));
}

TEST(StrangerTest, WorkerWithAnotherTokenEndsSoon_AndGivesTheReason) {
  StrangerRun run;
  run.cluster.StartWorker(0, GatherOnce);
  run.cluster.StartWorker(1, GatherOnce);
  run.cluster.options().token = kAnotherToken;
  run.cluster.StartWorker(2, GatherOnce);
  const Status end = run.cluster.Run()[2];
  EXPECT_EQ(end.code(), Code::kInvalidArgument);
  for (const char* part :
       {"rank 2: no chief with this job token at w0:1", ": another job token",
        "GAUNTLET_JOB_TOKEN", "DIR/job-token"}) {
    EXPECT_THAT(end.message(), HasSubstr(part));
  }
  EXPECT_GE(run.lines.size(), 1u);
}

TEST(StrangerTest, TokenOnOneSideOnly_IsReported) {
  for (const bool chief_has_it : {true, false}) {
    StrangerRun run;
    SessionOptions& options = run.cluster.options();
    const std::optional<JobToken> token = options.token;
    options.insecure = true;
    options.token = chief_has_it ? token : std::nullopt;
    run.cluster.StartWorker(0, GatherOnce);
    options.token = chief_has_it ? std::nullopt : token;
    run.cluster.StartWorker(1, GatherOnce);
    const Status end = run.cluster.Run()[1];
    EXPECT_EQ(end.code(), Code::kInvalidArgument);
    EXPECT_THAT(
        end.message(),
        HasSubstr(chief_has_it ? ": no job token"
                               : "it has a job token, rank 0 has none"));
  }
}

TEST(StrangerTest, NoWorkerFollowsAChiefWithoutAProof) {
  const std::vector<std::function<ControlMessage(const Hello&)>> lies = {
      [](const Hello&) -> ControlMessage {
        return Welcome{.generation = 7, .decision = "go"};
      },
      // The worker's own proof, sent back.
      [](const Hello& hello) -> ControlMessage {
        return Welcome{.generation = 7, .decision = "go", .proof = hello.proof};
      },
      [](const Hello& hello) -> ControlMessage {
        return Refusal{
            .code = Code::kFenced, .message = "leave", .proof = hello.proof};
      }};
  for (const auto& lie : lies) {
    StrangerRun run;
    run.StartFakeChief(
        std::chrono::seconds(60), [&](Channel& channel, const Hello& hello) {
          StrangerRun::Sending(EncodeControl(lie(hello)))(channel, hello);
        });
    run.cluster.StartWorker(1, GatherOnce);
    const Status end = run.cluster.Run()[1];
    EXPECT_EQ(end.code(), Code::kInvalidArgument);
    EXPECT_THAT(end.message(),
                HasSubstr("no chief with this job token at w0:1"));
  }
}

const Frame kLeave =
    EncodeControl(Refusal{.code = Code::kInvalidArgument, .message = "leave"});

// Reactions that have an effect only while the stranger is in the chief's
// place.
const std::vector<StrangerRun::Trick> kTricks = {
    [](Channel& channel, const Hello&) { channel.Close(); },
    StrangerRun::Sending("HTTP/1.1 400 Bad Request"),
    StrangerRun::Sending(EncodeControl(Beat{})),
    [](Channel& channel, const Hello& hello) {
      // The worker's own proof, sent back.
      static_cast<void>(
          channel.Send(EncodeControl(Accepted{.proof = hello.proof}), kNever));
    },
    [](Channel&, const Hello&) {},  // silent
};

TEST(StrangerTest, StrangerInTheChiefsPlaceForAMoment_DelaysNoMore) {
  struct Case {
    StrangerRun::Trick trick;
    int leaves_after;  // s
  };
  // A refusal may be justified, so the worker waits long before its next try.
  std::vector<Case> cases = {{StrangerRun::Sending(kLeave), 2}};
  for (const auto& trick : kTricks) cases.push_back({trick, 9});
  for (size_t i = 0; i < cases.size(); ++i) {
    StrangerRun run;
    const std::chrono::seconds leaves_after(cases[i].leaves_after);
    run.StartFakeChief(leaves_after, cases[i].trick);
    Simulation& simulation = run.cluster.simulation();
    const Time begin = simulation.now();
    Time formed;
    const auto body = [&](World& world, Session& session) {
      formed = std::max(formed, world.clock.Now());
      return GatherOnce(world, session);
    };
    for (const int rank : {1, 2}) run.cluster.StartWorker(rank, body);
    simulation.At(begin + leaves_after + std::chrono::seconds(1),
                  [&] { run.cluster.StartWorker(0, body); });
    for (const Status& end : run.cluster.Run()) {
      EXPECT_TRUE(end.ok()) << i << ": " << end.ToString();
    }
    EXPECT_LT(formed, begin + std::chrono::seconds(21)) << i;
  }
}

TEST(StrangerTest, StrangerInTheChiefsPlace_CostsTheRendezvousTimeout) {
  for (size_t i = 0; i < kTricks.size(); ++i) {
    StrangerRun run;
    run.StartFakeChief(std::chrono::seconds(100), kTricks[i]);
    Simulation& simulation = run.cluster.simulation();
    const Time begin = simulation.now();
    run.cluster.StartWorker(1, GatherOnce);
    const Status& end = run.cluster.EndOf(1);
    simulation.At(begin + std::chrono::seconds(29),
                  [&] { EXPECT_EQ(end.code(), Code::kCancelled) << i; });
    simulation.At(begin + std::chrono::seconds(31), [&] {
      EXPECT_THAT(end.code(),
                  AnyOf(Code::kUnavailable, Code::kDeadlineExceeded))
          << i;
      EXPECT_THAT(end.message(), HasSubstr("waiting for the chief (w0:1)"));
    });
    run.cluster.Run();
  }
}

// When the chief decides, it has already proven its identity. It may then be
// reading a large checkpoint.
TEST(StrangerTest, ChiefMayTakeLongToDecide) {
  ClusterFixture cluster(3, 1);
  cluster.DecideWithin(std::chrono::seconds(200));
  for (const Status& end : cluster.RunAll(GatherOnce)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
}

TEST(StrangerTest, WithoutATokenOnlyLoopbackIsListenedOn) {
  StrangerRun run;
  run.cluster.options().token.reset();
  const std::vector<Status> ends = run.cluster.RunAll(GatherOnce);
  for (const Status& end : ends) {
    EXPECT_EQ(end.code(), Code::kInvalidArgument);
    EXPECT_THAT(end.message(), HasSubstr("without a job token"));
  }
}

TEST(StrangerTest, InsecureWorkersMeetWithoutAToken) {
  StrangerRun run;
  run.cluster.options().token.reset();
  run.cluster.options().insecure = true;
  for (const Status& end : run.cluster.RunAll(GatherOnce)) {
    EXPECT_TRUE(end.ok()) << end.ToString();
  }
}

TEST(GateTest, PrintsALineAtMostEveryTenSeconds) {
  Gate gate(kAnotherToken, 4);
  const auto at = [](int s) { return Time(std::chrono::seconds(s)); };
  EXPECT_EQ(gate.TakeLogLine(at(100)), std::nullopt);
  ASSERT_TRUE(gate.Check({}, EncodeControl(HelloOfRank1())));
  EXPECT_THAT(*gate.TakeLogLine(at(100)),
              HasSubstr("rank 4: rejected rank 1: no job token"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(gate.Check({}, EncodeControl(HelloOfRank1())));
  }
  EXPECT_EQ(gate.TakeLogLine(at(109)), std::nullopt);
  EXPECT_THAT(*gate.TakeLogLine(at(110)), HasSubstr("(4 others"));
  EXPECT_EQ(gate.TakeLogLine(at(200)), std::nullopt);
}

}  // namespace
}  // namespace gauntlet
