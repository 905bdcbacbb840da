/**
 * What the dispatcher must know of a route besides its shape, declared beside the route so that contract and gates can't
 * disagree (doc 1, Endpoints: the (K) mark, reliance column and caps; A1-02).
 */
import { Context } from "effect"

export interface RouteRules {
  /** Honours Idempotency-Key: the (K) routes. */
  readonly idempotent: boolean
  /** Only while the partner's reliance is APPROVED. */
  readonly reliance: boolean
  /** Cap of the body in bytes. Every write has one: what the edge lets through would keep one thread busy too long. */
  readonly bodyCap: number
  /** A write without fields: sent without a body too. */
  readonly bodyless?: true
  /** A POST that writes nothing: any key may ask. */
  readonly reads?: true
  /**
   * How long a read may take (Limits: readTimes): `long` for what is made for minutes, `stream` for what goes on until
   * the reader leaves or the service stops. `quick` when it is not said.
   */
  readonly time?: "quick" | "long" | "stream"
  /** A read that costs more than its limit counts as a page of `rows` rows (Limits: pageBudget). `with`: only if it has this parameter. */
  readonly heavy?: { readonly rows: number; readonly with?: string }
}

const plain: RouteRules = { idempotent: false, reliance: false, bodyCap: 0 }

/** The annotation; a route without it is a plain read. */
export const RouteRules = Context.Reference<RouteRules>("brokerage/http/api/RouteRules", { defaultValue: () => plain })

/** The rules of a read that counts as a page. */
export const heavyRead = (
  rows: number,
  rules: Pick<RouteRules, "time"> & { readonly with?: string } = {}
): RouteRules => {
  const { with: parameter, ...time } = rules
  return { ...plain, ...time, heavy: { rows, ...(parameter === undefined ? {} : { with: parameter }) } }
}
