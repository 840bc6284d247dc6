/* Model predictive control and the estimate of the state. Written by koopsieve; see @name@.h.
 *
 * Each step linearises the model along the plan, solves the quadratic programme of the change by the alternating
 * direction method of multipliers, and takes the change only as far as the model's own cost falls. */
#ifdef KOOPSIEVE_FLOAT32
#include <tgmath.h>
#define ACCURACY 1e-4f
#else
#include <math.h>
#define ACCURACY 1e-6
#endif
#include <string.h>

#include "@name@.h"

#define H @NAME@_HORIZON
#define M @NAME@_MOVED
#define N @NAME@_MODEL_OUTPUTS
#define L @NAME@_MODEL_INPUTS
#define Z @NAME@_MODEL_CARRIED
#define X @NAME@_MODEL_STATES
#define V @NAME@_CHANGES
#define ROWS @NAME@_ROWS
#define FIRST_LIMITED (V + (RATES ? V : 0)) /* rows: inputs, their changes, outputs */
#define INFINITE 1e30
#define RELAXATION ((real_t)1.6)
#define REGULARISATION ((real_t)1e-6)
#define SETTLED ((real_t)3e-3) /* a share of the cost; less is no progress */
#define CHECKED_EVERY 25
@tables@
static real_t clipped(real_t value, real_t low, real_t high)
{
    return value < low ? low : value > high ? high : value;
}

static real_t larger(real_t a, real_t b)
{
    return a > b ? a : b;
}

/* Factor a symmetric positive matrix in place: the lower triangle of a = l * l'. */
static void factor(real_t *a, int size)
{
    for (int j = 0; j < size; j++)
        for (int i = j; i < size; i++) {
            real_t sum = a[i * size + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * size + k] * a[j * size + k];
            if (i == j)
                a[i * size + j] = sqrt(larger(sum, (real_t)1e-12));
            else
                a[i * size + j] = sum / a[j * size + j];
        }
}

/* Solve l * l' * x = x in place. */
static void solve(const real_t *l, real_t *x, int size)
{
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= l[i * size + k] * x[k];
        x[i] /= l[i * size + i];
    }
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++)
            x[i] -= l[k * size + i] * x[k];
        x[i] /= l[i * size + i];
    }
}
