/**
 * Checks stored risk states and the restrictions of close-outs, at each commit and at the end (F7, F9, F10; D23). An
 * account with contracts alone is NORMAL exactly while its cash covers their premiums, at any mark. An account with
 * positions has the state that some mark of its turn gives it; at the end, that of some mark of the last second. The
 * restriction lasts from the first commit of an episode until the account is NORMAL. EpisodeAudit.ts checks episodes
 * and write-offs.
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
  /**
   * The lowest and the highest mark, USDC: of the last `millis` ms, or without it of all marks that a present turn may
   * use.
   */
  readonly prices: (millis?: number) => readonly [low: number, high: number]
  /** The time since the present process first received a mark of this market, ms. */
  readonly knowsMarkFor: (symbol: string) => number
  readonly came: Coverage["came"]
}

const gravity = { NORMAL: 0, MARGIN_CALL: 1, CLOSE_OUT: 2 } as const
type State = keyof typeof gravity
/** The service reacts to a crossed mark within a second (F9). Its delivery and the commit take further time. */
export const actedOnMillis = 3_000
/**
 * The number of marks between the lowest and the highest at which an account with contracts is checked, because its
 * figures move in both directions.
 */
const looks = 40

export class MarginAudit {
  private readonly parts: MarginAuditParts
  private readonly states = new Map<number, State>()
  private readonly clients = new Map<number, ClientRow>()
  /** The last committed leverage of each client in each market. */
  private readonly leverages = new Map<string, number>()

  constructor(parts: MarginAuditParts) {
    this.parts = parts
  }

  /** Records a commit. The contracts and the cash of its clients must be recorded before. */
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

  /**
   * Checks that a client with an open episode is restricted. A client in a state that takes no restriction may open
   * nothing anyway.
   */
  private checkRestricted(clientId: number): void {
    const client = this.clients.get(clientId)
    const takesOne = client?.state === "ACTIVE" || client?.state === "RESTRICTED"
    this.parts.findings.expect(
      !takesOne || client.context.restrictions.includes("CLOSE_OUT"),
      "restriction",
      () => `client ${clientId} is being closed out and may open`
    )
  }

  /** Checks at the end of a run, when no work is left. */
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
   * Checks that some present mark gives the account its state, if its margin depends on a mark. With positions alone
   * the figures move in one direction with the mark, so the lowest and the highest mark bound them; with contracts,
   * marks in between are checked too.
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
    // While every mark is stale no close-out begins: the account stays at a margin call until a mark is fresh (F3).
    const staysCalled = millis === undefined && state === "MARGIN_CALL"
    // Entry prices alone change no state: after a start an account keeps its state until a mark is known.
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

  /** The state of the account if this price is the mark of every market (F5, F7, F16). */
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
