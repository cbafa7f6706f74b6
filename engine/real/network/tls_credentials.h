// The checked contents of a worker's TLS files.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_

#include <string>

#include "engine/cluster/link/tls_files.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// PEM texts, as gRPC expects them.
struct TlsCredentials {
  std::string cert;
  std::string key;
  std::string ca;
  std::string name;  // TlsFiles::name
};

// Reads and checks the files. REQUIRES: files.is_set(). kInvalidArgument, one
// line that names the file: it cannot be read or is not PEM; the key belongs to
// another certificate or has a passphrase; the CA did not sign the certificate;
// the certificate is not valid for both servers and clients, is not valid at
// present, or lacks the name.
Result<TlsCredentials> ReadTlsCredentials(Storage& storage,
                                          const TlsFiles& files);

// As ReadTlsCredentials, for a process whose workers read the files themselves.
// Ok if no files are used.
Status CheckTlsFiles(Storage& storage, const TlsFiles& files);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_
