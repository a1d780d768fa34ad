/* calibrate/kernels_base.cu - the kernels behind the base probes. Names are those that
 * device_cuda.c looks up; what each takes is said at enum dev_kernel in device.h. */

/* The known pattern: small whole numbers, so b + s c is exact in float for a whole s below 1000 and
 * a single wrong element can be told. */
static __device__ __forceinline__ float pattern_b(unsigned long long i)
{
    return (float)(i % 1021u);
}

static __device__ __forceinline__ float pattern_c(unsigned long long i)
{
    return (float)(i % 509u);
}

extern "C" __global__ void cal_empty()
{
}

extern "C" __global__ void cal_fill(float *a, float *b, float *c, unsigned long long n)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        a[i] = __int_as_float(0x7fffffff); /* NaN: an element that the triad skipped is seen */
        b[i] = pattern_b(i);
        c[i] = pattern_c(i);
    }
}

/* Sixteen bytes per thread and array; n is a multiple of four, the grid covers it. */
extern "C" __global__ void cal_triad(float4 *__restrict__ a, const float4 *__restrict__ b,
                                     const float4 *__restrict__ c, float s, unsigned long long n)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const float4 x = b[i], y = c[i];
    a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}

extern "C" __global__ void cal_check(const float *a, float s, unsigned long long n, unsigned long long *bad)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long wrong = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        if (!(a[i] == pattern_b(i) + s * pattern_c(i))) wrong++;
    if (wrong) atomicAdd(bad, wrong);
}

/* The global timer ticks once a microsecond on some cards: good for tens of microseconds and more. */
extern "C" __global__ void cal_spin(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}
