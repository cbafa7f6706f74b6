#include "harness/scenario/format/upgrade.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/format/keys.h"
#include "harness/scenario/reader/job_file.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/writer/write_scenario.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kOld[] = R"(# use: a comment stays.
schema: gauntlet/v1
name: old
use: tiny
plant: [die-in-a-step]
before: {workers: 2}
job: {epochs: 2}
cluster: {workers: 3, workers_by_life: [3, 2], hosts: "separate"}
checkpoint: {every: {steps: 5}, at_success: delete}
matrix: {checkpoint.at_success: [keep, leave]}
faults:
  - id: a
    at: {worker: 1, life: any, step: 3, point: comm.done}
    do: one_way   # which is spelled in another way now
    with: {way: in, duration: 1ms, times: always}
  - {at: {point: ckpt.agree, hit: 2}, do: errno, with: {hits: 2}}
expect: {outcome: violates, invariants: [deaths-explained, store]}
)";

constexpr char kNew[] = R"(# use: a comment stays.
schema: gauntlet/v2
name: old
preset: tiny
planted_bugs: [die-in-a-step]
warm_start: {workers: 2}
job: {epochs: 2}
cluster: {workers: 3, workers_per_attempt: [3, 2], topology: "one_host_per_worker"}
checkpoint: {every: {steps: 5}, on_success: delete}
matrix: {checkpoint.on_success: [keep, leave]}
faults:
  - id: a
    at: {worker: 1, incarnation: any, step: 3, point: comm.allreduce.end}
    do: asymmetric_partition   # which is spelled in another way now
    with: {direction: inbound, duration: 1ms, repeat: always}
  - {at: {point: ckpt.compare_digests, occurrence: 2}, do: errno, with: {consecutive: 2}}
expect: {outcome: violates, invariants: [no-spontaneous-exit, store]}
)";

TEST(UpgradeTest, RewritesTheTextAndKeepsLayoutAndComments) {
  EXPECT_EQ(UpgradeText(kOld, "f").value(), kNew);
}

TEST(UpgradeTest, LeavesATextOfTheNewSchemaAlone) {
  EXPECT_EQ(UpgradeText(kNew, "f").value(), kNew);
}

TEST(UpgradeTest, UpgradesEachOldDocumentOfAFile) {
  const std::string text = std::string(kNew) + "---\n" + kOld;
  EXPECT_EQ(UpgradeText(text, "f").value(), std::string(kNew) + "---\n" + kNew);
}

TEST(UpgradeTest, RenamesFindingsInLabels) {
  const std::string head = "schema: gauntlet/v";
  const std::string tail = "\nname: a\nlabels: [finding, \"found:";
  const std::pair<const char*, const char*> kFindings[] = {
      {"deaths-explained/worker", "no-spontaneous-exit/unexplained-death"},
      {"bounded-loss/redone-after-rejoin",
       "bounded-loss/recomputed-after-rejoin"},
      {"store/other-moment", "store/wrong-save-position"},
      {"trajectory/step-digest", "trajectory/step-digest"}};
  for (const auto& [old_name, new_name] : kFindings) {
    EXPECT_EQ(UpgradeText(head + "1" + tail + old_name + "\"]\n", "f").value(),
              head + "2" + tail + new_name + "\"]\n");
  }
}

TEST(UpgradeTest, RefusesAnEscapedSpelling) {
  const Status status =
      UpgradeText("schema: gauntlet/v1\nname: a\n\"\\x75se\": tiny\n", "f.yaml")
          .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "f.yaml:3:1: cannot rewrite this spelling of use: expected a plain "
            "word; change it to preset by hand");
}

TEST(UpgradeTest, RefusesAnOldKeyTogetherWithTheNewOne) {
  const char* const kPairs[] = {
      "use: tiny\npreset: mlp\n",
      "faults: [{at: {life: 1, incarnation: 2}, do: hang}]\n",
      "faults: [{at: {}, do: hang, with: {times: once, repeat: always}}]\n",
      "matrix: {cluster.hosts: [one], cluster.topology: [one_host]}\n"};
  for (const std::string pair : kPairs) {
    const std::string text = "schema: gauntlet/v1\nname: a\n" + pair +
                             "expect: {outcome: completes}\n";
    EXPECT_THAT(UpgradeText(text, "f").status().message(),
                HasSubstr("are one key: expected one of them"))
        << pair;
    EXPECT_FALSE(LoadScenarios(text, "f").errors.empty()) << pair;
  }
}

TEST(UpgradeTest, RenamesAParameterOnlyOfTheKindThatHasIt) {
  const std::string text =
      "schema: gauntlet/v1\nname: a\n"
      "faults: [{at: {step: 1}, do: crash, with: {hits: 3}}]\n"
      "expect: {outcome: recovers}\n";
  const LoadedFile loaded = LoadScenarios(text, "f");
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_EQ(loaded.errors[0].message, "unknown key 'hits' in 'with' of crash");
}

// The `faults` of a v1 file, and the text in v2 with the same meaning.
struct OldAndNew {
  std::string old_text;
  std::string new_text;
};

std::string FileOf(std::string_view schema, const std::string& faults) {
  return "schema: gauntlet/" + std::string(schema) + "\nname: a\n" +
         (schema == "v1" ? "use" : "preset") + ": tiny\nfaults:\n" + faults +
         "expect: {outcome: recovers}\n";
}

const OldAndNew kOtherDefaults[] = {
    // In the old format, each block was an occurrence.
    {"  - {at: {point: ckpt.shard.write, hit: 3}, do: crash}\n",
     "  - {at: {point: ckpt.shard.write, block: any, occurrence: 3}, do: "
     "crash}\n"},
    {"  - {at: {point: ckpt.shard.write}, do: crash}\n",
     "  - {at: {block: any, point: ckpt.shard.write}, do: crash}\n"},
    {"  - at:\n      point: ckpt.state.write\n      \"hit\": 3\n"
     "    do: crash\n",
     "  - at:\n      point: ckpt.state.write\n      block: any\n"
     "      \"occurrence\": 3\n    do: crash\n"},
    // In the old format, with an offset, each file was an occurrence.
    {"  - {at: {point: ckpt.shard.write, hit: 3, offset: 1}, do: crash}\n",
     "  - {at: {point: ckpt.shard.write, occurrence: 3, offset: 1}, do: "
     "crash}\n"},
    {"  - {at: {point: ckpt.rename, hit: 2}, do: crash}\n",
     "  - {at: {point: ckpt.rename, occurrence: 2}, do: crash}\n"},
    // In the old format, a kill was asynchronous.
    {"  - at: {step: 3}\n    do: kill\n",
     "  - at: {step: 3}\n    with: {latency: 0s}\n    do: kill\n"},
    {"  - {do: kill, at: {step: 3}}\n",
     "  - {with: {latency: 0s}, do: kill, at: {step: 3}}\n"},
    {"  - do: kill\n    at: {step: 3}\n    with: {times: always}\n",
     "  - do: kill\n    at: {step: 3}\n"
     "    with: {latency: 0s, repeat: always}\n"},
    {"  - do: kill\n    at: {step: 3}\n    with: {}\n",
     "  - do: kill\n    at: {step: 3}\n    with: {latency: 0s}\n"},
    {"  - do: kill\n    at: {step: 3}\n    with: {latency: 5ms}\n",
     "  - do: kill\n    at: {step: 3}\n    with: {latency: 5ms}\n"},
};

TEST(UpgradeTest, WritesOutTheOldDefaults) {
  for (const OldAndNew& c : kOtherDefaults) {
    const std::string old_text = FileOf("v1", c.old_text);
    const std::string new_text = FileOf("v2", c.new_text);
    EXPECT_EQ(UpgradeText(old_text, "f").value(), new_text);
    const LoadedFile old_file = LoadScenarios(old_text, "f");
    const LoadedFile new_file = LoadScenarios(new_text, "f");
    ASSERT_EQ(RenderErrors(old_file, "f", old_text), "");
    ASSERT_EQ(RenderErrors(new_file, "f", new_text), "");
    EXPECT_EQ(old_file.cases[0].plan, new_file.cases[0].plan) << c.new_text;
  }
}

TEST(LoadScenariosTest, KeepsTheMeaningOfV1) {
  const auto plan_of = [](const std::string& fault) {
    return LoadScenarios(FileOf("v1", fault), "f").cases.at(0).plan.faults[0];
  };
  const Fault block = plan_of(kOtherDefaults[0].old_text);
  EXPECT_EQ(block.site.block, kAnyBlock);
  EXPECT_EQ(block.site.occurrence, 3u);
  EXPECT_EQ(plan_of(kOtherDefaults[5].old_text).with.kill_latency, Duration(0));
}

TEST(LoadScenariosTest, NamesTheV2KeyForAnOldDefault) {
  const LoadedFile loaded =
      LoadScenarios(FileOf("v1", kOtherDefaults[0].old_text), "f.yaml");
  EXPECT_THAT(RenderOldSpellings(loaded, "f.yaml"),
              HasSubstr("Renamed: use → preset, hit → occurrence. Added, as it "
                        "was the default: block: any. "));
}

TEST(UpgradeTest, UpgradesAJobFileWithoutASchema) {
  EXPECT_EQ(
      UpgradeText("use: tiny\ncheckpoint: {at_success: keep}\n", "f").value(),
      "preset: tiny\ncheckpoint: {on_success: keep}\n");
}

TEST(UpgradeTest, UpgradesATextWithAByteOrderMark) {
  EXPECT_EQ(
      UpgradeText("\xEF\xBB\xBFschema: gauntlet/v1\nuse: tiny\n", "f").value(),
      "\xEF\xBB\xBFschema: gauntlet/v2\npreset: tiny\n");
}

TEST(LoadScenariosTest, NamesTheSuccessorOfAValueOfTheOldSchema) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 1}, do: stop}]\n"
      "expect: {outcome: recovers}\n";
  const LoadedFile loaded = LoadScenarios(text, "f");
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_EQ(loaded.errors[0].hint, "pause is the name in gauntlet/v2");
}

TEST(UpgradeTest, RefusesTextThatIsNoYaml) {
  EXPECT_THAT(UpgradeText("a: [", "f.yaml").status().message(),
              HasSubstr("f.yaml:"));
}

TEST(UpgradeTest, RefusesYamlThatIsNoScenario) {
  EXPECT_EQ(
      UpgradeText("import os\n\nx = 1\n", "a.py").status().message(),
      "a.py:1:1: not a scenario: expected a map, found 'import os x = 1'");
  EXPECT_EQ(UpgradeText("name: a\n---\n- b\n", "f").status().message(),
            "f:3:1: not a scenario: expected a map, found a list");
  EXPECT_EQ(UpgradeText("# only this\n", "f").status().message(),
            "f:1:1: not a scenario: expected a map, found nothing");
}

TEST(UpgradeTest, RefusesAMapThatIsNoScenario) {
  const std::string expected =
      "expected `schema: gauntlet/v1` or `schema: gauntlet/v2`";
  const std::pair<const char*, std::string> kCases[] = {
      {"hello: world\n",
       "f:1:1: not a scenario: " + expected +
           ", or only keys of a job file; found the key 'hello'; name another "
           "file"},
      {"use: tiny\nchekpoint: {}\n",
       "f:2:1: not a scenario: " + expected +
           ", or only keys of a job file; found the key 'chekpoint'; did you "
           "mean checkpoint?"},
      {"schema: gauntlet/v3\nname: a\n",
       "f:1:9: " + expected + ", found 'gauntlet/v3'"}};
  for (const auto& [text, message] : kCases) {
    EXPECT_EQ(UpgradeText(text, "f").status().message(), message);
  }
}

TEST(LoadScenariosTest, ReadsAnOldFileAsItsUpgrade) {
  const LoadedFile old_file = LoadScenarios(kOld, "f");
  const LoadedFile new_file = LoadScenarios(kNew, "f");
  ASSERT_EQ(RenderErrors(old_file, "f", kOld), "");
  ASSERT_EQ(RenderErrors(new_file, "f", kNew), "");
  ASSERT_EQ(old_file.cases.size(), 2u);
  for (size_t i = 0; i < old_file.cases.size(); ++i) {
    EXPECT_EQ(DescribeCaseDifference(old_file.cases[i], new_file.cases[i]), "");
  }
}

TEST(LoadScenariosTest, NamesTheOldSpellingsOnce) {
  const std::string text =
      "schema: gauntlet/v1\nname: a\nuse: tiny\nexpect: {outcome: completes}\n"
      "---\nschema: gauntlet/v1\nname: b\nuse: tiny\n"
      "expect: {outcome: completes}\n";
  EXPECT_EQ(RenderOldSpellings(LoadScenarios(text, "f.yaml"), "f.yaml"),
            "f.yaml: note: this file uses gauntlet/v1, which is accepted for "
            "one release. Renamed: use → preset. `gauntlet upgrade f.yaml` "
            "prints it as gauntlet/v2.\n");
  EXPECT_EQ(RenderOldSpellings(LoadScenarios(kNew, "f"), "f"), "");
}

TEST(LoadScenariosTest, NamesTheSuccessorOfAKeyOfTheOldSchema) {
  const std::string text =
      "schema: gauntlet/v2\nname: a\nuse: tiny\n"
      "faults: [{at: {life: 2}, do: hang, with: {times: once}}]\n"
      "expect: {outcome: recovers}\n";
  const LoadedFile loaded = LoadScenarios(text, "f.yaml");
  std::vector<std::string> hints;
  for (const Diagnostic& error : loaded.errors) hints.push_back(error.hint);
  EXPECT_THAT(hints, ElementsAre("preset is the name in gauntlet/v2",
                                 "incarnation is the name in gauntlet/v2",
                                 "repeat is the name in gauntlet/v2"));
}

TEST(JobFileTest, ReadsOldSpellingsWithAndWithoutASchema) {
  for (const char* head : {"", "schema: gauntlet/v1\n"}) {
    const auto job = ParseJobFile(
        std::string(head) + "use: tiny\ncheckpoint: {at_success: delete}\n",
        "job.yaml", {});
    ASSERT_TRUE(job.ok()) << job.status().ToString();
    EXPECT_EQ(job->train.checkpoint.at_success, AtSuccess::kDeleteCheckpoints);
  }
  EXPECT_FALSE(ParseJobFile("schema: gauntlet/v2\nuse: tiny\n", "j", {}).ok());
}

}  // namespace
}  // namespace gauntlet
