/** Collects the handlers of a surface, and checks that every route of its contract has one. */
import { Effect } from "effect"
import type { Principal } from "../../runtime/services/partners/Principal.ts"
import type { RouteTable } from "../middleware/routes.ts"
import type { AnyHandlers, AnyRead, AnyWrite, Served } from "./feature.ts"

/** The handlers of all features by operation. Dies when a route has no handler, or a write has no body cap. */
export const handlersByOperation = Effect.fnUntraced(function* <P extends Principal, R>(
  features: ReadonlyArray<Served<P, R>>,
  routes: RouteTable
) {
  const found: Record<string, AnyRead<P> | AnyWrite<P>> = {}
  for (const { api, handlers } of features) {
    for (const [name, handler] of Object.entries(yield* handlers)) found[`${api.identifier}.${name}`] = handler
  }
  for (const { operation, method, rules, form } of routes.routes) {
    if (method !== "GET" && rules.bodyCap === 0) {
      return yield* Effect.die(new Error(`the contract's ${operation} has no body cap`))
    }
    if (method !== "GET" && form.kind !== "json") {
      return yield* Effect.die(
        new Error(`the contract's ${operation} writes and answers no JSON: it could not be replayed`)
      )
    }
    if (found[operation] === undefined) {
      return yield* Effect.die(new Error(`the contract's ${operation} has no handler`))
    }
  }
  return found as AnyHandlers<P>
})
