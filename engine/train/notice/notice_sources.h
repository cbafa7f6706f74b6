// Sources of preemption notices other than signals: a file that appears, or the
// metadata service of a cloud. Each call checks the sources once.
//
// A failed check does not count as a notice. The first failure of each source
// is reported in one line, and the source is checked again later.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_SOURCES_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_SOURCES_H_

#include <functional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/train/options.h"
#include "engine/world/world.h"

namespace gauntlet {

class NoticeSources {
 public:
  // Receives a line for people.
  using ReportLine = std::function<void(std::string line)>;

  // The objects that `world` refers to outlive this object. Without `report`
  // nothing is reported.
  NoticeSources(const World& world, PreemptionOptions options,
                ReportLine report);

  bool empty() const { return sources_.empty(); }

  // Returns true if a source gives a notice now. Blocks for up to one second
  // per source if the service hangs, and never beyond the deadline.
  bool AnyHasNotice(Time deadline);

 private:
  // A source of notices. `is_reported`: a failure of the source was reported.
  struct Source {
    std::string name;
    Result<bool> (NoticeSources::*poll)(Time deadline);
    bool is_reported = false;
  };

  bool HasNotice(Source& source, Time deadline);
  Result<bool> FileExists(Time deadline);
  Result<bool> ServiceHasNotice(Time deadline);
  Result<HttpResponse> QueryService(const HttpUrl& url, Time deadline);
  void Report(std::string line) const;

  World world_;
  const PreemptionOptions options_;
  ReportLine report_;
  std::vector<Source> sources_;
  std::string token_;  // "": the service has not required one so far
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_SOURCES_H_
