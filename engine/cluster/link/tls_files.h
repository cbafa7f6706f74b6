// The files by which workers encrypt their connections and check certificates.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_

#include <string>

namespace gauntlet {

// All PEM. All empty: connections are not encrypted.
struct TlsFiles {
  std::string cert;  // this worker's certificate, then intermediate ones
  std::string key;   // its private key
  std::string ca;    // certificates that sign those of all workers
  // Name that every worker's certificate has; "": each has the host name or the
  // address under which the others call it.
  std::string name;

  bool used() const { return !cert.empty(); }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_TLS_FILES_H_
