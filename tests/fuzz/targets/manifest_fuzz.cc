#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/store_names.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/targets/signed_text.h"

namespace gauntlet {
namespace {

void RunManifest(std::string_view text) {
  const Result<Manifest> manifest = ParseManifest(text);
  if (!manifest.ok()) {
    const Code code = manifest.status().code();
    CHECK(code == Code::kDataLoss || code == Code::kFailedPrecondition,
          manifest.status().ToString());
    return CheckErrorLine(manifest.status().message());
  }
  for (const ShardFile& file : manifest->files) {
    CHECK(file.name.find('/') == std::string::npos, "a file elsewhere");
  }
  const std::string written = EncodeManifest(*manifest);
  const Result<Manifest> again = ParseManifest(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, EncodeManifest(*again), "manifest");
}

}  // namespace

void FuzzManifest(std::string_view input) {
  RunManifest(input);
  RunManifest(SignedText(input, "\"xxh3_128\":\"", "\"}\n"));
}

std::vector<std::string> ManifestSeeds() {
  Manifest manifest = {
      .head = {.step = 150,
               .epoch = 2,
               .position = 64,
               .state_digest = DigestOf("state"),
               .job_json = R"({"seed":1})"},
      .job_digest = DigestOf("job"),
      .numerics_version = 1,
      .generation = 3,
      .written_at = 1'700'000'000,
      .files = {{.name = ShardName(0, 1),
                 .bytes = 512,
                 .digest = DigestOf("shard"),
                 .tensors = {"dense0/kernel", "position/step"}},
                {.name = std::string(kIndexName),
                 .bytes = 64,
                 .digest = DigestOf("index")}}};
  std::vector<std::string> seeds = {EncodeManifest(manifest)};
  manifest.parent = ParentRecord{.name = "step-000000100-g2",
                                 .step = 100,
                                 .phase = Phase::kEvaluationDue,
                                 .state_digest = DigestOf("parent"),
                                 .written_by = 1};
  seeds.push_back(EncodeManifest(manifest));
  return seeds;
}

}  // namespace gauntlet
