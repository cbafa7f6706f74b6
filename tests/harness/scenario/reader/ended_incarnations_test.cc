#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/scenario.h"

namespace gauntlet {
namespace {

using ::testing::HasSubstr;

// Returns the warnings for three workers that save every 5 steps.
std::string WarningsOf(const std::string& faults, const std::string& more = "",
                       const std::string& cluster = "") {
  const std::string text =
      "schema: gauntlet/v2\nname: a\njob: {epochs: 8}\ncluster: {workers: 3" +
      cluster + "}\ncheckpoint: {every: {steps: 5}" + more + "}\nfaults:\n" +
      faults + "expect: {outcome: recovers}\n";
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  EXPECT_EQ(RenderErrors(loaded, "f.yaml", text), "");
  return RenderWarnings(loaded, "f.yaml", text);
}

std::string Faults(const std::string& first, const std::string& second) {
  return "  - {id: first, " + first + "}\n  - {id: second, " + second + "}\n";
}

TEST(EndedIncarnationsTest, NamesTheEndingFaultAndTheRemedy) {
  EXPECT_EQ(
      WarningsOf("  - {id: power, at: {worker: 1, step: 10}, do: kill}\n"
                 "  - {id: late, at: {worker: 1, step: 20}, do: hang}\n"),
      "f.yaml:8:5: warning: fault `late` can never fire: incarnation 1 "
      "of worker 1 ends with fault `power` at step 10\n"
      "  8 |   - {id: late, at: {worker: 1, step: 20}, do: hang}\n"
      "    |     ^ add `after: power`, or `incarnation: any` inside `at`\n");
}

TEST(EndedIncarnationsTest, WarnsOfARepetitionThatEndsItsOnlyIncarnation) {
  const std::string fault = "step: 10}, do: crash, with: {repeat: always}}\n";
  EXPECT_THAT(WarningsOf("  - {id: again, at: {worker: 1, " + fault),
              HasSubstr("fault `again` fires only once: it ends incarnation 1 "
                        "of worker 1"));
  for (const char* at : {"{worker: 1, incarnation: any, ", "{worker: any, "}) {
    EXPECT_EQ(WarningsOf("  - {id: again, at: " + std::string(at) + fault), "")
        << at;
  }
  EXPECT_EQ(WarningsOf("  - {id: slow, at: {worker: 1, step: 10}, do: slow, "
                       "with: {latency: 1ms, repeat: always}}\n"),
            "");
}

TEST(EndedIncarnationsTest, WarnsOfALaterStepOrSave) {
  const std::string save_2 =
      "at: {worker: 1, save: 2, point: ckpt.shard.write}, do: crash";
  const std::string kill_10 = "at: {worker: 1, step: 10}, do: kill";
  const std::string always = "at: {worker: 1}, do: exception";
  for (const auto& [first, second] :
       {std::pair(save_2, "at: {worker: 1, step: 11}, do: crash"),
        std::pair(save_2,
                  "at: {worker: 1, save: 3, point: ckpt.begin}, do: "
                  "hang"),
        std::pair(kill_10,
                  "at: {worker: 1, save: 3, point: ckpt.begin}, do: "
                  "hang"),
        std::pair(kill_10,
                  "at: {worker: 1, step: 15, point: ckpt.begin}, do: "
                  "hang"),
        std::pair(kill_10, "at: {step: 12}, do: hang"),
        std::pair(kill_10,
                  "after: first, at: {worker: 1, incarnation: 1}, "
                  "do: hang"),
        std::pair(always, "at: {worker: 1, step: 2}, do: hang")}) {
    EXPECT_THAT(WarningsOf(Faults(first, second)),
                HasSubstr("fault `second` can never fire"))
        << first << "; " << second;
    EXPECT_THAT(WarningsOf("  - {id: second, " + std::string(second) +
                           "}\n  - {id: first, " + first + "}\n"),
                HasSubstr("fault `second` can never fire"))
        << first << "; " << second;
  }
}

TEST(EndedIncarnationsTest, IgnoresFaultsThatMayStillFire) {
  const std::string kill_10 = "at: {worker: 1, step: 10}, do: kill";
  const std::string step_20 = "at: {worker: 1, step: 20}, do: hang";
  for (const auto& [first, second] :
       {std::pair(kill_10, "after: first, " + step_20),
        std::pair(kill_10, std::string("at: {worker: 1, incarnation: any, "
                                       "step: 20}, do: hang")),
        std::pair(kill_10, std::string("at: {worker: 1, incarnation: 2, step: "
                                       "20}, do: hang")),
        std::pair(kill_10, std::string("at: {worker: 1, step: 10, point: "
                                       "step.end}, do: hang")),
        std::pair(kill_10, std::string("at: {worker: 1, save: 2, point: "
                                       "ckpt.begin}, do: hang")),
        std::pair(kill_10, std::string("at: {worker: 2, step: 11}, do: hang")),
        std::pair(kill_10, std::string("at: {worker: 1}, do: hang")),
        std::pair(std::string("at: {worker: 1, step: 10}, do: slow, with: "
                              "{latency: 20ms}"),
                  step_20),
        std::pair(std::string("at: {worker: 1, occurrence: 30}, do: kill"),
                  step_20),
        std::pair(std::string("at: {worker: 1, save: 2, point: "
                              "ckpt.shard.write, offset: 1GiB}, do: kill"),
                  step_20)}) {
    EXPECT_EQ(WarningsOf(Faults(first, second)), "") << first << "; " << second;
  }
}

TEST(EndedIncarnationsTest, SurvivorsThatRejoinKeepTheirIncarnation) {
  const std::string rejoin = ", restart: {policy: rejoin}";
  const std::string kill = "at: {worker: 1, step: 10}, do: kill";
  EXPECT_EQ(WarningsOf(Faults(kill, "at: {worker: 2, step: 20}, do: hang"), "",
                       rejoin),
            "");
  EXPECT_THAT(WarningsOf(Faults(kill, "at: {worker: 1, step: 20}, do: hang"),
                         "", rejoin),
              HasSubstr("can never fire"));
}

// After save 1, of step 5, the chief retires old checkpoints while training
// continues. It has finished by the time it begins save 2.
TEST(EndedIncarnationsTest, TailOfASave_IsBeforeTheNextSave_ButAtNoKnownStep) {
  const std::string end = "at: {worker: 0, point: ckpt.end}, do: kill";
  EXPECT_EQ(WarningsOf(Faults(end, "at: {worker: 0, step: 8}, do: hang")), "");
  EXPECT_THAT(
      WarningsOf(Faults(end,
                        "at: {worker: 0, save: 2, point: ckpt.begin}, do: "
                        "hang")),
      HasSubstr("fault `second` can never fire: incarnation 1 of "
                "worker 0 ends with fault `first` in save 1\n"));
  EXPECT_THAT(
      WarningsOf(Faults("at: {worker: 0, step: 5, point: ckpt.end}, do: kill",
                        "at: {worker: 0, step: 8}, do: hang")),
      testing::Not(HasSubstr("can never fire")));
}

TEST(EndedIncarnationsTest, WarnsOfDamageBehindTheLastFileOfAWorker) {
  const std::string crash =
      "  - {id: crash, at: {worker: 2, step: 12}, do: crash}\n";
  EXPECT_EQ(
      WarningsOf("  - {id: rot, at: {worker: 1, save: 2, point: "
                 "ckpt.shard.done}, do: bit_flip}\n" +
                 crash),
      "f.yaml:7:5: warning: fault `rot` can never fire: at ckpt.shard.done "
      "worker 1 has written its file, and incarnation 1 ends with fault "
      "`crash` at step 12 before it writes the next\n"
      "  7 |   - {id: rot, at: {worker: 1, save: 2, point: ckpt.shard.done}, "
      "do: bit_flip}\n"
      "    |     ^ use point ckpt.shard.write, which comes before the file is "
      "written\n");
  for (const char* at :
       {"step: 10, point: ckpt.shard.done", "save: 2, point: ckpt.end",
        "occurrence: 2, point: ckpt.shard.fsync",
        "save: 2, point: ckpt.compare_digests"}) {
    EXPECT_THAT(WarningsOf("  - {id: rot, at: {worker: 1, " + std::string(at) +
                           "}, do: truncate}\n" + crash),
                HasSubstr("ends with fault `crash` at step 12 before it writes "
                          "the next\n"))
        << at;
  }
  EXPECT_THAT(
      WarningsOf(Faults("at: {worker: 1, save: 2, point: ckpt.shard.done}, do: "
                        "delete",
                        "at: {worker: 1, save: 2, point: ckpt.end}, do: kill")),
      HasSubstr("ends with fault `second` in save 2 before it writes the "
                "next\n"));
  // The run makes 13 saves.
  EXPECT_THAT(WarningsOf("  - {id: rot, at: {worker: 1, save: 13, point: "
                         "ckpt.shard.done}, do: bit_flip}\n"),
              HasSubstr("at ckpt.shard.done worker 1 has written its file, and "
                        "the run ends before it writes the next\n"));
}

// With two shards, workers 0 and 1 write files, and worker 2 writes none.
TEST(EndedIncarnationsTest, WarnsOfTheNextFileOnlyIfItsWorkerWritesShards) {
  const std::string crash =
      "  - {id: crash, at: {worker: 1, step: 12}, do: crash}\n";
  const auto warnings = [&crash](const char* worker) {
    return WarningsOf("  - {id: rot, at: {worker: " + std::string(worker) +
                          ", save: 2, point: ckpt.end}, do: bit_flip}\n" +
                          crash,
                      ", shards: 2");
  };
  EXPECT_THAT(warnings("1"), HasSubstr("worker 1 has written its file"));
  EXPECT_THAT(warnings("2"), testing::Not(HasSubstr("has written its file")));
}

TEST(EndedIncarnationsTest, IgnoresDamageToAFileThatIsStillWritten) {
  const std::string crash = "at: {worker: 2, step: 12}, do: crash";
  for (const char* at : {"worker: 1, save: 2, point: ckpt.shard.write",
                         "worker: 1, save: 1, point: ckpt.shard.done",
                         "worker: 0, save: 2, point: ckpt.shard.done",
                         "save: 2, point: ckpt.shard.done",
                         "worker: 1, epoch: 1, point: ckpt.shard.done"}) {
    const std::string rot = "at: {" + std::string(at) + "}, do: bit_flip";
    EXPECT_EQ(WarningsOf(Faults(rot, crash)), "") << at;
  }
  const std::string done = "at: {worker: 1, save: 2, point: ckpt.shard.done}";
  EXPECT_EQ(WarningsOf(Faults(done + ", do: bit_flip", crash), ", mode: async"),
            "");
  EXPECT_EQ(WarningsOf(Faults(done + ", do: hang", crash)), "");
  EXPECT_EQ(WarningsOf("  - {id: rot, at: {worker: 1, save: 12, point: "
                       "ckpt.shard.done}, do: bit_flip}\n"),
            "");
}

TEST(EndedIncarnationsTest, IgnoresAsynchronousSaves) {
  EXPECT_EQ(
      WarningsOf(
          Faults("at: {worker: 1, save: 2, point: ckpt.shard.open}, do: kill",
                 "at: {worker: 1, step: 20}, do: hang"),
          ", mode: async"),
      "");
}

}  // namespace
}  // namespace gauntlet
