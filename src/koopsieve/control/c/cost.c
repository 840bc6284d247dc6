/* Hold a plan within the limits of inputs, and of their changes; limits of inputs go first. */
static void within(const @name@_t *c, real_t *plan)
{
    for (int h = 0; h < H; h++)
        for (int j = 0; j < M; j++) {
            real_t *u = plan + h * L + moved[j];
            *u = clipped(*u, low[h][j], high[h][j]);
#if RATES
            const real_t start = clipped(c->acting[moved[j]], low[0][j], high[0][j]);
            const real_t before = h ? plan[(h - 1) * L + moved[j]] : start;
            *u = clipped(clipped(*u, before - rate[j], before + rate[j]), low[h][j], high[h][j]);
#endif
        }
    (void)c;
}

/* What is carried and the outputs under a plan. */
static void simulate(const @name@_t *c, const real_t *plan, real_t *path, real_t *outputs)
{
    memcpy(path, c->carried, sizeof c->carried);
    for (int h = 0; h < H; h++) {
        real_t *next = path + (h + 1) * Z;
        @name@_model_step(path + h * Z, plan + h * L, next);
        for (int i = 0; i < Z; i++)
            next[i] += c->disturbance[i];
        @name@_model_read(next, outputs + h * N);
    }
}

/* The change of a moved input in one step of a plan. */
static real_t change_of(const @name@_t *c, const real_t *plan, int h, int j)
{
    return plan[h * L + moved[j]] - (h ? plan[(h - 1) * L + moved[j]] : c->acting[moved[j]]);
}

static real_t cost_of(const @name@_t *c, const real_t *plan, const real_t *outputs, const real_t *reference)
{
    real_t sum = 0;
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < N; i++) {
            const real_t y = outputs[h * N + i];
            for (int k = 0; k < N; k++)
                sum += output_weight[i][k] * (y - reference[h * N + i]) * (outputs[h * N + k] - reference[h * N + k]) / 2;
#if LIMITED
            const real_t excess = larger(larger(output_low[h][i] - y, y - output_high[h][i]), 0);
            sum += price[i] * (excess + excess * excess / 2);
#endif
        }
        for (int j = 0; j < M; j++)
            for (int k = 0; k < M; k++) {
                sum += rate_weight[j][k] * change_of(c, plan, h, j) * change_of(c, plan, h, k) / 2;
                sum += input_weight[j][k] * plan[h * L + moved[j]] * plan[h * L + moved[k]] / 2;
            }
    }
    return sum;
}

/* How all outputs move with all inputs, along the plan and its path. */
static void linearise(@name@_t *c)
{
    memset(c->slopes, 0, sizeof c->slopes);
    for (int h = 0; h < H; h++) {
        const real_t *before = c->pull[h % 2];
        real_t *now = c->pull[(h + 1) % 2];
        @name@_model_linearise(c->path + h * Z, c->plan + h * L, c->a, c->b, c->offset);
        for (int i = 0; i < Z; i++) {
            for (int v = 0; v < h * M; v++) {
                real_t sum = 0;
                for (int k = 0; k < Z; k++)
                    sum += c->a[i * Z + k] * before[k * V + v];
                now[i * V + v] = sum;
            }
            for (int j = 0; j < M; j++)
                now[i * V + h * M + j] = c->b[i * L + moved[j]];
        }
        for (int i = 0; i < N; i++)
            for (int v = 0; v < (h + 1) * M; v++) {
                real_t sum = 0;
                for (int k = 0; k < Z; k++)
                    sum += reading[i][k] * now[k * V + v];
                c->slopes[(h * N + i) * V + v] = sum;
            }
    }
}
