// The termination notices that no signal brings, looked for once at a time: a
// file that appears, or what the metadata service of a cloud says.
//
// A look that fails is no notice: the first failure of each source is said in
// one line, and later looks go on.
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
  // Shows a line to people.
  using Say = std::function<void(std::string line)>;

  // The objects that `world` refers to outlive it. Without `say` nothing is
  // reported.
  NoticeSources(const World& world, PreemptionOptions options, Say say);

  bool none() const { return sources_.empty(); }

  // Returns true if a source gives a notice now. Blocks for a second if a
  // service hangs, and never beyond the deadline.
  bool OneSaysSo(Time deadline);

 private:
  // A source, and whether its failure has been reported.
  struct Source {
    std::string name;
    Result<bool> (NoticeSources::*look)(Time deadline);
    bool told = false;
  };

  bool SaysSo(Source& source, Time deadline);
  Result<bool> FileIsThere(Time deadline);
  Result<bool> ServiceSaysSo(Time deadline);
  Result<HttpAnswer> AskService(const HttpUrl& url, Time deadline);
  void Report(std::string line) const;

  World world_;
  const PreemptionOptions options_;
  Say say_;
  std::vector<Source> sources_;
  std::string token_;  // "": the service wants none, as far as is known
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_SOURCES_H_
