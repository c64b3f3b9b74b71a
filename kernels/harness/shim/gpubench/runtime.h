/* The part of CUDA's host side that kernel sources mention: types, and functions that no kernel
 * can call. Host code itself is removed before a source is compiled. */
#pragma once

/* Sources check it before they include headers of newer toolkits. */
#define CUDART_VERSION 12000

enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_UNKNOWN = 999 } CUresult;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3, cudaMemcpyDefault = 4
};

#define GB_OF_HOST(name)                                                     \
  template <class... A>                                                      \
  static inline cudaError_t name(A &&...) { gb_stop_here(GB_STOP_TRAP, 0); }
GB_OF_HOST(cudaMalloc)
GB_OF_HOST(cudaMallocHost)
GB_OF_HOST(cudaMallocManaged)
GB_OF_HOST(cudaMallocAsync)
GB_OF_HOST(cudaFree)
GB_OF_HOST(cudaFreeHost)
GB_OF_HOST(cudaFreeAsync)
GB_OF_HOST(cudaMemcpy)
GB_OF_HOST(cudaMemcpyAsync)
GB_OF_HOST(cudaMemcpyToSymbol)
GB_OF_HOST(cudaMemcpyFromSymbol)
GB_OF_HOST(cudaMemset)
GB_OF_HOST(cudaMemsetAsync)
GB_OF_HOST(cudaDeviceSynchronize)
GB_OF_HOST(cudaStreamSynchronize)
GB_OF_HOST(cudaStreamCreate)
GB_OF_HOST(cudaStreamDestroy)
GB_OF_HOST(cudaEventCreate)
GB_OF_HOST(cudaEventRecord)
GB_OF_HOST(cudaEventSynchronize)
GB_OF_HOST(cudaEventElapsedTime)
GB_OF_HOST(cudaEventDestroy)
GB_OF_HOST(cudaFuncSetAttribute)
GB_OF_HOST(cudaGetDevice)
GB_OF_HOST(cudaSetDevice)
GB_OF_HOST(cudaGetLastError)
GB_OF_HOST(cudaPeekAtLastError)
#undef GB_OF_HOST
static inline const char *cudaGetErrorString(cudaError_t) { gb_stop_here(GB_STOP_TRAP, 0); }
static inline const char *cudaGetErrorName(cudaError_t) { gb_stop_here(GB_STOP_TRAP, 0); }
