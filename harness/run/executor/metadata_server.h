// A metadata service for workers of a real run. It answers FALSE to each
// request, or TRUE once a certain file exists.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_METADATA_SERVER_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_METADATA_SERVER_H_

#include <memory>
#include <string>
#include <thread>

#include "engine/real/posix/descriptor.h"
#include "engine/status.h"

namespace gauntlet {

// Returns the path of the file that changes the answer to TRUE. A worker in
// which a fault sends a notice over HTTP creates this file. It is in the
// directory in which a run stores which faults fired; no fault has its name.
std::string MetadataFile(const std::string& plan_state_directory);

class MetadataServer {
 public:
  // Starts a service that answers on its own thread, until the object is
  // destroyed.
  static Result<std::unique_ptr<MetadataServer>> Start(std::string file);
  ~MetadataServer();
  MetadataServer(const MetadataServer&) = delete;
  MetadataServer& operator=(const MetadataServer&) = delete;

  const std::string& url() const { return url_; }

 private:
  MetadataServer(std::string file, Descriptor listener, Descriptor end,
                 std::string url);
  void Serve();
  void Answer(const Descriptor& connection) const;

  const std::string file_;
  const Descriptor listener_;
  const Descriptor end_;  // readable once the thread must end
  const std::string url_;
  std::thread thread_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_METADATA_SERVER_H_
