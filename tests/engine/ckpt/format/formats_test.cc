// The small formats: names, claim, state file, manifest, shard index.
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ckpt/format/claim.h"
#include "engine/ckpt/format/manifest.h"
#include "engine/ckpt/format/manifest_format.h"
#include "engine/ckpt/format/shard_index.h"
#include "engine/ckpt/format/state_file.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/format/text_record.h"
#include "tests/engine/ckpt/test_world.h"

namespace gauntlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(StoreNamesTest, ReadsBackItsOwnNamesOnly) {
  for (const char* name :
       {"step-000000150-g3", "step-1234567890123-g10", "step-000000000-g1",
        "step-000000150-evaluation_due-g3", "step-000000150-finished-g3",
        "step-000000150-in_epoch-g3"}) {
    ASSERT_TRUE(CheckpointName::Parse(name)) << name;
    EXPECT_EQ(CheckpointName::Parse(name)->ToString(), name);
  }
  for (const char* name :
       {"", "step-", "step-150-g3", "step-000000150", "step-000000150-g",
        "step-000000150-g03", "step-000000150-g-3", "step-+00000150-g3",
        "step-000000150-lunch-g3", "step-000000150-g3 ", "step-000000150g3",
        "step-99999999999999999999999-g3", "../step-000000150-g3"}) {
    EXPECT_FALSE(CheckpointName::Parse(name)) << name;
  }
}

TEST(StoreNamesTest, DistinguishesEntries) {
  const std::vector<std::pair<std::string, EntryKind>> cases = {
      {"gen-000003", EntryKind::kClaim},
      {"gen-3", EntryKind::kOther},
      {"gen-000003.tmp", EntryKind::kClaimTmp},
      {"gen-000003.look", EntryKind::kClaimProbe},
      {"gen-3.look", EntryKind::kOther},
      {"step-000000150-g3.look", EntryKind::kOther},
      {"checkpoint", EntryKind::kOther},
      {"job-token", EntryKind::kToken},
      {"job-token.look", EntryKind::kTokenProbe},
      {"job-token-0123456789abcdef.tmp", EntryKind::kTokenTmp},
      {"job-token-0123456789ABCDEF.tmp", EntryKind::kOther},
      {"job-token-0123.tmp", EntryKind::kOther},
      {"job-token.tmp", EntryKind::kOther},
      {"job-token2", EntryKind::kOther},
      {"checkpoint.tmp", EntryKind::kStateTmp},
      {"step-000000150-g3", EntryKind::kCheckpoint},
      {"step-000000150-g3.tmp", EntryKind::kSaveTmp},
      {"rejected-step-000000150-g3", EntryKind::kRejected},
      {".deleting-step-000000150-g3", EntryKind::kDeleting},
      {".deleting-rejected-step-000000150-g3", EntryKind::kDeleting},
      {".deleting-g4-step-000000150-g3", EntryKind::kDeleting},
      {".deleting-g4-rejected-step-000000150-g3", EntryKind::kDeleting},
      {".deleting-g0-step-000000150-g3", EntryKind::kOther},
      {".deleting-g04-step-000000150-g3", EntryKind::kOther},
      {".deleting-g4step-000000150-g3", EntryKind::kOther},
      {"my-notes.tmp", EntryKind::kOther},
      {"rejected-by-me", EntryKind::kOther},
      {".deleting-", EntryKind::kOther},
  };
  for (const auto& [name, kind] : cases) {
    EXPECT_EQ(ParseEntryName(name).kind, kind) << name;
  }
}

TEST(StoreNamesTest, EntryOnItsWayOutKeepsItsNameAndItsRemover) {
  for (const std::string before :
       {"step-000000150-g3", "rejected-step-000000150-in_epoch-g3"}) {
    const EntryName entry = ParseEntryName(DeletingName(12, before));
    EXPECT_EQ(entry.removed_by, 12u);
    EXPECT_EQ(NameBeforeDeletion(entry), before);
    const EntryName of_earlier_version = ParseEntryName(".deleting-" + before);
    EXPECT_EQ(of_earlier_version.removed_by, 0u);
    EXPECT_EQ(NameBeforeDeletion(of_earlier_version), before);
  }
}

TEST(StoreNamesTest, ReadsBackTheNamesOfClaimsAndNoOthers) {
  for (const uint64_t generation :
       {uint64_t{1}, uint64_t{1234567}, UINT64_MAX}) {
    EXPECT_EQ(ParseClaimName(ClaimName(generation)), generation);
  }
  for (const char* const name :
       {"", "gen-", "gen-3", "gen-0000003", "gen-000003.tmp", "gen-000003 ",
        "gen-0", "gen-000", "gen-000000", "gen-00000018446744073709551615",
        "gen-18446744073709551616", "step-000000003-g3"}) {
    EXPECT_EQ(ParseClaimName(name), std::nullopt) << name;
  }
}

TEST(StoreNamesTest, CheckPathsFit_RefusesOnlyTooLongPaths) {
  MemoryStorage storage;
  const auto refuse_beyond = [&storage](size_t bytes) {
    storage.gate = [bytes](StorageCall, const std::string& path) {
      return path.size() > bytes ? Forbidden(path + ": open: refused")
                                 : OkStatus();
    };
  };
  EXPECT_TRUE(CheckPathsFit(storage, "/store").ok());
  refuse_beyond(60);
  const Status too_long = CheckPathsFit(storage, "/store");
  EXPECT_EQ(too_long.code(), Code::kForbidden);
  EXPECT_THAT(too_long.message(),
              HasSubstr("the paths of checkpoints: /store/"));
  // Every path is refused, as in a directory without search permission.
  refuse_beyond(0);
  EXPECT_TRUE(CheckPathsFit(storage, "/store").ok());
}

ClaimRecord FullClaim() {
  return {.generation = 3,
          .host = "machine\na",
          .unix_seconds = -5,
          .state = ParentState::kRecorded,
          .parent = {.name = "step-000000150-g2",
                     .step = 150,
                     .phase = Phase::kCallbacksDue,
                     .state_digest = DigestOf("state"),
                     .written_by = 1}};
}

TEST(ClaimTest, ReadsBackEachState) {
  ClaimRecord claim = FullClaim();
  EXPECT_EQ(ParseClaim(EncodeClaim(claim))->parent, claim.parent);
  EXPECT_EQ(ParseClaim(EncodeClaim(claim))->host, "machine?a");
  for (const auto state : {ParentState::kColdStart, ParentState::kUnrecorded}) {
    claim.state = state;
    EXPECT_EQ(ParseClaim(EncodeClaim(claim))->state, state);
  }
}

template <typename Parse>
void ExpectEveryDamageIsSeen(const std::string& text, const Parse& parse) {
  ASSERT_TRUE(parse(text).ok()) << parse(text).status().ToString();
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      ASSERT_FALSE(parse(damaged).ok()) << "byte " << i << " bit " << bit;
    }
    ASSERT_EQ(parse(text.substr(0, i)).status().code(), Code::kDataLoss) << i;
  }
  EXPECT_FALSE(parse(text + "\n").ok());
  EXPECT_FALSE(parse(text + text).ok());
}

TEST(ClaimTest, SeesEveryFlippedBitAndEveryTruncation) {
  ExpectEveryDamageIsSeen(EncodeClaim(FullClaim()), ParseClaim);
}

Manifest SmallManifest() {
  return {.head = HeadOf(150),
          .job_digest = DigestOf("job"),
          .numerics_version = 1,
          .generation = 3,
          .parent = FullClaim().parent,
          .written_at = 1'700'000'000,
          .files = {{.name = ShardName(0, 1),
                     .bytes = 100,
                     .digest = DigestOf("shard"),
                     .tensors = {"a", "b"}},
                    {.name = std::string(kIndexName),
                     .bytes = 10,
                     .digest = DigestOf("index"),
                     .tensors = {}}}};
}

// Returns a handmade manifest with a correct digest line.
std::string Signed(const std::string& body) {
  return body + "\"xxh3_128\":\"" + DigestOf(body).ToString() + "\"}\n";
}

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  const size_t at = text.find(from);
  CHECK(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

TEST(ManifestTest, ReadsBackWhatWasWritten) {
  const auto manifest = ParseManifest(EncodeManifest(SmallManifest()));
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(EncodeManifest(*manifest), EncodeManifest(SmallManifest()));
  EXPECT_EQ(manifest->head.job_json, kJob);
  EXPECT_EQ(*manifest->parent, FullClaim().parent);
}

TEST(ManifestTest, NamesWithEscapes_AreReadBack) {
  Manifest manifest = SmallManifest();
  manifest.files[0].tensors = {"a \"quoted\"", "back\\slash", "line\n", "",
                               "caf\xc3\xa9"};
  const auto read = ParseManifest(EncodeManifest(manifest));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->files[0].tensors, manifest.files[0].tensors);
}

// The mark is read from two layouts of the JSON. It is absent if retention
// counts no hours.
TEST(ManifestTest, RetentionMarkRoundTrips) {
  const std::string without = EncodeManifest(SmallManifest());
  EXPECT_EQ(without.find("counted_from"), std::string::npos);
  EXPECT_FALSE(ParseManifest(without)->mark);
  for (const RetentionClass keep :
       {RetentionClass::kRecent, RetentionClass::kPermanent}) {
    Manifest marked = SmallManifest();
    marked.mark = {.last_permanent_at = -5, .keep = keep};
    const std::string text = EncodeManifest(marked);
    std::string other = Replaced(text, "{\n", "{ \n");
    other = Signed(other.substr(0, other.rfind("\"xxh3_128\"")));
    for (const std::string& form : {text, other}) {
      const auto read = ParseManifest(form);
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->mark->last_permanent_at, -5);
      EXPECT_EQ(read->mark->keep, keep);
    }
  }
}

// The step is read from two layouts of the JSON. Older stores have no such key.
TEST(ManifestTest, HasTheFirstStepThatWasNotFinite) {
  const std::string without = EncodeManifest(SmallManifest());
  EXPECT_EQ(without.find("finite"), std::string::npos);
  EXPECT_EQ(ParseManifest(without)->head.not_finite_since, std::nullopt);
  Manifest manifest = SmallManifest();
  manifest.head.not_finite_since = 149;
  manifest.mark = {.last_permanent_at = -5, .keep = RetentionClass::kPermanent};
  const std::string text = EncodeManifest(manifest);
  std::string other = Replaced(text, "{\n", "{ \n");
  other = Signed(other.substr(0, other.rfind("\"xxh3_128\"")));
  for (const std::string& form : {text, other}) {
    const auto read = ParseManifest(form);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->head.not_finite_since, 149u);
  }
}

TEST(ManifestTest, SeesEveryFlippedBitAndEveryTruncation) {
  ExpectEveryDamageIsSeen(EncodeManifest(SmallManifest()), ParseManifest);
}

TEST(ManifestTest, ManyParsedTwice_EachIsReadAsItself) {
  constexpr uint64_t kManifests = 200;  // more than are kept
  for (int round = 0; round < 2; ++round) {
    for (uint64_t step = 0; step < kManifests; ++step) {
      Manifest manifest = SmallManifest();
      manifest.head.step = step;
      const std::string text = EncodeManifest(manifest);
      for (const char* const time : {"first", "second"}) {
        const auto read = ParseManifest(text);
        ASSERT_TRUE(read.ok()) << time;
        EXPECT_EQ(EncodeManifest(*read), text) << time;
      }
    }
  }
}

TEST(ManifestTest, RefusesHostileContentsWithAReason) {
  std::string body = EncodeManifest(SmallManifest());
  body.resize(body.rfind("\"xxh3_128\""));
  const std::string shard = ShardName(0, 1);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {Replaced(body, shard, "../../etc/passwd"), "each shard and the index"},
      {Replaced(body, shard, "/etc/passwd"), "each shard and the index"},
      {Replaced(body, shard, "model-00002-of-00001.safetensors"), "each shard"},
      {Replaced(body, std::string(kIndexName), shard), "each shard"},
      {Replaced(body, "\"bytes\":100", "\"bytes\":-1"), "bytes: expected"},
      {Replaced(body, "\"bytes\":100", "\"bytes\":1e99"), "bytes: expected"},
      {Replaced(body, "\"bytes\":100", "\"bytes\":99999999999999999999"),
       "bytes: expected"},
      {Replaced(body, "[\"a\",\"b\"]", "[\"a\",\"a\"]"), "appears twice"},
      {Replaced(body, "[\"a\",\"b\"]", "[\"c\",\"b\",\"c\",\"b\",\"a\"]"),
       "tensor \"b\" appears twice"},
      {Replaced(body, "\"tensors\":[]", "\"tensors\":[\"b\"]"),
       "tensor \"b\" appears twice"},
      {Replaced(body, "[\"a\",\"b\"]", "[\"a\",1]"), "expected strings"},
      {Replaced(body, "[\"a\",\"b\"]", "{}"), "expected an array"},
      {Replaced(body, "\"step\":150", "\"step\":\"150\""), "step: expected"},
      {Replaced(body, "\"step\":150", "\"steps\":150"), "missing"},
      {Replaced(body, "\"step\":150", "\"step\":150,\"step\":150"), "twice"},
      {Replaced(body, "\"phase\":\"callbacks_due\"", "\"phase\":\"x\""),
       "phase"},
      {Replaced(body, "\n\"state_digest\":\"",
                "\n\"counted_from\":1,\n\"state_digest\":\""),
       "keep"},
      {body + "\"xxh3_128\":\"0\",\n", "twice"},
      {"{\n\"files\":" + std::string(500'000, '[') + "\n", "manifest"},
      {"\n", "manifest"},
  };
  for (const auto& [hostile, message] : cases) {
    const auto manifest = ParseManifest(Signed(hostile));
    ASSERT_FALSE(manifest.ok()) << message;
    EXPECT_EQ(manifest.status().code(), Code::kDataLoss);
    EXPECT_THAT(manifest.status().message(), HasSubstr(message));
  }
}

// A manifest in a layout that this program does not write can be read, and has
// the same content.
TEST(ManifestTest, ReadsOtherLayoutsOfTheSameContent) {
  const std::string text = EncodeManifest(SmallManifest());
  const std::string body = text.substr(0, text.rfind("\"xxh3_128\""));
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{
           {"{\n", "{ \n"},
           {"\"step\":150,\n", ""},
           {"[\"a\",\"b\"]", "[\"a\", \"b\"]"},
           {"model-", "\\u006dodel-"}}) {
    std::string other = Replaced(body, from, to);
    // If the key was removed, puts it back elsewhere.
    if (*to == '\0') other = Replaced(other, "{\n", "{\n\"step\":150,\n");
    const auto manifest = ParseManifest(Signed(other));
    ASSERT_TRUE(manifest.ok()) << to << manifest.status().ToString();
    EXPECT_EQ(EncodeManifest(*manifest), text) << to;
  }
}

TEST(ManifestTest, RefusesMalformedNumbers) {
  const std::string text = EncodeManifest(SmallManifest());
  const std::string body = text.substr(0, text.rfind("\"xxh3_128\""));
  for (const char* number :
       {"0150", "-150", "1e2", "150.0", "+150", "", "18446744073709551616"}) {
    const std::string other =
        Replaced(body, "\"step\":150", std::string("\"step\":") + number);
    EXPECT_FALSE(ParseManifest(Signed(other)).ok()) << number;
  }
}

TEST(ShardNameTest, ReadsBackItsOwnNamesOnly) {
  for (const auto& [index, count] :
       std::vector<std::pair<int, int>>{{0, 1}, {3, 4}, {99'999, 100'000}}) {
    const auto place = ParseShardName(ShardName(index, count));
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->index, index);
    EXPECT_EQ(place->count, count);
  }
  for (const char* name :
       {"", "model-", "model-1-of-1.safetensors",
        "model-00000-of-00001.safetensors", "model-00002-of-00001.safetensors",
        "model-000001-of-00001.safetensors", "model-00001-of-00001",
        "model-00001-of-00001.safetensors ", "../model-00001-of-00001",
        "model-00001-of-99999999999999999999.safetensors"}) {
    EXPECT_FALSE(ParseShardName(name).has_value()) << name;
  }
}

TEST(ManifestTest, BoundsItsSizeBeforeItIsParsed) {
  const auto manifest = ParseManifest(std::string(100'000'000, '['));
  EXPECT_THAT(manifest.status().message(), HasSubstr("at most 1048576 bytes"));
}

TEST(ManifestTest, DistinguishesAnotherSchemaFromDamage) {
  std::string body = EncodeManifest(SmallManifest());
  body.resize(body.rfind("\"xxh3_128\""));
  const auto manifest =
      ParseManifest(Signed(Replaced(body, "checkpoint/v1", "checkpoint/v2")));
  EXPECT_EQ(manifest.status().code(), Code::kFailedPrecondition);
}

TEST(StateFileTest, AsItWasWritten_AsksForNothing) {
  for (const std::vector<std::string>& all :
       {std::vector<std::string>{},
        {"step-000000001-g1", "step-000000002-g1"}}) {
    const StateFile file = ParseStateFile(EncodeStateFile(all));
    EXPECT_EQ(file.all, all);
    EXPECT_FALSE(file.edit);
    EXPECT_EQ(file.refusal, "");
    EXPECT_EQ(file.damage, "");
  }
}

constexpr std::string_view kFirst = "step-000000001-g1";

// Returns a file of three checkpoints, edited to select the first, as the
// file's own text explains.
std::string EditedStateFile() {
  const std::string text = EncodeStateFile(std::vector<std::string>{
      "step-000000001-g1", "step-000000002-g1", "step-000000004-g1"});
  return Replaced(text.substr(0, text.rfind("xxh3_128")),
                  "latest: step-000000004", "latest: step-000000001");
}

// Covers every form in which an editor may save the same edit.
TEST(StateFileTest, Edit_IsObeyed) {
  const std::string edit = EditedStateFile();
  std::string crlf;
  for (const char c : edit) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string names = "all: step-000000001-g1\n";
  const std::string kCases[] = {
      edit,
      edit.substr(0, edit.size() - 1),
      crlf,
      crlf.substr(0, crlf.size() - 2),
      "\xef\xbb\xbf" + edit,
      edit + "\n\n  \n",
      edit.substr(0, edit.size() - 1) + " \t \n",
      "# of mine: k\xc3\xb6nnte\n" + edit,
      "\t latest:step-000000001-g1",
      "latest: step-000000001-g1",
      names + "latest: step-000000001-g1\n",
      "latest: step-000000001-g1\n" + names,
  };
  for (const std::string& text : kCases) {
    const StateFile file = ParseStateFile(text);
    ASSERT_TRUE(file.edit) << text << file.refusal << file.damage;
    EXPECT_EQ(file.edit->latest, kFirst) << text;
    EXPECT_FALSE(file.edit->may_be_truncated) << text;
  }
  EXPECT_EQ(ParseStateFile(edit).edit->line, 5u);
}

TEST(StateFileTest, EditThatIsNotUnderstood_IsRefusedByLine) {
  const std::string edit = EditedStateFile();
  const std::string sealed = EncodeStateFile(std::vector<std::string>{
      "step-000000001-g1", "step-000000002-g1", "step-000000004-g1"});
  const struct {
    std::string text;
    std::string refusal;
  } kCases[] = {
      {Replaced(sealed, "latest: step-000000004", "latest: step-000000002"),
       "line 6: the checksum is not that of the lines above it"},
      {Replaced(sealed, "all: step-000000001-g1\n", ""),
       "line 5: the checksum is not that of the lines above it"},
      {edit + "latest: step-000000002-g1\n",
       "line 6: expected latest once, found it in line 5 too"},
      {edit + "step: 4\n", "line 6: expected \"all: NAME\""},
      {Replaced(edit, "latest: ", "latest = "), "line 5: expected \"all: "},
      {Replaced(edit, "latest: ", "Latest: "), "line 5: expected \"all: "},
      {Replaced(edit, "all: step-000000002-g1", "all: step-2"),
       "line 3: all: expected a checkpoint's name, such as "},
      {"# nothing else\n", "expected a line \"latest: NAME\", found none"},
      {std::string("\xff\xfel\0a\0", 6),
       "line 1: expected UTF-8, found UTF-16"},
  };
  for (const auto& one : kCases) {
    const StateFile file = ParseStateFile(one.text);
    EXPECT_THAT(file.refusal, testing::StartsWith(one.refusal)) << one.text;
    EXPECT_FALSE(file.edit) << one.text;
  }
}

TEST(StateFileTest, LineEndsBlanksAndCommentsAlone_AskForNothing) {
  const std::string text =
      EncodeStateFile(std::vector<std::string>{"step-000000001-g1"});
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (const std::string& same :
       {crlf, "\xef\xbb\xbf" + text, text + "\n", "# of mine\n" + text,
        text.substr(text.find('\n') + 1), text.substr(0, text.size() - 1)}) {
    const StateFile file = ParseStateFile(same);
    EXPECT_FALSE(file.edit) << same;
    EXPECT_EQ(file.refusal, "") << same;
  }
}

// Selects the last remaining name, with nothing after it: an older file that
// was truncated looks the same.
TEST(StateFileTest, EditWithoutLaterNames_MayBeATruncation) {
  const std::string text =
      EncodeStateFile(std::vector<std::string>{"step-000000001-g1"});
  const std::string edit = text.substr(0, text.rfind("xxh3_128"));
  for (const std::string& same : {edit, edit.substr(0, edit.size() - 1)}) {
    const StateFile file = ParseStateFile(same);
    ASSERT_TRUE(file.edit) << same;
    EXPECT_EQ(file.edit->latest, kFirst);
    EXPECT_TRUE(file.edit->may_be_truncated);
  }
}

TEST(StateFileTest, InvalidText_IsDamage) {
  for (const std::string& text : {std::string(), std::string(1000, '\0'),
                                  "latest: x" + std::string(40, '\0'),
                                  std::string("\x7f"
                                              "ELF",
                                              4)}) {
    const StateFile file = ParseStateFile(text);
    EXPECT_NE(file.damage, "") << text;
    EXPECT_FALSE(file.edit) << text;
    EXPECT_EQ(file.refusal, "") << text;
  }
}

TEST(StateFileTest, FlippedBitOrCut_IsDamageAndNoEdit) {
  for (const std::vector<std::string>& all :
       {std::vector<std::string>{"step-000000001-g1", "step-000000002-g12"},
        {"step-000000001-evaluation_due-g10"}}) {
    const std::string text = EncodeStateFile(all);
    const size_t latest_end = text.rfind("xxh3_128");
    for (size_t i = 0; i < text.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = text;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        const StateFile file = ParseStateFile(flipped);
        ASSERT_FALSE(file.edit) << flipped;
        ASSERT_NE(file.damage, "") << flipped;
        ASSERT_EQ(file.refusal, "") << flipped;
      }
      const StateFile cut = ParseStateFile(text.substr(0, i));
      ASSERT_NE(cut.damage, "") << i;
      ASSERT_EQ(cut.refusal, "") << i;
      const bool whole = i == latest_end || i + 1 == latest_end;
      ASSERT_EQ(cut.edit.has_value(), whole) << i;
    }
  }
}

// Flips bits in the lines, in the digest, and in both.
TEST(StateFileTest, TwoFlippedBits_AreDamageAndNoEdit) {
  const std::string text = EncodeStateFile(
      std::vector<std::string>{"step-000000001-g1", "step-000000012-g1"});
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string flipped = text;
    for (int flip = 0; flip < 2; ++flip) {
      char& c = flipped[random() % text.size()];
      c = static_cast<char>(c ^ (1 << random() % 8));
    }
    if (flipped == text) continue;
    const StateFile file = ParseStateFile(flipped);
    EXPECT_FALSE(file.edit) << flipped;
    EXPECT_NE(file.damage, "") << flipped;
    EXPECT_EQ(file.refusal, "") << flipped;
  }
}

// '2' and '3' differ in one bit. A disk hardly flips exactly the bit that names
// another listed checkpoint; a user does.
TEST(StateFileTest, OneBitThatNamesAnotherListedCheckpoint_IsRefused) {
  const std::string text = EncodeStateFile(
      std::vector<std::string>{"step-000000020-g1", "step-000000030-g1"});
  const StateFile file = ParseStateFile(
      Replaced(text, "latest: step-000000030", "latest: step-000000020"));
  EXPECT_THAT(file.refusal, testing::StartsWith("line 5: the checksum"));
}

TEST(TextRecordTest, TakesAnyBytes) {
  for (const std::string text :
       {"", "\n", ":", ": \n:\n", "a:b", "# only\n", "xxh3_128:", "\n\n\n"}) {
    EXPECT_NE(ParseTextRecord(text).digest, DigestLine::kRight) << text;
  }
  EXPECT_TRUE(ParseTextRecord("a: b").torn);
}

TEST(TextRecordTest, IsWrittenLineByLineAndReadBack) {
  TextRecordWriter writer("of a test");
  writer.Field("first", "1");
  writer.Field("second", "");
  const std::string text = std::move(writer).Finish();
  EXPECT_THAT(text, testing::StartsWith("# of a test\nfirst: 1\nsecond: \n"));
  const TextRecord record = ParseTextRecord(text);
  EXPECT_EQ(record.digest, DigestLine::kRight);
  EXPECT_EQ(record.Find("first"), "1");
  EXPECT_EQ(record.Find("second"), "");
}

TEST(ShardIndexTest, NamesTheFirstShardOfEachTensorInTheOrderOfTheirNames) {
  const std::vector<ShardFile> shards = {
      {.name = "one", .bytes = 3, .digest = {}, .tensors = {"d", "b"}},
      {.name = "two", .bytes = 4, .digest = {}, .tensors = {"c", "b", "a"}}};
  EXPECT_EQ(EncodeShardIndex(shards), R"({
  "metadata": {
    "total_size": 7
  },
  "weight_map": {
    "a": "two",
    "b": "one",
    "c": "two",
    "d": "one"
  }
}
)");
  EXPECT_THAT(EncodeShardIndex({}), HasSubstr("\"weight_map\": {}"));
}

}  // namespace
}  // namespace gauntlet
