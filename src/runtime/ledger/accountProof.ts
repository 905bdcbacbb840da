/**
 * The check of an ACCOUNT statement against its own text and the postings: opening plus rows equals the closing of each currency,
 * the opening equals the sum of earlier postings, and the closing the sum up to its cut. So adjacent periods are continuous, and
 * a statement agrees with the balances at its end (STS-23).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { ModelHead, ModelRow } from "../../machines/statement/StatementModel.ts"
import { balancesAtCutOff } from "../store/reads/statementReads.ts"
import type { ReadPiece } from "../store/writes/statementWrites.ts"

const kinds = ["cash", "reserved"] as const
type Held = Readonly<Record<(typeof kinds)[number], string>>
interface AccountSection {
  readonly currency: string
  readonly opening: Held
  readonly closing: Held
}
/** The model without its rows; an account's model has these sections. */
export interface AccountModel extends Pick<ModelHead, "kind" | "cut" | "periodFrom"> {
  readonly sections: ReadonlyArray<AccountSection>
}

/** The service's amounts always have all decimal places of their currency. */
const minorUnits = (text: string): bigint => BigInt(text.replace(".", ""))

export class AccountProof {
  /** The sums of the rows, by section and kind, minor units. */
  private readonly moved = new Map<string, bigint>()
  private readonly model: AccountModel

  constructor(model: AccountModel) {
    this.model = model
  }

  /** Takes the next piece of a text whose hash is verified. */
  take({ section, content }: ReadPiece): void {
    if (section === -1) return
    const rows = JSON.parse(`[${content.replace(/^,/, "")}]`) as ReadonlyArray<ModelRow>
    for (const { kind, amount } of rows) {
      const key = `${section} ${String(kind)}`
      this.moved.set(key, (this.moved.get(key) ?? 0n) + minorUnits(String(amount)))
    }
  }

  /** The first error; null if the statement adds up. */
  end(sql: PgClient.PgClient, clientId: number): Effect.Effect<string | null, SqlError.SqlError> {
    const { cut, periodFrom, sections: stated } = this.model
    for (const [at, { currency, opening, closing }] of stated.entries())
      for (const held of kinds) {
        const sum = minorUnits(opening[held]) + (this.moved.get(`${at} ${held}`) ?? 0n)
        if (sum !== minorUnits(closing[held]))
          return Effect.succeed(`${held} in ${currency} closes at ${closing[held]}, opening and rows make it ${sum}`)
      }
    return Effect.map(balancesAtCutOff(sql, clientId, cut.postingId, periodFrom), (found) => {
      const sums = new Map(found.map((row) => [`${row.currency} ${row.kind}`, row]))
      const byCurrency = new Map(stated.map((section) => [section.currency, section]))
      for (const currency of new Set([...byCurrency.keys(), ...found.map((row) => row.currency)]))
        for (const held of kinds) {
          const section = byCurrency.get(currency)
          const sum = sums.get(`${currency} ${held}`)
          const stated = `${minorUnits(section?.opening[held] ?? "0")} to ${minorUnits(section?.closing[held] ?? "0")}`
          const booked = `${sum?.opening ?? 0n} to ${sum?.closing ?? 0n}`
          if (stated !== booked) return `${held} in ${currency} goes from ${stated}, the postings from ${booked}`
        }
      return null
    })
  }
}
