#include "engine/job/job.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzJob(std::string_view input) {
  const Result<JobSpec> job = JobFromJson(input);
  if (!job.ok()) {
    CHECK(job.status().code() == Code::kInvalidArgument,
          job.status().ToString());
    return CheckErrorLine(job.status().message());
  }
  CHECK(Validate(*job).ok(), Validate(*job).ToString());
  const std::string written = JobToJson(*job, DigestOf("data"));
  const Result<JobSpec> again = JobFromJson(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, JobToJson(*again, DigestOf("data")), "job");
  CHECK(DescribeJobDifference(written, written).empty(), "differs from itself");
}

std::vector<std::string> JobSeeds() {
  std::vector<std::string> seeds;
  for (const PresetInfo& preset : AllPresets()) {
    seeds.push_back(
        JobToJson(PresetJob(preset.name).value(), DigestOf("data")));
  }
  JobSpec job = PresetJob("tiny").value();
  job.data = {.kind = DataKind::kNpy, .path = "/n", .classes = 3};
  job.data.shuffle = Shuffle::kOff;
  job.data.shard = ShardPolicy::kAuto;
  job.data.steps_per_epoch = 5;
  job.data.validation_steps = 2;
  seeds.push_back(JobToJson(job, DigestOf("data")));
  return seeds;
}

}  // namespace gauntlet
