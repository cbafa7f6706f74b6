#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "harness/results/formats/formats.h"
#include "harness/results/formats/temporary_file.h"
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxJson = uint64_t{256} << 20;
// Keras keys for the time of a save and the addresses of objects.
constexpr std::array<std::string_view, 2> kIgnoredKeys = {"date_saved",
                                                          "shared_object_id"};
constexpr std::string_view kNpySuffix = ".npy";

bool IsHdf5Name(std::string_view name) {
  return name.ends_with(".h5") || name.ends_with(".hdf5");
}

// Adds an entry in the format that its suffix names. kDataLoss: the entry does
// not have that format.
Status AddByName(const std::string& name, const Bytes& bytes,
                 TensorList& list) {
  if (name.ends_with(kNpySuffix)) {
    return AddNpyFile(name.substr(0, name.size() - kNpySuffix.size()), bytes,
                      list);
  }
  if (name.ends_with(".json")) {
    ASSIGN_OR_RETURN(const std::string text, ReadWhole(*bytes, kMaxJson, name));
    return AddJson(name, text, kIgnoredKeys, list);
  }
  if (IsHdf5Name(name)) {
    ASSIGN_OR_RETURN(const std::shared_ptr<FileBytes> file, CopyToFile(*bytes));
    const Status status = AddHdf5File(name, file, list);
    unlink(file->path().c_str());
    return status;
  }
  return list.AddBytes(name, bytes);
}

}  // namespace

Status AddArchive(const std::shared_ptr<ZipArchive>& archive, TensorList& list,
                  std::string& note) {
  for (const ZipEntry& entry : archive->entries()) {
    const std::string name = NameOfKey("", entry.name);
    TensorList values(archive->file_size());
    const Status status = AddByName(name, OpenEntry(archive, entry), values);
    if (status.code() == Code::kDataLoss) {
      if (note.empty()) {
        note = fmt::format("entry {} is compared as bytes: {}", name,
                           status.message());
      }
      RETURN_IF_ERROR(list.AddBytes(name, OpenEntry(archive, entry)));
      continue;
    }
    RETURN_IF_ERROR(status);
    for (ResultTensor& tensor : values.Take())
      RETURN_IF_ERROR(list.Add(std::move(tensor)));
  }
  return OkStatus();
}

}  // namespace gauntlet
