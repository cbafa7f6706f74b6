#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/results/formats/formats.h"
#include "harness/results/formats/pickle.h"
#include "harness/results/formats/pickle_walk.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint64_t kMaxPickle = uint64_t{256} << 20;
constexpr uint64_t kVisitsAlways = uint64_t{1} << 20;
constexpr uint64_t kVisitsTimes = 64;  // per byte of the pickle
constexpr std::string_view kPickleName = "data.pkl";

// Element types of the storage classes that torch's pickles name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14>
    kStorages = {{{"torch FloatStorage", "float32"},
                  {"torch DoubleStorage", "float64"},
                  {"torch HalfStorage", "float16"},
                  {"torch BFloat16Storage", "bfloat16"},
                  {"torch LongStorage", "int64"},
                  {"torch IntStorage", "int32"},
                  {"torch ShortStorage", "int16"},
                  {"torch CharStorage", "int8"},
                  {"torch ByteStorage", "uint8"},
                  {"torch BoolStorage", "bool"},
                  {"torch ComplexFloatStorage", "complex64"},
                  {"torch ComplexDoubleStorage", "complex128"},
                  {"torch UntypedStorage", "uint8"},
                  {"torch.storage UntypedStorage", "uint8"}}};

// Entries in which torch.save describes the archive itself.
constexpr std::array<std::string_view, 6> kAboutArchive = {
    kPickleName,          "version",
    "byteorder",          ".format_version",
    ".storage_alignment", ".data/serialization_id"};

struct Storage {
  ElementType type;
  Bytes bytes;
};

std::string DirectoryOf(const ZipEntry& pickle) {
  return pickle.name.substr(0, pickle.name.size() - kPickleName.size());
}

class TorchValues : public PickledObjects {
 public:
  TorchValues(std::shared_ptr<ZipArchive> archive, std::string directory,
              TensorList& list)
      : archive_(std::move(archive)), list_(list) {
    for (const ZipEntry& entry : archive_->entries()) {
      const bool is_inside =
          entry.name.starts_with(directory) &&
          entries_.emplace(entry.name.substr(directory.size()), &entry).second;
      if (!is_inside) others_.push_back(&entry);
    }
  }

  Status AddAll() {
    ASSIGN_OR_RETURN(const std::string bytes, ReadEntry(kPickleName));
    ASSIGN_OR_RETURN(pickle_, ParsePickle(bytes));
    if (entries_.contains("byteorder")) {
      ASSIGN_OR_RETURN(const std::string order, ReadEntry("byteorder"));
      is_big_endian_ = order == "big";
    }
    const uint64_t visits = kVisitsAlways + kVisitsTimes * bytes.size();
    RETURN_IF_ERROR(
        PickleWalk(pickle_, visits, *this, list_).AddValue("", pickle_.root));
    return AddOtherEntries();
  }

 private:
  Result<std::string> ReadEntry(std::string_view name) const {
    const Bytes bytes = OpenEntry(archive_, *entries_.at(std::string(name)));
    return ReadWhole(*bytes, kMaxPickle, name);
  }

  Status AddOtherEntries() {
    for (const auto& [name, entry] : entries_) {
      if (used_.contains(name) || std::ranges::count(kAboutArchive, name) > 0) {
        continue;
      }
      RETURN_IF_ERROR(AddEntry(name, *entry));
    }
    for (const ZipEntry* const entry : others_)
      RETURN_IF_ERROR(AddEntry(entry->name, *entry));
    return OkStatus();
  }

  Status AddEntry(const std::string& name, const ZipEntry& entry) {
    return list_.AddBytes(NameOfKey("", name), OpenEntry(archive_, entry));
  }

  // Adds a tensor, a parameter, or a storage that is no part of a tensor. A
  // tensor or parameter is pickled as the call that creates it. Returns false
  // if the object is none of these.
  Result<bool> Add(const std::string& name, const PickleValue& object,
                   PickleWalk& walk) override {
    if (object.kind == PickleKind::kPersistent) return AddStorage(name, object);
    const std::string& callee = pickle_[object.items[0]].text;
    const std::vector<PickleId>& arguments = pickle_[object.items[1]].items;
    if (callee.starts_with("torch._utils _rebuild_tensor"))
      return AddTensor(name, object, walk);
    if (!callee.starts_with("torch._utils _rebuild_parameter") ||
        arguments.size() < 3) {
      return false;
    }
    RETURN_IF_ERROR(walk.AddValue(name, arguments[0]));
    if (arguments.size() == 3) return true;
    RETURN_IF_ERROR(walk.AddValue(name + ".state", arguments[3]));
    return true;
  }

  std::optional<std::vector<uint64_t>> Sizes(PickleId id) const {
    const PickleValue& value = pickle_[id];
    std::vector<uint64_t> sizes;
    if (value.kind != PickleKind::kTuple) return std::nullopt;
    for (const PickleId item : value.items) {
      const PickleValue& size = pickle_[item];
      if (size.kind != PickleKind::kInteger || size.integer < 0)
        return std::nullopt;
      sizes.push_back(static_cast<uint64_t>(size.integer));
    }
    return sizes;
  }

  // Adds the tensor that the call creates. Its arguments are storage, offset,
  // size, stride, requires_grad, hooks, the element type (in version 3 only),
  // and metadata (may be missing). Returns false if the arguments are
  // different.
  Result<bool> AddTensor(const std::string& name, const PickleValue& call,
                         PickleWalk& walk) {
    const std::vector<PickleId>& arguments = pickle_[call.items[1]].items;
    const bool has_type = pickle_[call.items[0]].text.ends_with("_v3");
    if (arguments.size() < 4) return false;
    const PickleValue& offset = pickle_[arguments[1]];
    auto shape = Sizes(arguments[2]);
    auto strides = Sizes(arguments[3]);
    std::optional<Storage> storage = FindStorage(pickle_[arguments[0]]);
    if (!storage || !shape || !strides || shape->size() != strides->size() ||
        offset.kind != PickleKind::kInteger || offset.integer < 0) {
      return false;
    }
    if (has_type) {
      if (arguments.size() < 7) return false;
      const auto type = TorchType(pickle_[arguments[6]]);
      if (!type) return false;
      storage->type = *type;
    }
    StridedArray array{.element_bytes = storage->type.bytes,
                       .first = static_cast<uint64_t>(offset.integer),
                       .shape = *shape,
                       .strides = *std::move(strides)};
    const Result<Bytes> bytes = RowMajor(std::move(storage->bytes), array);
    if (!bytes.ok()) return Annotate(bytes.status(), name);
    RETURN_IF_ERROR(list_.Add({.name = name,
                               .type = std::move(storage->type),
                               .shape = *std::move(shape),
                               .bytes = *bytes}));
    const size_t metadata = has_type ? 7 : 6;
    if (arguments.size() > metadata) {
      RETURN_IF_ERROR(walk.AddValue(name + ".metadata", arguments[metadata]));
    }
    return true;
  }

  // Returns the type of a name such as "torch float8_e4m3fn".
  std::optional<ElementType> TorchType(const PickleValue& value) const {
    constexpr std::string_view kModule = "torch ";
    if (value.kind != PickleKind::kGlobal || !value.text.starts_with(kModule))
      return std::nullopt;
    const auto type = FindElementType(value.text.substr(kModule.size()));
    if (!type || type->kind == ElementKind::kText ||
        type->kind == ElementKind::kBytes) {
      return std::nullopt;
    }
    return is_big_endian_ ? BigEndian(*type) : *type;
  }

  // The id is ("storage", class, key, device, elements).
  std::optional<Storage> FindStorage(const PickleValue& value) {
    if (value.kind != PickleKind::kPersistent) return std::nullopt;
    const std::vector<PickleId>& id = pickle_[value.items[0]].items;
    if (id.size() < 3) return std::nullopt;
    const auto* const found =
        std::ranges::find(kStorages, pickle_[id[1]].text,
                          [](const auto& one) { return one.first; });
    const std::string name = "data/" + pickle_[id[2]].text;
    const auto entry = entries_.find(name);
    if (found == kStorages.end() || entry == entries_.end())
      return std::nullopt;
    used_.insert(name);
    const ElementType type = ElementTypeOf(found->second);
    return Storage{.type = is_big_endian_ ? BigEndian(type) : type,
                   .bytes = OpenEntry(archive_, *entry->second)};
  }

  Result<bool> AddStorage(const std::string& name, const PickleValue& value) {
    std::optional<Storage> storage = FindStorage(value);
    if (!storage) return false;
    const uint64_t elements = storage->bytes->size() / storage->type.bytes;
    if (elements * storage->type.bytes != storage->bytes->size()) {
      RETURN_IF_ERROR(list_.AddBytes(name, std::move(storage->bytes)));
      return true;
    }
    RETURN_IF_ERROR(list_.Add({.name = name,
                               .type = std::move(storage->type),
                               .shape = {elements},
                               .bytes = std::move(storage->bytes)}));
    return true;
  }

  const std::shared_ptr<ZipArchive> archive_;
  TensorList& list_;
  std::map<std::string, const ZipEntry*, std::less<>> entries_;
  std::vector<const ZipEntry*> others_;  // outside the directory, or repeated
  std::set<std::string, std::less<>> used_;
  Pickle pickle_;
  bool is_big_endian_ = false;
};

}  // namespace

std::optional<size_t> FindTorchPickle(const ZipArchive& archive) {
  const std::vector<ZipEntry>& entries = archive.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    const size_t slash = entries[i].name.find('/');
    if (slash != std::string::npos &&
        std::string_view(entries[i].name).substr(slash + 1) == kPickleName) {
      return i;
    }
  }
  return std::nullopt;
}

Status AddTorchArchive(const std::shared_ptr<ZipArchive>& archive,
                       size_t pickle, TensorList& list) {
  const std::string directory = DirectoryOf(archive->entries()[pickle]);
  for (const ZipEntry& entry : archive->entries()) {
    if (entry.is_stored || !entry.name.starts_with(directory + "data/"))
      continue;
    return DataLoss("compressed storages, which torch.save does not write");
  }
  return TorchValues(archive, directory, list).AddAll();
}

}  // namespace gauntlet
