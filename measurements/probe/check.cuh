// Ends the program with the failed call and its code, of the runtime or of the driver.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        auto result = (call);                                                            \
        if (result != 0) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)result);                             \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)
