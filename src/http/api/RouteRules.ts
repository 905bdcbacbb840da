/**
 * The rules of a route besides its shape, declared beside the route so that contract and gates can't disagree (doc 1,
 * Endpoints: the (K) mark, reliance column and caps; A1-02).
 */
import { Context } from "effect"

export interface RouteRules {
  /** True for the (K) routes, which support Idempotency-Key. */
  readonly idempotent: boolean
  /** True when the partner's reliance must be APPROVED. */
  readonly reliance: boolean
  /**
   * Cap of the body in bytes. Every write has its own, because a body as large as the edge allows would block the single
   * thread for too long.
   */
  readonly bodyCap: number
  /** Set for a write without fields, which may be sent without a body. */
  readonly bodyless?: true
  /** Set for a POST that writes nothing; every key may use it. */
  readonly reads?: true
  /**
   * Timeout of a read (Limits: readTimes). `long`: the answer takes minutes to make. `stream`: the answer lasts until the
   * reader disconnects or the service stops. `quick` by default.
   */
  readonly time?: "quick" | "long" | "stream"
  /**
   * Set for an expensive read: it counts as a page of `rows` rows (Limits: pageBudget). With `with`, only if the query has
   * this parameter.
   */
  readonly heavy?: { readonly rows: number; readonly with?: string }
}

const plain: RouteRules = { idempotent: false, reliance: false, bodyCap: 0 }

/** The annotation that holds a route's rules; a route without it is a plain read. */
export const RouteRules = Context.Reference<RouteRules>("brokerage/http/api/RouteRules", { defaultValue: () => plain })

/** The rules of an expensive read, which counts as a page of `rows` rows. */
export const heavyRead = (
  rows: number,
  rules: Pick<RouteRules, "time"> & { readonly with?: string } = {}
): RouteRules => {
  const { with: parameter, ...time } = rules
  return { ...plain, ...time, heavy: { rows, ...(parameter === undefined ? {} : { with: parameter }) } }
}

/** Whether a route of the direct API answers without a credential (doc 1, Direct client API: access badges). */
export const PublicRoute = Context.Reference<boolean>("brokerage/http/api/PublicRoute", { defaultValue: () => false })
