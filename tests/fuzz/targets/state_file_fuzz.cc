#include <utility>

#include "engine/check.h"
#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/format/text_record.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/targets/signed_text.h"

namespace gauntlet {
namespace {

// Checks that at most one of edit, refusal and damage is set. The exception is
// an edit that may be truncated: it must come with damage.
void RunStateFile(std::string_view text) {
  const StateFile file = ParseStateFile(text);
  CHECK(!file.edit || file.damage.empty() == !file.edit->may_be_truncated,
        "an edit in a damaged file");
  CHECK(file.refusal.empty() || (!file.edit && file.damage.empty()),
        "a refusal beside something else");
  for (const std::string& name : file.all) {
    CHECK(name.find('\n') == std::string::npos, "a line end in a name");
  }
  const std::string written = EncodeStateFile(file.all);
  const StateFile again = ParseStateFile(written);
  CHECK(!again.edit && again.refusal.empty() && again.damage.empty(), written);
  CHECK(again.all == file.all, written);
}

// Checks that fields are read back as written, and that the digest line
// matches.
void RunTextRecord(std::string_view text) {
  const TextRecord record = ParseTextRecord(text);
  TextRecordWriter writer("");
  for (const TextField& field : record.fields) {
    writer.Field(field.key, field.value);
  }
  const std::string written = std::move(writer).Finish();
  const TextRecord again = ParseTextRecord(written);
  CHECK(again.digest == DigestLine::kRight && !again.torn, written);
}

}  // namespace

void FuzzStateFile(std::string_view input) {
  RunStateFile(input);
  RunStateFile(SignedText(input, "xxh3_128: ", "\n"));
  RunTextRecord(input);
}

std::vector<std::string> StateFileSeeds() {
  const std::vector<std::string> all = {"step-000000150-g3",
                                        "step-000000200-g3"};
  std::string edited = EncodeStateFile(all);
  edited.resize(edited.rfind("xxh3_128"));
  return {EncodeStateFile(all), EncodeStateFile({}), edited};
}

}  // namespace gauntlet
