/**
 * What a simulation holds recorded risk states and close-outs to, commit by commit and at rest (F7, F9, F10; D23): an account
 * with contracts alone is NORMAL exactly while its cash covers their premiums, whatever the marks are, one with positions is
 * where a mark of now has it; a write-off puts back
 * what is missing of an account that has nothing open, once for its episode; the restriction stands only while it has to.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ClientRow } from "../../src/runtime/store/tables/client.ts"
import type { CloseOutRow } from "../../src/runtime/store/tables/margin.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import { type OrderAudit, units } from "./OrderAudit.ts"
import type { Findings } from "./Findings.ts"

export interface MarginAuditParts {
  readonly findings: Findings
  readonly contracts: ContractAudit
  readonly orders: OrderAudit
  /** A client's committed cash, micro-USDC. */
  readonly cash: (clientId: number) => bigint
  /** The lowest and the highest mark that a turn of now may have judged by, USDC. */
  readonly prices: () => readonly [low: number, high: number]
}

const gravity = { NORMAL: 0, MARGIN_CALL: 1, CLOSE_OUT: 2 } as const

export class MarginAudit {
  private readonly parts: MarginAuditParts
  private readonly states = new Map<number, string>()
  private readonly clients = new Map<number, ClientRow>()
  private readonly episodes = new Map<number, CloseOutRow>()
  private readonly writtenOff = new Set<string>()
  /** At which leverage each client is margined in a market, as it was said last. */
  private readonly leverages = new Map<string, number>()

  constructor(parts: MarginAuditParts) {
    this.parts = parts
  }

  /** Takes a commit; the contracts and the cash of its clients are known already. */
  take({ rows }: Commit): void {
    for (const row of rows.clients ?? []) this.clients.set(row.id, row)
    for (const { clientId, state } of rows.riskMonitors ?? []) this.states.set(clientId, state)
    for (const { clientId, symbol, leverage } of rows.leverages ?? [])
      this.leverages.set(`${clientId} ${symbol}`, leverage)
    for (const { clientId, symbol, context } of rows.orders ?? [])
      if (context.leverage !== null && !this.leverages.has(`${clientId} ${symbol}`))
        this.leverages.set(`${clientId} ${symbol}`, context.leverage)
    for (const row of rows.closeOuts ?? []) this.takeEpisode(row)
    for (const { key, type, clientId } of rows.ledgerTransactions ?? []) {
      if (type === "NBP_WRITEOFF" && clientId !== null) this.checkWriteOff(key, clientId)
    }
    const moved = new Set([
      ...(rows.balances ?? []).map(({ clientId }) => clientId),
      ...(rows.barrierContracts ?? []).map(({ clientId }) => clientId),
      ...(rows.positions ?? []).map(({ clientId }) => clientId),
      ...(rows.leverages ?? []).map(({ clientId }) => clientId),
      ...(rows.riskMonitors ?? []).map(({ clientId }) => clientId)
    ])
    for (const clientId of moved) this.checkState(clientId)
    for (const { id, context } of rows.clients ?? []) {
      this.parts.findings.expect(
        !context.restrictions.includes("CLOSE_OUT") || this.stateOf(id) !== "NORMAL",
        "margin",
        () => `client ${id} is NORMAL and still restricted`
      )
    }
  }

  /** Once everything has come to rest. */
  checkEnd(): void {
    const { findings, cash } = this.parts
    for (const id of this.clients.keys()) this.checkState(id)
    for (const { id, clientId, state } of this.episodes.values()) {
      findings.expect(state === "DONE", "margin", () => `close-out ${id} of client ${clientId} is ${state} in the end`)
    }
    for (const { id, categorization } of this.clients.values()) {
      findings.expect(
        categorization !== "RETAIL" || cash(id) >= 0n,
        "margin",
        () => `client ${id} owes ${-cash(id)} in the end`
      )
    }
  }

  private stateOf(clientId: number): string {
    return this.states.get(clientId) ?? "NORMAL"
  }

  private premiums(clientId: number): bigint {
    let sum = 0n
    for (const row of this.parts.contracts.contracts.values())
      if (row.clientId === clientId && row.state === "OPEN") sum += row.amount
    return sum
  }

  private checkState(clientId: number): void {
    const { findings, cash, orders } = this.parts
    if (orders.isExposed(clientId)) return this.checkMarked(clientId)
    const premiums = this.premiums(clientId)
    findings.expect(
      (this.stateOf(clientId) === "NORMAL") === cash(clientId) >= premiums,
      "margin",
      () => `client ${clientId} is ${this.stateOf(clientId)} with ${cash(clientId)} for premiums of ${premiums}`
    )
  }

  /** An account whose margin follows a mark is where some mark of now has it; its figures move with the mark one way. */
  private checkMarked(clientId: number): void {
    const { contracts, findings, prices } = this.parts
    if (contracts.isExposed(clientId)) return
    const at = prices().map((price) => gravity[this.stateAt(clientId, price)])
    const state = this.stateOf(clientId)
    const is = gravity[state as keyof typeof gravity]
    findings.expect(
      Math.min(...at) <= is && is <= Math.max(...at),
      "margin",
      () =>
        `client ${clientId} is ${state} with ${this.parts.cash(clientId)} and ${this.heldBy(clientId)}, at ${prices().join(" to ")}`
    )
  }

  /** The state of an account with positions alone, at one mark for all of them (F5, F7). */
  private stateAt(clientId: number, price: number): keyof typeof gravity {
    let worth = this.parts.cash(clientId)
    let base = 0n
    const mark = BigInt(Math.round(price * 10))
    for (const { clientId: owner, symbol, state, netQty, netCost } of this.parts.orders.positions.values()) {
      if (owner !== clientId || state !== "OPEN") continue
      const value = units(netQty, 4) * mark * 10n
      worth += value - units(netCost, 6)
      base += (value < 0n ? -value : value) / BigInt(this.leverages.get(`${clientId} ${symbol}`) ?? 1)
    }
    if (base === 0n) return worth < 0n ? "CLOSE_OUT" : "NORMAL"
    return worth * 2n < base ? "CLOSE_OUT" : worth < base ? "MARGIN_CALL" : "NORMAL"
  }

  private heldBy(clientId: number): string {
    const open = [...this.parts.orders.positions.values()].filter(
      (row) => row.clientId === clientId && row.state === "OPEN"
    )
    return (
      open.map(({ netQty, netCost, symbol }) => `${netQty} of ${symbol} for ${netCost}`).join(", ") || "nothing open"
    )
  }

  private takeEpisode(row: CloseOutRow): void {
    const before = this.episodes.get(row.id)
    const { findings } = this.parts
    findings.expect(before?.state !== "DONE", "margin", () => `close-out ${row.id} is written after its end`)
    const others = [...this.episodes.values()].filter(({ id, clientId }) => id !== row.id && clientId === row.clientId)
    findings.expect(
      others.every(({ state }) => state === "DONE"),
      "margin",
      () => `client ${row.clientId} has two close-outs`
    )
    this.episodes.set(row.id, row)
  }

  private checkWriteOff(key: string, clientId: number): void {
    const { findings, cash } = this.parts
    const retail = this.clients.get(clientId)?.categorization === "RETAIL"
    const open = this.premiums(clientId)
    findings.expect(
      retail && cash(clientId) === 0n && open === 0n && !this.writtenOff.has(key),
      "margin",
      () => `${key} leaves client ${clientId} with ${cash(clientId)} and premiums of ${open}`
    )
    this.writtenOff.add(key)
  }
}
