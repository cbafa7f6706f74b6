#include "harness/cli/command_line.h"

#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

template <typename T>
T Parsed(const Words& words) {
  const Result<CommandLine> line = ParseCommandLine(words);
  EXPECT_TRUE(line.ok()) << line.status().ToString();
  if (!line.ok() || !std::holds_alternative<T>(line->command)) {
    ADD_FAILURE() << "not the command that was expected";
    return T();
  }
  return std::get<T>(line->command);
}

TEST(CommandLineTest, NothingAtAllShowsCommandsAndExamples) {
  const std::string text = Parsed<ShowCommand>({}).text;
  for (const char* verb :
       {"train", "run", "replay", "ckpt", "list", "doctor", "help"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n  ") + verb + " "));
  }
  EXPECT_THAT(text, HasSubstr("gauntlet run --demo"));
  EXPECT_THAT(text, Not(HasSubstr("worker ")));
}

TEST(CommandLineTest, VersionAndHelpAreShown) {
  EXPECT_THAT(Parsed<ShowCommand>({"--version"}).text,
              HasSubstr("gauntlet 0.1.0 (numerics contract "));
  EXPECT_EQ(Parsed<ShowCommand>({"--help"}).text, OverviewText());
  for (const std::string& verb : CommandNames()) {
    const std::string text = Parsed<ShowCommand>({verb, "--help"}).text;
    EXPECT_THAT(text, HasSubstr("Usage: gauntlet " + verb)) << verb;
  }
}

struct BadLine {
  Words words;
  std::string message;
};

TEST(CommandLineTest, NoticesComeFromWhereTrainIsTold) {
  const PreemptionOptions told =
      Parsed<TrainCommand>({"train", "--notice-file", "run/go", "--notice-url",
                            "http://127.0.0.1:81/x", "--notice-every", "200ms",
                            "--notice-signal", "USR1"})
          .options.preemption;
  EXPECT_EQ(told.file, "run/go");
  EXPECT_EQ(told.url, "http://127.0.0.1:81/x");
  EXPECT_EQ(told.signal, "SIGUSR1");
  EXPECT_EQ(told.poll_every, std::chrono::milliseconds(200));
}

TEST(CommandLineTest, AMistakeIsOneLineThatNamesIt) {
  const std::vector<BadLine> cases = {
      {{"trian"}, "unknown command 'trian'; did you mean train?"},
      {{"xyzzy"}, "unknown command 'xyzzy'"},
      {{"--verison"}, "unknown option '--verison'; did you mean --version?"},
      {{"--color"}, "--color: expected a value after it"},
      {{"--color", "red", "doctor"},
       "--color: expected one of auto, always, never, found 'red'"},
      {{"train", "--worker", "2"},
       "train: unknown option '--worker'; did you mean --workers?"},
      {{"train", "--worker=2"},
       "train: unknown option '--worker'; did you mean --workers?"},
      {{"train", "tiny"}, "train: unexpected argument 'tiny'"},
      {{"train", "--workers"}, "train: --workers: expected a value after it"},
      {{"train", "--workers", "--json"},
       "train: --workers: expected a whole number from 1 to 256, found "
       "'--json'"},
      {{"train", "--workers", "0"},
       "train: --workers: expected a whole number from 1 to 256, found '0'"},
      {{"train", "--workers", "two"},
       "train: --workers: expected a whole number from 1 to 256, found 'two'"},
      {{"train", "--workers", "2x"},
       "train: --workers: expected a whole number from 1 to 256, found '2x'"},
      {{"train", "--workers", "99999999999999999999"},
       "train: --workers: expected a whole number from 1 to 256, found "
       "'99999999999999999999'"},
      {{"train", "--workers", "2", "--workers", "3"},
       "train: --workers: given twice"},
      {{"train", "--workers", "4", "--replicas", "2"},
       "train: --workers: expected at most one a replica (2), found 4"},
      {{"train", "--seed", "-1"},
       "train: --seed: expected a whole number from 0 to "
       "18446744073709551615, found '-1'"},
      {{"train", "--seed=-1"},
       "train: --seed: expected a whole number from 0 to "
       "18446744073709551615, found '-1'"},
      {{"train", "--preset", "tyni"},
       "train: --preset: expected one of linear, mlp, dnn, cnn, tiny, found "
       "'tyni'; did you mean tiny?"},
      {{"train", "--isa", "sse"},
       "train: --isa: expected one of auto, scalar, avx2, avx512, found 'sse'"},
      {{"train", "--notice-signal", "KILL"},
       "train: --notice-signal: expected one of SIGTERM, SIGHUP, SIGQUIT, "
       "SIGUSR1, SIGUSR2, SIGXCPU, SIGPWR, found 'KILL'"},
      {{"train", "--notice-url", "https://1.2.3.4/"},
       "train: --notice-url: URL \"https://1.2.3.4/\": expected "
       "http://ADDRESS/PATH"},
      {{"train", "--notice-url", "http://metadata/x"},
       "train: --notice-url: URL \"http://metadata/x\": expected an IPv4 "
       "address such as 169.254.169.254, no name"},
      {{"train", "--notice-file", ""},
       "train: --notice-file: expected a value, found ''"},
      {{"train", "--notice-file", "run/"},
       "train: --notice-file: expected the name of a file, found 'run/'"},
      {{"train", "--math", ""},
       "train: --math: expected one of canonical, fast, found ''"},
      {{"train", "--every", "50"},
       "train: --every: expected --ckpt DIR beside it"},
      {{"train", "--ckpt", "c", "--every", "often"},
       "train: --every: expected steps (50), seconds (30s), epoch or never, "
       "found 'often'"},
      {{"train", "--ckpt", "c", "--every", "0"},
       "train: --every: expected steps (50), seconds (30s), epoch or never, "
       "found '0'"},
      {{"train", "--ckpt", "c", "--every", "s"},
       "train: --every: expected steps (50), seconds (30s), epoch or never, "
       "found 's'"},
      {{"train", "--ckpt", ""}, "train: --ckpt: expected a value, found ''"},
      {{"train", "--ckpt", "--json"},
       "train: --ckpt: expected a value, found '--json'"},
      {{"train", "--keep", "0", "--ckpt", "c"},
       "train: --keep: expected a whole number from 1 to 1000000, found '0'"},
      {{"train", "--allow-cold-start"},
       "train: --allow-cold-start: expected --ckpt DIR beside it"},
      {{"train", "--restart", "none", "--max-restarts", "3"},
       "train: --max-restarts: expected 0 beside --restart none"},
      {{"worker"}, "worker: --options: missing"},
      {{"run"}, "run: expected a scenario file or folder, or --demo"},
      {{"run", "--demo", "a.yaml"}, "run: --demo: expected no paths beside it"},
      {{"run", "a.yaml", "--world", "virtual"},
       "run: --world: expected one of real, sim, both, found 'virtual'"},
      {{"run", "a.yaml", "--shard", "3/2"},
       "run: --shard: expected I/N with I from 1 to N, found '3/2'"},
      {{"run", "a.yaml", "--shard", "3"},
       "run: --shard: expected I/N with I from 1 to N, found '3'"},
      {{"run", "a.yaml", "-L", "--strict"},
       "run: --label: expected a value, found '--strict'"},
      {{"replay"}, "replay: expected a file, a run, or RUN/CASE"},
      {{"replay", "latest", "7f3a"}, "replay: unexpected argument '7f3a'"},
      {{"replay", "latest", "--world", "both"},
       "replay: --world: expected one of real, sim, found 'both'"},
      {{"ckpt"}, "ckpt: expected a subcommand: ls, verify or diff"},
      {{"ckpt", "verfy", "d"},
       "ckpt: expected ls, verify or diff, found 'verfy'; did you mean "
       "verify?"},
      {{"ckpt", "ls"}, "ckpt: ls: DIR: missing"},
      {{"ckpt", "diff", "a"}, "ckpt: diff: B: missing"},
      {{"ckpt", "ls", "a", "b"}, "ckpt: ls: unexpected argument 'b'"},
      {{"list"},
       "list: expected presets, points, faults, invariants, planted-bugs or "
       "scenarios"},
      {{"list", "pionts"},
       "list: expected presets, points, faults, invariants, planted-bugs or "
       "scenarios, found 'pionts'; did you mean points?"},
      {{"list", "points", "x"}, "list: points: unexpected argument 'x'"},
      {{"doctor", "now"}, "doctor: unexpected argument 'now'"},
      {{"doctor", "--josn"},
       "doctor: unknown option '--josn'; did you mean --json?"},
  };
  for (const auto& [words, message] : cases) {
    const Result<CommandLine> line = ParseCommandLine(words);
    ASSERT_FALSE(line.ok()) << message;
    EXPECT_EQ(line.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(line.status().message(), message);
  }
}

TEST(CommandLineTest, HostileWordsStayOnOneShortLine) {
  const std::string hostile = "a\nb\x1b[31m" + std::string(1 << 20, 'x');
  for (const Words& words :
       {Words{hostile}, Words{"-" + hostile}, Words{"train", hostile},
        Words{"train", "--" + hostile}, Words{"train", "--workers", hostile},
        Words{"train", "--preset", hostile}, Words{"list", hostile},
        Words{"ckpt", hostile}, Words{"run", "--shard", hostile}}) {
    const Result<CommandLine> line = ParseCommandLine(words);
    ASSERT_FALSE(line.ok());
    EXPECT_THAT(line.status().message(), Not(HasSubstr("\n")));
    EXPECT_THAT(line.status().message(), Not(HasSubstr("\x1b")));
    EXPECT_LT(line.status().message().size(), 300u);
  }
}

TEST(CommandLineTest, TrainTakesThePresetAndWhatIsSaidBesides) {
  const auto command = Parsed<TrainCommand>(
      {"train", "--preset", "dnn", "--workers", "2", "--replicas", "4",
       "--seed", "7", "--isa", "scalar", "--data", "mnist", "--json"});
  const JobSpec& job = command.options.job;
  EXPECT_EQ(job.batch, PresetJob("dnn")->batch);
  EXPECT_EQ(job.replicas, 4);
  EXPECT_EQ(job.seed, 7u);
  EXPECT_EQ(job.data.kind, DataKind::kIdx);
  EXPECT_EQ(job.data.path, "mnist");
  EXPECT_EQ(command.launcher.workers, 2);
  EXPECT_EQ(command.options.kernels.isa, Isa::kScalar);
  EXPECT_EQ(command.output, OutputFormat::kJson);
}

TEST(CommandLineTest, ReplicasAreAsManyAsWorkersUnlessSaid) {
  EXPECT_EQ(Parsed<TrainCommand>({"train"}).options.job.replicas, 1);
  EXPECT_EQ(
      Parsed<TrainCommand>({"train", "--workers", "3"}).options.job.replicas,
      3);
}

TEST(CommandLineTest, EveryTakesStepsSecondsEpochOrNever) {
  struct Case {
    std::string text;
    SaveUnit unit;
    uint64_t every;
  };
  for (const auto& [text, unit, every] :
       {Case{"50", SaveUnit::kSteps, 50}, Case{"30s", SaveUnit::kSeconds, 30},
        Case{"epoch", SaveUnit::kEpochs, 1},
        Case{"never", SaveUnit::kNone, 1}}) {
    const auto command =
        Parsed<TrainCommand>({"train", "--ckpt", "c", "--every", text});
    EXPECT_EQ(command.options.checkpoint.trigger.unit, unit) << text;
    EXPECT_EQ(command.options.checkpoint.trigger.every, every) << text;
    EXPECT_EQ(command.launcher.checkpoint_directory, "c");
  }
}

TEST(CommandLineTest, StepsAloneAreNotCutShortByEpochs) {
  const Horizon steps =
      Parsed<TrainCommand>({"train", "--steps", "500"}).options.horizon;
  EXPECT_EQ(steps.max_steps, 500u);
  EXPECT_GE(steps.epochs, 500u);
  const Horizon both =
      Parsed<TrainCommand>({"train", "--steps", "500", "--epochs", "2"})
          .options.horizon;
  EXPECT_EQ(both.epochs, 2u);
}

TEST(CommandLineTest, ColorMayStandBeforeOrAfterTheCommand) {
  for (const Words& words :
       {Words{"--color", "never", "doctor"}, Words{"--color=never", "doctor"},
        Words{"doctor", "--color", "never"},
        Words{"doctor", "--color=never"}}) {
    const Result<CommandLine> line = ParseCommandLine(words);
    ASSERT_TRUE(line.ok()) << line.status().ToString();
    EXPECT_EQ(line->color, ColorChoice::kOff);
  }
}

TEST(CommandLineTest, RunTakesPathsLabelsAndShard) {
  const auto command = Parsed<RunCommand>(
      {"run", "a.yaml", "b", "-L", "smoke", "-L", "crash", "--shard", "2/4",
       "-j", "3", "--world", "sim", "--strict"});
  EXPECT_THAT(command.paths, ElementsAre("a.yaml", "b"));
  EXPECT_THAT(command.labels, ElementsAre("smoke", "crash"));
  EXPECT_EQ(command.shard.index, 2);
  EXPECT_EQ(command.shard.count, 4);
  EXPECT_EQ(command.jobs, 3);
  EXPECT_EQ(command.world, WorldChoice::kSimulated);
  EXPECT_TRUE(command.strict);
}

TEST(CommandLineTest, ALabelDoesNotSwallowThePathsBehindIt) {
  const auto command = Parsed<RunCommand>({"run", "-L", "smoke", "a.yaml"});
  EXPECT_THAT(command.labels, ElementsAre("smoke"));
  EXPECT_THAT(command.paths, ElementsAre("a.yaml"));
}

TEST(CommandLineTest, WorkerTakesWhatTheLauncherSays) {
  const auto command = Parsed<WorkerCommand>(
      {"worker", "--options", "o.json", "--worker", "1", "--life", "2",
       "--notices-fd", "3", "--events", "e.jsonl"});
  EXPECT_EQ(command.options_file, "o.json");
  EXPECT_EQ(command.worker, 1);
  EXPECT_EQ(command.life, 2);
  EXPECT_EQ(command.notices_fd, 3);
}

TEST(CommandLineTest, CkptTakesItsPaths) {
  const auto diff = Parsed<CheckpointDiffCommand>({"ckpt", "diff", "a", "b"});
  EXPECT_EQ(diff.left, "a");
  EXPECT_EQ(diff.right, "b");
  EXPECT_EQ(Parsed<CheckpointListCommand>({"ckpt", "ls", "d"}).directory, "d");
}

}  // namespace
}  // namespace gauntlet
