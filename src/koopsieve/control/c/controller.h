/* A controller of @outputs@, written by koopsieve.
 *
 * C99 without dependencies and without allocation. All that is remembered stands in one struct, which is the caller's;
 * it is large, so make it static. Every sample:
 *
 *     static @name@_t controller;
 *     @name@_start(&controller, acting);                      once, with the inputs that act
 *     @name@_step(&controller, measured, reference, 0, 0);    then controller.input holds what to apply
 */
#ifndef @NAME@_H
#define @NAME@_H

#include "@name@_model.h"

#ifdef __cplusplus
extern "C" {
#endif

@sizes@
typedef struct {
    /* After a step: the inputs to apply now (MOVED). */
    real_t input[@NAME@_MOVED];
    /* The plan: all inputs of the model and the outputs expected after them, row by row (HORIZON), and its cost. */
    real_t plan[@NAME@_HORIZON * @NAME@_MODEL_INPUTS], outputs[@NAME@_HORIZON * @NAME@_MODEL_OUTPUTS], cost;
    int iterations, settled; /* programmes solved; whether the cost has settled */
    /* Innovations: measured minus expected, their expected deviations, whether each was used; their mean squares
     * in units of these deviations, over the last samples. */
    real_t innovation[@NAME@_MODEL_OUTPUTS], deviation[@NAME@_MODEL_OUTPUTS];
    int taken[@NAME@_MODEL_OUTPUTS], rejected[@NAME@_MODEL_OUTPUTS];
    real_t spread[@NAME@_MODEL_OUTPUTS], samples;
    /* The estimate: the measured state, what the model carries, and what is added to it in every step. */
    real_t line[@NAME@_MODEL_STATES], carried[@NAME@_MODEL_CARRIED], disturbance[@NAME@_MODEL_CARRIED];
    int begun;
    real_t acting[@NAME@_MODEL_INPUTS];
#if @filter@ /* the Kalman filter */
    real_t output_disturbance[@NAME@_MODEL_OUTPUTS], entering[@NAME@_MODEL_CARRIED * @NAME@_MODEL_OUTPUTS];
#define @NAME@_FILTERED (@NAME@_MODEL_CARRIED + @NAME@_MODEL_OUTPUTS)
    real_t covariance[@NAME@_FILTERED * @NAME@_FILTERED], matrix[@NAME@_FILTERED * @NAME@_FILTERED];
    real_t room[@NAME@_FILTERED * @NAME@_FILTERED], gain[@NAME@_FILTERED * @NAME@_MODEL_OUTPUTS];
    real_t slope[@NAME@_MODEL_CARRIED * @NAME@_MODEL_STATES];
#endif
    /* Room to compute in. */
    real_t path[(@NAME@_HORIZON + 1) * @NAME@_MODEL_CARRIED], trial_path[(@NAME@_HORIZON + 1) * @NAME@_MODEL_CARRIED];
    real_t trial[@NAME@_HORIZON * @NAME@_MODEL_INPUTS], trial_outputs[@NAME@_HORIZON * @NAME@_MODEL_OUTPUTS];
    real_t a[@NAME@_MODEL_CARRIED * @NAME@_MODEL_CARRIED], b[@NAME@_MODEL_CARRIED * @NAME@_MODEL_INPUTS];
    real_t offset[@NAME@_MODEL_CARRIED], pull[2][@NAME@_MODEL_CARRIED * @NAME@_CHANGES];
    real_t slopes[@NAME@_HORIZON * @NAME@_MODEL_OUTPUTS * @NAME@_CHANGES];
    real_t P[@NAME@_CHANGES * @NAME@_CHANGES], factored[@NAME@_CHANGES * @NAME@_CHANGES];
    real_t q[@NAME@_CHANGES], unit[@NAME@_CHANGES], x[@NAME@_CHANGES], right[@NAME@_CHANGES];
    real_t A[(@NAME@_ROWS - @NAME@_CHANGES) * @NAME@_CHANGES + 1], scale[@NAME@_ROWS - @NAME@_CHANGES + 1];
    real_t row_low[@NAME@_ROWS], row_high[@NAME@_ROWS], z[@NAME@_ROWS], y[@NAME@_ROWS], rows[@NAME@_ROWS];
} @name@_t;

/* Forget everything; `acting` (MOVED) are the inputs that act before the first step. */
void @name@_start(@name@_t *controller, const real_t *acting);

/* Plan from a new measurement (OUTPUTS, nan where one is missing, not in the first step) and the reference
 * (HORIZON x OUTPUTS, from the next measurement on). `acted` (MOVED) are the inputs that acted since the last step if
 * they were not those that it gave, else 0; `forecast` (HORIZON x MEASURED) are the measured inputs from now on, 0 if
 * there are none. */
void @name@_step(@name@_t *controller, const real_t *measured, const real_t *reference, const real_t *acted,
                 const real_t *forecast);

#ifdef __cplusplus
}
#endif

#endif
