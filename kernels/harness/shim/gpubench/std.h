/* The parts of the standard library that CUDA's C++ library has, taken from the host's. */
#pragma once
#include "cuda.h"

namespace cuda {
namespace std {
using namespace ::std;
}
}
