/**
 * X-Request-Id: the caller's value if it is safe to store and log, otherwise a new one. Every answer carries it, and every row
 * that the request causes is stored with it.
 */
import { randomUUID } from "node:crypto"

const sane = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The id of a request: the header's value if it is safe, otherwise a new one. */
export const requestIdOf = (header: string | ReadonlyArray<string> | undefined): string =>
  typeof header === "string" && sane.test(header) ? header : randomUUID()
