/**
 * The rules that a simulation checks for close-outs, commit by commit. An episode runs alone and ends for good. Its orders only
 * reduce. A write-off is exactly the shortfall of a retail client with nothing open and nothing in flight that could open
 * something, once for each episode. Money that comes back from behind a write-off repays it (F9, F10; D23).
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { ClientRow } from "../../src/runtime/tables/client.ts"
import type { CloseOutRow } from "../../src/runtime/tables/margin.ts"
import type { FillRow, OrderRow } from "../../src/runtime/tables/order.ts"
import { NaiveHouse } from "../fixtures/naiveHouse.ts"
import type { ContractAudit } from "./ContractAudit.ts"
import type { Coverage } from "./Coverage.ts"
import type { Findings } from "./Findings.ts"
import { type OrderAudit, units } from "./OrderAudit.ts"

export interface EpisodeAuditParts {
  readonly findings: Findings
  readonly contracts: ContractAudit
  readonly orders: OrderAudit
  /** A client's committed cash, micro-USDC. */
  readonly cash: (clientId: number) => bigint
  readonly came: Coverage["came"]
}

/** Orders with an outcome of the venue due, or with a hold until that outcome. */
const inFlight: ReadonlySet<string> = new Set(["CHECKED", "SENT", "PENDING_CANCEL"])
const working: ReadonlySet<string> = new Set([...inFlight, "ACKED", "PARTIAL", "PENDING_TRIGGER"])

/** The key of a repayment, such as nbp:7:1. */
const isRepayment = (key: string): boolean => key.split(":").length > 2

export class EpisodeAudit {
  private readonly parts: EpisodeAuditParts
  private readonly clients = new Map<number, ClientRow>()
  private readonly episodes = new Map<number, CloseOutRow>()
  private readonly writtenOff = new Set<string>()
  private readonly house = new NaiveHouse()

  constructor(parts: EpisodeAuditParts) {
    this.parts = parts
  }

  /** Records a commit. The contracts, orders and cash of its clients must be recorded before. */
  take({ rows }: Commit): void {
    for (const fault of this.house.take({ rows })) this.parts.findings.add("write-off", fault)
    for (const row of rows.clients ?? []) this.clients.set(row.id, row)
    for (const fill of rows.fills ?? []) this.takeFill(fill)
    for (const row of rows.closeOuts ?? []) this.takeEpisode(row)
    for (const row of rows.orders ?? []) this.checkOrder(row)
    for (const { txId, key, type, clientId } of rows.ledgerTransactions ?? []) {
      if (clientId === null) continue
      if ((type === "DEPOSIT" || type === "PARTNER_COLLATERAL_IN") && this.live(clientId) !== undefined)
        this.parts.came("money came in an episode")
      if (type !== "NBP_WRITEOFF" || isRepayment(key)) continue
      const paid = rows.postings?.find((each) => each.txId === txId && each.clientId === clientId)?.amount ?? 0n
      this.checkWriteOff(key, clientId, paid)
    }
  }

  /** Checks at the end of a run, when no work is left. */
  checkEnd(): void {
    for (const { id, clientId, state } of this.episodes.values()) {
      this.parts.findings.expect(
        state === "DONE",
        "episodes",
        () => `close-out ${id} of client ${clientId} is ${state} in the end`
      )
    }
  }

  /** The number of episodes that have not ended. */
  get goOn(): number {
    return [...this.episodes.values()].filter(({ state }) => state !== "DONE").length
  }

  /** The client's episode that has not ended. */
  live(clientId: number): CloseOutRow | undefined {
    return [...this.episodes.values()].find((row) => row.clientId === clientId && row.state !== "DONE")
  }

  private takeFill({ clientId, orderId, closedQty }: FillRow): void {
    const order = this.parts.orders.orders.get(orderId)
    if (order === undefined || this.live(clientId) === undefined) return
    if (order.context.origin !== "CLOSE_OUT" && closedQty === null) this.parts.came("a fill joined an episode")
  }

  private takeEpisode(row: CloseOutRow): void {
    const { findings, came } = this.parts
    const before = this.episodes.get(row.id)
    if (before?.state === "DONE") {
      const isRepaid = units(row.context.repaid, 6) > units(before.context.repaid, 6)
      findings.expect(isRepaid, "episodes", () => `close-out ${row.id} is written after its end, and not repaid`)
      came("write-off repaid")
      this.episodes.set(row.id, row)
      return
    }
    const others = [...this.episodes.values()].filter(({ id, clientId }) => id !== row.id && clientId === row.clientId)
    findings.expect(
      others.every(({ state }) => state === "DONE"),
      "episodes",
      () => `client ${row.clientId} has two close-outs`
    )
    this.episodes.set(row.id, row)
    if (before === undefined) came("episode begun")
    if (row.state === "WAITING_MARK" && before?.state !== "WAITING_MARK") came("waited for a market")
    if (row.context.contracts > (before?.context.contracts ?? 0)) came("torn up")
    if (row.context.orders > 1 && row.context.orders > (before?.context.orders ?? 0)) came("closed in slices")
    if (row.state !== "DONE") return
    const isDebt = row.context.writtenOff !== "0.000000"
    came(isDebt ? "written off" : this.isBare(row.clientId) ? "episode over" : "episode recovered")
  }

  /** An order of a close-out can only reduce its position, whatever else fills meanwhile. */
  private checkOrder({ id, clientId, symbol, context }: OrderRow): void {
    const { origin, note, reduceOnly, tif } = context
    if (origin !== "CLOSE_OUT" || note === null || !note.startsWith("CO-")) return
    const episode = this.episodes.get(Number(note.slice("CO-".length)))
    this.parts.findings.expect(
      reduceOnly && tif === "IOC" && episode?.clientId === clientId,
      "episodes",
      () => `order ${id} of ${symbol} for ${note} is ${tif} and ${reduceOnly ? "" : "not "}reduce-only`
    )
  }

  private isBare(clientId: number): boolean {
    const { contracts, orders } = this.parts
    return (
      !contracts.isExposed(clientId) &&
      [...orders.positions.values()].every((row) => row.clientId !== clientId || row.state !== "OPEN")
    )
  }

  /** Objects of a client that can still open an exposure, cost money or return money. */
  private onItsWay(clientId: number): ReadonlyArray<string> {
    const { contracts, orders } = this.parts
    const mayOpen = ({ context }: OrderRow): boolean =>
      context.family === "SPOT" ? context.side === "BUY" : !context.reduceOnly
    const own = [...orders.orders.values()].filter((row) => row.clientId === clientId)
    return [
      ...own
        .filter((row) => inFlight.has(row.state) || (working.has(row.state) && mayOpen(row)))
        .map(({ id }) => `O-${id}`),
      ...[...contracts.rfqs.values()]
        .filter((row) => row.clientId === clientId && row.context.accepting !== null && row.state === "OPEN")
        .map(({ id }) => `R-${id}`)
    ]
  }

  private checkWriteOff(key: string, clientId: number, paid: bigint): void {
    const { findings, cash } = this.parts
    const episode = this.episodes.get(Number(key.slice("nbp:".length)))
    const say = (what: string) => (): string => `${key} of client ${clientId}: ${what}`
    const isRetail = this.clients.get(clientId)?.categorization === "RETAIL"
    findings.expect(isRetail, "write-off", say("the client is not RETAIL"))
    findings.expect(
      cash(clientId) === 0n && paid > 0n,
      "write-off",
      say(`it pays ${paid} and leaves ${cash(clientId)}`)
    )
    findings.expect(this.isBare(clientId), "write-off", say("something is open"))
    const left = this.onItsWay(clientId)
    findings.expect(left.length === 0, "write-off", say(`${left.join(", ")} is on its way`))
    findings.expect(!this.writtenOff.has(key), "write-off", say("it is the second one"))
    findings.expect(
      episode?.clientId === clientId && units(episode.context.writtenOff, 6) === paid,
      "write-off",
      say(`its episode says ${episode?.context.writtenOff}, and ${paid} is paid`)
    )
    this.writtenOff.add(key)
  }
}
