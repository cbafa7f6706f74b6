#include "engine/check.h"
#include "harness/record/event_file.h"
#include "harness/record/record_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {

void FuzzEventLog(std::string_view input) {
  const Parsed<IncarnationEvents> incarnation =
      ReadEventFile(input, "w0.jsonl");
  if (!incarnation.ok()) return CheckErrorLine(incarnation.error);
  CHECK(incarnation.error.empty(), incarnation.error);
  // Events that can be read must be valid in a record.
  Record record;
  record.setup.workers = kMaxWorkers;
  if (incarnation.value->worker == kLauncherWorker) {
    record.launchers = {{.events = incarnation.value->events}};
  } else {
    record.incarnations = {*incarnation.value};
  }
  const Parsed<Record> again = ReadRecord(RecordToJsonLines(record), "record");
  CHECK(again.ok(), again.error);
  CHECK(*again.value == record, "events that changed in a record");
}

std::vector<std::string> EventLogSeeds() {
  return {
      R"({"kind":"header","schema":"gauntlet.events/v2","worker":1,"incarnation":2}
{"kind":"worker_started","t_ns":1}
{"kind":"claimed","t_ns":2,"generation":3,"path":"step-000000005-g2"}
{"kind":"step","t_ns":1834,"step":7,"epoch":1,"position":64,"loss":"3f9d70a4",)"
      R"("digest":"0123456789abcdef0123456789abcdef","samples":[1,2,3]}
{"kind":"evaluated","t_ns":1900,"phase":"evaluation_due","count":-4}
{"kind":"worker_exited","t_ns":2000,"count":143,"detail":"stopped"}
{"kind":"step","t_ns":18)"};
}

}  // namespace gauntlet
