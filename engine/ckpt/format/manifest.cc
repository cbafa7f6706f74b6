#include "engine/ckpt/format/manifest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "engine/ckpt/format/manifest_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/job/json_text.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kDigestPrefix = "\"xxh3_128\":\"";
constexpr std::string_view kDigestSuffix = "\"}\n";
// Values of `keep`.
constexpr std::string_view kRecentWord = "while_new";
constexpr std::string_view kPermanentWord = "for_good";

std::string ManifestDigestLine(std::string_view before) {
  return std::string(kDigestPrefix) + DigestOf(before).ToString() +
         std::string(kDigestSuffix);
}

void WriteFile(const ShardFile& file, JsonText& json) {
  json.Raw("{\"name\":").String(file.name);
  json.Raw(",\"bytes\":").Number(file.bytes);
  json.Raw(",\"xxh3_128\":").PlainString(file.digest.ToString());
  json.Raw(",\"tensors\":[");
  std::string_view before;
  for (const std::string& tensor : file.tensors) {
    json.Raw(before).String(tensor);
    before = ",";
  }
  json.Raw("]}");
}

void WriteParent(const std::optional<ParentRecord>& parent, JsonText& json) {
  if (!parent) {
    json.Raw("null");
    return;
  }
  json.Raw("{\"name\":").String(parent->name);
  json.Raw(",\"step\":").Number(parent->step);
  json.Raw(",\"phase\":").PlainString(PhaseName(parent->phase));
  json.Raw(",\"state_digest\":").PlainString(parent->state_digest.ToString());
  json.Raw(",\"written_by\":").Number(parent->written_by).Raw("}");
}

Result<Digest> ReadDigest(JsonFields& fields, std::string_view key) {
  const std::string text = fields.String(key);
  const auto digest = Digest::Parse(text);
  if (digest) return *digest;
  return DataLoss(fmt::format("{}: expected 32 hex digits, found \"{}\"",
                              fields.PathOf(key), text.substr(0, 40)));
}

Phase ReadPhase(JsonFields& fields) {
  return fields.Choice<Phase>(
      "phase", {{PhaseName(Phase::kInEpoch), Phase::kInEpoch},
                {PhaseName(Phase::kEvaluationDue), Phase::kEvaluationDue},
                {PhaseName(Phase::kCallbacksDue), Phase::kCallbacksDue}});
}

// Returns true if the name is that of a shard or the index. A manifest must not
// list other names: one of them could be a path to another directory.
bool IsFileName(const std::string& name, size_t shards) {
  if (name == kIndexName) return true;
  const std::optional<ShardPlace> place = ParseShardName(name);
  return place && static_cast<size_t>(place->count) == shards;
}

// Returns the duplicate name that is first in byte order; nullopt if all names
// are unique.
std::optional<std::string_view> FindRepeated(
    std::vector<std::string_view> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

Status CheckFiles(const std::vector<ShardFile>& files) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> tensors;
  for (const ShardFile& file : files) {
    if (!IsFileName(file.name, files.size() - 1)) {
      return DataLoss(fmt::format(
          "files: expected each shard and the index once, found \"{}\"",
          file.name.substr(0, 80)));
    }
    names.push_back(file.name);
    tensors.insert(tensors.end(), file.tensors.begin(), file.tensors.end());
  }
  if (const auto twice = FindRepeated(std::move(names))) {
    return DataLoss(fmt::format(
        "files: expected each shard and the index once, found \"{}\" twice",
        *twice));
  }
  if (const auto twice = FindRepeated(std::move(tensors))) {
    return DataLoss(fmt::format("files: tensor \"{}\" appears twice",
                                twice->substr(0, 80)));
  }
  return OkStatus();
}

Result<ShardFile> ParseFile(const Json& json, std::string path) {
  JsonFields fields(json, std::move(path));
  ShardFile file;
  file.name = fields.String("name");
  file.bytes = fields.Unsigned("bytes");
  ASSIGN_OR_RETURN(file.digest, ReadDigest(fields, "xxh3_128"));
  const Json& tensors = fields.Any("tensors");
  RETURN_IF_ERROR(fields.Finish());
  if (!tensors.is_array()) {
    return DataLoss(fields.PathOf("tensors") + ": expected an array");
  }
  for (const Json& tensor : tensors) {
    if (!tensor.is_string()) {
      return DataLoss(fields.PathOf("tensors") + ": expected strings");
    }
    file.tensors.push_back(tensor.get_ref<const std::string&>());
  }
  return file;
}

// Maximum number of files: shards and index.
constexpr size_t kMaxFiles = kMaxShards + 1;

Result<std::vector<ShardFile>> ParseFiles(const Json& json) {
  if (!json.is_array() || json.size() < 2 || json.size() > kMaxFiles) {
    return DataLoss(
        fmt::format("files: expected an array of 2 to {}", kMaxFiles));
  }
  std::vector<ShardFile> files;
  for (size_t i = 0; i < json.size(); ++i) {
    ASSIGN_OR_RETURN(ShardFile file,
                     ParseFile(json[i], fmt::format("files[{}]", i)));
    files.push_back(std::move(file));
  }
  RETURN_IF_ERROR(CheckFiles(files));
  return files;
}

Result<std::optional<ParentRecord>> ReadParent(const Json& json) {
  if (json.is_null()) return std::optional<ParentRecord>();
  JsonFields fields(json, "parent");
  ParentRecord parent;
  parent.name = fields.String("name");
  parent.step = fields.Unsigned("step");
  parent.phase = ReadPhase(fields);
  ASSIGN_OR_RETURN(parent.state_digest, ReadDigest(fields, "state_digest"));
  parent.written_by = fields.Unsigned("written_by");
  RETURN_IF_ERROR(fields.Finish());
  return std::optional(parent);
}

int64_t ReadUnixSeconds(JsonFields& fields, std::string_view key) {
  return fields.Integer(key, std::numeric_limits<int64_t>::min(),
                        std::numeric_limits<int64_t>::max());
}

RetentionMark ReadMark(JsonFields& fields) {
  return {.last_permanent_at = ReadUnixSeconds(fields, "counted_from"),
          .keep = fields.Choice<RetentionClass>(
              "keep", {{kRecentWord, RetentionClass::kRecent},
                       {kPermanentWord, RetentionClass::kPermanent}})};
}

Result<Manifest> ParseFields(const Json& json) {
  JsonFields fields(json, "");
  const std::string schema = fields.String("schema");
  if (json.is_object() && schema != kManifestSchema) {
    return FailedPrecondition(
        fmt::format("schema: expected \"{}\", found \"{}\"", kManifestSchema,
                    schema.substr(0, 80)));
  }
  Manifest manifest;
  ASSIGN_OR_RETURN(manifest.job_digest, ReadDigest(fields, "job_digest"));
  manifest.head.job_json = fields.String("job");
  manifest.numerics_version = fields.Unsigned("numerics");
  manifest.head.step = fields.Unsigned("step");
  manifest.head.epoch = fields.Unsigned("epoch");
  manifest.head.position = fields.Unsigned("position");
  manifest.head.phase = ReadPhase(fields);
  manifest.generation = fields.Unsigned("generation");
  const Json& parent = fields.Any("parent");
  manifest.written_at = ReadUnixSeconds(fields, "written_at");
  if (fields.Maybe("counted_from") != nullptr) {
    manifest.mark = ReadMark(fields);
  }
  if (fields.Maybe("not_finite_since") != nullptr) {
    manifest.head.not_finite_since = fields.Unsigned("not_finite_since");
  }
  ASSIGN_OR_RETURN(manifest.head.state_digest,
                   ReadDigest(fields, "state_digest"));
  const Json& files = fields.Any("files");
  fields.String("xxh3_128");
  RETURN_IF_ERROR(fields.Finish());
  ASSIGN_OR_RETURN(manifest.parent, ReadParent(parent));
  ASSIGN_OR_RETURN(manifest.files, ParseFiles(files));
  return manifest;
}

Status CheckDigestLine(std::string_view text) {
  const size_t start = text.rfind(kDigestPrefix);
  if (start == std::string_view::npos || start == 0 ||
      text[start - 1] != '\n') {
    return DataLoss("expected its digest as the last line, found none");
  }
  const std::string_view line = text.substr(start);
  if (line.ends_with(kDigestSuffix)) {
    const std::string_view hex = line.substr(
        kDigestPrefix.size(),
        line.size() -
            std::min(line.size(), kDigestPrefix.size() + kDigestSuffix.size()));
    if (Digest::Parse(hex) == DigestOf(text.substr(0, start))) {
      return OkStatus();
    }
  }
  return DataLoss("its bytes do not match the digest in its last line");
}

Result<Manifest> ParseUncached(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return DataLoss(fmt::format("expected at most {} bytes, found {}",
                                kMaxManifestBytes, text.size()));
  }
  RETURN_IF_ERROR(CheckDigestLine(text));
  const Result<Json> json = ParseStrictJson(text, "manifest");
  if (!json.ok()) return DataLoss(json.status().message());
  Result<Manifest> manifest = ParseFields(*json);
  if (manifest.ok()) return manifest;
  const Status& status = manifest.status();
  if (status.code() == Code::kInvalidArgument) {
    return DataLoss(status.message());
  }
  return status;
}

// Cache of parsed manifests, with their text as the key. Thousands of simulated
// runs read the same few manifests, and parsing one takes far longer than
// finding its text here. Large manifests are not cached.
class RecentManifests {
 public:
  const Manifest* Find(std::string_view text) const {
    const auto found = manifests_.find(text);
    return found == manifests_.end() ? nullptr : &found->second;
  }
  void Put(std::string_view text, const Manifest& manifest) {
    if (text.size() > kMaxText) return;
    if (manifests_.size() == kMaxManifests) manifests_.clear();
    manifests_.emplace(text, manifest);
  }

 private:
  static constexpr size_t kMaxManifests = 64;
  static constexpr size_t kMaxText = size_t{16} << 10;

  std::map<std::string, Manifest, std::less<>> manifests_;
};

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  const CheckpointHead& head = manifest.head;
  JsonText json;
  json.Raw("{\n\"schema\":").PlainString(kManifestSchema);
  json.Raw(",\n\"job_digest\":").PlainString(manifest.job_digest.ToString());
  json.Raw(",\n\"job\":").String(head.job_json);
  json.Raw(",\n\"numerics\":").Number(manifest.numerics_version);
  json.Raw(",\n\"step\":").Number(head.step);
  json.Raw(",\n\"epoch\":").Number(head.epoch);
  json.Raw(",\n\"position\":").Number(head.position);
  json.Raw(",\n\"phase\":").PlainString(PhaseName(head.phase));
  json.Raw(",\n\"generation\":").Number(manifest.generation);
  json.Raw(",\n\"parent\":");
  WriteParent(manifest.parent, json);
  json.Raw(",\n\"written_at\":").Number(manifest.written_at);
  if (manifest.mark) {
    json.Raw(",\n\"counted_from\":").Number(manifest.mark->last_permanent_at);
    json.Raw(",\n\"keep\":")
        .PlainString(manifest.mark->keep == RetentionClass::kPermanent
                         ? kPermanentWord
                         : kRecentWord);
  }
  if (head.not_finite_since) {
    json.Raw(",\n\"not_finite_since\":").Number(*head.not_finite_since);
  }
  json.Raw(",\n\"state_digest\":").PlainString(head.state_digest.ToString());
  json.Raw(",\n\"files\":[\n");
  std::string_view before;
  for (const ShardFile& file : manifest.files) {
    json.Raw(before);
    WriteFile(file, json);
    before = ",\n";
  }
  json.Raw("],\n");
  json.Raw(ManifestDigestLine(json.text()));
  return json.Take();
}

Result<Manifest> ParseManifest(std::string_view text) {
  thread_local RecentManifests recent;
  if (const Manifest* known = recent.Find(text)) return *known;
  Result<Manifest> manifest = ParseUncached(text);
  if (manifest.ok()) recent.Put(text, *manifest);
  return manifest;
}

}  // namespace gauntlet
