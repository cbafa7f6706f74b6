// A scenario can express every plan: written and loaded, the plan is the same.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chaos/inject/plan/fault_parameters.h"
#include "engine/train/worker_exit.h"
#include "engine/world/fault_point.h"
#include "harness/scenario/writer/write_scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr ScenarioHeader kHeader = {};

// Ten steps per epoch; every point can be reached in some incarnation.
constexpr char kJob[] = R"(schema: gauntlet/v2
name: base
preset: tiny
job: {epochs: 1000, replicas: 4, data: {samples: 1280}}
cluster: {workers: 4, device: emulated, collective: nccl, start_timeout: 7s, restart: {max: 1000}}
checkpoint: {every: {steps: 1}, mode: async, shards: 2, keep: 2, keep_every_hours: 3, on_success: delete}
faults:
  - id: end
    at: {worker: 0}
    do: crash
expect: {outcome: recovers}
)";

Case BaseCase() {
  const LoadedFile loaded = LoadScenarios(kJob, "base.yaml");
  CHECK(loaded.errors.empty(), RenderErrors(loaded, "base.yaml", kJob));
  return loaded.cases.at(0);
}

Duration AnyDuration() {
  return Duration(*rc::gen::inRange<int64_t>(1, 86'400'000'000'000));
}

FileOffset AnyOffset() {
  if (*rc::gen::arbitrary<bool>()) {
    return {*rc::gen::inRange<uint64_t>(0, 101), OffsetUnit::kPercent};
  }
  return {*rc::gen::inRange<uint64_t>(0, uint64_t{1} << 50),
          OffsetUnit::kBytes};
}

// Sets every parameter of the kind that ParameterNames lists.
FaultParameters AnyParameters(FaultKind kind) {
  FaultParameters with;
  const std::string taken = fmt::format(" {} ", ParameterNames(kind));
  const auto takes = [&](std::string_view name) {
    return taken.find(fmt::format(" {} ", name)) != std::string::npos;
  };
  if (*rc::gen::arbitrary<bool>()) {
    with.times = FaultTimes::kAlways;
    if (*rc::gen::arbitrary<bool>()) {
      with.until_step = *rc::gen::inRange<uint64_t>(0, 1000);
    }
  }
  if (takes("exit_code")) {
    with.exit_code = *rc::gen::suchThat(
        rc::gen::inRange(1, 256), [](int code) { return !IsWorkerExit(code); });
  }
  if (kind == FaultKind::kKill) {
    if (*rc::gen::arbitrary<bool>()) with.kill_latency = AnyDuration();
  } else if (takes("latency")) {
    with.latency = AnyDuration();
  }
  if (takes("duration")) with.duration = AnyDuration();
  if (takes("grace")) {
    with.grace = AnyDuration();
    with.notice =
        *rc::gen::element(NoticeBy::kSignal, NoticeBy::kFile, NoticeBy::kHttp);
  }
  if (kind == FaultKind::kGpuError) {
    const auto errors = AllDeviceErrors();
    with.device_error =
        errors[*rc::gen::inRange<size_t>(0, errors.size())].error;
  } else if (takes("error")) {
    const auto errors = AllFaultErrors();
    with.error = errors[*rc::gen::inRange<size_t>(0, errors.size())].number;
  }
  if (takes("keep")) {
    with.blocks = *rc::gen::inRange(1, 65);
    const uint64_t all =
        with.blocks == 64 ? ~uint64_t{0} : (uint64_t{1} << with.blocks) - 1;
    with.keep = *rc::gen::inRange<uint64_t>(0, all);
    with.then = *rc::gen::element(AfterTear::kCrash, AfterTear::kPowerLoss,
                                  AfterTear::kNothing);
  }
  if (takes("bytes")) {
    with.bytes = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 50);
  }
  if (takes("offset")) with.offset = AnyOffset();
  if (takes("bit")) with.bit = *rc::gen::inRange(0, 8);
  if (takes("groups") && *rc::gen::arbitrary<bool>()) {
    with.groups = {{0, *rc::gen::inRange(2, 4)}, {1}};
  }
  if (kind == FaultKind::kAsymmetricPartition)
    with.link_direction =
        *rc::gen::element(LinkDirection::kOut, LinkDirection::kIn);
  if (takes("percent")) with.percent = *rc::gen::inRange(1, 91);
  if (takes("jitter")) with.jitter = AnyDuration();
  if (kind == FaultKind::kWallClockJump) {
    with.by = std::chrono::seconds(*rc::gen::inRange(1, 86'400));
    with.direction =
        *rc::gen::element(JumpDirection::kForward, JumpDirection::kBack);
  }
  return with;
}

// Returns a site that the base case can reach: the loader refuses others.
FaultSite AnySite() {
  FaultSite site = {
      .worker = *rc::gen::element(0, 1, 2, 3, kAnyWorker, kAllWorkers, kChief),
      .incarnation = *rc::gen::element(1, kAnyIncarnation, 2, 7),
      .point =
          AllPoints()[*rc::gen::inRange<size_t>(0, AllPoints().size())].point,
      .occurrence = *rc::gen::inRange<uint64_t>(1, 1000)};
  if (*rc::gen::arbitrary<bool>()) {
    const bool is_in_training = InfoOf(site.point).part == RunPart::kTraining;
    site.step = *rc::gen::inRange<uint64_t>(is_in_training ? 1 : 0, 1000);
  }
  if (*rc::gen::arbitrary<bool>()) {
    site.epoch = *rc::gen::inRange<uint64_t>(0, 1000);
  }
  if (IsOfSave(site.point) && *rc::gen::arbitrary<bool>()) {
    site.save = *rc::gen::inRange<uint64_t>(1, 1000);
  }
  if (HasBlocks(site.point) && *rc::gen::arbitrary<bool>()) {
    site.offset = AnyOffset();
  } else if (HasBlocks(site.point)) {
    site.block = *rc::gen::element<uint64_t>(0, 1, 3, kAnyBlock);
  }
  return site;
}

Fault AnyFault(int number, const std::vector<Fault>& before) {
  Fault fault;
  fault.id =
      fmt::format("{}{}", *rc::gen::element("fault-", "_", "7", "on."), number);
  const auto kinds = AllFaultKinds();
  fault.kind = kinds[*rc::gen::inRange<size_t>(0, kinds.size())].kind;
  fault.site = AnySite();
  fault.with = AnyParameters(fault.kind);
  if (!before.empty() && *rc::gen::arbitrary<bool>()) {
    fault.after = before.back().id;
  }
  return fault;
}

TEST(WriteScenarioProperty, AnyPlanIsReadBackAsItWas) {
  const Case base = BaseCase();
  int written = 0;
  EXPECT_TRUE(rc::check("any plan is read back", [&] {
    Case one = base;
    one.seed = *rc::gen::arbitrary<uint64_t>();
    one.plan.seed = one.seed;
    if (*rc::gen::arbitrary<bool>()) {
      one.before = {.workers = *rc::gen::inRange(1, 65),
                    .epochs = *rc::gen::inRange<uint64_t>(1, 1'000'001),
                    .steps_per_epoch = *rc::gen::inRange(0, 100)};
    }
    if (!one.before && *rc::gen::arbitrary<bool>()) {
      one.launches = {{.max_steps = *rc::gen::inRange<uint64_t>(1, 5)},
                      {.stop_at_step = *rc::gen::inRange<uint64_t>(1, 10)},
                      {.learning_rate = 0.3f, .batch = 3},
                      {}};
      one.train.checkpoint.at_success = AtSuccess::kSaveFinalState;
    }
    one.train.steps_per_execution = *rc::gen::inRange<uint64_t>(1, 1'000'001);
    if (*rc::gen::arbitrary<bool>()) {
      one.plan.bugs = {PlantedBug::kLoseMetrics, PlantedBug::kLoseRngKey};
    }
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
      one.plan.faults.push_back(AnyFault(i, one.plan.faults));
    }
    const Result<std::string> text = WriteScenario(one, kHeader);
    if (!text.ok() &&
        text.status().message().find("can never match") != std::string::npos) {
      RC_DISCARD("no run comes to it");
    }
    RC_ASSERT(text.status().message() == "");
    const LoadedFile loaded = LoadScenarios(*text, "again.yaml");
    RC_ASSERT(loaded.cases.size() == 1u);
    RC_ASSERT(loaded.cases[0].plan == one.plan);
    RC_ASSERT(DescribeCaseDifference(one, loaded.cases[0]) == "");
    ++written;
  }));
  EXPECT_GE(written, 100);
}

TEST(WriteScenarioProperty, EveryKindWithEveryParameterCanBeWritten) {
  const Case base = BaseCase();
  for (const FaultKindInfo& info : AllFaultKinds()) {
    EXPECT_TRUE(rc::check(std::string(info.name), [&] {
      Case one = base;
      one.plan.faults.push_back(
          {.id = "it",
           .site = {.worker = 0, .point = Point::kStepBegin},
           .kind = info.kind,
           .with = AnyParameters(info.kind)});
      RC_ASSERT(Validate(one.plan).message() == "");
      const Result<std::string> text = WriteScenario(one, kHeader);
      RC_ASSERT(text.status().message() == "");
      const LoadedFile loaded = LoadScenarios(*text, "again.yaml");
      RC_ASSERT(loaded.cases.at(0).plan == one.plan);
    }));
  }
}

std::vector<std::filesystem::path> AllScenarioFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(GAUNTLET_SCENARIOS)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST(WriteScenarioTest, EveryScenarioThereIsComesBackAsItWas) {
  int cases = 0;
  for (const std::filesystem::path& file : AllScenarioFiles()) {
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    for (const Case& one : LoadScenarios(text, file.string()).cases) {
      const Result<std::string> written = WriteScenario(one, kHeader);
      ASSERT_TRUE(written.ok()) << written.status().message();
      const LoadedFile loaded = LoadScenarios(*written, "again.yaml");
      EXPECT_EQ(DescribeCaseDifference(one, loaded.cases.at(0)), "") << file;
      ++cases;
    }
  }
  EXPECT_GT(cases, 30);
}

TEST(WriteScenarioTest, HeaderIsWrittenFirstLineByLine) {
  const Result<std::string> text =
      WriteScenario(BaseCase(), {.goal = "it is caught.",
                                 .method = "one fault:\ncrash worker 0.",
                                 .expect = "recovery."});
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with(R"(# Goal:   it is caught.
# Method: one fault:
#         crash worker 0.
# Expect: recovery.
schema: gauntlet/v2
name: base
preset: tiny
job: {data: {samples: 1280}, epochs: 1000}
)")) << *text;
}

// Covers all parts of a job that no preset uses.
TEST(WriteScenarioTest, LayersSchedulesAndTheRestComeBack) {
  Case one = BaseCase();
  JobSpec& job = one.train.job;
  job.model.layers = {{.kind = LayerKind::kConv2D, .filters = 4, .kernel = 3},
                      {.kind = LayerKind::kCenter, .momentum = 0.75f},
                      {.kind = LayerKind::kGelu},
                      {.kind = LayerKind::kFlatten},
                      {.kind = LayerKind::kDropout, .rate = 0.1f},
                      {.kind = LayerKind::kDense, .units = 10}};
  job.optimizer.schedule = {.kind = ScheduleKind::kPiecewise,
                            .warmup = 3,
                            .boundaries = {10, 20},
                            .values = {0.1f, 0.01f, 0.001f}};
  job.optimizer.clip = {.kind = ClipKind::kNorm, .limit = 0.3f};
  job.accumulate = 3;
  const Result<std::string> text = WriteScenario(one, kHeader);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  job.optimizer.schedule = {.kind = ScheduleKind::kExponentialDecay,
                            .steps = 9,
                            .rate = 0.9f,
                            .staircase = true};
  EXPECT_TRUE(WriteScenario(one, kHeader).ok());
  job.optimizer.schedule = {
      .kind = ScheduleKind::kCosineDecay, .steps = 9, .alpha = 0.1f};
  EXPECT_TRUE(WriteScenario(one, kHeader).ok());
}

TEST(WriteScenarioTest, NamesInexpressibleSettings) {
  Case one = BaseCase();
  one.train.cluster.rendezvous_timeout += std::chrono::seconds(1);
  const std::string why = WriteScenario(one, kHeader).status().message();
  EXPECT_NE(why.find("cannot say this: training: "), std::string::npos) << why;
  one = BaseCase();
  one.plan.faults[0].site.worker = 4;
  const std::string never = WriteScenario(one, kHeader).status().message();
  EXPECT_NE(never.find("can never match: worker 4"), std::string::npos)
      << never;
}

TEST(WriteScenarioTest, TextThatYamlWouldMisreadIsQuoted) {
  Case one = BaseCase();
  one.labels = {"a: b", "- c", "\"d\\", "", "null", "# e", "1.5"};
  const Result<std::string> text = WriteScenario(one, kHeader);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(LoadScenarios(*text, "again.yaml").cases.at(0).labels, one.labels);
}

}  // namespace
}  // namespace gauntlet
