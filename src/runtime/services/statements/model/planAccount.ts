/**
 * ACCOUNT statement. For every currency that the client has ever held, USDC first: the opening balance, each posting
 * with the balance of its kind after it, the closing balance, and the total of each type (A2-69, STS-23).
 */
import { Effect } from "effect"
import { type Currency, currencyCodes } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { type PostingSum, postingsOf, postingSums } from "../../../store/reads/statementReads.ts"
import {
  type Building,
  eachPage,
  eachStretch,
  pageRows,
  type Plan,
  postingsBefore,
  postingsOfPeriod,
  reading,
  type Wrong
} from "./Building.ts"
import type { Emit, PlannedSection } from "./ModelWriter.ts"
import { venueTimes } from "./venueTimes.ts"

interface Held {
  cash: bigint
  reserved: bigint
}

/** The figures of one currency over the period. */
interface Line {
  readonly currency: Currency
  readonly opening: Held
  readonly moved: Held
  rows: number
}

export const planAccount = (at: Building): Effect.Effect<Plan, Wrong> =>
  Effect.gen(function* () {
    const lines = new Map<Currency, Line>([["USDC", lineOf("USDC")]])
    const line = (currency: Currency): Line => {
      const found = lines.get(currency) ?? lineOf(currency)
      lines.set(currency, found)
      return found
    }
    yield* eachStretch(at, postingsBefore(at), (stretch) =>
      Effect.map(sums(at, stretch), (found) => {
        for (const { currency, kind, amount } of found) line(currency).opening[kind] += amount
      })
    )
    yield* eachStretch(at, postingsOfPeriod(at), (stretch) =>
      Effect.map(sums(at, stretch), (found) => {
        for (const sum of found) count(line(sum.currency), sum)
      })
    )
    const shown = currencyCodes.flatMap((currency) => {
      const found = lines.get(currency)
      return found === undefined ? [] : [found]
    })
    return {
      sections: shown.map((each) => sectionOf(at, each)),
      notes: [
        "Rows are dated by their booking; venueTs is the trading venue's own time of what was booked.",
        "balance is that of the row's kind, cash or reserved, right after the row."
      ],
      rows: shown.reduce((rows, each) => rows + each.rows, 0)
    }
  })

const lineOf = (currency: Currency): Line => ({
  currency,
  opening: { cash: 0n, reserved: 0n },
  moved: { cash: 0n, reserved: 0n },
  rows: 0
})

const sums = ({ sql, client }: Building, stretch: Parameters<typeof postingSums>[2]) =>
  reading(postingSums(sql, client.clientId, stretch))

const count = (line: Line, { kind, amount, rows }: PostingSum): void => {
  line.moved[kind] += amount
  line.rows += rows
}

const sectionOf = (at: Building, { currency, opening, moved }: Line): PlannedSection<Wrong> => {
  const totals = new Map<string, bigint>()
  const text = (minor: bigint) => formatAmount(minor, currency)
  const held = ({ cash, reserved }: Held) => ({ cash: text(cash), reserved: text(reserved) })
  return {
    facts: {
      name: "ACCOUNT",
      currency,
      opening: held(opening),
      closing: held({ cash: opening.cash + moved.cash, reserved: opening.reserved + moved.reserved })
    },
    after: () => ({
      totals: [...totals]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([type, amount]) => ({ type, amount: text(amount) }))
    }),
    rows: (emit) => rowsOf(at, currency, { balance: { ...opening }, totals }, emit)
  }
}

/** The running sums of a currency's rows. */
interface Running {
  readonly balance: Held
  readonly totals: Map<string, bigint>
}

const rowsOf = (
  { sql, client, start, cut }: Building,
  currency: Currency,
  { balance, totals }: Running,
  emit: Emit<Wrong>
): Effect.Effect<void, Wrong> =>
  eachPage(
    pageRows,
    (after) =>
      Effect.flatMap(
        reading(postingsOf(sql, client.clientId, currency, { after, to: cut.postingId }, pageRows)),
        (postings) => venueTimes(sql, postings)
      ),
    ({ of }) => of.postingId,
    (postings) =>
      emit(
        postings.map(({ of: { postingId, txId, ts, type, refs, amount, kind }, venueTs }) => {
          balance[kind] += amount
          totals.set(type, (totals.get(type) ?? 0n) + amount)
          // The members are in the order of their names, so the canonical text needs no sorting.
          return {
            amount: formatAmount(amount, currency),
            balance: formatAmount(balance[kind], currency),
            kind,
            postingId,
            refs,
            ts,
            txId,
            type,
            venueTs
          }
        })
      ),
    start.postingId
  )
