// Readers of the formats of result files.
//
// Each reader adds the values of a file to a list. The bytes are untrusted:
// every length is checked against the file before it is used, and nothing in a
// file is executed. kDataLoss states in one line why a file does not have the
// format; such a file is compared as bytes.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/status.h"
#include "harness/results/byte_source.h"
#include "harness/results/formats/zip_archive.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

// Reads the safetensors format (https://huggingface.co/docs/safetensors): u64
// length of the header, the header as JSON, data. Ignores `__metadata__`.
Status AddSafetensorsFile(const Bytes& file, TensorList& list);

// Reads versions 1 to 3 of NumPy's format
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
// Structured types are opaque; arrays of objects are refused.
Status AddNpyFile(const std::string& name, const Bytes& file, TensorList& list);
bool IsNpy(ByteSource& file);

// Adds an archive's entries under their names. Adds .npy entries (of npz) as
// arrays, .h5 entries as data sets, and .json entries (of .keras) as values,
// without the date and the addresses of objects. Adds other entries as bytes.
// If an entry does not have the format of its suffix, adds it as bytes, and
// `note` states the reason for the first one.
Status AddArchive(const std::shared_ptr<ZipArchive>& archive, TensorList& list,
                  std::string& note);

// Returns the index of the entry DIRECTORY/data.pkl, which marks an archive of
// torch.save; nullopt if there is none.
std::optional<size_t> FindTorchPickle(const ZipArchive& archive);
// Adds the values of an archive of torch.save. Tensors, numbers and texts are
// named by their places in the pickled object, other entries by their paths,
// relative to the archive's directory if they are in it. Shared storages,
// devices, requires_grad and hooks are ignored.
Status AddTorchArchive(const std::shared_ptr<ZipArchive>& archive,
                       size_t pickle, TensorList& list);

// Adds data sets and attributes of an HDF5 file under `name`. Another process
// reads the file, as libhdf5 is not hardened against damaged files. kDataLoss:
// that process crashed, or ran for more than half a minute plus one second per
// 5 MiB.
Status AddHdf5File(const std::string& name,
                   const std::shared_ptr<FileBytes>& file, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_
