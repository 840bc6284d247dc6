/* A Kalman filter of what is carried and of a slow disturbance of the outputs; K numbers together. */
#define K (Z + N)

/* out = a * b, a (rows x inner), b (inner x columns). */
static void product(const real_t *a, const real_t *b, real_t *out, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            real_t sum = 0;
            for (int k = 0; k < inner; k++)
                sum += a[i * inner + k] * b[k * columns + j];
            out[i * columns + j] = sum;
        }
}

/* covariance = matrix * covariance * matrix'. */
static void spread_by(@name@_t *c, const real_t *matrix)
{
    product(matrix, c->covariance, c->room, K, K, K);
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            real_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += c->room[i * K + k] * matrix[j * K + k];
            c->covariance[i * K + j] = sum;
        }
}

static void unit_matrix(real_t *matrix)
{
    for (int i = 0; i < K * K; i++)
        matrix[i] = i % (K + 1) == 0;
}

/* What a disturbance of the outputs adds to what is carried. */
static void disturb(@name@_t *c)
{
    product(c->entering, c->output_disturbance, c->disturbance, Z, N, 1);
}

/* How the disturbance enters: derivatives by the outputs, or the outputs' rows alone where nothing is lifted anew. */
static void enter(@name@_t *c)
{
#if RELIFTED
    for (int i = 0; i < Z; i++)
        for (int j = 0; j < N; j++)
            c->entering[i * N + j] = c->slope[i * X + j];
#else
    memcpy(c->entering, entering, sizeof c->entering);
#endif
}

static void begin(@name@_t *c, const real_t *measured)
{
    repeat(c, measured);
    @name@_model_start(c->line, c->carried);
    @name@_model_start_slopes(c->line, c->slope);
    memset(c->covariance, 0, sizeof c->covariance);
    for (int i = 0; i < Z; i++) {
        for (int j = 0; j < Z; j++)
            for (int k = 0; k < X; k++)
                c->covariance[i * K + j] += c->slope[i * X + k] * state_variance[k] * c->slope[j * X + k];
        c->covariance[i * K + i] += process_variance[i];
    }
    for (int i = 0; i < N; i++)
        c->covariance[(Z + i) * (K + 1)] = START_DRIFTS * drift_variance[i];
    enter(c);
}

static void predict(@name@_t *c, const real_t *acted)
{
    @name@_model_linearise(c->carried, acted, c->a, c->b, c->offset);
    unit_matrix(c->matrix);
    for (int i = 0; i < Z; i++) {
        memcpy(c->matrix + i * K, c->a + i * Z, Z * sizeof(real_t));
        memcpy(c->matrix + i * K + Z, c->entering + i * N, N * sizeof(real_t));
    }
    spread_by(c, c->matrix);
    for (int i = 0; i < Z; i++)
        c->covariance[i * (K + 1)] += process_variance[i];
    for (int i = 0; i < N; i++)
        c->covariance[(Z + i) * (K + 1)] += drift_variance[i];
    @name@_model_step(c->carried, acted, c->offset);
    for (int i = 0; i < Z; i++)
        c->carried[i] = c->offset[i] + c->disturbance[i];
}

/* Weigh the outputs that are taken in; the others weigh nothing. */
static void correct(@name@_t *c, const real_t *measured)
{
    real_t expected[N], variance[N], S[N * N], weighed[N * K], *gain = c->gain;
    @name@_model_read(c->carried, expected);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++) {
            weighed[i * K + k] = 0;
            for (int j = 0; j < Z; j++)
                weighed[i * K + k] += reading[i][j] * c->covariance[j * K + k];
        }
    for (int i = 0; i < N; i++) {
        variance[i] = measurement_variance[i];
        for (int k = 0; k < Z; k++)
            variance[i] += weighed[i * K + k] * reading[i][k];
    }
    compare(c, measured, expected, variance);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            S[i * N + j] = i != j ? 0 : c->taken[i] ? measurement_variance[i] : 1;
            for (int k = 0; k < Z && c->taken[i] && c->taken[j]; k++)
                S[i * N + j] += weighed[i * K + k] * reading[j][k];
        }
    factor(S, N);
    unit_matrix(c->matrix);
    for (int k = 0; k < K; k++) {
        real_t column[N], change = 0;
        for (int i = 0; i < N; i++)
            column[i] = c->taken[i] ? weighed[i * K + k] : 0;
        solve(S, column, N);
        for (int i = 0; i < N; i++) {
            gain[k * N + i] = column[i];
            change += c->taken[i] ? column[i] * c->innovation[i] : 0;
            for (int j = 0; j < Z; j++)
                c->matrix[k * K + j] -= column[i] * reading[i][j];
        }
        if (k < Z)
            c->carried[k] += change;
        else
            c->output_disturbance[k - Z] += change;
    }
    spread_by(c, c->matrix);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < K; j++)
            for (int i = 0; i < N; i++)
                c->covariance[k * K + j] += gain[k * N + i] * measurement_variance[i] * gain[j * N + i];
}

/* Replace what is carried by the observables of the state in it, and the covariance with it. */
static void lift_again(@name@_t *c)
{
#if RELIFTED
    real_t state[X];
    for (int k = 0; k < X; k++)
        state[k] = c->carried[place[k]];
    @name@_model_start(state, c->carried);
    @name@_model_start_slopes(state, c->slope);
    unit_matrix(c->matrix);
    for (int i = 0; i < Z; i++) {
        c->matrix[i * (K + 1)] = 0;
        for (int k = 0; k < X; k++)
            c->matrix[i * K + place[k]] = c->slope[i * X + k];
    }
    spread_by(c, c->matrix);
    enter(c);
#endif
    disturb(c);
}

static void update(@name@_t *c, const real_t *acted, const real_t *measured)
{
    real_t expected[N];
    predict(c, acted);
    correct(c, measured);
    lift_again(c);
    @name@_model_read(c->carried, expected);
    shift(c, measured, expected, acted);
}
