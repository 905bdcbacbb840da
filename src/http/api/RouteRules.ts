/**
 * The rules of a route besides its shape, declared beside the route so that contract and gates can't disagree (doc 1,
 * Endpoints: the (K) mark, reliance column and caps; A1-02).
 */
import { Context } from "effect"

export interface RouteRules {
  /** Supports Idempotency-Key: the (K) routes. */
  readonly idempotent: boolean
  /** Needs the partner's reliance to be APPROVED. */
  readonly reliance: boolean
  /** Cap of the body in bytes. Every write has one, because a body at the edge's cap would block the single thread too long. */
  readonly bodyCap: number
  /** A write without fields, which may be sent without a body. */
  readonly bodyless?: true
  /** A POST that writes nothing, open to every key. */
  readonly reads?: true
  /**
   * Timeout of a read (Limits: readTimes): `long` for an answer that takes minutes to make, `stream` for one that lasts until
   * the reader disconnects or the service stops. `quick` by default.
   */
  readonly time?: "quick" | "long" | "stream"
  /**
   * Set for an expensive read: it counts as a page of `rows` rows (Limits: pageBudget). `with`: it is expensive only with this
   * parameter.
   */
  readonly heavy?: { readonly rows: number; readonly with?: string }
}

const plain: RouteRules = { idempotent: false, reliance: false, bodyCap: 0 }

/** The annotation of a route; without it a route is a plain read. */
export const RouteRules = Context.Reference<RouteRules>("brokerage/http/api/RouteRules", { defaultValue: () => plain })

/** The rules of a read that counts as a page. */
export const heavyRead = (
  rows: number,
  rules: Pick<RouteRules, "time"> & { readonly with?: string } = {}
): RouteRules => {
  const { with: parameter, ...time } = rules
  return { ...plain, ...time, heavy: { rows, ...(parameter === undefined ? {} : { with: parameter }) } }
}
