/**
 * The tables D4, D5, D6, D7 and D23 over real rows: each of their transitions starts from the stored rows of the
 * earlier steps in PostgreSQL, is written with all its effects, and is read back as the table states. A refused
 * transition writes nothing.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { barrierContractRows } from "../machines/transitions/barrierContractRows.ts"
import { closeOutRows } from "../machines/transitions/closeOutRows.ts"
import { riskMonitorRows } from "../machines/transitions/riskMonitorRows.ts"
import { noFacts } from "../../src/machines/market/Facts.ts"
import { attachmentRows } from "../machines/transitions/attachmentRows.ts"
import { orderRows } from "../machines/transitions/orderRows.ts"
import { rfqRows } from "../machines/transitions/rfqRows.ts"
import type { TransitionRow } from "../machines/transitions/TransitionRow.ts"
import { advance, start } from "../../src/runtime/effects/advance.ts"
import type { EventOf, InputOf } from "../../src/runtime/effects/machineRow.ts"
import { CommitBuilder, type SubjectKey } from "../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../src/runtime/engine/mailbox/SubjectState.ts"
import { instanceOf } from "../../src/runtime/services/account/clientState.ts"
import type { NewColumns, TableName, Tables } from "../../src/runtime/tables/Catalogue.ts"
import { commitOf, noon, sampleRows, submit } from "./engine/fixtures.ts"
import { openPgBench, type PgBench } from "./engine/pgBench.ts"
import { view } from "./rfq/rfqTurns.ts"

type Trading = "rfqs" | "barrierContracts" | "orders" | "attachments" | "riskMonitors" | "closeOuts"

const common = { symbol: "BTC-USDC-KO", currency: "USDC", amount: 28_500_000n } as const
/** Every row has a reserve, from which a spot order's steps release and pay. */
const ofOrder = { symbol: "BTC-USDC-PERP", currency: "USDC", amount: 6_006_000_000n } as const
/** Columns that do not mirror the context. */
const columns: { readonly [T in Trading]: (id: number, whose: Whose) => NewColumns<T> } = {
  rfqs: (id, whose) => ({ id, ...whose, ...common, createdAt: noon, closeContractId: null }),
  barrierContracts: (id, whose) => ({ id, ...whose, ...common, rfqId: id, commission: 120_000n, openedAt: noon }),
  orders: (id, whose) => ({ id, ...whose, ...ofOrder, parentOrderId: null, createdAt: noon }),
  attachments: (id, whose) => ({ id, ...whose, symbol: "BTC-USDC-PERP", createdAt: noon }),
  riskMonitors: (_, whose) => whose,
  closeOuts: (id, whose) => ({ id, ...whose, startedAt: noon })
}
interface Whose {
  readonly partnerId: number
  readonly clientId: number
}

/** The table into which each effect is written, if the effect is a permanent row. */
const written: ReadonlyArray<readonly [effect: string, table: TableName]> = [
  ["audit", "audit"],
  ["notify", "notifications"],
  ["ledger.post", "ledgerTransactions"],
  ["venue.call", "venueCalls"]
]

const isOfItem = (row: object): boolean =>
  "object" in row && typeof row.object === "string" && row.object.startsWith("settlementItem:")

let bench: PgBench
let ids = 0
beforeAll(async () => {
  bench = await openPgBench()
  const { partners } = sampleRows(1)
  const fence = { subject: "partner:1", expected: null } as const
  assert.strictEqual(
    (await submit(bench.journal, commitOf({ fence, rows: { partners: [partners] } })))._tag,
    "Committed"
  )
})
afterAll(() => bench.close())

/** One object of its own client, which continues from its stored rows. */
class Stored<T extends Trading> {
  private readonly table: T
  private readonly id = ++ids
  private readonly subject: SubjectKey = `client:${this.id}`
  private readonly client = { ...sampleRows(this.id).clients, partnerId: 1 }
  private readonly of = instanceOf(this.client, view)

  constructor(table: T) {
    this.table = table
  }

  start(input: object): Promise<Tables[T] | null> {
    const { id, table, of } = this
    const whose = { partnerId: 1, clientId: id }
    const named = { ...input, orderId: id, rfqId: id, contractId: id, closeOutId: id, clientId: id }
    return this.turn((turn) => {
      turn.draft.put("clients", this.client)
      return start(turn, table, { of, input: named as unknown as InputOf<T>, columns: columns[table](id, whose) })
    })
  }

  advance(event: object): Promise<Tables[T] | null> {
    return this.row().then((row) =>
      this.turn((turn) => advance(turn, this.table, row, event as EventOf<T>, { of: this.of }))
    )
  }

  stored(): Promise<Tables[Trading]> {
    return this.row().then((row): Tables[Trading] => row)
  }

  private async row(): Promise<Tables[T]> {
    const rows: ReadonlyArray<Tables[T]> = await bench.rows(this.table)
    const found = rows.find((row: Tables[Trading]) => row.clientId === this.id)
    return found ?? assert.fail("nothing is stored of it")
  }

  /**
   * The number of the client's rows in the tables of effects; a posting's settlement item has an audit row of its own.
   */
  async effects(): Promise<ReadonlyArray<number>> {
    const rows = await Promise.all(written.map(([, table]) => bench.rows(table)))
    return rows.map(
      (all) => all.filter((row) => "clientId" in row && row.clientId === this.id && !isOfItem(row)).length
    )
  }

  private async turn(decide: (turn: Turn) => Tables[T] | null): Promise<Tables[T] | null> {
    const image = (await Effect.runPromise(bench.journal.load([this.subject]))).get(this.subject)
    const state = new SubjectState(this.subject, image ?? { token: null, rows: [] })
    const by = { role: "SYSTEM", keyLabel: "t", requestId: "t", actor: "system:venue" }
    const nextId: Turn["nextId"] = (kind) => bench.journal.nextId(kind)
    const turn: Turn = { now: noon, state, facts: noFacts, draft: new CommitBuilder(), by, nextId }
    const next = decide(turn)
    if (next === null) {
      assert.isTrue(turn.draft.isEmpty, "what is refused writes nothing")
      return null
    }
    const commit = turn.draft.build({ subject: this.subject, expected: state.token }, null)
    assert.strictEqual((await submit(bench.journal, commit))._tag, "Committed")
    return next
  }
}

const play = async <T extends Trading>(table: T, row: TransitionRow): Promise<void> => {
  const object = new Stored(table)
  await object.start(row.input)
  for (const event of row.given) assert.isNotNull(await object.advance(event), event.type)
  assert.strictEqual((await object.stored()).state, row.from)
  const before = await object.effects()
  const next = await object.advance(row.event)
  const stored = await object.stored()
  assert.strictEqual(next === null ? "refused" : stored.state, row.to)
  assert.deepInclude(stored.context, row.context)
  if (next !== null) assert.deepStrictEqual<unknown>(stored, next)
  const after = await object.effects()
  assert.deepStrictEqual(
    after.map((count, at) => count - (before[at] ?? 0)),
    written.map(([effect]) => row.effects.filter((name) => name.startsWith(effect)).length)
  )
}

const titled = (rows: ReadonlyArray<TransitionRow>) => rows.map((row) => [row.title, row] as const)

describe("the tables of trading over PostgreSQL", () => {
  it.each(titled(rfqRows))("%s", (_, row) => play("rfqs", row))
  it.each(titled(barrierContractRows))("%s", (_, row) => play("barrierContracts", row))
  it.each(titled(orderRows))("%s", (_, row) => play("orders", row))
  it.each(titled(attachmentRows))("%s", (_, row) => play("attachments", row))
  it.each(titled(riskMonitorRows))("%s", (_, row) => play("riskMonitors", row))
  it.each(titled(closeOutRows))("%s", (_, row) => play("closeOuts", row))
})
