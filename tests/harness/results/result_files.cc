#include "tests/harness/results/result_files.h"

#include <bit>

#include "engine/check.h"
#include "tests/engine/data/data_files.h"
#include <fmt/format.h>
#include <zlib.h>

namespace gauntlet {
namespace {

// Returns a raw deflate stream, without a header.
std::string Deflated(const std::string& bytes) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

}  // namespace

std::string Safetensors(std::string_view header, std::string_view data) {
  return LittleEndian(header.size(), 8) + std::string(header) +
         std::string(data);
}

std::string SafetensorsOf(const std::vector<float>& values,
                          std::string_view shape) {
  return Safetensors(
      fmt::format(R"({{"__metadata__":{{"at":"12:00"}},"fc.weight":)"
                  R"({{"dtype":"F32","shape":{},"data_offsets":[0,{}]}}}})",
                  shape, 4 * values.size()),
      BytesOf(values));
}

std::string Zip(const std::vector<ZipMember>& members, uint32_t time) {
  std::string file;
  std::string directory;
  for (const ZipMember& member : members) {
    const std::string packed =
        member.is_deflated ? Deflated(member.bytes) : member.bytes;
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(member.bytes.data()),
              static_cast<uInt>(member.bytes.size()));
    const std::string described =
        LittleEndian(20, 2) + LittleEndian(0, 2) +
        LittleEndian(member.is_deflated ? 8 : 0, 2) + LittleEndian(time, 4) +
        LittleEndian(checksum, 4) + LittleEndian(packed.size(), 4) +
        LittleEndian(member.bytes.size(), 4) +
        LittleEndian(member.name.size(), 2) + LittleEndian(0, 2);
    directory += std::string("PK\x01\x02") + LittleEndian(20, 2) + described +
                 std::string(10, '\0') + LittleEndian(file.size(), 4) +
                 member.name;
    file += std::string("PK\x03\x04") + described + member.name + packed;
  }
  const size_t begin = file.size();
  return file + directory + std::string("PK\x05\x06") + LittleEndian(0, 4) +
         LittleEndian(members.size(), 2) + LittleEndian(members.size(), 2) +
         LittleEndian(directory.size(), 4) + LittleEndian(begin, 4) +
         LittleEndian(0, 2);
}

namespace pickle {

std::string Text(std::string_view text) {
  return "X" + LittleEndian(text.size(), 4) + std::string(text);
}

std::string Integer(int32_t value) {
  return "J" + LittleEndian(static_cast<uint32_t>(value), 4);
}

std::string Float(double value) {
  return "G" +
         LittleEndian(__builtin_bswap64(std::bit_cast<uint64_t>(value)), 8);
}

std::string Tuple(const std::vector<std::string>& items) {
  return "(" + Joined(items) + "t";
}

std::string List(const std::vector<std::string>& items) {
  return "](" + Joined(items) + "e";
}

std::string Dict(const std::vector<std::string>& items) {
  return "}(" + Joined(items) + "u";
}

std::string Global(std::string_view module, std::string_view name) {
  return fmt::format("c{}\n{}\n", module, name);
}

std::string Call(std::string_view callee, std::string_view arguments) {
  return fmt::format("{}{}R", callee, arguments);
}

std::string Whole(std::string_view value) {
  return fmt::format("\x80\x02{}.", value);
}

}  // namespace pickle

std::string PickledTensor(const TorchTensor& tensor) {
  const auto sizes = [](const std::vector<int>& numbers) {
    std::vector<std::string> items;
    for (const int number : numbers) items.push_back(pickle::Integer(number));
    return pickle::Tuple(items);
  };
  const std::string storage =
      pickle::Tuple({pickle::Text("storage"),
                     pickle::Global("torch", tensor.storage_class),
                     pickle::Text(tensor.key), pickle::Text("cpu"),
                     pickle::Integer(tensor.elements)}) +
      "Q";
  const std::string hooks =
      pickle::Call(pickle::Global("collections", "OrderedDict"), ")");
  return pickle::Call(pickle::Global("torch._utils", "_rebuild_tensor_v2"),
                      pickle::Tuple({storage, pickle::Integer(tensor.offset),
                                     sizes(tensor.shape), sizes(tensor.strides),
                                     "\x89", hooks}));
}

std::string TorchFile(std::string_view value,
                      const std::vector<std::string>& storages,
                      std::string_view directory) {
  std::vector<ZipMember> members;
  const auto add = [&](std::string_view name, std::string bytes) {
    members.push_back({.name = fmt::format("{}/{}", directory, name),
                       .bytes = std::move(bytes)});
  };
  add("data.pkl", pickle::Whole(value));
  add("byteorder", "little");
  for (size_t i = 0; i < storages.size(); ++i)
    add(fmt::format("data/{}", i), storages[i]);
  add("version", "3\n");
  add(".data/serialization_id", std::string(directory));
  return Zip(members);
}

}  // namespace gauntlet
