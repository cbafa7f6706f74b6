#include "harness/results/result_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/real/posix/posix_status.h"
#include "harness/results/formats/formats.h"
#include <fmt/format.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kZipFirst("PK\x03\x04", 4);
constexpr std::string_view kZipEmpty("PK\x05\x06", 4);
constexpr std::string_view kHdf5Mark("\x89HDF\r\n\x1a\n", 8);
// Pickle of torch's magic number, the start of torch's files before version
// 1.6.
constexpr std::string_view kLegacyTorch(
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);
constexpr size_t kDetectionBytes = 16;

bool MatchesAny(const std::vector<std::string>& patterns,
                const std::string& path) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
  });
}

// Returns the folder with a trailing slash.
std::string PrefixOf(const fs::path& folder) { return folder / ""; }

// Returns the format that users expect of a file with this suffix; "" if the
// suffix suggests none. If the content has no known format, the note on the
// file states the expected one.
std::string_view ExpectedBySuffix(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8>
      kSuffixes = {{{".npy", "a .npy array"},
                    {".npz", "a zip archive"},
                    {".keras", "a zip archive"},
                    {".pt", "an archive of torch.save"},
                    {".pth", "an archive of torch.save"},
                    {".h5", "an HDF5 file"},
                    {".hdf5", "an HDF5 file"},
                    {".safetensors", "a safetensors file"}}};
  for (const auto& [suffix, expected] : kSuffixes) {
    if (name.ends_with(suffix)) return expected;
  }
  return "";
}

bool HasEntry(const ZipArchive& archive, std::string_view name) {
  return std::ranges::find(archive.entries(), name, &ZipEntry::name) !=
         archive.entries().end();
}

FileFormat FormatOf(const ZipArchive& archive) {
  const std::vector<ZipEntry>& entries = archive.entries();
  if (HasEntry(archive, "config.json") && HasEntry(archive, "metadata.json"))
    return FileFormat::kKeras;
  const bool is_npz =
      !entries.empty() && std::ranges::all_of(entries, [](const auto& entry) {
        return entry.name.ends_with(".npy");
      });
  return is_npz ? FileFormat::kNpz : FileFormat::kZip;
}

Status ReadZip(const std::shared_ptr<FileBytes>& file, ResultFile& result) {
  ASSIGN_OR_RETURN(const std::shared_ptr<ZipArchive> archive,
                   ZipArchive::Open(file));
  if (const auto pickle = FindTorchPickle(*archive)) {
    TensorList list(file->size());
    const Status status = AddTorchArchive(archive, *pickle, list);
    if (status.ok()) {
      result.format = FileFormat::kTorch;
      result.tensors = list.Take();
      return OkStatus();
    }
    if (status.code() != Code::kDataLoss) return status;
    result.note = "entries are compared as bytes: " + status.message();
  }
  TensorList list(file->size());
  RETURN_IF_ERROR(AddArchive(archive, list, result.note));
  result.format = FormatOf(*archive);
  result.tensors = list.Take();
  return OkStatus();
}

Status ReadSingle(FileFormat format, const std::shared_ptr<FileBytes>& file,
                  ResultFile& result) {
  TensorList list(file->size());
  Status status;
  if (format == FileFormat::kNpy) status = AddNpyFile("", file, list);
  if (format == FileFormat::kHdf5) status = AddHdf5File("", file, list);
  if (format == FileFormat::kSafetensors)
    status = AddSafetensorsFile(file, list);
  RETURN_IF_ERROR(status);
  result.format = format;
  result.tensors = list.Take();
  return OkStatus();
}

// Reads a file in the format that its content shows. kDataLoss: the caller must
// read the file as bytes. The message is the note on the file; if it is empty,
// no note is needed.
Status ReadByContent(const std::string& name,
                     const std::shared_ptr<FileBytes>& file,
                     ResultFile& result) {
  std::array<char, kDetectionBytes> front{};
  const size_t count = std::min<uint64_t>(front.size(), file->size());
  RETURN_IF_ERROR(
      file->Read(0, std::as_writable_bytes(std::span(front).first(count))));
  const std::string_view begin(front.data(), count);
  if (begin.starts_with(kZipFirst) || begin.starts_with(kZipEmpty))
    return ReadZip(file, result);
  if (begin.starts_with(kHdf5Mark))
    return ReadSingle(FileFormat::kHdf5, file, result);
  if (IsNpy(*file)) return ReadSingle(FileFormat::kNpy, file, result);
  if (begin.starts_with(kLegacyTorch))
    return DataLoss(
        "torch.save's format before 1.6, which has addresses in it that differ "
        "between runs");
  const bool is_named = name.ends_with(".safetensors");
  const bool may_be = count > 8 && begin[8] == '{';
  if (is_named || may_be) {
    const Status status = ReadSingle(FileFormat::kSafetensors, file, result);
    if (status.ok() || is_named) return status;
  }
  const std::string_view expected = ExpectedBySuffix(name);
  return DataLoss(
      expected.empty()
          ? ""
          : fmt::format("expected {}, found other bytes", expected));
}

Result<ResultFile> ReadLink(const fs::path& path, const std::string& folder) {
  std::error_code error;
  std::string target = fs::read_symlink(path, error);
  if (error) return PosixError(error.value(), path.string(), "readlink");
  const std::string below = PrefixOf(fs::absolute(folder, error));
  if (target.starts_with(below)) target = target.substr(below.size());
  TensorList list(target.size());
  ResultFile result{.format = FileFormat::kLink,
                    .size = target.size(),
                    .tensors = {},
                    .note = {}};
  RETURN_IF_ERROR(list.AddText("link", std::move(target)));
  result.tensors = list.Take();
  return result;
}

}  // namespace

Result<std::vector<std::string>> ListResultFiles(
    const std::string& folder, const ResultChoice& choice,
    std::vector<std::string>& notes) {
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error);
  if (error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_directory) {
    return NotFound(folder + ": expected a folder of results, found none");
  }
  std::vector<std::string> files;
  for (; !error && walk != fs::end(walk); walk.increment(error)) {
    const std::string name =
        walk->path().string().substr(PrefixOf(folder).size());
    const fs::file_status status = walk->symlink_status(error);
    if (error || fs::is_directory(status)) continue;
    if (!MatchesAny(choice.files, name) || MatchesAny(choice.left_out, name))
      continue;
    if (fs::is_regular_file(status) || fs::is_symlink(status))
      files.push_back(name);
    else
      notes.push_back(name + ": not compared, as it is no regular file");
  }
  if (error) return PosixError(error.value(), folder, "list");
  std::ranges::sort(files);
  return files;
}

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kBytes:
      return "bytes";
    case FileFormat::kLink:
      return "a link";
    case FileFormat::kSafetensors:
      return "safetensors";
    case FileFormat::kNpy:
      return "npy";
    case FileFormat::kNpz:
      return "npz";
    case FileFormat::kTorch:
      return "torch.save";
    case FileFormat::kKeras:
      return "Keras";
    case FileFormat::kZip:
      return "zip";
    case FileFormat::kHdf5:
      return "HDF5";
  }
  return "bytes";
}

Result<ResultFile> OpenResultFile(const std::string& folder,
                                  const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)))
    return ReadLink(path, folder);
  ASSIGN_OR_RETURN(const std::shared_ptr<FileBytes> file,
                   FileBytes::Open(path.string()));
  ResultFile result{.size = file->size(), .tensors = {}, .note = {}};
  const Status status = ReadByContent(name, file, result);
  if (status.ok()) return result;
  if (status.code() != Code::kDataLoss) return status;
  ASSIGN_OR_RETURN(result, OpenAsBytes(folder, name));
  if (!status.message().empty())
    result.note = "compared as bytes: " + status.message();
  return result;
}

Result<ResultFile> OpenAsBytes(const std::string& folder,
                               const std::string& name) {
  ASSIGN_OR_RETURN(std::shared_ptr<FileBytes> file,
                   FileBytes::Open((fs::path(folder) / name).string()));
  ResultFile result{.size = file->size(), .tensors = {}, .note = {}};
  TensorList list(file->size());
  RETURN_IF_ERROR(list.AddBytes("", std::move(file)));
  result.tensors = list.Take();
  return result;
}

}  // namespace gauntlet
