// Scenarios with an error, and the exact message for each.
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string ErrorsOf(const std::string& text) {
  const LoadedFile loaded = LoadScenarios(text, "s.yaml");
  EXPECT_TRUE(loaded.errors.empty() || loaded.cases.empty());
  return RenderErrors(loaded, "s.yaml", text);
}

TEST(BadFilesTest, ErrorShowsTheLineAndPointsAtTheWord) {
  EXPECT_EQ(ErrorsOf(R"(schema: gauntlet/v2
name: a
faults:
  - at: {worker: 1, point: ckpt.shard.wirte}
    do: crash
expect: {outcome: recovers}
)"),
            "s.yaml:4:28: error: unknown fault point 'ckpt.shard.wirte'\n"
            "  4 |   - at: {worker: 1, point: ckpt.shard.wirte}\n"
            "    |                            ^ did you mean "
            "ckpt.shard.write?\n");
}

// Checks the whole output: one error, and a way to fix it.
TEST(BadFilesTest, MisplacedWord_IsOneErrorWithItsPlace) {
  const std::string head = "schema: gauntlet/v2\nname: a\n";
  EXPECT_EQ(ErrorsOf(head + "expect: recovers\n"),
            "s.yaml:3:9: error: expected a map with an `outcome`, found "
            "'recovers'\n"
            "  3 | expect: recovers\n"
            "    |         ^ expect: {outcome: recovers}\n");
  EXPECT_EQ(ErrorsOf(head + "faults: [{at: {step: 2, do: crash}}]\n"
                            "expect: {outcome: recovers}\n"),
            "s.yaml:3:25: error: unknown key 'do' in 'faults.at'\n"
            "  3 | faults: [{at: {step: 2, do: crash}}]\n"
            "    |                         ^ `do` belongs beside `at`, not in "
            "it\n");
}

TEST(BadFilesTest, ParameterBesideWith_IsOneErrorWithItsPlace) {
  EXPECT_EQ(ErrorsOf("schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 2}, "
                     "do: slow, latency: 2s}]\nexpect: {outcome: recovers}\n"),
            "s.yaml:3:36: error: unknown key 'latency' in 'faults'\n"
            "  3 | faults: [{at: {step: 2}, do: slow, latency: 2s}]\n"
            "    |                                    ^ `latency` belongs in "
            "`with`, not beside it\n");
  EXPECT_THAT(
      ErrorsOf("schema: gauntlet/v2\nname: a\nfaults: [{at: {step: 2}, do: "
               "preempt, grace: 2s}]\nexpect: {outcome: recovers}\n"),
      testing::AllOf(
          testing::HasSubstr("^ `grace` belongs in `with`, not beside it\n"),
          testing::Not(testing::HasSubstr("needs a grace"))));
}

TEST(BadFilesTest, NumberInPlaceOfAMapOfOneKey_SuggestsTheMap) {
  EXPECT_EQ(ErrorsOf("schema: gauntlet/v2\nname: a\nexpect: {outcome: "
                     "recovers, resumed_from: 10}\n"),
            "s.yaml:3:43: error: expected a map, found '10'\n"
            "  3 | expect: {outcome: recovers, resumed_from: 10}\n"
            "    |                                           ^ {step: 10}\n");
}

TEST(BadFilesTest, MissingExpectation_SuggestsTheOutcomeThatFits) {
  const std::string head = "schema: gauntlet/v2\nname: a\n";
  const std::string fault = "faults: [{at: {step: 2}, do: crash}]\n";
  for (const std::string expect : {"", "expect: 7\n"}) {
    EXPECT_THAT(ErrorsOf(head + expect),
                testing::HasSubstr("^ expect: {outcome: completes}\n"));
    EXPECT_THAT(ErrorsOf(head + "faults: []\n" + expect),
                testing::HasSubstr("^ expect: {outcome: completes}\n"));
    EXPECT_THAT(ErrorsOf(head + fault + expect),
                testing::HasSubstr("^ expect: {outcome: recovers}\n"));
    EXPECT_THAT(ErrorsOf(head + "launches: [{stop_at_step: 5}, {}]\n" + expect),
                testing::HasSubstr("^ expect: {outcome: recovers}\n"));
  }
}

TEST(BadFilesTest, ScalarThatFitsNoLikelyKey_HasNoHint) {
  for (const char* line : {"cluster: two", "timeout: soon", "job: 7"}) {
    EXPECT_THAT(
        ErrorsOf(std::string("schema: gauntlet/v2\nname: a\n") + line + "\n"),
        testing::HasSubstr("^\n"))
        << line;
  }
}

TEST(BadFilesTest, ValueWithoutItsFormHasAHint) {
  const struct {
    const char* line;
    const char* hint;
  } kCases[] = {
      {"expect: {outcome: recovers, restarts: 1}", "{exactly: 1}"},
      {"expect: {outcome: recovers, detected_in: 1s}", "{max: 1s}"},
      {"cluster: 2", "{workers: 2}"},
      {"timeout: 5s", "{total: 5s}"},
      {"timeout: 60", "{total: 60s}"},
      {"preemption: 30s", "{grace: 30s}"},
      {"disk: 64KiB", "{capacity: 64KiB}"},
      {"labels: smoke, slow", "put them in brackets: [smoke, slow]"},
      {"faults: {at: {worker: 1, step: 8}, do: crash}",
       "put the map in a list: [ ] around it, or `- ` before its first key"},
      {"launches: {epochs: 1}",
       "put the map in a list: [ ] around it, or `- ` before its first key"},
      {"faults: [{at: {step: 3}, do: slow, with: {latency: 5}}]",
       "with a unit: 5s or 5ms"},
  };
  for (const auto& [line, hint] : kCases) {
    EXPECT_THAT(
        ErrorsOf(std::string("schema: gauntlet/v2\nname: a\n") + line + "\n"),
        testing::HasSubstr(std::string("^ ") + hint + "\n"))
        << line;
  }
}

// Neither warnings nor errors that only follow from another error are printed.
TEST(BadFilesTest, Error_HidesItsConsequences) {
  const std::string faults = R"(
cluster: {workers: 3}
faults:
  - id: rot
    at: {worker: 2, save: 2, point: ckpt.shard.write}
    do: bit_flip
  - id: crash
    at: {worker: 2, step: STEP, point: step.begin}
    do: crash
expect: {outcome: recovers}
)";
  const struct {
    std::string head;
    std::string step;
    std::string error;
  } kCases[] = {
      {"preset: dnn\nchekpoint: {every: {steps: 10}}", "24",
       "unknown key 'chekpoint'"},
      {"preset: resnet\ncheckpoint: {every: {steps: 10}}", "24",
       "unknown preset 'resnet'"},
      {"preset: dnn\ncheckpoint: {every: {steps: 10}}", "0",
       "expected a whole number from 1 to"},
  };
  for (const auto& [head, step, error] : kCases) {
    std::string text = "schema: gauntlet/v2\nname: a\n" + head + faults;
    text.replace(text.find("STEP"), 4, step);
    const LoadedFile loaded = LoadScenarios(text, "s.yaml");
    ASSERT_EQ(loaded.errors.size(), 1u) << ErrorsOf(text);
    EXPECT_THAT(loaded.errors[0].message, testing::HasSubstr(error));
    EXPECT_EQ(RenderWarnings(loaded, "s.yaml", text), "");
  }
}

TEST(BadFilesTest, PointWithAPartLeftOut_SuggestsTheWholeName) {
  EXPECT_THAT(ErrorsOf("schema: gauntlet/v2\nname: a\nfaults: [{at: {point: "
                       "ckpt.write}, do: crash}]\nexpect: {outcome: "
                       "recovers}\n"),
              testing::HasSubstr("^ did you mean ckpt.shard.write?\n"));
}

TEST(BadFilesTest, FaultAfterAnUnknownFault_DoesNotSuggestItself) {
  const auto errors = [](const std::string& faults) {
    return ErrorsOf("schema: gauntlet/v2\nname: a\nfaults: [" + faults +
                    "{id: c, at: {step: 1}, after: zz, do: crash}]\nexpect: "
                    "{outcome: recovers}\n");
  };
  EXPECT_THAT(
      errors(""),
      testing::HasSubstr("^ remove `after`, as there is no other fault\n"));
  EXPECT_THAT(errors("{id: other, at: {step: 1}, do: crash}, "),
              testing::HasSubstr("^ one of other\n"));
}

TEST(BadFilesTest, StepAfterTheLast_HasAdvice) {
  const auto errors = [](const std::string& job) {
    return ErrorsOf("schema: gauntlet/v2\nname: a\n" + job +
                    "faults: [{at: {step: 37}, do: crash}]\nexpect: {outcome: "
                    "recovers}\n");
  };
  EXPECT_THAT(errors(""), testing::HasSubstr(
                              "^ name an earlier step, or raise job.epochs\n"));
  EXPECT_THAT(
      errors("job: {max_steps: 20}\n"),
      testing::HasSubstr("^ name an earlier step, or raise job.max_steps\n"));
}

TEST(BadFilesTest, OmittedPointIsNotReported) {
  EXPECT_EQ(ErrorsOf(R"(schema: gauntlet/v2
name: a
faults:
  - at: {point: ckpt.shard.wirte, offset: 5}
    do: crash
expect: {outcome: recovers}
)"),
            "s.yaml:4:17: error: unknown fault point 'ckpt.shard.wirte'\n"
            "  4 |   - at: {point: ckpt.shard.wirte, offset: 5}\n"
            "    |                 ^ did you mean ckpt.shard.write?\n");
}

// Other fault injectors nest the parameters in the name of the fault.
TEST(BadFilesTest, FaultKindWithItsParametersInAMapHasAHint) {
  const auto hint = [](const std::string& kind) {
    return ErrorsOf(
        "schema: gauntlet/v2\nname: a\nfaults:\n  - at: {step: 1}"
        "\n    do: {" +
        kind + ": {latency: 1s}}\nexpect: {outcome: recovers}\n");
  };
  EXPECT_EQ(hint("slow"),
            "s.yaml:5:9: error: expected a name, found a map\n"
            "  5 |     do: {slow: {latency: 1s}}\n"
            "    |         ^ do: slow, with: {…}\n");
  EXPECT_EQ(hint("sloth"),
            "s.yaml:5:9: error: expected a name, found a map\n"
            "  5 |     do: {sloth: {latency: 1s}}\n"
            "    |         ^\n");
}

// Text of a scenario after line 2, and the first line of its errors.
struct BadBody {
  const char* body;
  const char* error;
};

void PrintTo(const BadBody& bad, std::ostream* out) { *out << bad.error; }

class BadBodyTest : public testing::TestWithParam<BadBody> {};

TEST_P(BadBodyTest, IsRefusedWithTheseWords) {
  const std::string text = std::string("schema: gauntlet/v2\nname: a\n") +
                           GetParam().body + "\nexpect: {outcome: recovers}\n";
  const std::string errors = ErrorsOf(text);
  EXPECT_EQ(errors.substr(0, errors.find('\n')), GetParam().error) << errors;
}

const BadBody kBodies[] = {
    {"clutser: {workers: 2}", "s.yaml:3:1: error: unknown key 'clutser'"},
    {"job: {epoch: 2}", "s.yaml:3:7: error: unknown key 'epoch' in 'job'"},
    {"job: 7", "s.yaml:3:6: error: expected a map, found '7'"},
    {"job:", "s.yaml:3:1: error: expected a map, found nothing"},
    {"preset: tyni", "s.yaml:3:9: error: unknown preset 'tyni'"},
    {"seed: -1",
     "s.yaml:3:7: error: expected a whole number from 0 to "
     "18446744073709551615, found '-1'"},
    {"seed: '1'",
     "s.yaml:3:7: error: expected a whole number from 0 to "
     "18446744073709551615, found '1' in quotes"},
    {"cluster: {workers: 0}",
     "s.yaml:3:20: error: expected a whole number from 1 to 4096, found '0'"},
    {"cluster: {workers: two}",
     "s.yaml:3:20: error: expected a whole number from 1 to 4096, found 'two'"},
    {"cluster: {device: gpu}", "s.yaml:3:19: error: unknown device 'gpu'"},
    {"cluster: {device_per_attempt: cpu}",
     "s.yaml:3:31: error: expected a list of names, found 'cpu'"},
    {"cluster: {device_per_attempt: []}",
     "s.yaml:3:31: error: expected a list of names, found a list"},
    {"cluster: {collective: nccl}",
     "s.yaml:3:23: error: collective nccl needs a device in each attempt: "
     "expected cluster.device cuda or emulated, found cpu"},
    {"cluster: {device_per_attempt: [emulated, cpu], collective: nccl}",
     "s.yaml:3:60: error: collective nccl needs a device in each attempt: "
     "expected cluster.device cuda or emulated, found cpu"},
    {"cluster: {device_per_attempt: [cpu, auto]}",
     "s.yaml:3:37: error: unknown device_per_attempt 'auto'"},
    {"cluster: {restart: {policy: join}}",
     "s.yaml:3:29: error: unknown policy 'join'"},
    {"cluster: {workers: 2, min_workers: 3}",
     "s.yaml:3:36: error: expected at most `workers` (2), found 3"},
    {"cluster: {workers: 2, workers_per_attempt: []}",
     "s.yaml:3:44: error: expected at least one number"},
    {"cluster: {workers: 2, workers_per_attempt: [2, 3]}",
     "s.yaml:3:44: error: expected numbers from 1 to `workers` (2), found 3"},
    {"cluster: {workers: 3, min_workers: 2, workers_per_attempt: [3, 1]}\n"
     "job: {replicas: 3}",
     "s.yaml:3:60: error: expected numbers from 2 to `workers` (3), found 1"},
    {"cluster: {workers_per_attempt: 2}",
     "s.yaml:3:32: error: expected a list of numbers, found '2'"},
    {"launches: {stop_at_step: 2}",
     "s.yaml:3:11: error: expected a list of at most 16 maps, found a map"},
    {"launches: []", "s.yaml:3:11: error: expected at least one launch"},
    {"launches: [{steps: 2}, {}]",
     "s.yaml:3:13: error: unknown key 'steps' in 'launches'"},
    {"launches: [{epochs: 0}, {}]",
     "s.yaml:3:21: error: expected a whole number from 1 to 1000000, found "
     "'0'"},
    {"launches: [{epochs: 3}, {}]",
     "s.yaml:3:21: error: expected less than the job has (3), found 3"},
    {"job: {max_steps: 9}\nlaunches: [{max_steps: 9}, {}]",
     "s.yaml:4:24: error: expected less than the job has (9), found 9"},
    {"job: {max_steps: 9}\nlaunches: [{stop_at_step: 9}]",
     "s.yaml:4:27: error: expected less than the job has (9), found 9"},
    {"launches: [{max_steps: 4}, {max_steps: 3}, {}]",
     "s.yaml:3:40: error: expected at least 4 steps, as an earlier launch has "
     "(without its stop_at_step), found 3"},
    {"launches: [{}, {epochs: 1}, {}]",
     "s.yaml:3:25: error: expected at least 36 steps, as an earlier launch "
     "has (without its stop_at_step), found 12"},
    {"launches: [{epochs: 1}]",
     "s.yaml:3:11: error: expected the last launch of the job to train all of "
     "it: without epochs and max_steps"},
    {"launches: [{lr: 0.7}, {}]",
     "s.yaml:3:17: error: expected the job itself in the first launch: no "
     "checkpoint is there yet that could refuse another one"},
    {"job: {batch: 8}\nlaunches: [{}, {batch: 8}]",
     "s.yaml:4:24: error: expected another value than the job's own"},
    {"launches: [{}, {lr: 0.7, stop_at_step: 3}]",
     "s.yaml:3:21: error: a launch with a changed job trains nothing: expected "
     "lr and batch alone"},
    {"checkpoint: {on_success: delete}\nlaunches: [{}, {lr: 0.7}]",
     "s.yaml:4:21: error: a changed job needs a checkpoint to be refused: "
     "expected checkpoint.on_success keep"},
    {"checkpoint: {allow_cold_start: true}\nlaunches: [{}, {lr: 0.7}]",
     "s.yaml:4:21: error: a changed job is not refused with "
     "checkpoint.allow_cold_start true"},
    {"warm_start: {}\nlaunches: [{epochs: 1}, {}]",
     "s.yaml:4:11: error: launches cannot be combined with warm_start"},
    {"cluster: {heartbeat: {every: 200}}",
     "s.yaml:3:30: error: expected a duration such as 200ms, 1s or 2m, at "
     "most 24h, found '200'"},
    {"cluster: {step_timeout: 0s}",
     "s.yaml:3:25: error: expected a duration of at least 1ms, found '0s'"},
    {"timeout: {hang: 1us}",
     "s.yaml:3:17: error: expected a duration of at least 1ms, found '1us'"},
    {"cluster: {heartbeat: {every: 2s, lost_after: 1s}}",
     "s.yaml:3:46: error: expected lost_after above `every` (2s), and that "
     "above 0, found 1s"},
    {"requires: {disk: 256MB}",
     "s.yaml:3:18: error: expected a size such as 64KiB or 4096, in B, KiB, "
     "MiB or GiB, at most 1048576GiB, found '256MB'"},
    {"disk: {capacity: 99999999999GiB}",
     "s.yaml:3:18: error: expected a size such as 64KiB or 4096, in B, KiB, "
     "MiB or GiB, at most 1048576GiB, found '99999999999GiB'"},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xx"
     "xxxxxxxxxxx: 1",
     "s.yaml:3:1: error: unknown key "
     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xx"
     "xxxxxx…'"},
    {"requires: {features: [teleport]}",
     "s.yaml:3:23: error: unknown feature 'teleport'"},
    {"checkpoint: {mode: zero_copy}",
     "s.yaml:3:20: error: unknown mode 'zero_copy'"},
    {"checkpoint: {every: 50}",
     "s.yaml:3:21: error: expected {steps: n}, {epochs: n}, {seconds: n} or "
     "never, found '50'"},
    {"checkpoint: {every: {steps: 0}}",
     "s.yaml:3:29: error: expected a whole number above 0, found '0'"},
    {"checkpoint: {every: {steps: 1, epochs: 1}}",
     "s.yaml:3:21: error: expected {steps: n}, {epochs: n}, {seconds: n} or "
     "never, found {steps: 1, epochs: 1}"},
    {"checkpoint: {allow_cold_start: no}",
     "s.yaml:3:32: error: expected true or false, found 'no'"},
    {"planted_bugs: lose-rgn-key",
     "s.yaml:3:15: error: unknown planted bug 'lose-rgn-key'"},
    {"planted_bugs: [lose-rng-key, lose-rng-key]",
     "s.yaml:3:30: error: 'lose-rng-key' stands there twice"},
    {"job: {replicas: 1}",
     "s.yaml:3:17: error: 2 workers need at least as many replicas, found 1"},
    {"job: {optimizer: {lr: fast}}",
     "s.yaml:3:23: error: expected a number, found 'fast'"},
    {"job: {optimizer: {lr: nan}}",
     "s.yaml:3:23: error: expected a number, found 'nan'"},
    {"matrix: {cluster.wrokers: [1]}",
     "s.yaml:3:10: error: 'cluster.wrokers' is no key that a matrix can vary"},
    {"matrix: {cluster.workers: 2}",
     "s.yaml:3:27: error: expected a list of values, found '2'"},
    {"matrix: {cluster.workers: []}",
     "s.yaml:3:27: error: expected a list of values, found an empty one"},
    {"matrix: {cluster.workers: [2, two]}",
     "s.yaml:3:31: error: expected a whole number from 1 to 4096, found 'two'"},
    {"matrix: {seed: [1, 1]}",
     "s.yaml:3:9: error: the case a[seed=1] stands there twice"},
    {"faults: {at: {}}",
     "s.yaml:3:9: error: expected a list of faults, found "
     "a map"},
    {"faults: [{do: crash}]",
     "s.yaml:3:10: error: expected `at`: where the fault happens"},
    {"faults: [{at: {step: 1}}]",
     "s.yaml:3:10: error: expected `do`: what happens"},
    {"faults: [{at: {step: 1}, do: crahs}]",
     "s.yaml:3:30: error: unknown fault kind 'crahs'"},
    {"faults: [{at: {setp: 1}, do: crash}]",
     "s.yaml:3:16: error: unknown key 'setp' in 'faults.at'"},
    {"faults: [{at: {worker: boss}, do: crash}]",
     "s.yaml:3:24: error: expected a worker's number, all, any or chief, found "
     "'boss'"},
    {"faults: [{at: {worker: 2}, do: crash}]",
     "s.yaml:3:24: error: can never match: worker 2, but the cluster has "
     "workers 0 to "
     "1"},
    {"job: {replicas: 4}\nmatrix: {cluster.workers: [4, 2]}\n"
     "faults: [{at: {worker: 3}, do: crash}]",
     "s.yaml:5:24: error: can never match: worker 3, but a[workers=2] has "
     "workers 0 to 1"},
    {"faults: [{at: {worker: 1, point: ckpt.rename}, do: crash}]",
     "s.yaml:3:24: error: can never match: only the chief gets to ckpt.rename, "
     "and worker 1 is not it"},
    {"faults: [{at: {step: 37}, do: crash}]",
     "s.yaml:3:22: error: can never match: step 37, but the run has 36"},
    {"faults: [{at: {epoch: 9}, do: crash}]",
     "s.yaml:3:23: error: can never match: epoch 9, but the run has 3, the "
     "first is 0"},
    {"faults: [{at: {epoch: 3, point: epoch.end}, do: crash}]",
     "s.yaml:3:23: error: can never match: epoch 3, but the run has 3, the "
     "first is 0"},
    {"faults: [{at: {step: 0}, do: crash}]",
     "s.yaml:3:22: error: expected a whole number from 1 to "
     "9007199254740992, found '0'"},
    {"faults: [{at: {step: -8}, do: crash}]",
     "s.yaml:3:22: error: expected a whole number from 1 to "
     "9007199254740992, found '-8'"},
    {"faults: [{at: {step: 0, point: epoch.begin}, do: crash}]",
     "s.yaml:3:22: error: expected a whole number from 1 to "
     "9007199254740992, found '0'"},
    {"faults: [{at: {point: ckpt.state.write, step: -8}, do: crash}]",
     "s.yaml:3:47: error: expected a whole number from 0 to "
     "9007199254740992, found '-8'"},
    {"faults: [{at: {point: ckpt.load}, do: crash}]",
     "s.yaml:3:23: error: can never match: the first incarnation has nothing "
     "to load, "
     "so it does not get to ckpt.load"},
    {"faults: [{at: {incarnation: 2}, do: crash}]",
     "s.yaml:3:29: error: can never match: incarnation 2, but no other fault "
     "ends one"},
    {"faults: [{at: {step: 1}, do: duplicate}, "
     "{at: {incarnation: 2}, do: crash}]",
     "s.yaml:3:61: error: can never match: incarnation 2, but no other fault "
     "ends one"},
    {"cluster: {restart: {policy: none}}\n"
     "faults: [{at: {incarnation: 2}, do: crash}]",
     "s.yaml:4:29: error: can never match: incarnation 2, but nothing "
     "restarts"},
    {"cluster: {restart: {max: 0}}\n"
     "faults: [{at: {incarnation: 2}, do: crash}, "
     "{at: {step: 1}, do: crash}]",
     "s.yaml:4:29: error: can never match: incarnation 2, but there are at "
     "most 1"},
    {"faults: [{at: {point: export.write}, do: crash}]",
     "s.yaml:3:23: error: can never match: a finished run exports no model"},
    {"cluster: {workers: 1}\nfaults: [{at: {point: comm.send}, do: crash}]",
     "s.yaml:4:23: error: can never match: a single worker does not get to "
     "comm.send"},
    {"cluster: {workers: 1}\nfaults: [{at: {step: 1}, do: connection_reset}]",
     "s.yaml:4:10: error: connection_reset of a single worker has no effect: "
     "expected at least 2 workers, found 1"},
    {"cluster: {workers: 2}\n"
     "faults: [{at: {step: 1}, do: partition, with: {groups: [[0], [1, 2]]}}]",
     "s.yaml:4:10: error: groups: worker 2, but the cluster has workers 0 to "
     "1"},
    {"cluster: {workers: 1, topology: one_host_per_worker}\n"
     "faults: [{at: {step: 1}, do: delay, with: {latency: 1s}}]",
     "s.yaml:4:10: error: delay of a single worker has no effect: expected "
     "at least 2 workers, found 1"},
    {"cluster: {workers: 4, workers_per_attempt: [2, 2]}\n"
     "faults: [{at: {step: 1}, do: partition, with: {groups: [[0], [2]]}}]",
     "s.yaml:4:10: error: groups: worker 2, but the cluster has workers 0 to "
     "1"},
    {"faults: [{at: {step: 1}, do: crash, with: {exit_code: 7}}]",
     "s.yaml:3:55: error: expected none of the exit codes by which workers say "
     "how they ended (0, 1, 2, 7, 8, 9, 74, 75, 143), found 7"},
    {"faults: [{at: {point: ckpt.backup.delete}, do: crash}]",
     "s.yaml:3:23: error: can never match: a finished run keeps its "
     "checkpoints, and only one that deletes them gets to ckpt.backup.delete"},
    {"faults: [{at: {point: ckpt.copy}, do: crash}]",
     "s.yaml:3:23: error: can never match: training waits for its saves, which "
     "need no copy"},
    {"checkpoint: {every: never, on_success: leave}\n"
     "faults: [{at: {point: ckpt.begin}, do: crash}]",
     "s.yaml:4:23: error: can never match: occurrence 1 of ckpt.begin, but the "
     "run "
     "makes 0 saves"},
    {"faults: [{at: {point: ckpt.rename, occurrence: 4}, do: crash}]",
     "s.yaml:3:48: error: can never match: occurrence 4 of ckpt.rename, but "
     "the run "
     "makes 3 saves"},
    {"faults: [{at: {point: ckpt.rename, save: 4}, do: crash}]",
     "s.yaml:3:42: error: can never match: save 4, but the run makes 3"},
    {"faults: [{at: {point: step.begin, save: 1}, do: crash}]",
     "s.yaml:3:41: error: a save at step.begin can never match"},
    {"faults: [{at: {point: ckpt.rename, block: 0}, do: crash}]",
     "s.yaml:3:43: error: a block at ckpt.rename can never match"},
    {"faults: [{at: {point: ckpt.shard.write, block: 1, offset: 3}, "
     "do: crash}]",
     "s.yaml:3:48: error: expected a block or an offset, found both: each "
     "chooses a write"},
    {"faults: [{at: {point: ckpt.shard.write, block: all}, do: crash}]",
     "s.yaml:3:48: error: expected a whole number from 0 to 1000000, found "
     "'all'"},
    {"faults: [{at: {worker: 1, point: ckpt.committed}, do: crash}]",
     "s.yaml:3:24: error: can never match: only the chief gets to "
     "ckpt.committed, and worker 1 is not it"},
    {"job: {steps_per_execution: 5}\ncheckpoint: {every: {steps: 1}}\n"
     "faults: [{at: {point: ckpt.rename, occurrence: 12}, do: crash}]",
     "s.yaml:5:48: error: can never match: occurrence 12 of ckpt.rename, but "
     "the run "
     "makes 11 saves"},
    {"checkpoint: {every: {steps: 5}}\n"
     "faults: [{at: {point: ckpt.rename, step: 8}, do: crash}]",
     "s.yaml:4:42: error: can never match: step 8, but the nearest saves are "
     "at steps 5 and 10"},
    {"checkpoint: {every: {steps: 5}}\n"
     "faults: [{at: {point: ckpt.begin, step: 4}, do: preempt, "
     "with: {grace: 5s}}]",
     "s.yaml:4:41: error: can never match: step 4, but the first save is at "
     "step 5"},
    {"checkpoint: {every: {steps: 5}, on_success: leave}\n"
     "faults: [{at: {point: ckpt.begin, step: 36}, do: crash}]",
     "s.yaml:4:41: error: can never match: step 36, but the last save is at "
     "step 35"},
    {"faults: [{at: {point: ckpt.shard.open, step: 13}, do: crash}]",
     "s.yaml:3:46: error: can never match: step 13, but the nearest saves are "
     "at steps 12 and 24"},
    {"checkpoint: {mode: async, every: {steps: 5}}\n"
     "faults: [{at: {point: ckpt.copy, step: 9}, do: crash}]",
     "s.yaml:4:40: error: can never match: step 9, but the nearest saves are "
     "at steps 5 and 10"},
    {"warm_start: {workers: 0}",
     "s.yaml:3:23: error: expected a whole number from 1 to 64, found '0'"},
    {"warm_start: {worker: 2}",
     "s.yaml:3:14: error: unknown key 'worker' in "
     "'warm_start'"},
    {"warm_start: [2]", "s.yaml:3:13: error: expected a map, found a list"},
    {"job: {steps_per_execution: 0}",
     "s.yaml:3:28: error: expected a whole number from 1 to 1000000, found "
     "'0'"},
    {"job: {steps_per_execution: 1000001}",
     "s.yaml:3:28: error: expected a whole number from 1 to 1000000, found "
     "'1000001'"},
    {"job: {steps_per_execution: two}",
     "s.yaml:3:28: error: expected a whole number from 1 to 1000000, found "
     "'two'"},
    {"faults: [{at: {point: ckpt.retire.rename}, do: crash}]",
     "s.yaml:3:23: error: can never match: 3 saves, of which 5 are kept, "
     "retire none"},
    {"faults: [{at: {point: step.begin, offset: 5}, do: crash}]",
     "s.yaml:3:43: error: an offset at step.begin can never match"},
    {"faults: [{at: {point: ckpt.shard.write, offset: 101%}, do: crash}]",
     "s.yaml:3:49: error: expected an offset such as 64KiB, 4096 or 50%, at "
     "most 100%, found '101%'"},
    {"cluster: {workers: 4096}",
     "s.yaml:3:20: error: job: data.samples: expected at least one global "
     "batch (4096 replicas of 16 samples = 65536) with remainder drop, found "
     "384"},
    {"faults: [{at: {step: 1}, do: slow, with: {slow: {latency: 2s}}}]",
     "s.yaml:3:49: error: expected the parameters of slow directly in `with`, "
     "found them below 'slow'"},
    {"faults: [{at: {step: 1}, do: crash, with: {grace: 1s}}]",
     "s.yaml:3:44: error: unknown key 'grace' in 'with' of crash"},
    {"faults: [{at: {step: 1}, do: out_of_memory}]",
     "s.yaml:3:10: error: out_of_memory needs a device: expected "
     "cluster.device cuda or emulated, found cpu"},
    {"labels: [a, {b: c}]", "s.yaml:3:13: error: expected a name, found a map"},
    {"labels: smoke, slow",
     "s.yaml:3:9: error: expected a list of labels, found 'smoke, slow'"},
    {"faults: [{at: {step: 1}, do: gpu_error}]",
     "s.yaml:3:10: error: gpu_error needs a device: expected cluster.device "
     "cuda or emulated, found cpu"},
    {"cluster: {device: auto}\nfaults: [{at: {step: 1}, do: device_hang}]",
     "s.yaml:4:10: error: device_hang needs a device: expected "
     "cluster.device cuda or emulated, found auto"},
    {"faults: [{at: {point: device.open}, do: crash}]",
     "s.yaml:3:23: error: can never match: workers that compute on cpu open no "
     "device"},
    {"faults: [{at: {step: 1}, do: gpu_error, with: {error: EIO}}]",
     "s.yaml:3:55: error: unknown error 'EIO'"},
    {"faults: [{at: {step: 1}, do: slow}]",
     "s.yaml:3:30: error: slow needs a latency"},
    {"faults: [{at: {step: 1}, do: slow, with: {latency: 0s}}]",
     "s.yaml:3:52: error: slow by nothing has no effect: expected a latency "
     "above 0"},
    {"faults: [{at: {step: 1}, do: slow, with: {latency: 5}}]",
     "s.yaml:3:52: error: expected a duration such as 200ms, 1s or 2m, at "
     "most 24h, found '5'"},
    {"faults: [{at: {step: 1}, do: delay, with: {latency: 0}}]",
     "s.yaml:3:53: error: delay by nothing has no effect: expected a latency "
     "above 0"},
    {"faults: [{at: {step: 1}, do: preempt, with: {grace: 1s, profile: k8s}}]",
     "s.yaml:3:53: error: expected either a grace or a profile for preempt"},
    {"faults: [{at: {step: 1}, do: preempt, with: {by: file}}]",
     "s.yaml:3:45: error: preempt needs a grace or a profile"},
    {"faults: [{at: {step: 1}, do: errno, with: {error: ENOSPCE}}]",
     "s.yaml:3:51: error: unknown error 'ENOSPCE'"},
    {"faults: [{at: {point: ckpt.shard.write}, do: torn_write, with: {blocks: "
     "4, keep: [4]}}]",
     "s.yaml:3:83: error: expected a block from 0 to 3, found '4'"},
    {"faults: [{id: a b, at: {step: 1}, do: crash}]",
     "s.yaml:3:15: error: expected an id of 1 to 64 letters, digits, '-', '_' "
     "and '.', found 'a b'"},
    {"faults:\n  - {id: x, at: {step: 1}, do: crash}\n"
     "  - {id: x, at: {step: 2}, do: crash}",
     "s.yaml:5:10: error: duplicate fault id 'x'"},
    {"faults: [{id: first, at: {step: 1}, after: frist, do: crash}]",
     "s.yaml:3:44: error: no fault has the id 'frist'"},
    {"faults:\n  - {id: x, after: y, at: {step: 1}, do: crash}\n"
     "  - {id: y, after: x, at: {step: 2}, do: crash}",
     "s.yaml:4:20: error: 'x' comes after itself: a circle of `after`"},
    {"explore: {max_faults: 2}", "s.yaml:3:1: error: unknown key 'explore'"},
};

INSTANTIATE_TEST_SUITE_P(All, BadBodyTest, testing::ValuesIn(kBodies));

TEST(BadFilesTest, LatencyThatIsNoDuration_IsOneError) {
  const std::string errors = ErrorsOf(
      "schema: gauntlet/v2\nname: a\n"
      "faults: [{at: {step: 1}, do: slow, with: {latency: 5}}]\n"
      "expect: {outcome: completes}\n");
  EXPECT_THAT(errors, testing::HasSubstr("found '5'"));
  EXPECT_THAT(errors, testing::Not(testing::HasSubstr("has no effect")));
}

TEST(BadFilesTest, EmptyDocumentIsAccepted_OnlyAtTheEnd) {
  const std::string one =
      "schema: gauntlet/v2\nname: a\nexpect: {outcome: completes}\n";
  for (const char* end : {"---\n", "---\n# a comment\n", "---\n---\n"}) {
    EXPECT_EQ(ErrorsOf(one + end), "") << end;
    EXPECT_EQ(LoadScenarios(one + end, "s.yaml").scenarios.size(), 1u) << end;
  }
  for (const std::string& text : {"---\n---\n" + one, std::string("---\n")}) {
    EXPECT_THAT(ErrorsOf(text),
                testing::HasSubstr("error: expected a map, found nothing\n"))
        << text;
  }
}

TEST(BadFilesTest, HeadIsReadFirst) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"name: a\n",
       "s.yaml:1:1: error: expected `schema: gauntlet/v2`, found "
       "none"},
      {"schema: gauntlet/v3\nname: a\n",
       "s.yaml:1:9: error: expected `schema: gauntlet/v2`, found "
       "'gauntlet/v3'"},
      {"schema: gauntlet/v2\nnmae: a\n",
       "s.yaml:2:1: error: unknown key "
       "'nmae'"},
      {"schema: gauntlet/v2\nname: a/b\n",
       "s.yaml:2:7: error: expected a name of 1 to 100 letters, digits, '-', "
       "'_' and '.', found 'a/b'"},
      {"schema: gauntlet/v2\nname: a\n",
       "s.yaml:2:7: error: `expect` is missing: it states the outcome "
       "that the run must have"},
      {"schema: gauntlet/v2\nname: a\nexpect: {outcome: recover}\n",
       "s.yaml:3:19: error: unknown outcome 'recover'"},
      {"schema: gauntlet/v2\nname: a\nexpect: {exit_code: 0}\n",
       "s.yaml:3:9: error: expected an `outcome`"},
      {"schema: gauntlet/v2\nname: a\nexpect: {outcome: violates}\n",
       "s.yaml:3:19: error: `violates` needs the invariants that are to be "
       "broken"},
      {"schema: gauntlet/v2\nname: a\nexpect: {outcome: completes, "
       "invariants: [stoer]}\n",
       "s.yaml:3:43: error: unknown invariant 'stoer'"},
      {"schema: gauntlet/v2\nname: a\nexpect: {outcome: completes}\n---\n"
       "schema: gauntlet/v2\nname: a\nexpect: {outcome: completes}\n",
       "s.yaml:6:7: error: duplicate scenario 'a' in this file"},
  };
  for (const auto& [text, error] : kCases) {
    const std::string errors = ErrorsOf(text);
    EXPECT_EQ(errors.substr(0, errors.find('\n')), error) << errors;
  }
}

TEST(BadFilesTest, RefusesMoreOccurrencesOfAStepThanThereAre) {
  const auto errors = [](const std::string& at, const std::string& more = "") {
    return ErrorsOf(fmt::format(
        "schema: gauntlet/v2\nname: a\npreset: tiny\njob: {{epochs: "
        "2, replicas: 2}}\n{}faults: [{{at: {{worker: 0, {}}}, do: "
        "crash}}]\nexpect: {{outcome: recovers}}\n",
        more, at));
  };
  EXPECT_THAT(errors("epoch: 1, occurrence: 13"),
              testing::HasSubstr("error: can never match: occurrence 13 of "
                                 "step.begin, but an incarnation comes to it "
                                 "12 times in epoch 1\n"));
  EXPECT_THAT(errors("point: step.end, occurrence: 25"),
              testing::HasSubstr("24 times in the run\n"));
  EXPECT_THAT(errors("step: 3, occurrence: 2"),
              testing::HasSubstr("1 time in step 3\n"));
  for (const char* at : {"epoch: 1, occurrence: 12", "occurrence: 24",
                         "point: data.next, occurrence: 25"}) {
    EXPECT_EQ(errors(at), "") << at;
  }
  EXPECT_EQ(errors("occurrence: 25",
                   "cluster: {workers: 2, restart: {policy: rejoin}}\n"),
            "")
      << "a worker that rejoins may repeat steps";
}

TEST(BadFilesTest, HintsAtAReadableStepTimeout) {
  for (const auto& [limit, hint] :
       std::initializer_list<std::pair<const char*, const char*>>{
           {"4s", "1s"}, {"20s", "6s"}, {"1s", "333ms"}, {"1ms", "1ms"}}) {
    const std::string text = fmt::format(
        "schema: gauntlet/v2\nname: a\n"
        "timeout: {{hang: {}, total: 2m}}\nfaults: [{{at: {{step: 2}}, do: "
        "hang}}]\nexpect: {{outcome: recovers}}\n",
        limit);
    EXPECT_THAT(ErrorsOf(text), testing::HasSubstr(fmt::format(
                                    "cluster: {{step_timeout: {}}}\n", hint)));
  }
}

// Values that contradict each other, or are empty.
TEST(BadFilesTest, RefusesMeaninglessValues) {
  const std::pair<std::string, std::string> kCases[] = {
      {"expect: {outcome: violates, invariants: [store]}",
       "s.yaml:3:19: error: `violates` is for mutation tests: expected a "
       "planted bug"},
      {"expect: {outcome: recovers, restarts: {exactly: 2, max: 1}}",
       "s.yaml:3:57: error: expected at least `exactly` (2), found 1"},
      {"expect: {outcome: recovers, restarts: {}}",
       "s.yaml:3:39: error: expected one of exactly, max, found an empty map"},
      {"expect: {outcome: recovers, resumed_from: {}}",
       "s.yaml:3:43: error: expected step, found an empty map"},
      {"expect: {outcome: recovers, ends_at: {}}",
       "s.yaml:3:38: error: expected one of epoch, step, found an empty map"},
      {"timeout: {hang: 30s}\nfaults: [{at: {step: 2}, do: hang}]",
       "s.yaml:3:10: error: timeout.hang: expected more than 30s, found 30s: "
       "the engine takes that long to find a hang (the shortest of "
       "cluster.step_timeout, cluster.save_timeout and 30s)"},
      {"cluster: {step_timeout: 5s}\ntimeout: {total: 4s}\n"
       "faults: [{at: {step: 2}, do: hang, with: {duration: 6s}}]",
       "s.yaml:4:10: error: timeout.total: expected more than 5s, found 4s: "
       "the engine takes that long to find a hang (the shortest of "
       "cluster.step_timeout, cluster.save_timeout and 30s)"},
      {"timeout: {hang: 2m, total: 2m}",
       "s.yaml:3:17: error: expected less than `total` (2m), which stops the "
       "case first, found 2m"},
      {"job: {optimizer: {name: sgd, beta1: 0.5}}",
       "s.yaml:3:37: error: beta1 is of adam, found sgd"},
      {"job: {optimizer: {name: adam, momentum: 0.5}}",
       "s.yaml:3:41: error: momentum is of sgd, found adam"},
      {"job: {epochs: \"1\"}",
       "s.yaml:3:15: error: expected a whole number from 1 to 1000000, found "
       "'1' in quotes"},
      {"cluster: {workers: 1}\nfaults: [{at: {step: 2}, do: partition}]",
       "s.yaml:4:10: error: partition of a single worker has no effect: "
       "expected at least 2 workers, found 1"},
      {"faults: [{at: {step: 2}, do: wall_clock_jump, with: {by: 1500ms}}]",
       "s.yaml:3:58: error: expected whole seconds, at least 1s, found "
       "1500ms"},
      {"faults: [{at: {step: 2}, do: wall_clock_jump, with: {by: 876000h}}]",
       "s.yaml:3:58: error: expected a duration such as 200ms, 1s or 2m, at "
       "most 24h, found '876000h'"},
  };
  for (const auto& [rest, error] : kCases) {
    std::string text = "schema: gauntlet/v2\nname: a\n" + rest + "\n";
    if (!rest.starts_with("expect")) text += "expect: {outcome: completes}\n";
    const std::string errors = ErrorsOf(text);
    EXPECT_EQ(errors.substr(0, errors.find('\n')), error) << errors;
  }
}

TEST(BadFilesTest, PossiblePointIsNotCalledUnreachable) {
  for (const char* rest : {
           // A preempted job is restarted; no other cause restarts it here.
           "cluster: {restart: {policy: none}}\n"
           "faults: [{at: {step: 2}, do: preempt, with: {grace: 5s}}, "
           "{at: {incarnation: 2}, do: crash}]",
           "cluster: {restart: {max: 1}}\n"
           "faults: [{at: {step: 2}, do: preempt, with: {grace: 5s}}, "
           "{at: {incarnation: 3}, do: crash}]",
           // A worker that is slow or gets an error may be lost.
           "faults: [{at: {step: 2}, do: slow, with: {latency: 2m}}, "
           "{at: {incarnation: 2}, do: crash}]",
           "faults: [{at: {point: cluster.claim.create}, do: fsync_fails}, "
           "{at: {incarnation: 2}, do: crash}]",
           // A claim also writes the state file.
           "checkpoint: {every: never, on_success: leave}\n"
           "faults: [{at: {point: ckpt.state.rename}, do: crash}]",
           // A lost save is repeated.
           "cluster: {restart: {policy: rejoin}}\n"
           "faults: [{at: {worker: 1, point: ckpt.shard.open}, do: crash}, "
           "{at: {point: ckpt.begin, occurrence: 100}, do: crash}]",
           // Saves by the schedule, at the end, and outside of any schedule.
           "checkpoint: {every: {steps: 5}}\n"
           "faults: [{at: {point: ckpt.begin, step: 10}, do: crash}]",
           "checkpoint: {every: {steps: 5}}\n"
           "faults: [{at: {point: ckpt.begin, step: 36}, do: crash}]",
           "checkpoint: {every: {seconds: 5}}\n"
           "faults: [{at: {point: ckpt.begin, step: 8}, do: crash}]",
           "checkpoint: {every: {steps: 5}}\n"
           "faults: [{at: {step: 7}, do: preempt, with: {grace: 5s}}, "
           "{at: {point: ckpt.begin, step: 8}, do: crash}]",
           "launches: [{stop_at_step: 8}, {}]\n"
           "faults: [{at: {point: ckpt.begin, step: 8}, do: crash}]",
           "cluster: {restart: {policy: rejoin}}\n"
           "faults: [{at: {step: 7}, do: crash}, "
           "{at: {point: ckpt.begin, step: 8}, do: crash}]",
           // An asynchronous checkpoint may be written in any step.
           "checkpoint: {mode: async, every: {steps: 5}}\n"
           "faults: [{at: {point: ckpt.rename, step: 8}, do: crash}]",
           // A notice adds one save.
           "faults: [{at: {step: 7}, do: terminate_launcher}, "
           "{at: {point: ckpt.rename, occurrence: 4}, do: crash}]",
           // Worker 0 may be left out.
           "cluster: {workers: 3, min_workers: 2}\n"
           "faults: [{at: {worker: 1, point: ckpt.rename}, do: crash}]",
       }) {
    EXPECT_EQ(ErrorsOf(fmt::format("schema: gauntlet/v2\nname: a\n{}\nexpect: "
                                   "{{outcome: recovers}}\n",
                                   rest)),
              "");
  }
}

// Returns the errors about a fault of a job that saves every 5 steps, and at
// its end, step 36.
std::string ErrorsAt(const std::string& at, const std::string& more = "") {
  return ErrorsOf(fmt::format(
      "schema: gauntlet/v2\nname: a\ncheckpoint: {{every: {{steps: 5}}{}}}\n"
      "faults: [{{at: {{{}}}, do: crash}}]\nexpect: {{outcome: recovers}}\n",
      more, at));
}

TEST(BadFilesTest, TailOfASave_MayFollowAnyStepFromTheFirstSaveOn) {
  for (const char* mode : {"sync", "async"}) {
    const std::string more = fmt::format(", mode: {}", mode);
    for (const char* point :
         {"ckpt.state.write", "ckpt.state.fsync", "ckpt.state.rename",
          "ckpt.retire.rename", "ckpt.retire.renamed", "ckpt.retire.remove",
          "ckpt.end"}) {
      const auto errors = [&](int step) {
        return ErrorsAt(
            fmt::format("worker: chief, point: {}, step: {}", point, step),
            more);
      };
      for (const int step : {5, 6, 10, 11, 12, 15, 35, 36}) {
        EXPECT_EQ(errors(step), "") << mode << " " << point << " " << step;
      }
      EXPECT_THAT(errors(4),
                  testing::HasSubstr("error: can never match: step 4, but the "
                                     "first save is at step 5\n"))
          << mode << " " << point;
      EXPECT_THAT(errors(37),
                  testing::HasSubstr("error: can never match: step 37, but the "
                                     "run has 36\n"))
          << mode << " " << point;
    }
  }
}

TEST(BadFilesTest, TailOfASave_WithoutASaveAtTheEnd_MayReachTheLastStep) {
  EXPECT_EQ(ErrorsAt("point: ckpt.end, step: 36", ", on_success: leave"), "");
}

// The claim of a new process writes the state file before any step.
TEST(BadFilesTest, OnlyTheStateFileIsWrittenBeforeTheFirstStep) {
  EXPECT_EQ(ErrorsAt("point: ckpt.state.write, step: 0"), "");
  for (const char* point : {"ckpt.end", "ckpt.retire.rename"}) {
    EXPECT_THAT(ErrorsAt(fmt::format("point: {}, step: 0", point)),
                testing::HasSubstr("error: can never match: step 0, but the "
                                   "first save is at step 5\n"))
        << point;
  }
}

// Only the chief retires old checkpoints in the background. Other workers wait
// for the commit.
TEST(BadFilesTest, OtherWorkersEndASynchronousSaveAtItsStep) {
  EXPECT_EQ(ErrorsAt("worker: 1, point: ckpt.end, step: 10"), "");
  EXPECT_THAT(ErrorsAt("worker: 1, point: ckpt.end, step: 6"),
              testing::HasSubstr("error: can never match: step 6, but the "
                                 "nearest saves are at steps 5 and 10\n"));
  EXPECT_EQ(ErrorsAt("worker: 1, point: ckpt.end, step: 6", ", mode: async"),
            "");
}

TEST(BadFilesTest, ResumeWithoutAnyCheckpoint_IsAnError) {
  const std::string head = "schema: gauntlet/v2\nname: a\n";
  const std::string crash = "faults: [{at: {worker: 1, step: 8}, do: crash}]\n";
  const std::string resume =
      "expect: {outcome: recovers, resumed_from: {step: 5}}\n";
  EXPECT_EQ(ErrorsOf(head + "checkpoint: {every: never}\n" + crash + resume),
            "s.yaml:5:50: error: can never match: step 5, but "
            "checkpoint.every is never\n"
            "  5 | expect: {outcome: recovers, resumed_from: {step: 5}}\n"
            "    |                                                  ^ "
            "checkpoint: {every: {steps: 5}}\n");
  EXPECT_THAT(
      ErrorsOf(head + "checkpoint: {every: never}\n" + crash +
               "expect: {outcome: recovers, resumed_from: {step: 0}}\n"),
      testing::HasSubstr("^ remove resumed_from\n"));
  EXPECT_THAT(
      ErrorsOf(head + "checkpoint: {directory: none}\n" + crash + resume),
      testing::HasSubstr("error: can never match: step 5, but the job "
                         "stores no checkpoint\n"));
}

TEST(BadFilesTest, ResumeFromASaveWithoutATriggerIsNoError) {
  for (const char* rest : {
           "faults: [{at: {step: 5}, do: preempt, with: {grace: 5s}}]",
           "faults: [{at: {step: 5}, do: terminate_launcher}]",
           "launches: [{stop_at_step: 5}, {}]",
           "cluster: {workers: 2, restart: {policy: rejoin}}\n"
           "faults: [{at: {worker: all, step: 8}, do: crash}]",
           // Training has 5 steps: it saves at its end.
           "job: {max_steps: 5}\n"
           "faults: [{at: {worker: 1, step: 5}, do: crash}]",
       }) {
    EXPECT_EQ(ErrorsOf(fmt::format(
                  "schema: gauntlet/v2\nname: a\n"
                  "checkpoint: {{every: never}}\n{}\n"
                  "expect: {{outcome: recovers, resumed_from: {{step: 5}}}}\n",
                  rest)),
              "");
  }
}

TEST(BadFilesTest, RefusesExpectationsThatNoJobCanMeet) {
  for (const char* value :
       {"restarts: {exactly: 20000000}", "ends_at: {epoch: 4294967296}"}) {
    EXPECT_THAT(
        ErrorsOf(fmt::format("schema: gauntlet/v2\nname: a\n"
                             "expect: {{outcome: completes, {}}}\n",
                             value)),
        testing::HasSubstr("expected a whole number from 0 to 1000000, found"))
        << value;
  }
}

TEST(BadFilesTest, RefusesAnEmptyMapOfExpectations) {
  for (const char* key :
       {"restarts", "resumed_from", "recomputed_steps", "detected_in",
        "ends_at", "failed_saves", "saves", "epochs_after_restart"}) {
    const std::string errors =
        ErrorsOf(std::string("schema: gauntlet/v2\nname: a\nexpect: {") + key +
                 ": {}, outcome: completes}\n");
    EXPECT_THAT(errors, testing::HasSubstr("found an empty map")) << key;
  }
}

TEST(BadFilesTest, AcceptsAShortLimitWithoutLongHangs) {
  const std::string head =
      "schema: gauntlet/v2\nname: a\ntimeout: {hang: 5s}\n"
      "expect: {outcome: recovers}\n";
  EXPECT_EQ(ErrorsOf(head), "");
  EXPECT_EQ(
      ErrorsOf(head + "faults: [{at: {step: 2}, do: hang, with: {duration: "
                      "4s}}]\n"),
      "");
}

TEST(BadFilesTest, BytesThatAreNoTextAreNotEchoed) {
  const std::string errors = ErrorsOf("schema: gauntlet/v2\nname: \xff\xfe\n");
  for (const char c : errors) EXPECT_LT(static_cast<unsigned char>(c), 0x80u);
  EXPECT_THAT(ErrorsOf("schema: gauntlet/v2\nname: größe\n"),
              testing::HasSubstr("größe"));
}

TEST(BadFilesTest, PointsAtTheErrorInAListOfAJob) {
  const std::pair<std::string, std::string> kCases[] = {
      {"{layers: 3}",
       "s.yaml:3:15: error: expected a list of at most 64 maps, found '3'"},
      {"{layers: [{kind: conv3d}]}",
       "s.yaml:3:23: error: unknown kind 'conv3d'"},
      {"{layers: [{unit: 3, kind: dense}]}",
       "s.yaml:3:17: error: unknown key 'unit' in 'job.layers'"},
      {"{layers: [{units: 3}]}",
       "s.yaml:3:16: error: expected a `kind` of layer"},
      {"{layers: [{kind: flatten}, {kind: relu, units: 3}, {kind: dense, "
       "units: 10}]}",
       "s.yaml:3:53: error: a relu layer has no `units`"},
      {"{layers: [{kind: flatten}, {kind: dense, rate: 0.5, units: 10}]}",
       "s.yaml:3:53: error: a dense layer has no `rate`"},
      {"{layers: [{kind: dense, units: 10}]}",
       "s.yaml:3:23: error: job: layers[0].kind: expected flatten or "
       "conv2d as the first layer"},
      {"{data: {side: 7}, layers: [{kind: conv2d, filters: 2, kernel: 30}, "
       "{kind: flatten}, {kind: dense, units: 10}]}",
       "s.yaml:3:33: error: job: layers[0]: expected a kernel of 1 to 7 "
       "pixels a side on inputs of 7 x 7, found 30"},
      {"{layers: [{kind: flatten}, {kind: dense, units: 11}]}",
       "s.yaml:3:15: error: job: layers: expected 10 outputs, one for "
       "each class of the data, found 11"},
      {"{optimizer: {schedule: {boundaries: [1, x]}}}",
       "s.yaml:3:46: error: expected a whole number from 0 to "
       "9007199254740992, found 'x'"},
      {"{optimizer: {schedule: {values: 0.1}}}",
       "s.yaml:3:38: error: expected a list of numbers, found '0.1'"},
      {"{optimizer: {clip: {by: value, limit: 0}}}",
       "s.yaml:3:44: error: job: optimizer.clip.limit: expected a number above "
       "0 and at most 1e+30, found 0"},
      {"{optimizer: {lr: 0}}",
       "s.yaml:3:23: error: job: optimizer.lr: expected a number above 0 and "
       "at most 1000, found 0"},
      {"{epochs: 2}\ncluster: {workers: 4096}",
       "s.yaml:3:6: error: job: data.samples: expected at least one global "
       "batch (4096 replicas of 16 samples = 65536) with remainder drop, found "
       "384"},
      {"{accumulate: 0}",
       "s.yaml:3:19: error: expected a whole number from 1 to 65536, found "
       "'0'"},
  };
  for (const auto& [job, error] : kCases) {
    const std::string errors =
        ErrorsOf("schema: gauntlet/v2\nname: a\njob: " + job +
                 "\nexpect: {outcome: completes}\n");
    EXPECT_EQ(errors.substr(0, errors.find('\n')), error) << errors;
  }
}

TEST(BadFilesTest, FieldOfAnotherLayerKind_NamesTheKindThatHasIt) {
  EXPECT_EQ(ErrorsOf("schema: gauntlet/v2\nname: a\njob:\n  layers:\n"
                     "    - {kind: flatten}\n"
                     "    - {kind: relu, units: 3}\n"
                     "    - {kind: dense, units: 10}\n"
                     "expect: {outcome: completes}\n"),
            "s.yaml:6:27: error: a relu layer has no `units`\n"
            "  6 |     - {kind: relu, units: 3}\n"
            "    |                           ^ `units` is for dense\n");
}

TEST(BadFilesTest, AllErrorsOfAFileAreReportedInItsOrder) {
  const std::string errors = ErrorsOf(
      "schema: gauntlet/v2\nname: a\njob: {bach: 3}\nclutser: {}\n"
      "expect: {outcome: completes}\n");
  EXPECT_LT(errors.find("s.yaml:3:7: error: unknown key 'bach' in 'job'"),
            errors.find("s.yaml:4:1: error: unknown key 'clutser'"));
}

TEST(BadFilesTest, ErrorOfEveryCaseOfAMatrixIsReportedOnce) {
  const LoadedFile loaded = LoadScenarios(
      "schema: gauntlet/v2\nname: a\njob: {bach: 3, replicas: 4}\n"
      "matrix: {cluster.workers: [2, 3, 4]}\nexpect: {outcome: completes}\n",
      "s.yaml");
  EXPECT_EQ(loaded.errors.size(), 1u);
}

}  // namespace
}  // namespace gauntlet
