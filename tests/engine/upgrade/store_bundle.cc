#include "tests/engine/upgrade/store_bundle.h"

#include <charconv>
#include <span>
#include <sstream>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kBytesPerLine = 38;
constexpr uint64_t kMostBytes = uint64_t{1} << 24;

std::string HexLines(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    text += "  ";
    for (const char c : bytes.substr(at, kBytesPerLine)) {
      text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    text += '\n';
  }
  return text;
}

Status AppendHex(std::string_view digits, std::string& bytes) {
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, value, 16).ptr != end) break;
    bytes.push_back(static_cast<char>(value));
    if (i + 2 == digits.size()) return OkStatus();
  }
  return InvalidArgument(fmt::format("expected hex digits: {}", digits));
}

Status PackInto(Storage& storage, const std::string& path,
                const std::string& name,
                std::map<std::string, std::string>& files) {
  ASSIGN_OR_RETURN(const auto entries, storage.List(path));
  for (const DirectoryEntry& entry : entries) {
    const std::string child = path + "/" + entry.name;
    if (entry.kind == FileKind::kDirectory) {
      files[name + entry.name + "/"] = "";
      RETURN_IF_ERROR(PackInto(storage, child, name + entry.name + "/", files));
    } else {
      ASSIGN_OR_RETURN(files[name + entry.name],
                       ReadFile(storage, child, kMostBytes));
    }
  }
  return OkStatus();
}

}  // namespace

std::string BundleToText(const StoreBundle& bundle) {
  std::string text = fmt::format("final: {}\nepochs: {}\n", bundle.final_digest,
                                 bundle.epochs);
  for (const auto& [path, bytes] : bundle.files) {
    if (path.ends_with('/')) {
      text += fmt::format("directory {}\n", path.substr(0, path.size() - 1));
    } else {
      text += fmt::format("file {}\n{}", path, HexLines(bytes));
    }
  }
  return text;
}

Result<StoreBundle> BundleFromText(std::string_view text) {
  StoreBundle bundle;
  std::istringstream in{std::string(text)};
  std::string* file = nullptr;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    words >> key >> value;
    if (line.starts_with("  ") && file != nullptr) {
      RETURN_IF_ERROR(AppendHex(key, *file));
    } else if (key == "final:") {
      bundle.final_digest = value;
    } else if (key == "epochs:") {
      bundle.epochs = std::stoull(value);
    } else if (key == "directory") {
      bundle.files[value + "/"] = "";
    } else if (key == "file") {
      file = &bundle.files[value];
    } else {
      return InvalidArgument("expected a key: " + line);
    }
  }
  return bundle;
}

Result<std::map<std::string, std::string>> PackDirectory(
    Storage& storage, const std::string& directory) {
  std::map<std::string, std::string> files;
  RETURN_IF_ERROR(PackInto(storage, directory, "", files));
  return files;
}

// The path of a directory precedes those of its contents.
Status UnpackDirectory(Storage& storage, const std::string& directory,
                       const std::map<std::string, std::string>& files) {
  RETURN_IF_ERROR(storage.MakeDirectory(directory));
  for (const auto& [name, bytes] : files) {
    std::string path = directory + "/" + name;
    if (path.ends_with('/')) {
      path.pop_back();
      RETURN_IF_ERROR(storage.MakeDirectory(path));
      continue;
    }
    ASSIGN_OR_RETURN(const auto file,
                     storage.Open(path, OpenMode::kCreateExclusive));
    RETURN_IF_ERROR(file->WriteAt(0, std::as_bytes(std::span(bytes))));
    RETURN_IF_ERROR(file->Sync());
  }
  return OkStatus();
}

}  // namespace gauntlet
