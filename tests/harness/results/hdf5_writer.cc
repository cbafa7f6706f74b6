#include "tests/harness/results/hdf5_writer.h"

#include <algorithm>

#include "engine/check.h"

namespace gauntlet {

std::string Hdf5(const std::function<void(hid_t file)>& write) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 1 << 16, /*backing_store=*/0);
  const hid_t file = H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0, "no HDF5 file");
  write(file);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string bytes(static_cast<size_t>(size), '\0');
  H5Fget_file_image(file, bytes.data(), bytes.size());
  H5Fclose(file);
  H5Pclose(access);
  return bytes;
}

void WriteFloats(hid_t group, const char* name,
                 const std::vector<hsize_t>& shape,
                 const std::vector<float>& values, hid_t creation) {
  const hid_t space =
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(group, name, H5T_IEEE_F32LE, space, H5P_DEFAULT,
                               creation, H5P_DEFAULT);
  CHECK(set >= 0, "no data set");
  if (!values.empty()) {
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
             values.data());
  }
  H5Dclose(set);
  H5Sclose(space);
}

void WriteChunkedFloats(hid_t group, const char* name,
                        const std::vector<hsize_t>& shape,
                        const std::vector<float>& values) {
  std::vector<hsize_t> chunk = shape;
  for (hsize_t& size : chunk) size = std::min<hsize_t>(size, 7000);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_deflate(creation, 1);
  WriteFloats(group, name, shape, values, creation);
  H5Pclose(creation);
}

void WriteTextAttribute(hid_t object, const char* name, const char* text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute =
      H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, &text);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

}  // namespace gauntlet
