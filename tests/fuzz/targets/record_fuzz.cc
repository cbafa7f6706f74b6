#include "engine/check.h"
#include "harness/record/record_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/targets/signed_text.h"

namespace gauntlet {

namespace {

void RunRecord(std::string_view input) {
  const Parsed<Record> record = ReadRecord(input, "record.jsonl");
  if (!record.ok()) return CheckErrorLine(record.error);
  CHECK(record.error.empty(), record.error);
  const std::string written = RecordToJsonLines(*record.value);
  const Parsed<Record> again = ReadRecord(written, "record.jsonl");
  CHECK(again.ok(), again.error);
  CHECK(*again.value == *record.value, written);
  CheckSameText(written, RecordToJsonLines(*again.value), "record");
}

}  // namespace

void FuzzRecord(std::string_view input) {
  RunRecord(input);
  RunRecord(SignedText(input, R"({"kind":"end","xxh3_128":")", "\"}\n"));
}

std::vector<std::string> RecordSeeds() {
  Record record;
  record.scenario = "kill";
  record.case_name = "kill[workers=2]";
  record.world = "sim";
  record.plan_json = "{}";
  record.expect.outcome = Outcome::kRecovers;
  record.expect.restarts_max = 2;
  record.setup = {.workers = 2, .epochs = 3, .planted_bugs = {"lose-rng-key"}};
  record.faults = {{.id = "k", .kind = "crash", .worker = "all"}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = RecordKind::kStep, .t_ns = 5, .samples = {1, 2}}}}};
  record.launchers = {
      {.exit_code = 0,
       .restarts = 1,
       .result = FinalResult{.status = "done", .epochs = 3, .steps = 24}}};
  record.virtual_seconds = 1.25;
  record.left.checkpoints = {{.name = "step-000000005-g1", .step = 5}};
  record.golden.entries = {{.step = 1, .digest = std::string(32, 'a')}};
  record.golden.epochs = {{.epoch = 1, .loss_bits = 7, .correct = 3}};
  return {RecordToJsonLines(record), RecordToJsonLines(Record())};
}

}  // namespace gauntlet
