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
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += step) {
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

extern "C" __global__ void cal_check(const float *a, float s, unsigned long long n,
                                     unsigned long long *bad)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long wrong = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += step)
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

/* Every block does `iters` dependent multiply-adds in each thread. The result is stored only if it
 * is a value that it never has, so the loop cannot be left out and no memory is touched. */
extern "C" __global__ void cal_compute(float *sink, unsigned long long iters)
{
    float x = (float)threadIdx.x;
    for (unsigned long long i = 0; i < iters; i++) x = fmaf(x, 0.999f, 1.0f);
    if (x == -1.0f) *sink = x;
}

/* Reads `n` times sixteen bytes `reps` times, past the first-level cache. */
extern "C" __global__ void cal_read(const float4 *from, unsigned long long n,
                                    unsigned long long reps, float *sink)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    float sum = 0;
    for (unsigned long long r = 0; r < reps; r++)
        for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
             i < n; i += step) {
            const float4 v = __ldcg(&from[i]);
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == -1.0f) *sink = sum;
}

/* The first thread polls the global timer for `ns` and notes every step above `least` ns: in
 * between the context was not on the card. out: number of steps, first reading, last reading,
 * then pairs (before, after), at most `cap` of them. Others only stay as long: what they hold
 * has to be put away with the context. */
extern "C" __global__ void cal_log(unsigned long long *out, unsigned long long cap,
                                   unsigned long long ns, unsigned long long least)
{
    unsigned long long start, last, now, n = 0;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    last = start;
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        if (first && now - last > least) {
            if (n < cap) {
                out[3 + 2 * n] = last;
                out[4 + 2 * n] = now;
            }
            n++;
        }
        last = now;
    } while (now - start < ns);
    if (!first) return;
    out[0] = n;
    out[1] = start;
    out[2] = now;
}
