// Readers of the formats of result files.
//
// Each adds the values of a file to a list. The bytes come from outside: every
// length is checked against the file before it is used, and nothing in a file
// is executed. kDataLoss says in one line why a file is not of its format; it
// is then compared as bytes.
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

// https://huggingface.co/docs/safetensors: u64 length of the header, the header
// in JSON, data. `__metadata__` does not count.
Status AddSafetensorsFile(const Bytes& file, TensorList& list);

// Versions 1 to 3 of NumPy's format
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
// Structured types are opaque; arrays of objects are refused.
Status AddNpyFile(const std::string& name, const Bytes& file, TensorList& list);
bool IsNpy(ByteSource& file);

// An archive's entries under their names: arrays of .npy entries (npz), the
// data sets of .h5 entries and the values of .json entries (.keras, without the
// date and the addresses of objects in them), other entries as bytes. An entry
// that is not of its format is taken as bytes, and `note` says why.
Status AddArchive(const std::shared_ptr<ZipArchive>& archive, TensorList& list,
                  std::string& note);

// Index of the entry DIRECTORY/data.pkl, which makes an archive one of
// torch.save; nullopt: there is none.
std::optional<size_t> FindTorchPickle(const ZipArchive& archive);
// An archive of torch.save, without the name of its directory. Tensors, numbers
// and texts get the names of their places in the pickled object. Sharing of
// storages, devices, requires_grad and hooks do not count.
Status AddTorchArchive(const std::shared_ptr<ZipArchive>& archive,
                       size_t pickle, TensorList& list);

// Data sets and attributes of an HDF5 file under `name`. Another process reads
// it, as libhdf5 is not hardened against damaged files: its crash is kDataLoss,
// and so is one that runs for half a minute and a second for each 5 MiB.
Status AddHdf5File(const std::string& name,
                   const std::shared_ptr<FileBytes>& file, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_
