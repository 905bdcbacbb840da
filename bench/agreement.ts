/** Service and simulated venue agree, and the books balance: `sim verify` and `ledger verify`. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { verifyBooks } from "../src/runtime/ledger/verify.ts"
import { operator, until } from "./operator.ts"
import type { RunningService } from "./service.ts"

interface Verified {
  readonly ok: boolean
  readonly first: string | null
  readonly inFlight: ReadonlyArray<unknown>
  readonly eventsBehind: number
  readonly eventsLost: ReadonlyArray<unknown>
}

const verified = async (service: RunningService): Promise<Verified> =>
  (JSON.parse(await operator(service, "GET", "/sim/verify")) as { readonly data: Verified }).data

const isQuiet = ({ inFlight, eventsBehind }: Verified): boolean => inFlight.length === 0 && eventsBehind === 0

/** Waits until no call is in flight and all events are read, then runs both checks. Throws if a check finds a fault. */
export const checkAgreement = async (service: RunningService): Promise<void> => {
  const layer = PgClient.layer({ url: Redacted.make(service.databaseUrl), maxConnections: 2 })
  const { checks } = await Effect.runPromise(Effect.provide(verifyBooks, layer, { local: true }))
  for (const { ok, name, detail } of checks) if (!ok) throw new Error(`The books do not balance: ${name}: ${detail}`)
  // A comparison of very many accounts takes a minute, in which calls and events may arrive. It is repeated until none
  // is pending.
  let found = await verified(service)
  await until("nothing is in flight", async () => {
    if (isQuiet(found)) return true
    found = await verified(service)
    return isQuiet(found)
  })
  const { ok, first, eventsLost } = found
  if (!ok || eventsLost.length > 0)
    throw new Error(`Service and venue do not agree: ${first ?? `${eventsLost.length} stretches of events are lost`}`)
}
