/**
 * Equities of accounts at midnights. One query for many accounts computes them from the present balances and the
 * bookings since. An account that has traded since then is replayed from its beginning, by the replay that also proves
 * stored equities (STS-28).
 */
import { Effect } from "effect"
import { equityOf, type MarksThen } from "../../../../machines/statement/equityThen.ts"
import { daysOf } from "../../../../machines/statement/statementJobs.ts"
import { accountsSince, type AccountSince, type HeldSum } from "../../../store/reads/dailyEquityReads.ts"
import { type Bounds, boundsBefore } from "../../../store/reads/statementJobReads.ts"
import { marksOfDays } from "../../../store/reads/statementCosts.ts"
import { cutOffBefore } from "../../../store/reads/statementReads.ts"
import type { DailyEquityRow, HeldThen, StatementJobRow } from "../../../tables/statementJob.ts"
import { yieldToEventLoop } from "../../../engine/yieldToEventLoop.ts"
import { AccountReplay } from "../model/AccountReplay.ts"
import { reading, type Reading } from "../model/Building.ts"
import { failed, type JobPart, type JobTools, nothingOf } from "./jobBuild.ts"

import { reasonOf } from "../build/reasonOf.ts"

/** Rows per commit, approximately. */
const rowsAtOnce = 1_000
const mostClients = 250

/** Clients whose equities are filed together. They are fewer if a job makes up for many days. */
export const clientsOfEquities = ({ periodFrom: from, periodTo: to }: StatementJobRow): number =>
  Math.max(1, Math.min(mostClients, Math.floor(rowsAtOnce / daysOf({ from, to }).length)))

interface Days {
  readonly days: ReadonlyArray<number>
  readonly marks: ReadonlyMap<number, MarksThen>
}

export const equityParts = (
  tools: JobTools,
  { periodFrom: from, periodTo: to }: StatementJobRow,
  clientIds: ReadonlyArray<number>
): Reading<ReadonlyArray<JobPart>> =>
  Effect.gen(function* () {
    const { sql } = tools
    const days = daysOf({ from, to })
    const marks = yield* reading(marksOfDays(sql, from, to))
    const bounds: Array<Bounds> = []
    for (const day of days) bounds.push(yield* reading(boundsBefore(sql, day)))
    const accounts = yield* reading(accountsSince(sql, clientIds, bounds))
    const parts: Array<JobPart> = []
    for (const account of accounts) {
      const { clientId, partnerId } = account
      const made = account.moved
        ? replayed(tools, clientId, { days, marks })
        : Effect.sync(() => still(account, { days, marks }))
      parts.push(
        yield* made.pipe(
          Effect.map((equities): JobPart => ({
            ...nothingOf(clientId, partnerId),
            equities: equities.map((each) => ({ ...each, clientId, partnerId }))
          })),
          Effect.catchDefect((defect) =>
            Effect.as(
              Effect.annotateLogs(
                Effect.logError(
                  "a client's equity could not be computed: the job records the failure and retries the client",
                  defect
                ),
                { clientId }
              ),
              failed({ id: clientId, partnerId }, reasonOf(defect))
            )
          )
        )
      )
    }
    yield* yieldToEventLoop
    return parts
  })

type Equity = Pick<DailyEquityRow, "day" | "equity" | "unvalued" | "held">

/**
 * The equities of an account without a trade since the first of the days. Its positions were the same on each of the
 * days.
 */
const still = ({ sums, positions, contracts }: AccountSince, { days, marks }: Days): ReadonlyArray<Equity> =>
  days.flatMap((day, at) => {
    const held = heldAt(sums, at)
    const holds = positions.length + contracts.length > 0 || [...held.values()].some((amount) => amount !== 0n)
    if (!holds) return []
    const cash = held.get("USDC cash") ?? 0n
    return [{ day, held: heldText(held), ...equityOf({ cash, positions, contracts }, marks.get(day) ?? new Map()) }]
  })

/** The amounts by currency and kind on a day: the present amounts less the bookings since. */
const heldAt = (sums: ReadonlyArray<HeldSum>, at: number): ReadonlyMap<string, bigint> => {
  const held = new Map<string, bigint>()
  for (const { currency, kind, amount, behind } of sums) {
    const key = `${currency} ${kind}`
    if (behind === 0) held.set(key, (held.get(key) ?? 0n) + amount)
    else if (behind > at) held.set(key, (held.get(key) ?? 0n) - amount)
  }
  return held
}

const heldOf = ({ balances }: AccountReplay): ReadonlyMap<string, bigint> =>
  new Map(
    [...balances].flatMap(([currency, { cash, reserved }]) => [
      [`${currency} cash`, cash],
      [`${currency} reserved`, reserved]
    ])
  )

/** The stored form of the amounts: sorted by name, without zeros. */
const heldText = (held: ReadonlyMap<string, bigint>): HeldThen =>
  Object.fromEntries(
    [...held]
      .filter(([, amount]) => amount !== 0n)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, amount]) => [name, amount.toString()])
  )

/** An account's equities by a replay of its bookings from the beginning. Days without holdings are omitted. */
export const replayed = (
  { sql }: Pick<JobTools, "sql">,
  clientId: number,
  { days, marks }: Days
): Reading<ReadonlyArray<Equity>> =>
  Effect.gen(function* () {
    const replay = new AccountReplay({ sql, client: { clientId } })
    const equities: Array<Equity> = []
    for (const day of days) {
      yield* replay.advance(yield* reading(cutOffBefore(sql, clientId, day)))
      if (replay.holds)
        equities.push({ day, held: heldText(heldOf(replay)), ...replay.equityAt(marks.get(day) ?? new Map()) })
    }
    return equities
  })
