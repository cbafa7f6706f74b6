#include "harness/record/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gauntlet {
namespace {

using testing::HasSubstr;

Record FullRecord() {
  Record record;
  record.scenario = "kill";
  record.case_name = "kill[workers=2]";
  record.file = "scenarios/kill.yaml";
  record.line = 3;
  record.world = "sim";
  record.plan_json = "{\"faults\":[]}";
  record.expect = {.outcome = Outcome::kRecovers,
                   .invariants = {"store"},
                   .restarts_exactly = 1,
                   .restarts_max = 2,
                   .resumed_from_step = 4,
                   .recomputed_steps_max = 5,
                   .detected_in_max_ns = 6,
                   .failed_saves_exactly = 0,
                   .exit_code = 143,
                   .ends_at_epoch = 1,
                   .ends_at_step = 2,
                   .saves_exactly = 3,
                   .checkpoints_left = std::vector<uint64_t>{4, 5},
                   .epochs_after_restart_exactly = 6,
                   .loss_falls = true,
                   .accuracy_rises = true};
  record.setup = {.workers = 2,
                  .epochs = 3,
                  .rows_per_epoch = 4,
                  .save_interval_steps = 5,
                  .keep = 6,
                  .delete_at_success = true,
                  .allow_cold_start = true,
                  .no_store = true,
                  .curve_every = 8,
                  .exports = true,
                  .detection_bound_ns = 7,
                  .detection_bound_saving_ns = 8,
                  .detection_bound_joining_ns = 9,
                  .restart_pause_ns = 10,
                  .first_restart_pause_ns = 15,
                  .poll_every_ns = 20,
                  .never_restarts = true,
                  .step_timeout_ns = 16,
                  .save_timeout_ns = 17,
                  .start_timeout_ns = 21,
                  .longest_silence_ns = 18,
                  .longest_run_ns = 19,
                  .planted_bugs = {"lose-rng-key"},
                  .launches = {{.epochs = 3, .stop_at_step = 7},
                               {.epochs = 4, .max_steps = 5},
                               {.other_job = true}}};
  record.faults = {{.id = "f",
                    .kind = "torn_write",
                    .worker = "any",
                    .point = "ckpt.rename",
                    .save = 2,
                    .summary = "s",
                    .then = "nothing",
                    .always = true,
                    .until_step = 9,
                    .latency_ns = 4,
                    .duration_ns = 6,
                    .parts_others = true,
                    .grace_ns = 5,
                    .disk = "weak",
                    .of_one_host = true}};
  record.incarnations = {
      {.worker = 0,
       .number = 1,
       .events = {{.kind = RecordKind::kWorkerStarted, .t_ns = 1},
                  {.kind = RecordKind::kStep, .samples = {1}}}},
      {.worker = 1, .number = 1, .events = {}}};
  record.launchers = {{.exit_code = 1, .restarts = 2, .result = std::nullopt},
                      {.exit_code = 0,
                       .restarts = 0,
                       .result = FinalResult{.status = "done",
                                             .epochs = 3,
                                             .steps = 9,
                                             .digest = "d",
                                             .loss_bits = 0x80000001}}};
  record.ending = RunEnding::kHung;
  record.ending_detail = "no event for 15 s";
  record.wall_seconds = 1.5;
  record.virtual_seconds = 2.5;
  record.oom_kills = 2;
  record.left = {
      .store_listed = true,
      .checkpoints = {{.name = "step-000000004-g1",
                       .step = 4,
                       .valid = true,
                       .reason = "r",
                       .digest = "x"}},
      .rejected = {"rejected-a"},
      .temporary = {"b.tmp"},
      .processes_listed = true,
      .processes = {"4711"},
      .outputs_listed = true,
      .curves_damage = "d",
      .curves = {{.tag = "batch_loss", .step = 5, .bits = 6}},
      .exported = ExportedModel{
          .is_complete = true, .reason = "s", .step = 7, .digest = "y"}};
  record.golden = {.entries = {{.kind = RecordKind::kEvaluated,
                                .step = 1,
                                .phase = RecordPhase::kCallbacksDue,
                                .epoch = 2,
                                .position = 3,
                                .digest = "g",
                                .loss_bits = 4,
                                .count = 5,
                                .samples = {6}}},
                   .epochs = {{.epoch = 1, .loss_bits = 2, .correct = 3}},
                   .final_digest = "h"};
  return record;
}

TEST(RecordFileTest, NoCheckpointToBeLeftDiffersFromAnyCheckpoint) {
  for (const auto& left : {std::optional<std::vector<uint64_t>>(),
                           std::optional(std::vector<uint64_t>())}) {
    Record record = FullRecord();
    record.expect.checkpoints_left = left;
    const Parsed<Record> again = ReadRecord(RecordToJsonLines(record), "r");
    ASSERT_TRUE(again.ok()) << again.error;
    EXPECT_EQ(again.value->expect.checkpoints_left, left);
  }
}

TEST(RecordFileTest, ComesBackAsItWasWritten) {
  const Record record = FullRecord();
  const Parsed<Record> read = ReadRecord(RecordToJsonLines(record), "r");
  ASSERT_TRUE(read.ok()) << read.error;
  EXPECT_EQ(*read.value, record);
}

TEST(RecordFileTest, EqualRecordsGiveEqualBytes) {
  EXPECT_EQ(RecordToJsonLines(FullRecord()), RecordToJsonLines(FullRecord()));
}

TEST(RecordFileTest, NeverTakesATornRecordForAWholeOne) {
  const std::string text = RecordToJsonLines(FullRecord());
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    const Parsed<Record> read = ReadRecord(text.substr(0, length), "r");
    EXPECT_FALSE(read.ok()) << length;
    EXPECT_THAT(read.error, HasSubstr("r:"));
  }
}

TEST(RecordFileTest, StartsAsARecord_IfItsHeadHasTheKind) {
  EXPECT_TRUE(StartsAsRecord(RecordToJsonLines(Record())));
  EXPECT_TRUE(StartsAsRecord("{\"kind\":\"record\",\"sch"));
  for (const char* text : {"", "{\"kind\":\"rec", "{\"kind\":\"golden\"}"}) {
    EXPECT_FALSE(StartsAsRecord(text)) << text;
  }
}

TEST(RecordFileTest, Error_NamesTheLineAndTheReason) {
  const std::string head =
      "{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\"}\n";
  const struct {
    std::string text;
    std::string expected;
  } kCases[] = {
      {"", "r: expected a record, found an empty file; run the case again"},
      {head,
       "r: expected an end line, found a record that is cut short at "
       "line 1; run the case again"},
      {head + "{\"kind\":\"pro",
       "r: expected an end line, found a record that is cut short at line 2"},
      {head + "\xff\n",
       "r:2: expected one JSON object, found what is not JSON; run the case "
       "again"},
      {head + "{}\n",
       "r:2: kind: expected a string, found none; run the case again"},
      {"{\"kind\":\"end\"}\n", "r:1: expected a record line first"},
      {"{\"kind\":\"record\",\"schema\":\"x\"}\n",
       "r:1: schema: expected gauntlet.record/v3, found \"x\": read it with "
       "the "
       "build of gauntlet that wrote it, or run the case again"},
      {head + head, "r:2: expected a record line first, and only there"},
      {head + "{\"kind\":\"step\"}\n",
       "r:2: expected a process before its events"},
      {head + "{\"kind\":\"process\",\"worker\":\"a\"}\n",
       "r:2: worker: expected a whole number"},
      {head + "{\"kind\":\"process\",\"worker\":1}\n",
       "r:2: worker: expected a whole number from 0 to 0, found 1"},
      {head + "{\"kind\":\"process\",\"incarnation\":0}\n",
       "r:2: incarnation: expected a whole number from 1 to 2147483647, found "
       "0"},
      {head + "{\"kind\":\"process\"}\n{\"kind\":\"step\",\"about\":1}\n",
       "r:3: about: expected a worker or rank up to 0, found 1"},
      {head + "{\"kind\":\"process\"}\n{\"kind\":\"step\",\"about\":-2}\n",
       "r:3: about: expected a whole number from -1 to 4095, found -2"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"setup\":{\"keep\":-1}}\n",
       "r:1: setup.keep: expected a whole number from 0 to 2147483647, found "
       "-1"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"setup\":{\"max_restarts\":-1}}\n",
       "r:1: setup.max_restarts: expected a whole number from 0 to 2147483647, "
       "found -1"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"launchers\":[{\"first_incarnation\":0}]}\n",
       "r:1: launchers.first_incarnation: expected a whole number from 1 to "
       "2147483647, found 0"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"setup\":{\"steps_per_execution\":0}}\n",
       "r:1: setup.steps_per_execution: expected a whole number from 1 to "
       "18446744073709551615, found 0"},
      {head + "{\"kind\":\"end\"}\n", "r:2: xxh3_128: expected "},
      {head + "{\"kind\":\"end\",\"xxh3_128\":\"0123\"}\n",
       "found \"0123\": the record was changed after it was written; run the "
       "case again"},
      {RecordToJsonLines(Record()) + "{\"kind\":\"end\"}\n",
       "r:3: expected nothing after the end line"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"setup\":{\"keep\":\"x\"}}\n",
       "r:1: setup.keep: expected a whole number"},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"expect\":{\"outcome\":\"wins\"}}\n",
       "r:1: expect.outcome: expected a known name, found \"wins\""},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"expect\":{\"invariants\":[\"luck\"]}}\n",
       "r:1: expect.invariants: expected names of invariants, found "
       "\"luck\""},
      {"{\"kind\":\"record\",\"schema\":\"gauntlet.record/v3\","
       "\"setup\":{\"hang_limit_ns\":9223372036854775807}}\n",
       "r:1: setup.hang_limit_ns: expected a whole number from 0 to "
       "1152921504606846976, found 9223372036854775807"},
      {head + "{\"kind\":\"process\"}\n"
              "{\"kind\":\"step\",\"t_ns\":9223372036854775807}\n",
       "r:3: t_ns: expected a whole number from 0 to 1152921504606846976"},
      {head + "{\"kind\":\"process\"}\n{\"kind\":\"step\",\"t_ns\":-1}\n",
       "r:3: t_ns: expected a whole number from 0 to 1152921504606846976"},
      {head + "{\"kind\":\"machine\"}\n{\"kind\":\"process_started\"}\n",
       "r:3: about: expected the worker of process_started, found none"},
  };
  for (const auto& [text, expected] : kCases) {
    const Parsed<Record> read = ReadRecord(text, "r");
    EXPECT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error, HasSubstr(expected));
    const std::string advice = "run the case again";
    EXPECT_EQ(read.error.find(advice), read.error.size() - advice.size())
        << "once, at the end: " << read.error;
  }
}

TEST(RecordFileTest, BytesThatAreNotUtf8DoNotStopTheWriter) {
  Record record = FullRecord();
  record.incarnations[0].events[0].path = "\xff\xfe";
  EXPECT_TRUE(ReadRecord(RecordToJsonLines(record), "r").ok());
}

}  // namespace
}  // namespace gauntlet
