/**
 * A V8 setting for serving processes. V8 learns which allocation sites make long-lived objects and then allocates their objects
 * in the old generation. While a service starts and its first batches wait for the database, sites of requests look long-lived
 * too. Later their objects die within milliseconds, but stay in memory, with all that they reference, until the next full
 * collection (decision 9).
 */
import { setFlagsFromString } from "node:v8"

/** Makes V8 allocate every object in the young generation. Call it before the first request. */
export const avoidPretenuring = (): void => setFlagsFromString("--no-allocation-site-pretenuring")
