// Counting and summing on the device, for `cuda.py`. CODE is the type of a code: unsigned char or unsigned short.
//
// A table belongs to a family (its members are the high digits of a cell's number) and one more variable, the lowest
// digit. Tables of one family that are counted together are a group.
//
// Terms are those of `mapdag.terms.formulas`, operation by operation: additions, products, divisions and roundings of
// doubles, which IEEE 754 determines, and whole numbers. It must be compiled without fused multiply-adds.

typedef unsigned long long ull;
typedef long long ll;

struct Group {
    int member_begin, member_end;  // of the family, in `members`
    int table_begin, table_end;    // in `tables`
    int cells;                     // of the family
    int begin, size;               // the cells that are counted, of all these tables, one after the other
    int unused;
};

struct Member { int variable, levels; };

struct Table { ll place; int variable, levels; };  // where it begins; its lowest digit

#define LANES 16  // rows that a thread takes at a time

#ifdef __CUDACC__

__device__ inline void load(const CODE* column, unsigned* into) {
    const uint4* words = reinterpret_cast<const uint4*>(column);
#pragma unroll
    for (int w = 0; w < (int)(LANES * sizeof(CODE) / 16); w++) {
        uint4 four = __ldg(words + w);
        unsigned part[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int i = 0; i < (int)(16 / sizeof(CODE)); i++) {
            const int per = 4 / sizeof(CODE);
            into[w * (16 / sizeof(CODE)) + i] = (part[i / per] >> (8 * sizeof(CODE) * (i % per))) & (CODE)~(CODE)0;
        }
    }
}

__device__ inline void cells_of(const CODE* codes, ll stride, ll row, const Member* members, int begin, int end,
                                unsigned* cell) {
#pragma unroll
    for (int i = 0; i < LANES; i++) cell[i] = 0;
    for (int m = begin; m < end; m++) {
        unsigned code[LANES], levels = members[m].levels;
        load(codes + members[m].variable * stride + row, code);
#pragma unroll
        for (int i = 0; i < LANES; i++) cell[i] = cell[i] * levels + code[i];
    }
}

// Count groups of tables in shared memory, a block of threads for each group and share of the rows. A table that has no
// room there is counted by several groups, each of which looks at some of its cells.
extern "C" __global__ void count_shared(const CODE* codes, ll stride, ll rows, ll share, const Group* groups,
                                        const Member* members, const Table* tables, unsigned* counts) {
    extern __shared__ unsigned local[];
    const Group group = groups[blockIdx.x];
    const unsigned size = group.size;
    unsigned every = 0;  // cells of all its tables
    for (int t = group.table_begin; t < group.table_end; t++) every += group.cells * tables[t].levels;
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) local[i] = 0;
    __syncthreads();
    const ll first = blockIdx.y * share, last = min(first + share, rows);
    for (ll row = first + (ll)threadIdx.x * LANES; row < last; row += (ll)blockDim.x * LANES) {
        unsigned cell[LANES], code[LANES];
        cells_of(codes, stride, row, members, group.member_begin, group.member_end, cell);
        const int here = (int)min((ll)LANES, last - row);
        unsigned begin = -group.begin;
        for (int t = group.table_begin; t < group.table_end; t++) {
            const unsigned levels = tables[t].levels;
            load(codes + tables[t].variable * stride + row, code);
            if (size == every && here == LANES) {
#pragma unroll
                for (int i = 0; i < LANES; i++) atomicAdd(local + begin + cell[i] * levels + code[i], 1u);
            } else {
#pragma unroll
                for (int i = 0; i < LANES; i++) {
                    const unsigned at = begin + cell[i] * levels + code[i];  // below zero is beyond the size, too
                    if (i < here && at < size) atomicAdd(local + at, 1u);
                }
            }
            begin += group.cells * levels;
        }
    }
    __syncthreads();
    ll start = 0;
    for (int t = group.table_begin; t < group.table_end; t++) {
        const ll end = start + (ll)group.cells * tables[t].levels;
        for (ll i = max(start, (ll)group.begin) + threadIdx.x; i < min(end, (ll)group.begin + size); i += blockDim.x)
            if (local[i - group.begin]) atomicAdd(counts + tables[t].place + (i - start), local[i - group.begin]);
        start = end;
    }
}

// Count groups of tables that are too large for that, in the memory of the device.
extern "C" __global__ void count_global(const CODE* codes, ll stride, ll rows, ll share, const Group* groups,
                                        const Member* members, const Table* tables, unsigned* counts) {
    const Group group = groups[blockIdx.x];
    const ll first = blockIdx.y * share, last = min(first + share, rows);
    for (ll row = first + (ll)threadIdx.x * LANES; row < last; row += (ll)blockDim.x * LANES) {
        unsigned cell[LANES], code[LANES];
        cells_of(codes, stride, row, members, group.member_begin, group.member_end, cell);
        const int here = (int)min((ll)LANES, last - row);
        for (int t = group.table_begin; t < group.table_end; t++) {
            const unsigned levels = tables[t].levels;
            load(codes + tables[t].variable * stride + row, code);
#pragma unroll
            for (int i = 0; i < LANES; i++)
                if (i < here) atomicAdd(counts + tables[t].place + (cell[i] * levels + code[i]), 1u);
        }
    }
}

#endif

// A family's table: where it begins; cells of the digits above the child's, of the child's, and of those below.
struct Family { ll place; int above, levels, below, unused; };

// A function of a count: XLOGX, or RISING_ONCE of a parameter. Small counts are looked up.
struct Function {
    double parameter, offset, first;
    int kind, begin, length, unused;
};

struct Known {
    double scale;
    const ll* values;      // (looked up, 2)
    const double* logs;    // (128, 3) as `formulas.LOG_TABLE`
    const ll* bases;       // (continued, 2)
    const double* powers;  // (continued, 8)
    int continued, from;   // counts from `from` on, below `continued`, are continued by the series
};

#define LOW_ONE 1073741824.0  // 2^30
#define COARSE 1099511627776.0  // 2^40
#define SPLIT 134217729.0

struct Two { double hi, lo; };
struct Fixed { ll high, low; };

__device__ inline Two two_sum(double x, double y) {
    double s = x + y, t = s - x;
    return {s, (x - (s - t)) + (y - t)};
}

__device__ inline Two two_product(double x, double y) {
    double p = x * y, t = SPLIT * x, xh = t - (t - x), xl = x - xh;
    t = SPLIT * y;
    double yh = t - (t - y), yl = y - yh;
    return {p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl};
}

__device__ inline Two log_integer(ll n, const double* logs) {
    double m = (double)n;
    ll bits = __double_as_longlong(m);
    int e = (int)(bits >> 52) - 1023;
    m = __longlong_as_double((bits & 0xFFFFFFFFFFFFFLL) | 0x3FF0000000000000LL);
    int i = (int)((m - 1.0) * 128);
    double z = m * logs[3 * i] - 1.0;
    Two square = two_product(z, z);
    double tail = z * square.hi *
        (1.0 / 3 - z * (1.0 / 4 - z * (1.0 / 5 - z * (1.0 / 6 - z * (1.0 / 7 - z * (1.0 / 8 - z * (1.0 / 9 - z / 10)))))));
    Two sum = two_sum(e * 0.6931471803691238, logs[3 * i + 1]);
    double lo = sum.lo + (e * 1.9082149292705877e-10 + logs[3 * i + 2]);
    sum = two_sum(sum.hi, z);
    lo += sum.lo;
    sum = two_sum(sum.hi, -0.5 * square.hi);
    lo += sum.lo - 0.5 * square.lo + tail;
    return two_sum(sum.hi, lo);
}

__device__ inline Fixed fixed(double hi, double lo, double scale) {
    double whole = floor(hi * scale);
    return {(ll)whole, (ll)floor(((hi * scale - whole) + lo * scale) * LOW_ONE + 0.5)};
}

__device__ inline Fixed xlogx(ll n, Two log, double scale) {
    Two product = two_product((double)n, log.hi);
    return fixed(product.hi, product.lo + n * log.lo, scale);
}

// As `_rising` where the parameter is less than a fiftieth of the count.
__device__ inline Fixed rising(double a, double offset, ll n, const Known& known) {
    Two log = log_integer(n, known.logs);
    Fixed found = xlogx(n, log, known.scale);
    double inverse = 1.0 / n, z = a * inverse;
    double tail = 1.0 / 5 - z * (1.0 / 6 - z * (1.0 / 7 - z * (1.0 / 8 - z / 9)));
    double step = z * (1 - z * (1.0 / 2 - z * (1.0 / 3 - z * (1.0 / 4 - z * tail))));
    inverse *= 1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z))))));
    double y = inverse * inverse;
    double stirling = inverse * (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188))));
    double rest = n * step + (a - 0.5) * (log.hi + step) + stirling + offset;
    found.high -= n * (ll)known.scale;
    if (known.scale >= COARSE) return {found.high + (ll)floor(rest * known.scale + 0.5), found.low};
    Fixed more = fixed(rest, 0.0, known.scale);
    return {found.high + more.high, found.low + more.low};
}

__device__ inline Fixed continued(double a, double first, ll n, const Known& known) {
    const double* p = known.powers + 8 * n;
    double b = a * a;
    double even = (p[0] + a * p[1]) + b * (p[2] + a * p[3]);
    double odd = (p[4] + a * p[5]) + b * (p[6] + a * p[7]);
    double rest = first + a * (even + b * b * odd);
    ll high = known.bases[2 * n], low = known.bases[2 * n + 1];
    if (known.scale >= COARSE) return {high + (ll)floor(rest * known.scale + 0.5), low};
    Fixed more = fixed(rest, 0.0, known.scale);
    return {high + more.high, low + more.low};
}

__device__ inline void add_term(Fixed& sum, ll n, const Function& f, const Known& known) {
    Fixed term;
    if (n == 0) return;
    if (n < f.length) {
        const ll* value = known.values + 2 * (f.begin + n);
        term = {value[0], value[1]};
    } else if (f.kind == 0) {
        term = xlogx(n, log_integer(n, known.logs), known.scale);
    } else if (f.first != 0.0 && n >= known.from && n < known.continued) {
        term = continued(f.parameter, f.first, n, known);
    } else {
        term = rising(f.parameter, f.offset, n, known);
    }
    sum.high += term.high;
    sum.low += term.low;
}

#ifdef __CUDACC__

template <typename T> __device__ inline T sum_of_block(T value) {
    __shared__ T parts[32];
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
    __syncthreads();
    value = threadIdx.x < (blockDim.x >> 5) ? parts[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    return value;
}

// Positive cells and observed configurations of each family, some blocks of threads for each; `found` is zero.
extern "C" __global__ void shapes(const unsigned* counts, const Family* families, int* found) {
    const Family family = families[blockIdx.x];
    int positive = 0, observed = 0;
    const ll size = (ll)family.above * family.below;
    for (ll i = (ll)blockIdx.y * blockDim.x + threadIdx.x; i < size; i += (ll)gridDim.y * blockDim.x) {
        const unsigned* cell = counts + family.place + (i / family.below) * family.levels * family.below + i % family.below;
        int here = 0;
        for (int k = 0; k < family.levels; k++) here += cell[(ll)k * family.below] > 0;
        positive += here;
        observed += here > 0;
    }
    positive = sum_of_block(positive);
    observed = sum_of_block(observed);
    if (threadIdx.x == 0) {
        atomicAdd(found + 2 * blockIdx.x, positive);
        atomicAdd(found + 2 * blockIdx.x + 1, observed);
    }
}

// Sums of terms over cells and over configurations, some blocks of threads for each family and recipe; `found` is zero.
extern "C" __global__ void sums(const unsigned* counts, const Family* families, const int* functions_of,
                                const Function* functions, double scale, const ll* values, const double* logs,
                                const ll* bases, const double* powers, int continued, int from, ull* found) {
    const Known known = {scale, values, logs, bases, powers, continued, from};
    const Family family = families[blockIdx.x];
    const ll at = (ll)blockIdx.z * gridDim.x + blockIdx.x;
    if (functions_of[2 * at] < 0) return;
    const Function f = functions[functions_of[2 * at]], g = functions[functions_of[2 * at + 1]];
    Fixed joint = {0, 0}, marginal = {0, 0};
    const ll size = (ll)family.above * family.below;
    for (ll i = (ll)blockIdx.y * blockDim.x + threadIdx.x; i < size; i += (ll)gridDim.y * blockDim.x) {
        const unsigned* cell = counts + family.place + (i / family.below) * family.levels * family.below + i % family.below;
        ll total = 0;
        for (int k = 0; k < family.levels; k++) {
            const ll n = cell[(ll)k * family.below];
            total += n;
            add_term(joint, n, f, known);
        }
        add_term(marginal, total, g, known);
    }
    const ll all[4] = {sum_of_block(joint.high), sum_of_block(joint.low), sum_of_block(marginal.high),
                       sum_of_block(marginal.low)};
    if (threadIdx.x == 0)
        for (int k = 0; k < 4; k++) atomicAdd(found + 4 * at + k, (ull)all[k]);
}

#endif
