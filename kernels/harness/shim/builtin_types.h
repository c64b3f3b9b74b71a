/* Part of what every kernel source sees. */
#pragma once
#include "gpubench/cuda.h"
