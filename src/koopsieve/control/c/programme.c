/* The quadratic programme of the change of the plan: half x'Px + q'x, in units in which P has ones on its diagonal. */
static void programme(@name@_t *c, const real_t *reference)
{
    memset(c->P, 0, sizeof c->P);
    memset(c->q, 0, sizeof c->q);
    for (int h = 0; h < H; h++)
        for (int i = 0; i < N; i++) {
            real_t weighed = 0;
            const real_t *row = c->slopes + h * N * V;
            for (int k = 0; k < N; k++)
                weighed += output_weight[i][k] * (c->outputs[h * N + k] - reference[h * N + k]);
            for (int v = 0; v < (h + 1) * M; v++) {
                real_t sum = 0;
                for (int k = 0; k < N; k++)
                    sum += output_weight[i][k] * row[k * V + v];
                c->q[v] += row[i * V + v] * weighed;
                for (int w = 0; w < (h + 1) * M; w++)
                    c->P[w * V + v] += row[i * V + w] * sum;
            }
        }
    for (int h = 0; h < H; h++)
        for (int j = 0; j < M; j++)
            for (int k = 0; k < M; k++) {
                const int v = h * M + j, w = h * M + k;
                c->P[v * V + w] += input_weight[j][k] + rate_weight[j][k] * (h + 1 < H ? 2 : 1);
                c->q[v] += input_weight[j][k] * c->plan[h * L + moved[k]];
                c->q[v] += rate_weight[j][k] * change_of(c, c->plan, h, k);
                if (h + 1 < H) {
                    c->P[v * V + w + M] -= rate_weight[j][k];
                    c->P[(v + M) * V + w] -= rate_weight[j][k];
                    c->q[v] -= rate_weight[j][k] * change_of(c, c->plan, h + 1, k);
                }
            }
    for (int v = 0; v < V; v++)
        c->unit[v] = 1 / sqrt(larger(c->P[v * V + v], (real_t)1e-12));
    for (int v = 0; v < V; v++) {
        c->q[v] *= c->unit[v];
        for (int w = 0; w < V; w++)
            c->P[v * V + w] *= c->unit[v] * c->unit[w];
    }
}

/* Rows of limits, none with an entry above one, and between which values each lies. */
static void limit_rows(@name@_t *c)
{
    memset(c->A, 0, sizeof c->A);
    for (int v = 0; v < V; v++) {
        const int h = v / M, j = v % M;
        const real_t u = c->plan[h * L + moved[j]];
        c->row_low[v] = (low[h][j] - u) / c->unit[v];
        c->row_high[v] = (high[h][j] - u) / c->unit[v];
#if RATES
        real_t *row = c->A + v * V;
        const real_t start = clipped(c->acting[moved[j]], low[0][j], high[0][j]);
        const real_t change = h ? change_of(c, c->plan, h, j) : u - start;
        const real_t scale = larger(c->unit[v], h ? c->unit[v - M] : 0);
        row[v] = c->unit[v] / scale;
        if (h)
            row[v - M] = -c->unit[v - M] / scale;
        c->row_low[V + v] = (rate_low[h][j] - change) / scale;
        c->row_high[V + v] = (rate_high[h][j] - change) / scale;
#endif
    }
#if LIMITED
    for (int r = 0; r < LIMITED; r++) {
        const int at = limited[r];
        real_t *row = c->A + (FIRST_LIMITED - V + r) * V, scale = (real_t)1e-12;
        for (int v = 0; v < V; v++) {
            row[v] = c->slopes[at * V + v] * c->unit[v];
            scale = larger(scale, fabs(row[v]));
        }
        for (int v = 0; v < V; v++)
            row[v] /= scale;
        c->scale[r] = scale;
        c->row_low[FIRST_LIMITED + r] = output_low[at / N][at % N] - c->outputs[at];
        c->row_high[FIRST_LIMITED + r] = output_high[at / N][at % N] - c->outputs[at];
    }
#endif
}

/* The value of a row nearest to v that its limits allow, or that is worth its price. */
static real_t allowed(const @name@_t *c, int row, real_t v, real_t weight)
{
#if LIMITED
    if (row >= FIRST_LIMITED) {
        const int r = row - FIRST_LIMITED;
        const real_t s = c->scale[r], cost = price[limited[r] % N] * s, least = c->row_low[row], most = c->row_high[row];
        if (s * v > most)
            return larger((weight * v - cost * (1 - most)) / (weight + cost * s), most / s);
        if (s * v < least)
            return -larger(-(weight * v + cost * (1 + least)) / (weight + cost * s), -least / s);
        return v;
    }
#endif
    (void)weight;
    return clipped(v, c->row_low[row], c->row_high[row]);
}

static real_t row_value(const @name@_t *c, int row, const real_t *x)
{
#if ROWS > V
    if (row >= V) {
        real_t sum = 0;
        for (int v = 0; v < V; v++)
            sum += c->A[(row - V) * V + v] * x[v];
        return sum;
    }
#endif
    (void)c;
    return x[row];
}

/* out = transposed rows times the numbers of the rows. */
static void gathered(const @name@_t *c, const real_t *of_rows, real_t *out)
{
    memcpy(out, of_rows, V * sizeof(real_t));
    for (int row = V; row < ROWS; row++)
        for (int v = 0; v < V; v++)
            out[v] += c->A[(row - V) * V + v] * of_rows[row];
}

static void factor_with(@name@_t *c, real_t weight)
{
    memcpy(c->factored, c->P, sizeof c->P);
    for (int v = 0; v < V; v++)
        c->factored[v * V + v] += weight + REGULARISATION;
    for (int row = V; row < ROWS; row++) {
        const real_t *a = c->A + (row - V) * V;
        for (int v = 0; v < V; v++)
            for (int w = 0; w <= v && a[v] != 0; w++)
                c->factored[v * V + w] += weight * a[v] * a[w];
    }
    factor(c->factored, V);
}

/* How far the programme is from solved; the weight that would bring both parts down alike. */
static int solved(@name@_t *c, real_t *weight)
{
    real_t primal = 0, dual = 0, of_primal = (real_t)1e-12, of_dual = (real_t)1e-12;
    for (int row = 0; row < ROWS; row++) {
        const real_t value = row_value(c, row, c->x);
        primal = larger(primal, fabs(value - c->z[row]));
        of_primal = larger(of_primal, larger(fabs(value), fabs(c->z[row])));
    }
    gathered(c, c->y, c->right);
    for (int v = 0; v < V; v++) {
        real_t sum = 0;
        for (int w = 0; w < V; w++)
            sum += c->P[v * V + w] * c->x[w];
        dual = larger(dual, fabs(sum + c->q[v] + c->right[v]));
        of_dual = larger(of_dual, larger(larger(fabs(sum), fabs(c->q[v])), fabs(c->right[v])));
    }
    const real_t ratio = (primal / of_primal + (real_t)1e-12) / (dual / of_dual + (real_t)1e-12);
    *weight = clipped(*weight * sqrt(ratio), (real_t)1e-5, (real_t)1e5);
    return primal <= ACCURACY * of_primal && dual <= ACCURACY * of_dual;
}

/* Solve the programme: the change of the plan, in its units, is left in x. */
static void minimise(@name@_t *c)
{
    real_t weight = (real_t)0.1, wanted = weight;
    memset(c->x, 0, sizeof c->x);
    memset(c->y, 0, sizeof c->y);
    for (int row = 0; row < ROWS; row++)
        c->z[row] = allowed(c, row, 0, weight);
    factor_with(c, weight);
    for (int round = 1; round <= SOLVER_ROUNDS; round++) {
        real_t trial[V];
        for (int row = 0; row < ROWS; row++)
            c->rows[row] = weight * c->z[row] - c->y[row];
        gathered(c, c->rows, trial);
        for (int v = 0; v < V; v++)
            trial[v] += REGULARISATION * c->x[v] - c->q[v];
        solve(c->factored, trial, V);
        for (int row = 0; row < ROWS; row++) {
            const real_t relaxed = RELAXATION * row_value(c, row, trial) + (1 - RELAXATION) * c->z[row];
            c->z[row] = allowed(c, row, relaxed + c->y[row] / weight, weight);
            c->y[row] += weight * (relaxed - c->z[row]);
        }
        for (int v = 0; v < V; v++)
            c->x[v] = RELAXATION * trial[v] + (1 - RELAXATION) * c->x[v];
        if (round % CHECKED_EVERY)
            continue;
        if (solved(c, &wanted))
            return;
        if (wanted > 3 * weight || wanted < weight / 3) {
            weight = wanted;
            factor_with(c, weight);
        }
        wanted = weight;
    }
}
