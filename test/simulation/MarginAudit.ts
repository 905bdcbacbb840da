/**
 * What a simulation holds recorded risk states and close-outs to, commit by commit and at rest (F7, F9, F10; D23): an account
 * with contracts alone is NORMAL exactly while its cash covers their premiums, whatever the marks are, one with positions is
 * where a mark of now has it, and at rest where one of the last second has it. The restriction stands from an episode's first
 * commit until the account is NORMAL. Episodes and write-offs: EpisodeAudit.ts.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ContractRow } from "../../src/runtime/tables/contract.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import type { Coverage } from "./Coverage.ts"
import type { Findings } from "./Findings.ts"
import { type OrderAudit, units } from "./OrderAudit.ts"

export interface MarginAuditParts {
  readonly findings: Findings
  readonly contracts: ContractAudit
  readonly orders: OrderAudit
  /** A client's committed cash, micro-USDC. */
  readonly cash: (clientId: number) => bigint
  /** The lowest and the highest mark of the last so many ms; of all that a turn of now may have judged by: USDC. */
  readonly prices: (millis?: number) => readonly [low: number, high: number]
  /** For how long the process that acts just now is known to have heard of a market's mark, ms. */
  readonly knowsMarkFor: (symbol: string) => number
  readonly came: Coverage["came"]
}

const gravity = { NORMAL: 0, MARGIN_CALL: 1, CLOSE_OUT: 2 } as const
type State = keyof typeof gravity
/** A crossed mark is acted on within a second (F9); it takes a moment to come here, and to be written. */
export const actedOnMillis = 3_000
/** Marks between the lowest and the highest that an account with contracts is looked at: its figures move both ways. */
const looks = 40

export class MarginAudit {
  private readonly parts: MarginAuditParts
  private readonly states = new Map<number, State>()
  private readonly clients = new Map<number, ClientRow>()
  /** At which leverage each client is margined in a market, as it was said last. */
  private readonly leverages = new Map<string, number>()

  constructor(parts: MarginAuditParts) {
    this.parts = parts
  }

  /** Takes a commit; the contracts and the cash of its clients are known already. */
  take({ rows }: Commit): void {
    for (const { clientId, symbol, leverage } of rows.leverages ?? [])
      this.leverages.set(`${clientId} ${symbol}`, leverage)
    for (const { clientId, symbol, context } of rows.orders ?? [])
      if (context.leverage !== null && !this.leverages.has(`${clientId} ${symbol}`))
        this.leverages.set(`${clientId} ${symbol}`, context.leverage)
    for (const { clientId, state } of rows.riskMonitors ?? []) {
      if (state === "MARGIN_CALL") this.parts.came("margin call")
      this.states.set(clientId, state as State)
    }
    const moved = new Set([
      ...(rows.balances ?? []).map(({ clientId }) => clientId),
      ...(rows.barrierContracts ?? []).map(({ clientId }) => clientId),
      ...(rows.positions ?? []).map(({ clientId }) => clientId),
      ...(rows.leverages ?? []).map(({ clientId }) => clientId),
      ...(rows.riskMonitors ?? []).map(({ clientId }) => clientId)
    ])
    for (const clientId of moved) this.checkState(clientId)
    for (const row of rows.clients ?? []) this.takeClient(row)
    for (const { clientId, state } of rows.closeOuts ?? []) if (state !== "DONE") this.checkRestricted(clientId)
  }

  private takeClient(row: ClientRow): void {
    const { id, context } = row
    const before = this.clients.get(id)
    this.clients.set(id, row)
    const isSet = context.restrictions.includes("CLOSE_OUT")
    const wasSet = before?.context.restrictions.includes("CLOSE_OUT") === true
    const isNormal = this.stateOf(id) === "NORMAL"
    this.parts.findings.expect(!isSet || !isNormal, "restriction", () => `client ${id} is NORMAL and still restricted`)
    this.parts.findings.expect(
      isSet || !wasSet || isNormal,
      "restriction",
      () => `client ${id} is ${this.stateOf(id)} and not restricted any more`
    )
  }

  /** An episode that its commit does not end restricts its client; one who takes none may open nothing anyway. */
  private checkRestricted(clientId: number): void {
    const client = this.clients.get(clientId)
    const takesOne = client?.state === "ACTIVE" || client?.state === "RESTRICTED"
    this.parts.findings.expect(
      !takesOne || client.context.restrictions.includes("CLOSE_OUT"),
      "restriction",
      () => `client ${clientId} is being closed out and may open`
    )
  }

  /** Once everything has come to rest. */
  checkEnd(): void {
    const { findings, cash } = this.parts
    for (const id of this.clients.keys()) this.checkState(id, actedOnMillis)
    for (const { id, categorization } of this.clients.values()) {
      findings.expect(
        categorization !== "RETAIL" || cash(id) >= 0n,
        "no-debt",
        () => `client ${id} owes ${-cash(id)} in the end`
      )
    }
  }

  private stateOf(clientId: number): State {
    return this.states.get(clientId) ?? "NORMAL"
  }

  private openContracts(clientId: number): ReadonlyArray<ContractRow> {
    const all = [...this.parts.contracts.contracts.values()]
    return all.filter((row) => row.clientId === clientId && row.state === "OPEN")
  }

  private checkState(clientId: number, millis?: number): void {
    const { findings, cash, orders } = this.parts
    const contracts = this.openContracts(clientId)
    if (orders.isExposed(clientId)) return this.checkMarked(clientId, contracts, millis)
    const premiums = contracts.reduce((sum, { amount }) => sum + amount, 0n)
    findings.expect(
      (this.stateOf(clientId) === "NORMAL") === cash(clientId) >= premiums,
      "margin",
      () => `client ${clientId} is ${this.stateOf(clientId)} with ${cash(clientId)} for premiums of ${premiums}`
    )
  }

  /**
   * An account whose margin follows a mark is where some mark of now has it. With positions alone its figures move with the mark
   * one way, so that the two ends bound it; with contracts beside them marks in between are looked at too.
   */
  private checkMarked(clientId: number, contracts: ReadonlyArray<ContractRow>, millis?: number): void {
    const { findings, prices, came, knowsMarkFor } = this.parts
    const [low, high] = prices(millis)
    const steps = contracts.length === 0 ? 1 : looks
    if (contracts.length > 0 && this.openPositions(clientId).length > 0) came("contracts beside positions")
    const at = Array.from({ length: steps + 1 }, (_, step) => {
      const price = low + ((high - low) * step) / steps
      return gravity[this.stateAt(clientId, contracts, price)]
    })
    const state = this.stateOf(clientId)
    // While every mark is stale no close-out begins: it is a margin call until one is fresh (F3).
    const staysCalled = millis === undefined && state === "MARGIN_CALL"
    // Nothing changes by entry prices alone: right after a start an account stays what it was until a mark is known.
    const open = this.openPositions(clientId)
    const isNews = open.length > 0 && open.every(({ symbol }) => knowsMarkFor(symbol) <= actedOnMillis)
    if (millis === undefined && isNews) return
    const is = gravity[state]
    findings.expect(
      (staysCalled || Math.min(...at) <= is) && is <= Math.max(...at),
      millis === undefined ? "margin" : "recorded-state",
      () =>
        `client ${clientId} is ${state} with ${this.parts.cash(clientId)}, ${this.heldBy(clientId)} and ${contracts.length} contracts, at ${low} to ${high}`
    )
  }

  /** The state at one mark for everything (F5, F7, F16). */
  private stateAt(clientId: number, contracts: ReadonlyArray<ContractRow>, price: number): State {
    let worth = this.parts.cash(clientId)
    let base = 0n
    const mark = BigInt(Math.round(price * 10))
    for (const { symbol, netQty, netCost } of this.openPositions(clientId)) {
      const value = units(netQty, 4) * mark * 10n
      worth += value - units(netCost, 6)
      base += (value < 0n ? -value : value) / BigInt(this.leverages.get(`${clientId} ${symbol}`) ?? 1)
    }
    for (const { amount, context } of contracts) {
      const moved = (mark * 10n - units(context.entry, 2)) * units(context.qty, 4)
      const gained = context.side === "BUY" ? moved : -moved
      const loss = gained < -amount ? -amount : gained > 0n ? 0n : gained
      worth += loss
      base += amount + loss
    }
    if (base === 0n) return worth < 0n ? "CLOSE_OUT" : "NORMAL"
    return worth * 2n < base ? "CLOSE_OUT" : worth < base ? "MARGIN_CALL" : "NORMAL"
  }

  private openPositions(clientId: number) {
    return [...this.parts.orders.positions.values()].filter((row) => row.clientId === clientId && row.state === "OPEN")
  }

  private heldBy(clientId: number): string {
    const open = this.openPositions(clientId)
    return (
      open.map(({ netQty, netCost, symbol }) => `${netQty} of ${symbol} for ${netCost}`).join(", ") || "nothing open"
    )
  }
}
