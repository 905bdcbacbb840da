/**
 * A setting of V8 for a process that serves. V8 learns which allocation sites make objects that live long, and from then
 * on puts all objects of such a site into the old generation at once. While a service starts and its first batches wait
 * for the database, sites of requests look like that too; later their objects are dead within milliseconds, but stay, with
 * everything they point to, until the next full collection (decision 9).
 */
import { setFlagsFromString } from "node:v8"

/** Has every object begin young. Before the first request is served. */
export const avoidPretenuring = (): void => setFlagsFromString("--no-allocation-site-pretenuring")
