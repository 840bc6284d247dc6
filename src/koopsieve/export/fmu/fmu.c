/* The co-simulation interface of FMI 2.0 around an exported model. Written by koopsieve.
 *
 * Value references: outputs first, then inputs, then the outputs at the start. A step of the model lasts
 * MODEL_SAMPLE_TIME; a communication step must be a whole number of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"
#include "guid.h"
#include "model.h"

#define FIRST_INPUT MODEL_OUTPUTS
#define FIRST_START (MODEL_OUTPUTS + MODEL_INPUTS)
#define VARIABLES (2 * MODEL_OUTPUTS + MODEL_INPUTS)

typedef struct {
    double value[VARIABLES];
    double carried[MODEL_CARRIED];
    const fmi2CallbackFunctions *functions; /* of the simulator, which live as long as the instance */
} Instance;

static void report(const Instance *instance, const char *text, double found)
{
    if (instance->functions != NULL && instance->functions->logger != NULL)
        instance->functions->logger(instance->functions->componentEnvironment, "model", fmi2Error, "error", text,
                                    MODEL_SAMPLE_TIME, found);
}

static void begin(Instance *instance)
{
    double outputs[MODEL_HISTORY * MODEL_OUTPUTS], inputs[MODEL_HISTORY * MODEL_INPUTS + 1], state[MODEL_STATES];
    for (int row = 0; row < MODEL_HISTORY; row++) {
        for (int i = 0; i < MODEL_OUTPUTS; i++)
            outputs[row * MODEL_OUTPUTS + i] = instance->value[FIRST_START + i];
        for (int i = 0; i < MODEL_INPUTS; i++)
            inputs[row * MODEL_INPUTS + i] = instance->value[FIRST_INPUT + i];
    }
    model_state(outputs, inputs, state);
    model_start(state, instance->carried);
    model_read(instance->carried, instance->value);
}

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    if (type != fmi2CoSimulation || strcmp(guid, MODEL_GUID) != 0)
        return NULL;
    Instance *instance = calloc(1, sizeof(Instance));
    if (instance != NULL)
        instance->functions = functions;
    return instance;
}

void fmi2FreeInstance(fmi2Component c) { free(c); }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerant, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stops, fmi2Real stop)
{
    (void)c, (void)tolerant, (void)tolerance, (void)start, (void)stops, (void)stop;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    begin(c);
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    begin(c);
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    memset(c, 0, sizeof(Instance));
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference reference[], size_t n, fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (reference[i] >= VARIABLES)
            return fmi2Error;
        value[i] = ((Instance *)c)->value[reference[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference reference[], size_t n, const fmi2Real value[])
{
    for (size_t i = 0; i < n; i++) {
        if (reference[i] < FIRST_INPUT || reference[i] >= VARIABLES)
            return fmi2Error;
        ((Instance *)c)->value[reference[i]] = value[i];
    }
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real length, fmi2Boolean no_return)
{
    Instance *instance = c;
    const double steps = floor(length / MODEL_SAMPLE_TIME + 0.5);
    (void)now, (void)no_return;
    if (steps < 1.0 || fabs(length - steps * MODEL_SAMPLE_TIME) > 1e-6 * MODEL_SAMPLE_TIME * steps) {
        report(instance, "A communication step must be a whole number of sample times (%g). Got %g.", length);
        return fmi2Error;
    }
    for (double k = 0.0; k < steps; k += 1.0) {
        double next[MODEL_CARRIED];
        model_step(instance->carried, instance->value + FIRST_INPUT, next);
        memcpy(instance->carried, next, sizeof next);
    }
    model_read(instance->carried, instance->value);
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (*state == NULL)
        *state = malloc(sizeof(Instance));
    if (*state == NULL)
        return fmi2Error;
    memcpy(*state, c, sizeof(Instance));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    memcpy(c, state, sizeof(Instance));
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

/* What the model has not: other types than real, serialised states, derivatives, asynchronous steps. */

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Integer v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Boolean v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2String v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Boolean v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2String v[])
{
    (void)c, (void)r, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state, (void)size;
    return fmi2Error;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    (void)c, (void)state, (void)bytes, (void)size;
    return fmi2Error;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    (void)c, (void)bytes, (void)size, (void)state;
    return fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                        const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    (void)c, (void)unknown, (void)unknowns, (void)known, (void)knowns, (void)seed, (void)sensitivity;
    return fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                       const fmi2Integer order[], const fmi2Real v[])
{
    (void)c, (void)r, (void)order, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
                                        const fmi2Integer order[], fmi2Real v[])
{
    (void)c, (void)r, (void)order, (void)v;
    return n ? fmi2Error : fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    (void)c;
    return fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c, (void)kind, (void)value;
    return fmi2Discard;
}
