#pragma once
#include "beside.cuh"
