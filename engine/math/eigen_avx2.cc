// Compiled for AVX2 and FMA3.
#define Eigen GauntletEigenAvx2
#include "engine/math/eigen_product.inc"

namespace gauntlet {

void Avx2EigenProduct(const Product& product) { EigenProduct(product); }

}  // namespace gauntlet
