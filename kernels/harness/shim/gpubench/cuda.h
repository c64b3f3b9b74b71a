/* CUDA C++ on the host: included before every kernel source. */
#pragma once

#include <time.h>

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "abi.h"
#include "qualifiers.h"
#include "vector_types.h"
#include "index.h"
#include "sync.h"
#include "bits.h"
#include "simd.h"
#include "dpx.h"
#include "atomics.h"
#include "math.h"
#include "special.h"
#include "rounding.h"
#include "runtime.h"
#include "export.h"
#include "spaces.h"
