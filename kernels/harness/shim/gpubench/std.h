/* What CUDA's C++ library has of the standard's, by the host's. */
#pragma once
#include "cuda.h"

namespace cuda {
namespace std {
using namespace ::std;
}
}
