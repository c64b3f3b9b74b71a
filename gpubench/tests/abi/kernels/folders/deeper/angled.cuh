#pragma once
#include "sibling.cuh"
