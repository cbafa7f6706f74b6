// The files by which workers encrypt their connections and check certificates.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_

#include <string>

namespace gauntlet {

// Paths of PEM files. All empty: connections are not encrypted.
struct TlsFiles {
  std::string cert;  // this worker's certificate, then intermediate ones
  std::string key;   // private key of `cert`
  std::string ca;    // certificates that sign those of all workers
  // Name that is in every worker's certificate. "": each certificate has the
  // host name or address at which the other workers reach its worker.
  std::string name;

  bool is_set() const { return !cert.empty(); }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_
