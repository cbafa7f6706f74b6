// Compiled for the baseline, SSE2.
#define Eigen GauntletEigenScalar
#include "engine/math/eigen_product.inc"

namespace gauntlet {

void ScalarEigenProduct(const Product& product) { EigenProduct(product); }

}  // namespace gauntlet
