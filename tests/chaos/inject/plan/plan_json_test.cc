#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "chaos/inject/plan/plan.h"
#include "tests/chaos/inject/plan/plan_generator.h"

namespace gauntlet {
namespace {

const std::string kAt = R"("point": "step.begin")";
const std::string kCrash = R"("do": "crash")";

// Returns a plan of one fault, with the given texts in it.
std::string PlanText(const std::string& at, const std::string& rest) {
  return R"({"format": "gauntlet-plan-v3", "seed": 1, "bugs": [], "faults": [)"
         R"({"id": "f", "at": {)" +
         at + "}, " + rest + "}]}";
}

RC_GTEST_PROP(PlanJsonProperty, ComesBackAsItWas, ()) {
  const FaultPlan plan = *ArbitraryPlan();
  const Result<FaultPlan> back = PlanFromJson(PlanToJson(plan));
  RC_ASSERT(back.status().ToString() == "OK");
  RC_ASSERT(*back == plan);
}

RC_GTEST_PROP(PlanJsonProperty, SurvivesEveryTruncationAndEveryChangedByte,
              ()) {
  std::string text = PlanToJson(*ArbitraryPlan());
  const auto place = *rc::gen::inRange<size_t>(0, text.size());
  const std::string cut = text.substr(0, place);
  text[place] = *rc::gen::arbitrary<char>();
  // Any result is fine except a crash or an invalid plan.
  for (const std::string& hostile : {cut, text}) {
    const Result<FaultPlan> plan = PlanFromJson(hostile);
    RC_ASSERT((!plan.ok() || Validate(*plan).ok()));
  }
}

TEST(PlanJsonTest, ReadsAPlanWrittenByHand) {
  const Result<FaultPlan> plan = PlanFromJson(PlanText(
      R"("worker": "chief", "incarnation": "any", "point": "ckpt.shard.write",
         "occurrence": 3, "offset": "50%")",
      R"("do": "torn_write",
         "with": {"blocks": 4, "keep": [0, 3], "then": "power_loss"})"));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const Fault expected{
      .id = "f",
      .site = {.worker = kChief,
               .incarnation = kAnyIncarnation,
               .point = Point::kShardWrite,
               .occurrence = 3,
               .offset = FileOffset{50, OffsetUnit::kPercent}},
      .kind = FaultKind::kTornWrite,
      .with = {.blocks = 4, .keep = 0b1001, .then = AfterTear::kPowerLoss}};
  EXPECT_EQ(plan->faults, std::vector{expected});
}

TEST(PlanJsonTest, ReadsSaveAndBlock) {
  const Result<FaultPlan> plan = PlanFromJson(
      PlanText(R"("point": "ckpt.shard.write", "save": 2, "block": 3)",
               R"("do": "kill")"));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->faults[0].site,
            (FaultSite{.save = 2, .point = Point::kShardWrite, .block = 3}));
  EXPECT_FALSE(plan->faults[0].with.kill_latency);
}

// Returns the text of a plan of the previous format, with one fault.
std::string OldPlanText(const std::string& at, const std::string& rest) {
  std::string text = PlanText(at, rest);
  return text.replace(text.find("-v3"), 3, "-v2");
}

TEST(PlanJsonTest, ReadsTheFormatBeforeWithItsMeaning) {
  const std::string write = R"("point": "ckpt.shard.write", "hit": 3)";
  const auto site = [](const std::string& at) {
    return PlanFromJson(OldPlanText(at, kCrash)).value().faults[0].site;
  };
  EXPECT_EQ(site(write), (FaultSite{.point = Point::kShardWrite,
                                    .occurrence = 3,
                                    .block = kAnyBlock}));
  EXPECT_EQ(site(write + R"(, "offset": 4)"),
            (FaultSite{.point = Point::kShardWrite,
                       .occurrence = 3,
                       .offset = FileOffset{4}}));
  EXPECT_EQ(site(R"("point": "ckpt.rename", "hit": 2)"),
            (FaultSite{.point = Point::kRename, .occurrence = 2}));
  const auto latency = [](const std::string& kill) {
    return PlanFromJson(OldPlanText(kAt, kill))
        .value()
        .faults[0]
        .with.kill_latency;
  };
  EXPECT_EQ(latency(R"("do": "kill")"), Duration(0));
  EXPECT_EQ(latency(R"("do": "kill", "with": {"latency_ns": 7})"), Duration(7));
}

TEST(PlanJsonTest, RefusesKeysOfTheOtherFormat) {
  EXPECT_FALSE(PlanFromJson(PlanText(kAt + R"(, "hit": 2)", kCrash)).ok());
  EXPECT_FALSE(
      PlanFromJson(OldPlanText(kAt + R"(, "occurrence": 2)", kCrash)).ok());
}

TEST(PlanJsonTest, ReadsANetworkFault) {
  const Result<FaultPlan> plan =
      PlanFromJson(PlanText(R"("worker": 1, "point": "comm.send")",
                            R"("do": "partition",
         "with": {"duration_ns": 5, "groups": [[0, 1], [2]]})"));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->faults[0].kind, FaultKind::kPartition);
  EXPECT_EQ(plan->faults[0].with, (FaultParameters{.duration = Duration(5),
                                                   .groups = {{0, 1}, {2}}}));
}

struct HostileText {
  std::string message;  // part of the error message
  std::string text;
};

std::vector<HostileText> HostileDocuments() {
  return {
      {"expected JSON", ""},
      {"plan: expected JSON, found something else at byte 1", "# a page"},
      {"plan: a number is too large for JSON", R"({"seed": 1e999})"},
      {"expected JSON", R"({"format": "gauntlet-plan-v3")"},
      {"expected JSON", PlanText(kAt, kCrash) + "x"},
      {"expected an object, found an array", "[]"},
      {"expected an object, found 3", "3"},
      {"format: expected gauntlet-plan-v3, found \"v2\"", R"({"format":"v2"})"},
      {"seed: expected a value, found nothing",
       R"({"format":"gauntlet-plan-v3"})"},
      {"seed: expected an integer from 0 on, found -1",
       R"({"format":"gauntlet-plan-v3","seed":-1})"},
      {"faults: expected an array, found an object",
       R"({"format":"gauntlet-plan-v3","seed":1,"faults":{}})"},
      {"bugs: expected the name of a planted bug, found \"bee\"",
       R"({"format":"gauntlet-plan-v3","seed":1,"faults":[],"bugs":["bee"]})"},
      {"\"colour\": expected a known key, found an unknown one",
       R"({"format":"gauntlet-plan-v3","seed":1,"faults":[],"bugs":[],
           "colour":1})"},
      {"found twice", R"({"format":"gauntlet-plan-v3","seed":1,"seed":1})"},
      {"at most 8 levels", std::string(100000, '[')},
      {"at most 8 levels",
       std::string(5000, '[') + "1" + std::string(5000, ']')},
      {"at most 16777216 bytes", std::string(17 << 20, ' ')},
  };
}

std::vector<HostileText> HostileSites() {
  return {
      {"faults[0].at.point: expected the name of a fault point, found \"x\"",
       PlanText(R"("point": "x")", kCrash)},
      {"faults[0].at.point: expected a value, found nothing",
       PlanText("", kCrash)},
      {"faults[0].at.occurrence: expected an integer from 1 on, found 0",
       PlanText(kAt + R"(, "occurrence": 0)", kCrash)},
      {"faults[0].at.occurrence: expected an integer from 1 on, found 1.5",
       PlanText(kAt + R"(, "occurrence": 1.5)", kCrash)},
      {"faults[0].at.worker: expected an integer from 0 on, found 3000000000",
       PlanText(kAt + R"(, "worker": 3000000000)", kCrash)},
      {"faults[0].at.worker: expected an integer, any, all or chief",
       PlanText(kAt + R"(, "worker": "some")", kCrash)},
      {"faults[0].at.incarnation: expected an integer from 1 on, found 0",
       PlanText(kAt + R"(, "incarnation": 0)", kCrash)},
      {"faults[0].at.step: expected an integer from 0 on, found null",
       PlanText(kAt + R"(, "step": null)", kCrash)},
      {"faults[0].at.save: expected an integer from 1 on, found 0",
       PlanText(R"("point": "ckpt.rename", "save": 0)", kCrash)},
      {"faults[0].at.block: expected an integer from 0 on, found \"all\"",
       PlanText(R"("point": "ckpt.shard.write", "block": "all")", kCrash)},
      {"faults[0].at.offset: expected bytes, or a percentage",
       PlanText(R"("point": "ckpt.shard.write", "offset": "-5%")", kCrash)},
  };
}

std::vector<HostileText> HostileFaults() {
  return {
      {"faults[0].do: expected the name of a fault kind, found \"melt\"",
       PlanText(kAt, R"("do": "melt")")},
      {"faults[0].with.\"grace_ns\": expected repeat, until_step or a "
       "parameter of crash (exit_code), found an unknown one",
       PlanText(kAt, kCrash + R"(, "with": {"grace_ns": 0})")},
      {"faults[0].with.repeat: expected once or always, found \"twice\"",
       PlanText(kAt, kCrash + R"(, "with": {"repeat": "twice"})")},
      {"faults[0].with.keep: expected block numbers from 0 to 63, found 64",
       PlanText(kAt, R"("do": "torn_write", "with": {"keep": [64]})")},
      {"faults[0].with.error: expected one of EIO, ENOSPC",
       PlanText(kAt, R"("do": "errno", "with": {"error": "EWHAT"})")},
      {"faults[0].with.groups: expected an array of arrays of workers, found 3",
       PlanText(kAt, R"("do": "partition", "with": {"groups": 3})")},
      {"faults[0].with.groups: expected an array of arrays of workers",
       PlanText(kAt, R"("do": "partition", "with": {"groups": [[0], [-1]]})")},
      {"faults[0].with.groups: expected an array of arrays of workers",
       PlanText(kAt,
                R"("do": "partition", "with": {"groups": [[0], [1e300]]})")},
      {"faults[0].with.direction: expected one of outbound, inbound, found "
       "\"up\"",
       PlanText(
           kAt,
           R"("do": "asymmetric_partition", "with": {"direction": "up"})")},
      {"faults[0].with.direction: expected one of forward, back, found \"\"",
       PlanText(kAt, R"("do": "wall_clock_jump", "with": {"direction": ""})")},
      {"fault f: with.percent: expected 1 to 90, found 100",
       PlanText(kAt, R"("do": "packet_loss", "with": {"percent": 100})")},
      {"fault f: after: expected the id of a fault of this plan, found g",
       PlanText(kAt, kCrash + R"(, "after": "g")")},
  };
}

TEST(PlanJsonTest, RefusesHostileTextInOneClearLine) {
  std::vector<HostileText> all = HostileDocuments();
  for (const auto& more : {HostileSites(), HostileFaults()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const HostileText& hostile : all) {
    const Status status = PlanFromJson(hostile.text).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << hostile.message;
    EXPECT_NE(status.message().find(hostile.message), std::string::npos)
        << "expected \"" << hostile.message
        << "\" in: " << status.message().substr(0, 500);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_LT(status.message().size(), 300u);
  }
}

}  // namespace
}  // namespace gauntlet
