/** `venue reconcile`: compares accounts with the venue now instead of in their daily slice (operator surface; A2-103). */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { accept, type Verdict } from "../../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError } from "../../engine/mailbox/ActorHost.ts"
import type { VenueUnanswered } from "../../ports/Venue.ts"
import { findClient } from "../account/findClient.ts"
import { venueAway } from "../venue/venueAway.ts"
import { type Reconciled, VenueComparison } from "./VenueComparison.ts"

export class VenueReconcile extends Context.Service<
  VenueReconcile,
  {
    /** Compares one client, by id or uid; null: all. Refused if the venue does not answer. */
    run(client: string | null): Effect.Effect<Verdict<Reconciled>, DispatchError>
  }
>()("brokerage/runtime/services/reconciliation/VenueReconcile") {
  static readonly layer = Layer.effect(
    VenueReconcile,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const comparison = yield* VenueComparison
      const answered = <E>(run: Effect.Effect<Reconciled, E | VenueUnanswered>) =>
        Effect.map(run, (found): Verdict<Reconciled> => accept(found)).pipe(
          Effect.catchIf(isUnanswered, (away) => Effect.succeed(venueAway(away)))
        )
      return VenueReconcile.of({
        run: (client) =>
          client === null
            ? answered(comparison.compareAll())
            : Effect.flatMap(findClient(host, sql, client), (found) =>
                found.ok ? answered(comparison.compareOne(found.value.uid)) : Effect.succeed(found)
              )
      })
    })
  )
}

const isUnanswered = (error: unknown): error is VenueUnanswered =>
  (error as Partial<VenueUnanswered> | null)?._tag === "VenueUnanswered"
