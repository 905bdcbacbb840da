/** One of the two clients of a test: its committed rows, and all its orders and episodes. */
import { Effect } from "effect"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import type { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { Recall } from "../../../src/runtime/services/account/Recall.ts"
import type { AccountFact } from "../../../src/machines/venue/VenueEvent.ts"
import type { TableName, Tables } from "../../../src/runtime/tables/Catalogue.ts"
import type { ClientRow } from "../../../src/runtime/tables/client.ts"
import { balance } from "../engine/fixtures.ts"
import { clients } from "../rfq/rfqTurns.ts"

export class Trader {
  readonly row: ClientRow
  readonly state: SubjectState
  readonly events: Array<AccountFact> = []
  private readonly stored = new Map<TableName, Map<number, object>>()
  readonly recall: Recall
  beyond = 0n
  /** The possible cost of the last step, and the money that the house had paid before it. */
  open = 0n
  paidBefore = 0n
  closed = 0n

  constructor(id: number, cash: bigint) {
    this.row = { ...clients, id, uid: `ACM-0000000${id}`, categorization: "RETAIL" }
    const rows = [
      { table: "clients" as const, row: this.row },
      { table: "balances" as const, row: balance(id, cash) }
    ]
    this.state = new SubjectState(`client:${id}`, { token: 1, rows })
    this.recall = new Recall({
      among: (table: TableName, ids: ReadonlyArray<number>) =>
        Effect.succeed(ids.flatMap((each) => this.stored.get(table)?.get(each) ?? [])),
      page: () => Effect.succeed([])
    } as unknown as RowReads["Service"])
  }

  keep(rows: Readonly<Partial<Record<TableName, ReadonlyArray<object>>>>): void {
    for (const table of ["orders", "attachments", "closeOuts"] as const) {
      const known = this.stored.get(table) ?? new Map<number, object>()
      this.stored.set(table, known)
      for (const row of rows[table] ?? []) known.set((row as { readonly id: number }).id, row)
    }
  }

  /** All orders of the run, oldest first. */
  orders(): ReadonlyArray<Tables["orders"]> {
    return [...(this.stored.get("orders")?.values() ?? [])] as unknown as ReadonlyArray<Tables["orders"]>
  }

  writtenOff(): bigint {
    const rows = [...(this.stored.get("closeOuts")?.values() ?? [])] as unknown as ReadonlyArray<Tables["closeOuts"]>
    return rows.reduce((sum, { context }) => sum + BigInt(context.writtenOff.replace(".", "")), 0n)
  }
}
