/** One page of `ledger export`: checks the query, then reads (A2-62). */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { accept, invalidFields, refuse, unknown, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import {
  accountPage,
  type ExportedAccount,
  type ExportedTransaction,
  type ExportScope,
  newestPosting,
  transactionPage
} from "../../../store/reads/ledgerExportReads.ts"
import type { Directory } from "../../partners/Directory.ts"
import { whenAway } from "../../../store/whenAway.ts"

export interface LedgerExportQuery {
  readonly part: "accounts" | "transactions"
  readonly partner?: string
  readonly from?: number
  readonly to?: number
  /** From the reply to the first page; absent on the first page. */
  readonly upTo?: number
  readonly after?: number
}

export interface LedgerExportPage {
  readonly asOf: number
  readonly upTo: number
  readonly accounts: ReadonlyArray<ExportedAccount>
  readonly transactions: ReadonlyArray<ExportedTransaction>
  readonly nextAfter: number | null
}

export interface ExportParts {
  readonly sql: PgClient.PgClient
  readonly directory: Pick<Directory["Service"], "findPartner">
  readonly clock: Pick<BusinessClock["Service"], "now">
}

export const exportLedger = (
  { sql, directory, clock }: ExportParts,
  query: LedgerExportQuery
): Effect.Effect<Verdict<LedgerExportPage>, Unavailable> =>
  Effect.gen(function* () {
    const partner = query.partner === undefined ? undefined : directory.findPartner(query.partner)
    if (partner === null) return refuse(unknown("Partner"))
    const [from, to] = [query.from ?? null, query.to ?? null]
    if (from !== null && to !== null && from >= to) return refuse(invalidFields({ from: "It must be before to." }))
    const asOf = clock.now()
    const scope: ExportScope = {
      partnerId: partner?.row.id ?? null,
      from,
      to,
      upTo: query.upTo ?? (yield* newestPosting)
    }
    const after = query.after ?? 0
    const head = { asOf, upTo: scope.upTo, accounts: [], transactions: [] }
    if (query.part === "accounts") {
      const page = yield* accountPage(scope, after)
      return accept({ ...head, accounts: page.rows, nextAfter: page.nextAfter })
    }
    const page = yield* transactionPage(scope, after)
    return accept({ ...head, transactions: page.rows, nextAfter: page.nextAfter })
  }).pipe(Effect.provideService(PgClient.PgClient, sql), Effect.catch(whenAway))
