#include "harness/cli/command_line.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/job/preset_run.h"
#include "harness/cli/program/build_id.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "tests/engine/real/scratch_directory.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(CommandLineTest, NothingAtAllShowsCommandsInGroups) {
  const std::string text = Parsed<PrintTextCommand>({}).text;
  EXPECT_THAT(text, HasSubstr("\nStart: gauntlet run --demo\n\nRun and "
                              "search:\n  run "));
  EXPECT_LT(text.find("  show "), text.find("\nTrain:\n"));
  EXPECT_LT(text.find("  ckpt "), text.find("\nSet up:\n"));
  for (const char* verb :
       {"train", "run", "replay", "ckpt", "evaluate", "list", "judge", "show",
        "report", "upgrade", "doctor", "help"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n  ") + verb + " "));
  }
  // crash-test is the longest name.
  EXPECT_THAT(text, HasSubstr("\n  crash-test  Crash any "));
  EXPECT_THAT(text, HasSubstr("\n  run         Run scenarios"));
  EXPECT_THAT(text, Not(HasSubstr("worker ")));
}

TEST(CommandLineTest, VersionNamesTheCommit_WhenThereIsOne) {
  const std::vector<std::string> arguments = {"--version"};
  const Result<CommandLine> line =
      ParseCommandLine(arguments, "commit 9a232bc8, with local changes");
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(std::get<PrintTextCommand>(line->command).text,
              StartsWith("gauntlet 0.1.0 (commit 9a232bc8, with local changes; "
                         "build " +
                         BuildId() + "; numerics contract "));
}

TEST(CommandLineTest, WordAfterVersionOrHelpIsRefused) {
  for (const char* option : {"--version", "-V", "version", "--help", "-h"}) {
    const Words words = {option, "x"};
    EXPECT_EQ(ParseCommandLine(words).status().message(),
              std::string(option) + ": expected nothing after it, found 'x'");
  }
}

TEST(CommandLineTest, EmptyRecordIsRefused) {
  for (const char* verb : {"judge", "show"}) {
    const Words words = {verb, ""};
    EXPECT_THAT(ParseCommandLine(words).status().message(),
                HasSubstr(", found nothing"))
        << verb;
  }
}

TEST(CommandLineTest, VersionAndHelpAreShown) {
  for (const char* word : {"--version", "-V", "version"}) {
    EXPECT_THAT(Parsed<PrintTextCommand>({word}).text,
                StartsWith("gauntlet 0.1.0 (build " + BuildId() +
                           "; numerics contract "))
        << word;
  }
  EXPECT_EQ(Parsed<PrintTextCommand>({"--help"}).text, OverviewText());
  for (const std::string& verb : CommandNames()) {
    const std::string text = Parsed<PrintTextCommand>({verb, "--help"}).text;
    EXPECT_THAT(text, HasSubstr("Usage: gauntlet " + verb)) << verb;
  }
}

TEST(CommandLineTest, HelpOfValidateNamesItsExitCodes) {
  EXPECT_THAT(Parsed<PrintTextCommand>({"validate", "--help"}).text,
              HasSubstr("Exit code 0: all are valid; 2: a file has an error; "
                        "4: there is no scenario.\n"));
}

TEST(CommandLineTest, OldNamesOfOptionsAreTakenWithANote) {
  const std::vector<std::string> words = {
      "train", "--ckpt=c",    "--every=5", "--keep",
      "2",     "--init-from", "w",         "--init-partial"};
  const auto line = ParseCommandLine(words);
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(std::get<TrainCommand>(line->command).options.checkpoint.keep, 2);
  EXPECT_THAT(
      line->notes,
      testing::ElementsAre("--every is deprecated and will be removed in the "
                           "next release: use --save-every",
                           "--keep is deprecated and will be removed in the "
                           "next release: use --keep-last",
                           "--init-partial is deprecated and will be removed "
                           "in the next release: use --init-allow-missing"));
}

TEST(CommandLineTest, OldNamesOfMath_AreReadWithANote) {
  const std::pair<const char*, Math> cases[] = {{"fast", Math::kFast},
                                                {"fast-tf32", Math::kFastTf32}};
  for (const auto& [name, math] : cases) {
    const std::vector<std::string> words = {"train", "--math", name};
    const auto line = ParseCommandLine(words);
    ASSERT_TRUE(line.ok()) << line.status().ToString();
    EXPECT_EQ(std::get<TrainCommand>(line->command).options.kernels.math, math);
    EXPECT_THAT(line->notes,
                testing::ElementsAre(fmt::format(
                    "--math {} is deprecated and will be removed in the next "
                    "release: use {}",
                    name, MathName(math))));
  }
}

TEST(CommandLineTest, TrainTakesItsPlaceFromFlags) {
  const auto train = Parsed<TrainCommand>(
      {"train", "--rank", "1", "--cluster-size", "4", "--rendezvous", "h:7",
       "--rendezvous-timeout", "9", "--listen", "[::1]", "--insecure",
       "--explain-cluster"});
  EXPECT_EQ(train.cluster.rank, 1);
  EXPECT_EQ(train.cluster.size, 4);
  EXPECT_EQ(train.cluster.rendezvous, "h:7");
  EXPECT_EQ(train.cluster.listen, "::1");
  EXPECT_TRUE(train.insecure);
  EXPECT_EQ(train.options.cluster.rendezvous_timeout, std::chrono::seconds(9));
  EXPECT_EQ(train.task, TrainTask::kPrintCluster);
  EXPECT_EQ(train.workers, std::nullopt);
}

TEST(CommandLineTest, TlsFilesGoToTheWorkersWithTheOptions) {
  const auto train = Parsed<TrainCommand>(
      {"train", "--workers", "2", "--tls-cert", "c", "--tls-key", "k",
       "--tls-ca", "a", "--tls-name", "job.example"});
  const Result<TrainOptions> parsed =
      TrainOptionsFromJson(TrainOptionsToJson(train.options));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const TlsFiles& tls = parsed->cluster.tls;
  EXPECT_TRUE(tls.is_set());
  EXPECT_EQ(tls.cert + tls.key + tls.ca + tls.name, "ckajob.example");
}

TEST(CommandLineTest, TrainTakesTheExitCodesOfItsScheduler) {
  const auto train = Parsed<TrainCommand>(
      {"train", "--preempted-code", "75", "--permanent-failure-code", "200"});
  EXPECT_EQ(train.requeue.preempted, 75);
  EXPECT_EQ(train.requeue.no_requeue, 200);
  EXPECT_EQ(Parsed<TrainCommand>({"train"}).requeue.preempted, 143);
}

TEST(CommandLineTest, WorkersOfItsOwnMayBeAskedForInAnyCluster) {
  const auto train =
      Parsed<TrainCommand>({"train", "--cluster", "none", "--workers", "2"});
  EXPECT_EQ(train.workers, 2);
  EXPECT_EQ(train.cluster.rule, ClusterRule::kNone);
}

struct BadLine {
  Words words;
  std::string message;
};

TEST(CommandLineTest, TakesTheSourcesOfNotices) {
  const PreemptionOptions parsed =
      Parsed<TrainCommand>({"train", "--notice-file", "run/go", "--notice-url",
                            "http://127.0.0.1:81/x", "--notice-every", "200ms",
                            "--notice-signal", "USR1"})
          .options.preemption;
  EXPECT_EQ(parsed.file, "run/go");
  EXPECT_EQ(parsed.url, "http://127.0.0.1:81/x");
  EXPECT_EQ(parsed.signal, "SIGUSR1");
  EXPECT_EQ(parsed.poll_every, std::chrono::milliseconds(200));
}

TEST(CommandLineTest, UsageErrorHasTheFormOfLaterErrors) {
  const auto error_of = [](const Words& words) {
    return ErrorLine(ParseCommandLine(words).status());
  };
  EXPECT_THAT(error_of({"train", "--epochs", "x"}),
              testing::StartsWith("gauntlet train: --epochs: expected "));
  EXPECT_EQ(error_of({"ckpt", "ls"}),
            "gauntlet ckpt ls: expected DIR: gauntlet ckpt ls DIR");
  EXPECT_THAT(error_of({"xyzzy"}),
              testing::StartsWith("gauntlet: unknown command 'xyzzy'; "
                                  "commands: run, explore, "));
}

TEST(CommandLineTest, HelpOfTrainGroupsItsOptions) {
  const std::string text =
      Parsed<PrintTextCommand>({"train", "--help=all"}).text;
  const auto group = [&text](const std::string& title) {
    return text.find("\n" + title + ":\n");
  };
  const auto flag = [&text](const std::string& name) {
    return text.find("\n  " + name + " ");
  };
  for (const char* name : {"--seed", "--batch", "--data", "--replicas"}) {
    EXPECT_GT(flag(name), group("Job")) << name;
    EXPECT_LT(flag(name), group("Length")) << name;
  }
  EXPECT_GT(flag("--epochs"), group("Length"));
  EXPECT_GT(flag("--ckpt"), group("Checkpoints"));
  EXPECT_GT(flag("--rank"), group("Cluster"));
}

TEST(CommandLineTest, WithoutALengthThePresetIsTrainedToItsEnd) {
  const auto epochs = [](Words words) {
    words.insert(words.begin(), "train");
    return Parsed<TrainCommand>(words).options.horizon.epochs;
  };
  EXPECT_EQ(epochs({}), PresetRunOf("tiny").epochs);
  EXPECT_EQ(epochs({"--preset", "cnn"}), PresetRunOf("cnn").epochs);
  EXPECT_EQ(epochs({"--preset", "cnn", "--epochs", "2"}), 2u);
}

TEST(CommandLineTest, HelpIsGivenOnASubcommand) {
  EXPECT_EQ(Parsed<HelpCommand>({"help", "ckpt", "ls"}).topic, "ckpt ls");
}

TEST(CommandLineTest, Mistake_IsNamedInOneLine) {
  const std::vector<BadLine> cases = {
      {{"trian"}, "unknown command 'trian'; did you mean train?"},
      {{"rnu"}, "unknown command 'rnu'; did you mean run?"},
      {{"fuzz"}, "unknown command 'fuzz'; did you mean gauntlet explore?"},
      {{"a.yaml"},
       "unknown command 'a.yaml'; did you mean gauntlet run a.yaml?"},
      {{"--verison"}, "unknown option '--verison'; did you mean --version?"},
      {{"help", ""}, "help: TOPIC: expected a command or a topic, found ''"},
      {{"help", "train", ""},
       "help: TOPIC: expected a command or a topic, found ''"},
      {{"evaluate"},
       "evaluate: expected the checkpoint directory of a run: gauntlet "
       "evaluate --ckpt DIR"},
      {{"launch"},
       "launch: expected the options of a run: gauntlet launch --options "
       "FILE"},
      {{"--color"}, "--color: expected a value after it"},
      {{"--color", "red", "doctor"},
       "--color: expected one of auto, always, never, found 'red'"},
      {{"train", "--worker", "2"},
       "train: unknown option '--worker'; did you mean --workers?"},
      {{"train", "--worker=2"},
       "train: unknown option '--worker'; did you mean --workers?"},
      {{"train", "--wor", "2"},
       "train: unknown option '--wor'; did you mean --workers?"},
      {{"train", "--json=foo"},
       "train: --json: expected no value, found 'foo'"},
      {{"train", "tiny"}, "train: unexpected argument 'tiny'"},
      {{"crash-test", "python3", "train.py", "{out}"},
       "crash-test: unexpected argument 'python3'; the program's command comes "
       "after --: gauntlet crash-test [OPTION…] -- COMMAND"},
      {{"crash-test", "python3", "-u", "train.py", "{out}"},
       "crash-test: unknown option '-u'; the program's command comes after --: "
       "gauntlet crash-test [OPTION…] -- COMMAND"},
      {{"crash-test", "--bogus"},
       "crash-test: unknown option '--bogus'; the program's command comes "
       "after --: gauntlet crash-test [OPTION…] -- COMMAND"},
      {{"crash-test", "--bogus", "--", "train.py", "{out}"},
       "crash-test: unknown option '--bogus'; gauntlet crash-test --help lists "
       "all"},
      {{"ckpt", "ls", "-x"},
       "ckpt ls: unknown option '-x'; gauntlet ckpt ls --help lists all"},
      {{"crash-test", "--jbos", "2", "--", "train.py", "{out}"},
       "crash-test: unknown option '--jbos'; did you mean --jobs?"},
      {{"crash-test", "--time", "5", "--", "train.py", "{out}"},
       "crash-test: --time: expected a time such as 60s, 10m, 3h or 30d, found "
       "'5'"},
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
       "train: --preset: expected one of linear, mlp, dnn, cnn, cnn-short, "
       "tiny, found "
       "'tyni'; did you mean tiny?"},
      {{"train", "--lr", "fast"},
       "train: --lr: expected a number, found 'fast'"},
      {{"train", "--lr", "-1"},
       "train: --lr (optimizer.learning_rate): expected a number above 0 and "
       "at most 1000, found -1"},
      {{"train", "--schedule", "cosine:10"},
       "train: --schedule: expected exponential_decay:UPDATES:RATE[:staircase],"
       " cosine_decay:UPDATES[:ALPHA] or piecewise:UPDATE,…:RATE,RATE,…, found "
       "'cosine:10'"},
      {{"train", "--schedule", "cosine_decay:0"},
       "train: --schedule: expected a whole number from 1 to "
       "9007199254740992, found '0'"},
      {{"train", "--schedule", "exponential_decay:10:0.5:stairs"},
       "train: --schedule: expected staircase, found 'stairs'"},
      {{"train", "--schedule", "piecewise:5:0.1"},
       "train: --schedule (optimizer.schedule.values (how many: one more than "
       "boundaries)): expected 2 to 2, found 1"},
      {{"train", "--clip", "norm"},
       "train: --clip: expected value:LIMIT, norm:LIMIT or global_norm:LIMIT, "
       "found 'norm'"},
      {{"train", "--validation", "v"},
       "train: --validation requires --data DIR"},
      {{"train", "--isa", "sse"},
       "train: --isa: expected one of auto, scalar, avx2, avx512, found 'sse'"},
      {{"train", "--notice-signal", "KILL"},
       "train: --notice-signal: expected one of SIGTERM, SIGHUP, SIGQUIT, "
       "SIGUSR1, SIGUSR2, SIGXCPU, SIGPWR, found 'KILL'"},
      {{"train", "--notice-url", "https://1.2.3.4/"},
       "train: --notice-url: URL \"https://1.2.3.4/\": expected "
       "http://ADDRESS/PATH"},
      {{"train", "--notice-url", "http://1.2.3/x"},
       "train: --notice-url: URL \"http://1.2.3/x\": expected an IPv4 address, "
       "an IPv6 address in brackets or a name behind http://"},
      {{"train", "--notice-file", ""},
       "train: --notice-file: expected a value, found ''"},
      {{"train", "--notice-file", "run/"},
       "train: --notice-file: expected the name of a file, found 'run/'"},
      {{"train", "--device", "gpu"},
       "train: --device: expected one of cpu, cuda, auto, emulated, found "
       "'gpu'"},
      {{"train", "--collective", "gloo"},
       "train: --collective: expected one of ring, nccl, auto, found 'gloo'"},
      {{"train", "--math", ""},
       "train: --math: expected one of canonical, library, library-tf32, found "
       "''"},
      {{"train", "--save-every", "50"},
       "train: --save-every requires --ckpt DIR"},
      {{"train", "--ckpt", "c", "--save-every", "often"},
       "train: --save-every: expected steps (50), seconds (30s), epoch or "
       "never, "
       "found 'often'"},
      {{"train", "--ckpt", "c", "--save-every", "0"},
       "train: --save-every: expected steps (50), seconds (30s), epoch or "
       "never, "
       "found '0'"},
      {{"train", "--ckpt", "c", "--save-every", "s"},
       "train: --save-every: expected steps (50), seconds (30s), epoch or "
       "never, "
       "found 's'"},
      {{"train", "--ckpt", ""}, "train: --ckpt: expected a value, found ''"},
      {{"train", "--ckpt", "--json"},
       "train: --ckpt: expected a value, found '--json'"},
      {{"train", "--keep-last", "0", "--ckpt", "c"},
       "train: --keep-last: expected a whole number from 1 to 1000000, found "
       "'0'"},
      {{"train", "--keep-last", "3", "--shards", "2"},
       "train: --shards requires --ckpt DIR"},
      {{"train", "--allow-cold-start"},
       "train: --allow-cold-start requires --ckpt DIR"},
      {{"train", "--ckpt-mode", "async"},
       "train: --ckpt-mode requires --ckpt DIR"},
      {{"train", "--ckpt", "c", "--ckpt-mode", "zero_copy"},
       "train: --ckpt-mode: expected sync, async or zero-copy, found "
       "'zero_copy'"},
      {{"train", "--restart", "none", "--max-restarts", "3"},
       "train: --max-restarts: expected 0 beside --restart none"},
      {{"train", "--cluster", "ray"},
       "train: --cluster: expected one of auto, none, torchrun, tf-config, "
       "slurm, mpi, kubernetes, found 'ray'"},
      {{"train", "--rendezvous", "host"},
       "train: --rendezvous: expected host:port with a port from 1 to 65535, "
       "found 'host'"},
      {{"train", "--service", "a b"},
       "train: --service: expected a host name or an IP address (IPv6 in "
       "brackets), found 'a b'"},
      {{"train", "--rank", "1"}, "train: --rank requires --cluster-size N"},
      {{"train", "--rank", "1", "--cluster", "slurm"},
       "train: --rank cannot be combined with --cluster"},
      {{"train", "--workers", "2", "--cluster", "slurm"},
       "train: --workers starts workers on this host: it cannot be combined "
       "with --cluster, --rank, --cluster-size, --rendezvous, --service, "
       "--listen or --insecure"},
      {{"train", "--workers", "2", "--insecure"},
       "train: --workers starts workers on this host: it cannot be combined "
       "with --cluster, --rank, --cluster-size, --rendezvous, --service, "
       "--listen or --insecure"},
      {{"train", "--listen", "10.0.0.1:80"},
       "train: --listen: expected a host name or an IP address (IPv6 in "
       "brackets), found '10.0.0.1:80'"},
      {{"train", "--tls-cert", "a", "--tls-key", "b"},
       "train: --tls-cert, --tls-key and --tls-ca must be given together"},
      {{"train", "--tls-name", "a"},
       "train: --tls-name requires --tls-cert, --tls-key and --tls-ca"},
      {{"train", "--preempted-code", "0"},
       "train: --preempted-code: expected a whole number from 1 to 255, found "
       "'0'"},
      {{"train", "--preempted-code", "7"},
       "train: --preempted-code: expected none of 1, 2, 7, 8, 9, which are "
       "failures for good, found 7"},
      {{"train", "--permanent-failure-code", "143"},
       "train: --permanent-failure-code: expected none of 75, 137 and 143 (of "
       "--preempted-code), which ask for another start, found 143"},
      {{"train", "--rendezvous-timeout", "0"},
       "train: --rendezvous-timeout: expected a whole number from 1 to 86400, "
       "found '0'"},
      {{"worker"}, "worker: --options: missing"},
      {{"run"}, "run: expected a scenario file or folder, or --demo"},
      {{"run", "--last-failed"},
       "run: --last-failed requires a scenario file or folder, or --demo"},
      {{"run", "--demo", "a.yaml"},
       "run: --demo cannot be combined with paths"},
      {{"run", "a.yaml", "--world", "virtual"},
       "run: --world: expected one of real, sim, both, found 'virtual'"},
      {{"run", "a.yaml", "--shard", "3/2"},
       "run: --shard: expected I/N with I from 1 to N, found '3/2'"},
      {{"run", "a.yaml", "--shard", "3"},
       "run: --shard: expected I/N with I from 1 to N, found '3'"},
      {{"run", "a.yaml", "-L", "--strict"},
       "run: --label: expected a value, found '--strict'"},
      {{"replay"}, "replay: expected a file, a run, or RUN/CASE"},
      {{"replay", ""},
       "replay: WHAT: expected a file, a run, or RUN/CASE, "
       "found \"\""},
      {{"replay", "latest", "7f3a"}, "replay: unexpected argument '7f3a'"},
      {{"replay", "latest", "--world", "both"},
       "replay: --world: expected one of real, sim, found 'both'"},
      {{"ckpt"},
       "ckpt: expected a subcommand: ls, verify, diff, export or "
       "predict"},
      {{"ckpt", "verfy", "d"},
       "ckpt: expected ls, verify, diff, export or predict, found 'verfy'; did "
       "you mean "
       "verify?"},
      {{"ckpt", "ls"}, "ckpt ls: expected DIR: gauntlet ckpt ls DIR"},
      {{"ckpt", "diff", "a"},
       "ckpt diff: expected A and B: gauntlet ckpt diff A B"},
      {{"ckpt", "ls", "a", "b"}, "ckpt ls: unexpected argument 'b'"},
      {{"ckpt", "export", "c", ""},
       "ckpt export: DIR: expected a value, found ''"},
      {{"ckpt", "verify", ""}, "ckpt verify: PATH: expected a value, found ''"},
      {{"train", "--lr", "5000"},
       "train: --lr (optimizer.learning_rate): expected a number above 0 and "
       "at most 1000, found 5000"},
      {{"train", "--replicas", "3", "--batch", "65536"},
       "train: --batch, --replicas (data.samples): expected at least one "
       "global batch (3 replicas of 65536 samples = 196608) with remainder "
       "drop, found 384"},
      {{"train", "--plan-state", "d"},
       "train: --plan-state requires --plan FILE"},
      {{"evaluate"},
       "evaluate: expected the checkpoint directory of a run: gauntlet "
       "evaluate --ckpt DIR"},
      {{"evaluate", "--ckpt", "d", "--every", "soon"},
       "evaluate: --every: expected a time such as 60s, 10m, 1h, up to 24h, "
       "found "
       "'soon'"},
      {{"evaluate", "--ckpt", "d", "--once", "--every", "9s"},
       "evaluate: --every cannot be combined with --once"},
      {{"list"},
       "list: expected presets, points, faults, invariants, planted-bugs or "
       "scenarios"},
      {{"list", "pionts"},
       "list: expected presets, points, faults, invariants, planted-bugs or "
       "scenarios, found 'pionts'; did you mean points?"},
      {{"list", "points", "x"}, "list: points: unexpected argument 'x'"},
      {{"bench", "checkpoint", "--trials", "2"},
       "bench checkpoint: --trials: expected a whole number from 6 to 1000 "
       "(fewer than 6 trials give no 95 % interval), found '2'"},
      {{"bench", "checkpoint", "--modes", "sync", "--limit", "async.stall<=3s"},
       "bench checkpoint: --limit async.stall<=3s: no mode async is measured; "
       "add it to --modes"},
      {{"bench", "checkpoint", "--every", "never", "--limit", "async.step<=3s"},
       "bench checkpoint: --limit async.step<=3s: no mode with checkpoints is "
       "measured; name one with --modes, and its steps with --every"},
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

// Commands write paths to files and read them again. If other bytes were
// permitted, a path could be read back as another one, or end its line.
TEST(CommandLineTest, EveryPathIsShortTextInUtf8) {
  const std::string latin = "run-\xe9";
  const std::string in_utf8 = "expected a path in UTF-8, found 'run-\\xe9'";
  for (const char* const flag :
       {"--job", "--data", "--validation", "--init-from", "--ckpt",
        "--tensorboard", "--export", "--events", "--logs", "--plan",
        "--plan-state", "--notice-file"}) {
    EXPECT_EQ(ParseCommandLine(Words{"train", flag, latin}).status().message(),
              fmt::format("train: {}: {}", flag, in_utf8));
  }
  const std::vector<Words> others = {{"run", latin},
                                     {"run", "--runs", latin},
                                     {"run", "--junit", latin},
                                     {"explore", "--out", latin},
                                     {"explore", "--base", latin},
                                     {"replay", latin},
                                     {"replay", "--runs", latin, "x"},
                                     {"ckpt", "ls", latin},
                                     {"ckpt", "verify", latin},
                                     {"ckpt", "diff", "x", latin},
                                     {"ckpt", "export", "x", latin},
                                     {"ckpt", "predict", "--data", latin, "x"},
                                     {"evaluate", "--ckpt", latin},
                                     {"list", "scenarios", latin},
                                     {"launch", "--options", latin},
                                     {"worker", "--options", latin}};
  for (const Words& words : others) {
    EXPECT_THAT(ParseCommandLine(words).status().message(), HasSubstr(in_utf8))
        << words[0] << " " << words[1];
  }
}

TEST(CommandLineTest, PathsHaveNoControlCharactersAndRoomForNames) {
  const std::pair<std::string, std::string> cases[] = {
      {"a\nb", "expected a path without control characters, found 'a\\x0ab'"},
      {std::string("a\0b", 3), "found 'a\\x00b'"},
      {std::string(5000, 'x'), "expected a path of at most 3840 bytes, found"},
      {"a/" + std::string(256, 'x'),
       "expected a path whose names have at most 255 bytes each, found"},
      {"\xed\xa0\x80", "expected a path in UTF-8, found '\\xed\\xa0\\x80'"},
      {"\xc0\xaf", "expected a path in UTF-8, found '\\xc0\\xaf'"}};
  for (const auto& [path, message] : cases) {
    const Status status =
        ParseCommandLine(Words{"train", "--ckpt", path}).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("train: --ckpt: "));
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
  for (const std::string& fine :
       {std::string("ü €/😀 .x"), std::string(255, 'x'),
        fmt::format("{0}/{0}/{0}", std::string(255, 'x'))}) {
    EXPECT_EQ(Parsed<TrainCommand>({"train", "--ckpt", fine})
                  .options.checkpoint.directory,
              fine);
  }
}

TEST(CommandLineTest, TrainTakesThePresetAndItsOverrides) {
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

TEST(CommandLineTest, FolderOfDataIsMnistUnlessItsKindIsGiven) {
  const auto data_of = [](const char* text) {
    return Parsed<TrainCommand>({"train", "--data", text}).options.job.data;
  };
  EXPECT_EQ(data_of("digits").kind, DataKind::kDigits);
  EXPECT_EQ(data_of("idx:digits").kind, DataKind::kIdx);
  EXPECT_EQ(data_of("cifar10:/c").kind, DataKind::kCifar10);
  EXPECT_EQ(data_of("npy:/n:1").kind, DataKind::kNpy);
  EXPECT_EQ(data_of("npy:/n:1").path, "/n:1");
  EXPECT_EQ(
      ParseCommandLine(Words{"train", "--data", "npy:"}).status().message(),
      "train: --data: expected a folder after the kind");
}

TEST(CommandLineTest, TakesTheOptionsOfTheOptimizer) {
  const auto job_of = [](Words words) {
    words.insert(words.begin(), "train");
    return Parsed<TrainCommand>(words).options.job;
  };
  const JobSpec cosine =
      job_of({"--lr", "0.5", "--schedule", "cosine_decay:90:0.25", "--warmup",
              "7", "--clip", "global_norm:1.5", "--accumulate", "3"});
  EXPECT_EQ(cosine.optimizer.learning_rate, 0.5f);
  EXPECT_EQ(cosine.optimizer.schedule.kind, ScheduleKind::kCosineDecay);
  EXPECT_EQ(cosine.optimizer.schedule.steps, 90u);
  EXPECT_EQ(cosine.optimizer.schedule.alpha, 0.25f);
  EXPECT_EQ(cosine.optimizer.schedule.warmup, 7u);
  EXPECT_EQ(cosine.optimizer.clip.kind, ClipKind::kGlobalNorm);
  EXPECT_EQ(cosine.optimizer.clip.limit, 1.5f);
  EXPECT_EQ(cosine.accumulate, 3);
  const ScheduleSpec stairs =
      job_of({"--schedule", "exponential_decay:10:0.5:staircase"})
          .optimizer.schedule;
  EXPECT_EQ(stairs.kind, ScheduleKind::kExponentialDecay);
  EXPECT_EQ(stairs.rate, 0.5f);
  EXPECT_TRUE(stairs.staircase);
  const ScheduleSpec pieces =
      job_of({"--schedule", "piecewise:5,9:1,0.5,0.25"}).optimizer.schedule;
  EXPECT_EQ(pieces.boundaries, (std::vector<uint64_t>{5, 9}));
  EXPECT_EQ(pieces.values, (std::vector<float>{1.0f, 0.5f, 0.25f}));
}

TEST(CommandLineTest, SamplingOptions_ArePartOfTheJob) {
  const DataSpec data =
      Parsed<TrainCommand>({"train", "--shuffle", "off", "--shard-policy",
                            "auto", "--steps-per-epoch", "3",
                            "--validation-steps", "2"})
          .options.job.data;
  EXPECT_EQ(data.shuffle, Shuffle::kOff);
  EXPECT_EQ(data.shard, ShardPolicy::kAuto);
  EXPECT_EQ(data.steps_per_epoch, 3);
  EXPECT_EQ(data.validation_steps, 2);
}

class JobFileFlagTest : public testing::Test {
 protected:
  JobFileFlagTest() {
    std::ofstream(file_) << R"(preset: mlp
job: {epochs: 4, replicas: 4, data: {kind: idx, path: d, shuffle: off}}
cluster: {workers: 2, min_workers: 2, restart: {policy: rejoin, max: 7}}
preemption: {grace: 20s}
checkpoint: {every: {steps: 50}, keep: 3, allow_cold_start: true}
)";
  }

  TrainCommand ParseTrain(Words more) {
    Words words = {"train", "--job", file_, "--ckpt", "c"};
    words.insert(words.end(), more.begin(), more.end());
    return Parsed<TrainCommand>(words);
  }

  ScratchDirectory scratch_;
  const std::string file_ = scratch_ / "job.yaml";
};

TEST_F(JobFileFlagTest, FileEqualsOptions) {
  const TrainCommand command = ParseTrain({});
  const TrainOptions& options = command.options;
  EXPECT_EQ(command.workers, 2);
  EXPECT_EQ(command.replicas, 4);
  EXPECT_EQ(command.preset, file_);
  EXPECT_EQ(command.launcher.workers, 2);
  EXPECT_EQ(command.launcher.min_workers, 2);
  EXPECT_EQ(command.launcher.max_restarts, 7);
  EXPECT_EQ(command.launcher.restart, RestartPolicy::kRejoin);
  EXPECT_EQ(command.launcher.stop_grace, std::chrono::seconds(50));
  EXPECT_EQ(options.cluster.on_loss, OnLoss::kRejoin);
  EXPECT_EQ(options.job.data.path, "d");
  EXPECT_EQ(options.job.data.shuffle, Shuffle::kOff);
  EXPECT_EQ(options.horizon.epochs, 4u);
  EXPECT_EQ(options.checkpoint.trigger.every, 50u);
  EXPECT_EQ(options.checkpoint.keep, 3);
  EXPECT_TRUE(options.checkpoint.allow_cold_start);
}

TEST_F(JobFileFlagTest, OptionsComeBeforeIt) {
  const TrainCommand command =
      ParseTrain({"--preset",       "dnn",    "--workers",   "3",
                  "--epochs",       "9",      "--shuffle",   "on",
                  "--data",         "digits", "--restart",   "whole-job",
                  "--max-restarts", "1",      "--grace",     "5s",
                  "--save-every",   "epoch",  "--keep-last", "8",
                  "--ckpt-mode",    "async"});
  const TrainOptions& options = command.options;
  EXPECT_EQ(options.job.model.layers[1].units, 256) << "dnn's";
  EXPECT_EQ(command.launcher.workers, 3);
  EXPECT_EQ(options.job.replicas, 4);
  EXPECT_EQ(options.horizon.epochs, 9u);
  EXPECT_EQ(options.job.data.kind, DataKind::kDigits);
  EXPECT_EQ(options.job.data.shuffle, Shuffle::kOn);
  EXPECT_EQ(command.launcher.restart, RestartPolicy::kWholeJob);
  EXPECT_EQ(options.cluster.on_loss, OnLoss::kLeave);
  EXPECT_EQ(command.launcher.max_restarts, 1);
  EXPECT_EQ(command.launcher.stop_grace, std::chrono::seconds(35));
  EXPECT_EQ(options.checkpoint.trigger.unit, SaveUnit::kEpochs);
  EXPECT_EQ(options.checkpoint.keep, 8);
  EXPECT_EQ(options.checkpoint.mode, SaveMode::kAsync);
}

TEST_F(JobFileFlagTest,
       HoursBetweenKeptCheckpoints_AreTheFilesUnlessAFlagOverridesThem) {
  const auto hours = [this](const Words& more) {
    return ParseTrain(more).options.checkpoint.keep_every_hours;
  };
  EXPECT_EQ(hours({}), 10'000u);
  std::ofstream(file_) << "checkpoint: {keep_every_hours: 5}\n";
  EXPECT_EQ(hours({}), 5u);
  EXPECT_EQ(hours({"--keep-every-hours", "3"}), 3u);
  EXPECT_EQ(Parsed<TrainCommand>({"train"}).options.checkpoint.keep_every_hours,
            10'000u);
}

TEST_F(JobFileFlagTest, StepsBoundTheEpochs_WhenTheirNumberIsNotGiven) {
  std::ofstream(file_) << "job: {max_steps: 30}\n";
  EXPECT_EQ(ParseTrain({}).options.horizon.epochs, 30u);
  EXPECT_EQ(ParseTrain({"--steps", "7"}).options.horizon.epochs, 7u);
  EXPECT_EQ(ParseTrain({"--epochs", "2"}).options.horizon.max_steps, 30u);
}

TEST_F(JobFileFlagTest, WithoutALengthItsPresetIsTrainedToItsEnd) {
  std::ofstream(file_) << "preset: dnn\n";
  EXPECT_EQ(ParseTrain({}).options.horizon.epochs, PresetRunOf("dnn").epochs);
  EXPECT_EQ(ParseTrain({"--preset", "cnn-short"}).options.horizon.epochs, 3u);
}

TEST_F(JobFileFlagTest, NamesKeysThatAJobFileCannotHave) {
  const auto message = [this] {
    return ParseCommandLine(Words{"train", "--job", file_}).status().message();
  };
  EXPECT_THAT(message(), HasSubstr("job.yaml: checkpoint requires --ckpt DIR"));
  std::ofstream(file_) << "job: {batch: 0}\n";
  EXPECT_THAT(message(), HasSubstr("job.yaml:1:14: expected a whole number"));
  std::filesystem::remove(file_);
  EXPECT_THAT(message(), HasSubstr("train: --job: "));
}

TEST(CommandLineTest, TrainingMayBeginWithAnothersWeights) {
  const StartOptions start = Parsed<TrainCommand>({"train", "--init-from", "m",
                                                   "--init-allow-missing"})
                                 .options.start;
  EXPECT_EQ(start.weights, "m");
  EXPECT_EQ(start.partial, PartialWeights::kAllow);
  EXPECT_EQ(ParseCommandLine(Words{"train", "--init-allow-missing"})
                .status()
                .message(),
            "train: --init-allow-missing requires --init-from PATH");
}

TEST(CommandLineTest, CurvesAndTheExportHaveFoldersOfTheirOwn) {
  const TrainOptions options =
      Parsed<TrainCommand>({"train", "--tensorboard", "c",
                            "--tensorboard-every", "5", "--export", "m"})
          .options;
  EXPECT_EQ(options.summary.directory, "c");
  EXPECT_EQ(options.summary.every, 5u);
  EXPECT_EQ(options.export_directory, "m");
  for (const char* const other : {"--ckpt", "--tensorboard", "--events"}) {
    EXPECT_EQ(ParseCommandLine(Words{"train", other, "m", "--export", "m/"})
                  .status()
                  .message(),
              fmt::format("train: --export: expected a folder of its own, "
                          "found that of {}",
                          other));
  }
  EXPECT_EQ(ParseCommandLine(Words{"train", "--tensorboard-every", "5"})
                .status()
                .message(),
            "train: --tensorboard-every requires --tensorboard DIR");
}

TEST(CommandLineTest, CheckpointsModelIsExportedOrAsked) {
  const auto exported = Parsed<CheckpointExportCommand>(
      {"ckpt", "export", "store", "model", "--data", "d", "--validation", "v"});
  EXPECT_EQ(exported.path, "store");
  EXPECT_EQ(exported.directory, "model");
  EXPECT_EQ(exported.data.directory, "d");
  EXPECT_EQ(exported.data.validation_directory, "v");
  const auto asked =
      Parsed<CheckpointPredictCommand>({"ckpt", "predict", "store", "--json"});
  EXPECT_EQ(asked.path, "store");
  EXPECT_EQ(asked.output, OutputFormat::kJson);
}

TEST(CommandLineTest, MembershipAndPolicyAreForTheLauncher) {
  const auto train = Parsed<TrainCommand>(
      {"train", "--workers", "4", "--min-workers", "2", "--restart", "rejoin"});
  EXPECT_EQ(train.launcher.min_workers, 2);
  EXPECT_EQ(train.launcher.restart, RestartPolicy::kRejoin);
}

TEST(CommandLineTest, RefusesAMembershipThatContradictsItself) {
  EXPECT_THAT(
      ParseCommandLine(Words{"train", "--workers", "2", "--min-workers", "3"})
          .status()
          .message(),
      HasSubstr("--min-workers: expected at most --workers (2), found 3"));
}

TEST(CommandLineTest, EvaluatorTakesDirectoryPeriodAndEnd) {
  const auto plain =
      Parsed<EvaluateCommand>({"evaluate", "--ckpt", "store", "--once"});
  EXPECT_EQ(plain.directory, "store");
  EXPECT_EQ(plain.loop.scans, EvaluatorLoop::Scans::kOnce);
  const auto parsed = Parsed<EvaluateCommand>(
      {"evaluate", "--ckpt", "s", "--every", "9s", "--epochs", "4", "--steps",
       "7", "--tensorboard", "c", "--data", "d", "--validation", "v",
       "--threads", "2", "--json"});
  EXPECT_EQ(parsed.loop.scans, EvaluatorLoop::Scans::kRepeated);
  EXPECT_EQ(parsed.loop.every, std::chrono::seconds(9));
  EXPECT_EQ(parsed.loop.until_epoch, 4u);
  EXPECT_EQ(parsed.loop.until_step, 7u);
  EXPECT_EQ(parsed.summary_directory, "c");
  EXPECT_EQ(parsed.data.directory, "d");
  EXPECT_EQ(parsed.data.validation_directory, "v");
  EXPECT_EQ(parsed.threads, 2);
  EXPECT_EQ(parsed.output, OutputFormat::kJson);
}

TEST(CommandLineTest, ReplicasAreAsManyAsWorkersByDefault) {
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
        Parsed<TrainCommand>({"train", "--ckpt", "c", "--save-every", text});
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
      {"run", "a.yaml",  "b",      "-L",       "smoke",    "-L",      "crash",
       "-k",  "torn",    "--name", "in a",     "--shard",  "2/4",     "-j",
       "3",   "--world", "sim",    "--strict", "--device", "emulated"});
  EXPECT_THAT(command.paths, ElementsAre("a.yaml", "b"));
  EXPECT_THAT(command.labels, ElementsAre("smoke", "crash"));
  EXPECT_THAT(command.names, ElementsAre("torn", "in a"));
  EXPECT_EQ(command.shard.index, 2);
  EXPECT_EQ(command.shard.count, 4);
  EXPECT_EQ(command.jobs, 3);
  EXPECT_EQ(command.world, WorldChoice::kSimulated);
  EXPECT_EQ(command.device, DeviceKind::kEmulated);
  EXPECT_TRUE(command.strict);
}

TEST(CommandLineTest, Run_AcceptsRetriesAndKeepRuns) {
  const auto command =
      Parsed<RunCommand>({"run", "a.yaml", "--retries", "2", "--flaky", "pass",
                          "--keep-runs", "all", "--durations", "3"});
  EXPECT_EQ(command.retries, 2);
  EXPECT_EQ(command.flaky, FlakyVerdict::kPasses);
  EXPECT_EQ(command.keep_runs, std::nullopt);
  EXPECT_EQ(command.durations, 3u);
  const auto plain = Parsed<RunCommand>({"run", "a.yaml"});
  EXPECT_EQ(plain.retries, 0);
  EXPECT_EQ(plain.flaky, FlakyVerdict::kFails);
  EXPECT_EQ(plain.keep_runs, 100u);
  EXPECT_EQ(plain.durations, std::nullopt);
}

TEST(CommandLineTest, RunRefusesRetriesAndLimitsOutOfRange) {
  const std::vector<Words> wrong = {
      {"--retries", "11"},  {"--retries", "-1"},     {"--flaky", "maybe"},
      {"--keep-runs", "0"}, {"--keep-runs", "none"}, {"--durations", "x"}};
  for (const Words& flag : wrong) {
    const Result<CommandLine> line =
        ParseCommandLine(Words{"run", "a.yaml", flag[0], flag[1]});
    ASSERT_FALSE(line.ok()) << flag[0] << " " << flag[1];
    EXPECT_THAT(line.status().message(), HasSubstr(flag[0] + ": expected"));
  }
}

TEST(CommandLineTest, LabelDoesNotSwallowThePathsBehindIt) {
  const auto command = Parsed<RunCommand>({"run", "-L", "smoke", "a.yaml"});
  EXPECT_THAT(command.labels, ElementsAre("smoke"));
  EXPECT_THAT(command.paths, ElementsAre("a.yaml"));
}

TEST(CommandLineTest, BehindTwoDashesNothingIsAnOption) {
  const auto command = Parsed<RunCommand>(
      {"run", "--world", "sim", "--", "-x.yaml", "--y.yaml"});
  EXPECT_EQ(command.world, WorldChoice::kSimulated);
  EXPECT_THAT(command.paths, ElementsAre("-x.yaml", "--y.yaml"));
}

TEST(CommandLineTest, WorkerTakesTheOptionsOfTheLauncher) {
  const auto command = Parsed<WorkerCommand>(
      {"worker", "--options", "o.json", "--worker", "1", "--incarnation", "2",
       "--launcher-fd", "3", "--events", "e.jsonl"});
  EXPECT_EQ(command.options_file, "o.json");
  EXPECT_EQ(command.worker, 1);
  EXPECT_EQ(command.incarnation, 2);
  EXPECT_EQ(command.launcher_fd, 3);
}

TEST(CommandLineTest, CkptTakesItsPaths) {
  const auto diff = Parsed<CheckpointDiffCommand>({"ckpt", "diff", "a", "b"});
  EXPECT_EQ(diff.left, "a");
  EXPECT_EQ(diff.right, "b");
  EXPECT_EQ(Parsed<CheckpointListCommand>({"ckpt", "ls", "d"}).directory, "d");
}

TEST(CommandLineTest, BenchScaleTakesAFolderForItsResults) {
  const auto command =
      Parsed<BenchScaleCommand>({"bench", "scale", "--out", "d"});
  EXPECT_EQ(command.out_directory, "d");
  EXPECT_EQ(Parsed<BenchScaleCommand>({"bench", "scale"}).out_directory, "");
}

TEST(CommandLineTest, CrashTestPlanStatesIfFaultsAreNamed) {
  EXPECT_FALSE(Parsed<CrashTestCommand>({"crash-test", "--", "a", "{out}"})
                   .plan->names_faults);
  EXPECT_TRUE(Parsed<CrashTestCommand>(
                  {"crash-test", "--faults", "rank", "--", "a", "{out}"})
                  .plan->names_faults);
}

}  // namespace
}  // namespace gauntlet
