/* A card for the tests: the calls of NVML that rfbench makes.  FAKE_NVML tells how it behaves; its power is a ramp of
   the monotonic clock, 100 W + 200 W/s (t - FAKE_NVML_START). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_DRIVER = 9, LOST = 15 };

static int calls;

static int behaves(const char *how) {
    const char *given = getenv("FAKE_NVML");
    return given && !strcmp(given, how);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec - atof(getenv("FAKE_NVML_START"));
}

int nvmlInitWithFlags(unsigned flags) { return behaves("no driver") ? NO_DRIVER : OK; }

int nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(int error) {
    return error == NO_DRIVER ? "Driver Not Loaded" : error == LOST ? "GPU is lost" : "Unknown Error";
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
    *handle = &calls;
    return index ? INVALID : OK;
}

int nvmlDeviceGetName(void *handle, char *name, unsigned length) {
    strncpy(name, "Ramp", length);
    return OK;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts) {
    *milliwatts = 1e3 * (100 + 200 * seconds()) + 0.5;
    return behaves("lost") && ++calls > 3 ? LOST : OK;
}

#ifndef OLD_DRIVER
int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *millijoules) {
    double t = seconds();
    *millijoules = 1e3 * (100 * t + 100 * t * t) + 0.5;
    return behaves("counter") ? OK : NOT_SUPPORTED;
}
#endif
