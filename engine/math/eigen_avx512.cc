// Compiled for AVX-512 (F, BW, DQ, VL).
#define Eigen GauntletEigenAvx512
#include "engine/math/eigen_product.inc"

namespace gauntlet {

void Avx512EigenProduct(const Product& product) { EigenProduct(product); }

}  // namespace gauntlet
