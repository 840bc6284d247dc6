/* Go a share of the way; return whether the cost is lower there, and keep it then. */
static int tried(@name@_t *c, const real_t *reference, real_t share, const real_t *from, real_t *best)
{
    real_t *trial = c->trial;
    memcpy(trial, from, sizeof c->trial);
    for (int v = 0; v < V; v++)
        trial[v / M * L + moved[v % M]] += share * c->unit[v] * c->x[v];
    within(c, trial);
    simulate(c, trial, c->trial_path, c->trial_outputs);
    const real_t cost = cost_of(c, trial, c->trial_outputs, reference);
    if (!(cost < *best))
        return 0;
    *best = cost;
    memcpy(c->plan, c->trial, sizeof c->plan);
    memcpy(c->path, c->trial_path, sizeof c->path);
    memcpy(c->outputs, c->trial_outputs, sizeof c->outputs);
    return 1;
}

/* What the programme itself expects of its answer. */
static real_t expected_cost(@name@_t *c, const real_t *reference)
{
    memcpy(c->trial, c->plan, sizeof c->plan);
    for (int v = 0; v < V; v++)
        c->trial[v / M * L + moved[v % M]] += c->unit[v] * c->x[v];
    for (int row = 0; row < H * N; row++) {
        c->trial_outputs[row] = c->outputs[row];
        for (int v = 0; v < V; v++)
            c->trial_outputs[row] += c->slopes[row * V + v] * c->unit[v] * c->x[v];
    }
    return cost_of(c, c->trial, c->trial_outputs, reference);
}

/* Better the plan until its cost settles. */
static void improve(@name@_t *c, const real_t *reference, int iterations)
{
    static const real_t shares[] = {1, (real_t)0.5, (real_t)0.25, (real_t)0.1, (real_t)0.03};
    within(c, c->plan);
    simulate(c, c->plan, c->path, c->outputs);
    c->cost = cost_of(c, c->plan, c->outputs, reference);
    c->settled = 0;
    for (c->iterations = 0; c->iterations < iterations && !c->settled;) {
        real_t from[H * L], best = c->cost;
        c->iterations++;
        memcpy(from, c->plan, sizeof from);
        linearise(c);
        programme(c, reference);
        limit_rows(c);
        minimise(c);
        const real_t expected = expected_cost(c, reference);
        for (int i = 0; i < 5; i++) {
            tried(c, reference, shares[i], from, &best);
            if (i == 0 && best <= expected + SETTLED * c->cost)
                break; /* the model agrees with the programme */
        }
        c->settled = EXACT || !(best < (1 - SETTLED) * c->cost);
        c->cost = best;
    }
}

void @name@_start(@name@_t *c, const real_t *acting)
{
    memset(c, 0, sizeof *c);
    for (int j = 0; j < M; j++)
        c->acting[moved[j]] = acting[j];
    for (int i = 0; i < N; i++)
        c->spread[i] = 1;
}

void @name@_step(@name@_t *c, const real_t *measured, const real_t *reference, const real_t *acted, const real_t *forecast)
{
    for (int j = 0; acted && j < M; j++)
        c->acting[moved[j]] = acted[j];
#if PINNED
    for (int j = 0; !c->begun && j < PINNED; j++)
        c->acting[pinned[j]] = forecast[j];
#else
    (void)forecast;
#endif
    if (c->begun)
        memmove(c->plan, c->plan + L, (H - 1) * L * sizeof(real_t)); /* the last row goes on */
    for (int h = 0; !c->begun && h < H; h++)
        memcpy(c->plan + h * L, c->acting, sizeof c->acting);
#if PINNED
    for (int h = 0; h < H; h++)
        for (int j = 0; j < PINNED; j++)
            c->plan[h * L + pinned[j]] = forecast[h * PINNED + j];
#endif
    if (c->begun)
        update(c, c->acting, measured);
    else
        begin(c, measured);
    improve(c, reference, c->begun ? ITERATIONS : FIRST_ITERATIONS);
    c->begun = 1;
    memcpy(c->acting, c->plan, sizeof c->acting);
    for (int j = 0; j < M; j++)
        c->input[j] = c->plan[moved[j]];
}
