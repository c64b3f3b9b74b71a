/* Reductions over groups. */
#pragma once
#include "../cooperative_groups.h"
