#include "engine/api/weights/start_weights.h"

#include "engine/api/weights/weights_file.h"
#include "engine/train/loop/job_model.h"
#include <fmt/format.h>

namespace gauntlet {

Result<std::vector<float>> LoadStartWeights(World& world, const Dataset& data,
                                            TrainOptions& options) {
  std::vector<float> weights;
  const StartOptions& start = options.start;
  if (start.weights.empty()) return weights;
  JobSpec& job = options.job;
  RETURN_IF_ERROR(Validate(job));
  ASSIGN_OR_RETURN(const JobModel built,
                   BuildJobModel(job, data.shape(), data.classes, {}));
  const Model& model = *built.model;
  weights = InitialValues(model, job.seed);
  const std::vector<ParameterInfo> values = TrainedValues(model);
  RETURN_IF_ERROR(
      ReadWeights(world, start.weights, values, weights, start.partial)
          .status());
  const Digest digest = WeightsDigest(values, weights);
  if (job.start.weights && *job.start.weights != digest) {
    return InvalidArgument(fmt::format(
        "{}: expected the weights of digest {} that training started from, "
        "found {}",
        start.weights, job.start.weights->ToString(), digest.ToString()));
  }
  job.start.weights = digest;
  return weights;
}

}  // namespace gauntlet
