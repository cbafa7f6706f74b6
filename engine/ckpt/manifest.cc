#include "engine/ckpt/manifest.h"

#include <limits>
#include <set>

#include "engine/ckpt/manifest_format.h"
#include "engine/ckpt/store_names.h"
#include "engine/job/strict_json.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kDigestPrefix = "\"xxh3_128\":\"";
constexpr std::string_view kDigestSuffix = "\"}\n";

std::string DigestLineOf(std::string_view before) {
  return fmt::format("{}{}{}", kDigestPrefix, DigestOf(before).ToString(),
                     kDigestSuffix);
}

Json FileToJson(const ShardFile& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"xxh3_128", file.digest.ToString()},
          {"tensors", file.tensors}};
}

Json ParentToJson(const std::optional<ParentRecord>& parent) {
  if (!parent) return nullptr;
  return {{"name", parent->name},
          {"step", parent->step},
          {"phase", PhaseName(parent->phase)},
          {"state_digest", parent->state_digest.ToString()},
          {"written_by", parent->written_by}};
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

// A shard's or the index's name: nothing else may stand in a manifest, least of
// all a path that leads elsewhere.
bool IsFileName(const std::string& name, size_t shards) {
  if (name == kIndexName) return true;
  for (size_t i = 0; i < shards; ++i) {
    if (name == ShardName(static_cast<int>(i), static_cast<int>(shards))) {
      return true;
    }
  }
  return false;
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
    file.tensors.push_back(tensor.get<std::string>());
  }
  return file;
}

Result<std::vector<ShardFile>> ParseFiles(const Json& json) {
  constexpr size_t kMaxFiles = 1024;
  if (!json.is_array() || json.size() < 2 || json.size() > kMaxFiles) {
    return DataLoss(
        fmt::format("files: expected an array of 2 to {}", kMaxFiles));
  }
  std::vector<ShardFile> files;
  std::set<std::string> names;
  std::set<std::string> tensors;
  for (size_t i = 0; i < json.size(); ++i) {
    ASSIGN_OR_RETURN(ShardFile file,
                     ParseFile(json[i], fmt::format("files[{}]", i)));
    if (!IsFileName(file.name, json.size() - 1) ||
        !names.insert(file.name).second) {
      return DataLoss(fmt::format(
          "files[{}].name: expected each shard and the index once, found "
          "\"{}\"",
          i, file.name.substr(0, 80)));
    }
    for (const std::string& tensor : file.tensors) {
      if (!tensors.insert(tensor).second) {
        return DataLoss(fmt::format("files[{}]: tensor \"{}\" appears twice", i,
                                    tensor.substr(0, 80)));
      }
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::optional<ParentRecord>> ParseParent(const Json& json) {
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
  manifest.written_at =
      fields.Integer("written_at", std::numeric_limits<int64_t>::min(),
                     std::numeric_limits<int64_t>::max());
  ASSIGN_OR_RETURN(manifest.head.state_digest,
                   ReadDigest(fields, "state_digest"));
  const Json& files = fields.Any("files");
  fields.String("xxh3_128");
  RETURN_IF_ERROR(fields.Finish());
  ASSIGN_OR_RETURN(manifest.parent, ParseParent(parent));
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
  const std::string expected = DigestLineOf(text.substr(0, start));
  if (line == expected) return OkStatus();
  return DataLoss("its digest line is of other bytes");
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  const CheckpointHead& head = manifest.head;
  const Json fields = {
      {"schema", kManifestSchema},
      {"job_digest", manifest.job_digest.ToString()},
      {"job", head.job_json},
      {"numerics", manifest.numerics_version},
      {"step", head.step},
      {"epoch", head.epoch},
      {"position", head.position},
      {"phase", PhaseName(head.phase)},
      {"generation", manifest.generation},
      {"parent", ParentToJson(manifest.parent)},
      {"written_at", manifest.written_at},
      {"state_digest", head.state_digest.ToString()},
  };
  std::string text = "{\n";
  for (const auto& [key, value] : fields.items()) {
    text += fmt::format("\"{}\":{},\n", key, value.dump());
  }
  text += "\"files\":[\n";
  for (size_t i = 0; i < manifest.files.size(); ++i) {
    text += FileToJson(manifest.files[i]).dump();
    text += i + 1 < manifest.files.size() ? ",\n" : "],\n";
  }
  return text + DigestLineOf(text);
}

Result<Manifest> ParseManifest(std::string_view text) {
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

}  // namespace gauntlet
