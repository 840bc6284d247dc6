/* The state is the measured history; the disturbance is the smoothed error of predictions one step advanced. */
static void begin(@name@_t *c, const real_t *measured)
{
    repeat(c, measured);
    @name@_model_start(c->line, c->carried);
}

static void update(@name@_t *c, const real_t *acted, const real_t *measured)
{
    real_t advanced[Z], expected[N], seen[N];
    @name@_model_step(c->carried, acted, advanced);
    for (int i = 0; i < Z; i++)
        advanced[i] += c->disturbance[i];
    @name@_model_read(advanced, expected);
    compare(c, measured, expected, one_step_variance);
    for (int i = 0; i < N; i++)
        seen[i] = expected[i] + c->innovation[i];
    shift(c, seen, expected, acted);
    @name@_model_start(c->line, c->carried);
    for (int i = 0; i < Z; i++)
        c->disturbance[i] += GAIN * (c->carried[i] - advanced[i]);
}
