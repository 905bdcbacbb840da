/**
 * X-Request-Id: the caller's, when it is harmless to keep and to log, else one of ours (architecture 5: every answer
 * carries it and everything the request causes is stored with it).
 */
import { randomUUID } from "node:crypto"

const sane = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id of a request: the header's value when it is sane, else a new one. */
export const requestIdOf = (header: string | ReadonlyArray<string> | undefined): string =>
  typeof header === "string" && sane.test(header) ? header : randomUUID()
