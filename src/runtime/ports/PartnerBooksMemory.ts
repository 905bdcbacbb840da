/** A partner's books in the memory store, for deterministic simulation: the guarantees of PartnerBooks without SQL. */
import { Effect, Layer } from "effect"
import { Unavailable } from "../engine/mailbox/ActorHost.ts"
import type { MemoryStore } from "../engine/journal/MemoryStore.ts"
import { type OpenGroup, openTables } from "../store/openRows.ts"
import { type HeldGroup, namedIds } from "../store/reads/partnerReads.ts"
import { PartnerBooks } from "./PartnerBooks.ts"

export interface PartnerBooksMemoryOptions {
  readonly store: MemoryStore
  /** True while the store is unreachable; called at each read. */
  readonly away?: () => boolean
}

/** The common columns of tables with open work. */
interface OpenRow {
  readonly id: number
  readonly partnerId: number
  readonly state: string
  readonly currency: string
  readonly amount: bigint
}

const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

const firstIds = (ids: ReadonlyArray<number>): string =>
  ids
    .toSorted((a, b) => a - b)
    .slice(0, namedIds)
    .join(", ")

export const PartnerBooksMemory = {
  layer: ({ store, away }: PartnerBooksMemoryOptions): Layer.Layer<PartnerBooks> => {
    const reach = <A>(read: () => A): Effect.Effect<A, Unavailable> =>
      Effect.suspend(() => (away?.() === true ? Effect.fail(new Unavailable({ unknown: false })) : Effect.sync(read)))
    const paid = (partnerId: number): bigint =>
      sumOf(store.rows("interfirmRecords").flatMap((row) => (row.partnerId === partnerId ? [row.amount] : [])))
    return Layer.succeed(
      PartnerBooks,
      PartnerBooks.of({
        held: (partnerId, usdcAlone) => reach(() => held(store, partnerId, usdcAlone)),
        custodyAccount: (partnerId) =>
          reach(() => {
            const reports = new Set(
              store
                .rows("ledgerTransactions")
                .flatMap(({ txId, type }) => (type.startsWith("PARTNER_COLLATERAL_") ? [txId] : []))
            )
            const moved = store
              .rows("postings")
              .filter((row) => row.partnerId === partnerId && row.clientId !== null && reports.has(row.txId))
            return {
              account: String(-sumOf(moved.map(({ amount }) => amount))),
              paid: String(paid(partnerId))
            }
          }),
        open: (partnerId) => reach(() => openTables.flatMap((open) => openGroups(store, open, partnerId))),
        outstanding: (partnerId) =>
          reach(() => {
            const items = store.rows("settlementItems").filter((item) => item.partnerId === partnerId)
            return String(sumOf(items.map(({ amount }) => amount)) - paid(partnerId))
          })
      })
    )
  }
}

const held = (store: MemoryStore, partnerId: number, usdcAlone: boolean): ReadonlyArray<HeldGroup> => {
  const found = store
    .rows("balances")
    .filter((row) => row.partnerId === partnerId && (!usdcAlone || row.currency === "USDC"))
    .flatMap(({ clientId, currency, cash, reserved }) => [
      { clientId, currency, kind: "cash" as const, amount: cash },
      { clientId, currency, kind: "reserved" as const, amount: reserved }
    ])
    .filter(({ amount }) => amount !== 0n)
  const nameOf = ({ currency, kind, amount }: (typeof found)[number]): string =>
    `${currency === "USDC" ? 0 : 1} ${currency} ${kind} ${amount < 0n ? 0 : 1}`
  return [...Map.groupBy(found, nameOf)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, group]) => {
      const [first] = group
      if (first === undefined) return []
      const total = String(sumOf(group.map(({ amount }) => amount)))
      const ids = firstIds(group.map(({ clientId }) => clientId))
      return [{ kind: first.kind, currency: first.currency, n: BigInt(group.length), total, ids }]
    })
}

const openGroups = (
  store: MemoryStore,
  { table, open }: (typeof openTables)[number],
  partnerId: number
): ReadonlyArray<OpenGroup> => {
  const rows = store.rows(table) as ReadonlyArray<OpenRow>
  const own = rows.filter((row) => row.partnerId === partnerId && open.states.includes(row.state))
  const nameOf = ({ state, currency }: OpenRow): string => `${open.states.indexOf(state)} ${currency}`
  return [...Map.groupBy(own, nameOf)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, group]) => {
      const [first] = group
      if (first === undefined) return []
      const { state, currency } = first
      const total = String(sumOf(group.map(({ amount }) => amount)))
      return [{ open, state, currency, n: BigInt(group.length), total, ids: firstIds(group.map(({ id }) => id)) }]
    })
}
