/* Compare the measured outputs with those expected; which are taken, and how large innovations usually are. What is
 * further away than the data of the model are wide counts as that far. */
static void compare(@name@_t *c, const real_t *measured, const real_t *expected, const real_t *variance)
{
    const real_t samples = c->samples + 1 < SPREAD_MEMORY ? c->samples + 1 : SPREAD_MEMORY;
    for (int i = 0; i < N; i++) {
        const int here = measured[i] == measured[i];
        c->innovation[i] = clipped(measured[i] - expected[i], -data_width[i], data_width[i]);
        c->taken[i] = here;
        if (!KNOWN_NOISE)
            continue;
        c->deviation[i] = sqrt(variance[i]);
        const real_t size = here ? c->innovation[i] / c->deviation[i] : 0;
        const real_t usual = (PRIOR_SAMPLES + c->samples * c->spread[i]) / (PRIOR_SAMPLES + c->samples);
        const int spike = here && fabs(size) > GATE * sqrt(larger(usual, 1)) && c->rejected[i] < MAX_REJECTED;
        c->taken[i] = here && !spike;
        c->rejected[i] = spike ? c->rejected[i] + 1 : 0;
        if (c->taken[i])
            c->spread[i] += (size * size - c->spread[i]) / samples;
    }
    if (KNOWN_NOISE)
        c->samples = samples;
}

/* Move the measured state on; what is missing or a spike is replaced by what was expected. */
static void shift(@name@_t *c, const real_t *measured, const real_t *expected, const real_t *acted)
{
    real_t seen[N];
    for (int i = 0; i < N; i++)
        seen[i] = c->taken[i] ? measured[i] : expected[i];
    @name@_model_shift(c->line, seen, acted);
}

/* The state before the first step: the outputs and inputs of now, as if they had always been so. */
static void repeat(@name@_t *c, const real_t *measured)
{
    real_t outputs[@NAME@_MODEL_HISTORY * N], inputs[(@NAME@_MODEL_HISTORY + 1) * L];
    for (int row = 0; row < @NAME@_MODEL_HISTORY; row++)
        memcpy(outputs + row * N, measured, N * sizeof(real_t));
    for (int row = 0; row <= @NAME@_MODEL_HISTORY; row++)
        memcpy(inputs + row * L, c->acting, L * sizeof(real_t));
    @name@_model_state(outputs, inputs, c->line);
}
