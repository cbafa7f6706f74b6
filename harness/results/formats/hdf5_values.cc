#include "harness/results/formats/hdf5_values.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/real/posix/posix_status.h"
#include "harness/results/element_type.h"
#include "harness/results/formats/hdf5_types.h"
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

namespace gauntlet {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr uint64_t kMaxTexts = uint64_t{1} << 20;  // of one data set

class ValueFile {
 public:
  ValueFile(int file, uint64_t limit) : file_(file), left_(limit) {}
  ~ValueFile() { Flush(); }
  ValueFile(const ValueFile&) = delete;
  ValueFile& operator=(const ValueFile&) = delete;

  void Number(uint64_t number) { Raw(std::as_bytes(std::span(&number, 1))); }
  void Text(std::string_view text) {
    Number(text.size());
    Raw(std::as_bytes(std::span(text)));
  }
  // Begins a record. Its size (or offset) and its bytes follow.
  void Begin(Hdf5Tag tag, const std::string& name, const ElementType& type,
             const std::vector<hsize_t>& shape) {
    Number(static_cast<uint64_t>(tag));
    Text(name);
    Text(type.is_big_endian
             ? std::string_view(type.name).substr(0, type.name.find(' '))
             : type.name);
    Number(type.bytes);
    Number(type.is_big_endian ? 1 : 0);
    Number(shape.size());
    for (const hsize_t size : shape) Number(size);
  }
  void AddText(const std::string& name, std::string_view text) {
    Begin(Hdf5Tag::kHere, name, ElementTypeOf("text"), {});
    Text(text);
  }
  void Raw(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= kPiece) Flush();
  }
  void Flush() {
    std::span<const std::byte> rest(buffer_);
    while (!rest.empty()) {
      const ssize_t count = RetryOnInterrupt(
          [&] { return write(file_, rest.data(), rest.size()); });
      if (count <= 0) _exit(1);
      rest = rest.subspan(static_cast<size_t>(count));
    }
    buffer_.clear();
  }
  // Counts bytes of values. Throws if they exceed the limit.
  void Claim(uint64_t bytes, const std::string& name) {
    if (bytes > left_)
      throw Hdf5Failure{name + ": more bytes than a file of its size can have"};
    left_ -= bytes;
  }

 private:
  const int file_;
  uint64_t left_;
  std::vector<std::byte> buffer_;
};

class Hdf5Walk {
 public:
  Hdf5Walk(hid_t file, ValueFile& out) : file_(file), out_(out) {}

  void WriteAll() {
    if (H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_INC, VisitObject, this,
                  H5O_INFO_BASIC) < 0) {
      throw Hdf5Failure{failure_.empty() ? "objects cannot be read" : failure_};
    }
    if (H5Lvisit(file_, H5_INDEX_NAME, H5_ITER_INC, VisitLink, this) < 0)
      throw Hdf5Failure{failure_.empty() ? "links cannot be read" : failure_};
  }

 private:
  // HDF5 is C: no exception may pass through it.
  template <typename Body>
  herr_t Guarded(Body body) {
    try {
      body();
      return 0;
    } catch (const Hdf5Failure& failure) {
      failure_ = failure.reason;
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    return -1;
  }

  static herr_t VisitObject(hid_t, const char* name, const H5O_info_t* info,
                            void* self) {
    auto* const walk = static_cast<Hdf5Walk*>(self);
    return walk->Guarded([&] { walk->WriteObject(name, *info); });
  }
  static herr_t VisitLink(hid_t group, const char* name, const H5L_info_t* info,
                          void* self) {
    auto* const walk = static_cast<Hdf5Walk*>(self);
    return walk->Guarded([&] { walk->WriteLink(group, name, *info); });
  }
  static herr_t VisitAttribute(hid_t object, const char* name,
                               const H5A_info_t*, void* self) {
    auto* const walk = static_cast<Hdf5Walk*>(self);
    return walk->Guarded([&] { walk->WriteAttribute(object, name); });
  }

  void WriteObject(const std::string& name, const H5O_info_t& info) {
    const Hdf5Handle object(H5Oopen(file_, name.c_str(), H5P_DEFAULT),
                            H5Oclose);
    if (!object.valid()) throw Hdf5Failure{name + ": cannot be opened"};
    object_ = name == "." ? "" : name;
    if (info.type == H5O_TYPE_DATASET) WriteDataSet(object.get(), name);
    hsize_t from = 0;
    if (H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_INC, &from,
                    VisitAttribute, this) < 0) {
      throw Hdf5Failure{failure_.empty() ? name + ": attributes cannot be read"
                                         : failure_};
    }
  }

  // Writes the target of a link, except of a hard link: HDF5's walk visits the
  // object of a hard link itself, once.
  void WriteLink(hid_t group, const char* name, const H5L_info_t& info) {
    if (info.type == H5L_TYPE_HARD) return;
    constexpr size_t kMaxLink = size_t{64} << 10;
    std::string value(info.u.val_size, '\0');
    if (value.empty() || value.size() > kMaxLink ||
        H5Lget_val(group, name, value.data(), value.size(), H5P_DEFAULT) < 0) {
      throw Hdf5Failure{std::string(name) + ": a link that cannot be read"};
    }
    out_.AddText(fmt::format("{} (link)", name), value);
  }

  void WriteAttribute(hid_t object, const std::string& attribute) {
    const std::string name = fmt::format("{}@{}", object_, attribute);
    const Hdf5Handle open(H5Aopen(object, attribute.c_str(), H5P_DEFAULT),
                          H5Aclose);
    const Hdf5Handle type(H5Aget_type(open.get()), H5Tclose);
    const Hdf5Handle space(H5Aget_space(open.get()), H5Sclose);
    if (!open.valid() || !type.valid() || !space.valid())
      throw Hdf5Failure{name + ": cannot be opened"};
    const auto read = [&](void* into) {
      return H5Aread(open.get(), type.get(), into);
    };
    const auto found = DescribeHdf5(space.get(), type.get(), name);
    if (WriteUnusual(name, type.get(), space.get(), found, read)) return;
    constexpr uint64_t kMaxAttribute = uint64_t{64} << 20;
    if (found->bytes > kMaxAttribute)
      throw Hdf5Failure{name + ": is too large"};
    out_.Claim(found->bytes, name);
    std::vector<std::byte> bytes(found->bytes);
    if (!bytes.empty() && read(bytes.data()) < 0)
      throw Hdf5Failure{name + ": cannot be read"};
    out_.Begin(Hdf5Tag::kHere, name, found->type, found->shape);
    out_.Number(bytes.size());
    out_.Raw(bytes);
  }

  // Writes the value if it has no elements, or is text or a reference. Returns
  // false if it is any other value.
  template <typename Read>
  bool WriteUnusual(const std::string& name, hid_t type, hid_t space,
                    const std::optional<Hdf5Description>& found, Read read) {
    if (!found) {
      out_.Begin(Hdf5Tag::kHere, name, ElementTypeOf("none"), {});
      out_.Number(0);
      return true;
    }
    if (IsHdf5Text(type)) {
      WriteTexts(name, type, space, *found, read);
      return true;
    }
    if (!HasAddresses(type)) return false;
    // A reference is an address in the file: its value has no meaning.
    if (H5Tdetect_class(type, H5T_REFERENCE) > 0) {
      out_.AddText(name, "reference");
      return true;
    }
    throw Hdf5Failure{name + ": has arrays of variable length"};
  }

  template <typename Read>
  void WriteTexts(const std::string& name, hid_t type, hid_t space,
                  const Hdf5Description& found, Read read) {
    if (found.elements > kMaxTexts)
      throw Hdf5Failure{name + ": too many texts"};
    out_.Claim(found.bytes, name);
    std::vector<char*> texts(found.elements, nullptr);
    if (!texts.empty() && read(texts.data()) < 0)
      throw Hdf5Failure{name + ": cannot be read"};
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string_view text = texts[i] == nullptr ? "" : texts[i];
      out_.Claim(text.size(), name);
      out_.AddText(found.shape.empty() ? name : fmt::format("{}[{}]", name, i),
                   text);
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
  }

  void WriteDataSet(hid_t set, const std::string& name) {
    const Hdf5Handle type(H5Dget_type(set), H5Tclose);
    const Hdf5Handle space(H5Dget_space(set), H5Sclose);
    const Hdf5Handle creation(H5Dget_create_plist(set), H5Pclose);
    if (!type.valid() || !space.valid() || !creation.valid())
      throw Hdf5Failure{name + ": cannot be opened"};
    const H5D_layout_t layout = H5Pget_layout(creation.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0)
      throw Hdf5Failure{name + ": its bytes are in other files"};
    const auto read = [&](void* into) {
      return H5Dread(set, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, into);
    };
    const auto found = DescribeHdf5(space.get(), type.get(), name);
    if (WriteUnusual(name, type.get(), space.get(), found, read)) return;
    out_.Claim(found->bytes, name);
    const haddr_t offset =
        layout == H5D_CONTIGUOUS ? H5Dget_offset(set) : HADDR_UNDEF;
    if (found->bytes > 0 && offset != HADDR_UNDEF) {
      out_.Begin(Hdf5Tag::kInFile, name, found->type, found->shape);
      out_.Number(found->bytes);
      out_.Number(offset);
      return;
    }
    out_.Begin(Hdf5Tag::kHere, name, found->type, found->shape);
    out_.Number(found->bytes);
    WriteElements(set, type.get(), space.get(), *found, name);
  }

  // Writes the elements in slabs. A slab has one index in each outer dimension,
  // some indices in the next dimension, and all indices in the others.
  void WriteElements(hid_t set, hid_t type, hid_t space,
                     const Hdf5Description& found, const std::string& name) {
    const size_t rank = found.shape.size();
    uint64_t row = 1;  // elements behind the split dimension
    size_t split = rank;
    while (split > 0 &&
           row * found.shape[split - 1] * found.type.bytes <= kPiece) {
      row *= found.shape[--split];
    }
    const size_t cut = split == 0 ? 0 : split - 1;
    if (split > 0) row = std::max<uint64_t>(row, 1);
    std::vector<std::byte> bytes;
    for (uint64_t first = 0; first < found.elements;) {
      std::vector<hsize_t> start(rank, 0);
      std::vector<hsize_t> count = found.shape;
      uint64_t index = split == 0 ? 0 : first / row;
      uint64_t elements = split == 0 ? found.elements : row;
      for (size_t i = split; i-- > 0;) {
        start[i] = index % found.shape[i];
        index /= found.shape[i];
        count[i] = 1;
      }
      if (split > 0) {
        const uint64_t fit = kPiece / (row * found.type.bytes);
        count[cut] =
            std::clamp<uint64_t>(fit, 1, found.shape[cut] - start[cut]);
        elements = row * count[cut];
      }
      bytes.resize(elements * found.type.bytes);
      const Hdf5Handle memory(
          rank == 0
              ? H5Screate(H5S_SCALAR)
              : H5Screate_simple(static_cast<int>(rank), count.data(), nullptr),
          H5Sclose);
      const bool selected =
          rank == 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(),
                                           nullptr, count.data(), nullptr) >= 0;
      if (!memory.valid() || !selected ||
          H5Dread(set, type, memory.get(), space, H5P_DEFAULT, bytes.data()) <
              0) {
        throw Hdf5Failure{name + ": cannot be read"};
      }
      out_.Raw(bytes);
      first += elements;
    }
  }

  const hid_t file_;
  ValueFile& out_;
  std::string object_;
  std::string failure_;
};

void WriteFile(int hdf5, ValueFile& out) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.get(), false, true);
  const Hdf5Handle file(H5Fopen(fmt::format("/proc/self/fd/{}", hdf5).c_str(),
                                H5F_ACC_RDONLY, access.get()),
                        H5Fclose);
  if (!file.valid()) throw Hdf5Failure{"expected an HDF5 file"};
  Hdf5Walk(file.get(), out).WriteAll();
}

}  // namespace

void WriteHdf5Values(int hdf5, int values, uint64_t limit) {
  ValueFile out(values, limit);
  Hdf5Tag last = Hdf5Tag::kEnd;
  std::string reason;
  try {
    WriteFile(hdf5, out);
  } catch (const Hdf5Failure& failure) {
    last = Hdf5Tag::kFailure;
    reason = failure.reason;
  } catch (const std::exception& error) {
    last = Hdf5Tag::kFailure;
    reason = error.what();
  }
  out.Number(static_cast<uint64_t>(last));
  out.Text(reason);
}

}  // namespace gauntlet
