/**
 * That an ACCOUNT statement adds up, by its own text and by the postings (STS-23): opening and rows make the closing of each currency,
 * the opening is what was booked before the period, the closing what was booked up to its cut. So periods that adjoin meet, and a
 * statement says what the balances of its end do.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { ModelRow, Skeleton } from "../../machines/statement/StatementModel.ts"
import { balancesOfCut } from "../store/reads/statementReads.ts"
import type { ReadPiece } from "../store/writes/statementWrites.ts"

const kinds = ["cash", "reserved"] as const
type Held = Readonly<Record<(typeof kinds)[number], string>>
interface AccountSection {
  readonly currency: string
  readonly opening: Held
  readonly closing: Held
}

/** Amounts of ours have all the places of their currency. */
const minorUnits = (text: string): bigint => BigInt(text.replace(".", ""))

export class AccountProof {
  /** By section and kind, minor units. */
  private readonly moved = new Map<string, bigint>()
  private readonly skeleton: Skeleton

  constructor(skeleton: Skeleton) {
    this.skeleton = skeleton
  }

  /** The next piece of a text that has the hash it is kept under. */
  take({ section, content }: ReadPiece): void {
    if (section === -1) return
    const rows = JSON.parse(`[${content.replace(/^,/, "")}]`) as ReadonlyArray<ModelRow>
    for (const { kind, amount } of rows) {
      const key = `${section} ${String(kind)}`
      this.moved.set(key, (this.moved.get(key) ?? 0n) + minorUnits(String(amount)))
    }
  }

  /** What does not add up; null: everything does. */
  end(sql: PgClient.PgClient, clientId: number): Effect.Effect<string | null, SqlError.SqlError> {
    const { cut, periodFrom, sections } = this.skeleton
    const stated = sections as unknown as ReadonlyArray<AccountSection>
    for (const [at, { currency, opening, closing }] of stated.entries())
      for (const held of kinds) {
        const sum = minorUnits(opening[held]) + (this.moved.get(`${at} ${held}`) ?? 0n)
        if (sum !== minorUnits(closing[held]))
          return Effect.succeed(`${held} in ${currency} closes at ${closing[held]}, opening and rows make it ${sum}`)
      }
    return Effect.map(balancesOfCut(sql, clientId, cut.postingId, periodFrom), (found) => {
      const sums = new Map(found.map((row) => [`${row.currency} ${row.kind}`, row]))
      const byCurrency = new Map(stated.map((section) => [section.currency, section]))
      for (const currency of new Set([...byCurrency.keys(), ...found.map((row) => row.currency)]))
        for (const held of kinds) {
          const section = byCurrency.get(currency)
          const sum = sums.get(`${currency} ${held}`)
          const said = `${minorUnits(section?.opening[held] ?? "0")} to ${minorUnits(section?.closing[held] ?? "0")}`
          const booked = `${sum?.opening ?? 0n} to ${sum?.closing ?? 0n}`
          if (said !== booked) return `${held} in ${currency} goes from ${said}, the postings from ${booked}`
        }
      return null
    })
  }
}
