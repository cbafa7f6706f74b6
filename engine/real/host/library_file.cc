#include "engine/real/host/library_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

template <typename T>
bool ReadAt(std::ifstream& in, uint64_t offset, T& value) {
  in.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      in.read(reinterpret_cast<char*>(&value), sizeof(value)));
}

// Returns the length that the file must have: the end of the last segment that
// the loader maps, or of the section table if that ends later. UINT64_MAX if a
// sum overflows. Only PT_LOAD segments are mapped. The other program headers
// describe parts of them. strip may leave a PT_GNU_RELRO that extends past the
// end of the file.
uint64_t EndOf(std::ifstream& in, const Elf64_Ehdr& header, uint64_t size) {
  const auto end_of = [](uint64_t offset, uint64_t bytes) {
    return offset + std::min(bytes, UINT64_MAX - offset);
  };
  uint64_t end = end_of(
      header.e_shoff, uint64_t{header.e_shentsize} * uint64_t{header.e_shnum});
  for (uint64_t i = 0; i < header.e_phnum && end <= size; ++i) {
    Elf64_Phdr segment;
    const uint64_t place = header.e_phoff + i * sizeof(segment);
    if (!ReadAt(in, place, segment)) return end_of(place, sizeof(segment));
    if (segment.p_type != PT_LOAD) continue;
    end = std::max(end, end_of(segment.p_offset, segment.p_filesz));
  }
  return end;
}

}  // namespace

Status CheckLibraryFile(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return OkStatus();
  if (!S_ISREG(found.st_mode)) {
    return NotFound(
        fmt::format("{}: expected a library, found no regular file", file));
  }
  const auto size = static_cast<uint64_t>(found.st_size);
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header;
  if (!ReadAt(in, 0, header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return OkStatus();
  }
  const uint64_t end = EndOf(in, header, size);
  if (end <= size) return OkStatus();
  return NotFound(
      fmt::format("{}: cut off: expected {} bytes, found {}", file, end, size));
}

}  // namespace gauntlet
