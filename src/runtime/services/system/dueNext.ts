/**
 * What is due next by the business clock (operator surface, sim clock): durable timers, the next job that makes statements, and
 * each partner's next try of a delivery. What the venue does by its own clock, such as funding, is not known here.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { jobAfter } from "../../../machines/statement/statementJobs.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { Timers } from "../../engine/timers/Timers.ts"
import { withinTime } from "../../engine/withinTime.ts"
import type { RowReads } from "../../ports/RowReads.ts"
import { nextTries } from "../../store/reads/deliveryReads.ts"
import { whenAway } from "../../store/whenAway.ts"
import { jobsPlace } from "../statement/StatementJobs.ts"

export interface DueNext {
  /** What is due: a timer's handler, `statement.<job>` or `webhook.delivery`. */
  readonly name: string
  /** Whose: the mailbox, such as `client:5`. */
  readonly subject: string
  /** Unix ms of business time. */
  readonly dueAt: number
}

export interface DueParts {
  readonly timers: Timers["Service"]
  readonly stored: RowReads["Service"]
  readonly sql: PgClient.PgClient
}

/** As many as a person reads. */
const shown = 10

/** A timer's name without its object. */
export const handlerOf = (name: string): string => name.split(":")[0] ?? name

/** The first few, the next one first. */
export const dueNext = ({ timers, stored, sql }: DueParts): Effect.Effect<ReadonlyArray<DueNext>, Unavailable> =>
  Effect.gen(function* () {
    const away = () => new Unavailable({ unknown: false })
    const rows = yield* Effect.mapError(timers.due(Number.MAX_SAFE_INTEGER, shown), away)
    const place = yield* jobsPlace(stored)
    const job = place === null ? null : jobAfter(place)
    const tries = yield* withinTime(Effect.catch(nextTries(sql, shown), whenAway), away)
    return [
      ...rows.map(({ name, subject, dueAt }) => ({ name: handlerOf(name), subject, dueAt })),
      ...(job === null ? [] : [{ name: `statement.${job.name}`, subject: "system", dueAt: job.dueAt }]),
      ...tries.map(({ partnerId, nextAt }) => ({
        name: "webhook.delivery",
        subject: `partner:${partnerId}`,
        dueAt: nextAt
      }))
    ]
      .toSorted((one, other) => one.dueAt - other.dueAt)
      .slice(0, shown)
  })
