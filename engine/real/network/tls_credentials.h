// The contents of a worker's TLS files, checked.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_

#include <string>

#include "engine/cluster/link/tls_files.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// PEM texts, as gRPC takes them.
struct TlsCredentials {
  std::string cert;
  std::string key;
  std::string ca;
  std::string name;  // TlsFiles::name
};

// REQUIRES: files.used(). kInvalidArgument, one line that names the file: it
// cannot be read or is not PEM; the key is another certificate's, or has a
// passphrase; the CA does not vouch for the certificate, for a server and a
// client, at this time; the certificate lacks the name.
Result<TlsCredentials> ReadTlsCredentials(Storage& storage,
                                          const TlsFiles& files);

// The same, for a process whose workers read the files themselves. Ok if none
// are used.
Status CheckTlsFiles(Storage& storage, const TlsFiles& files);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_TLS_CREDENTIALS_H_
