// Readers of the formats of result files.
//
// Each adds the values of a file to a list. The bytes come from outside: every
// length is checked against the file before it is used, and nothing in a file
// is executed. kDataLoss says in one line why a file is not of its format; it
// is then compared as bytes.
#ifndef GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_
#define GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_

#include "engine/status.h"
#include "harness/results/byte_source.h"
#include "harness/results/tensor_list.h"

namespace gauntlet {

// https://huggingface.co/docs/safetensors: u64 length of the header, the header
// in JSON, data. `__metadata__` does not count.
Status AddSafetensorsFile(const Bytes& file, TensorList& list);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RESULTS_FORMATS_FORMATS_H_
