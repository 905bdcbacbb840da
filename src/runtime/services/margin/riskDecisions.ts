/**
 * Applies the consequences of an account's risk in its client's turn, in the commit of their cause. It moves the recorded state,
 * begins, advances and ends close-outs, writes off shortfalls, and sets and lifts the restriction CLOSE_OUT. It runs at the end
 * of every turn that changes money, contracts, orders or requests, and in the monitor's turns after mark moves (A1-12, D23, F3,
 * F7, F9, F10, F13).
 */
import { isFresh } from "../../../machines/market/Facts.ts"
import type { AccountRisk, RiskState } from "../../../machines/margin/accountRisk.ts"
import { type CloseOutEvent, isGoingOn, pauseAfter } from "../../../machines/margin/CloseOut.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { orderRef } from "../../../machines/order/Order.ts"
import { restrictionSentences } from "../../../machines/client/Restriction.ts"
import { advance, start } from "../../effects/advance.ts"
import type { Instance } from "../../effects/Instance.ts"
import { firstRow } from "../../effects/machineRow.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { oneInTurn, rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { ContractRow } from "../../tables/contract.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { CloseOutRow, RiskMonitorRow } from "../../tables/margin.ts"
import { accountInTurn, cashInTurn, monitorInTurn } from "../account/accountNow.ts"
import { openPositions } from "../account/perpHoldings.ts"
import { tearUp } from "../trading/contract/contractDecisions.ts"
import { openContracts, rfqsInTurn } from "../account/contractHoldings.ts"
import { type ClientTurn, liftRestriction, restrictClient } from "../clients/client/clientDecisions.ts"
import { instanceOf } from "../account/clientState.ts"
import type { Directory } from "../partners/Directory.ts"
import { partnerOfTurn } from "../partners/partnerOfTurn.ts"
import { boundChanges, boundedInTurn, coversOrders } from "../trading/order/orderBounds.ts"
import { amendBound, cancelOpeningOrders, cancelOrder, placeOrder } from "../trading/order/orderDecisions.ts"
import { cancelOpeningRequests, mayStillOpen, withdrawEndedRequests } from "../trading/rfq/rfqDecisions.ts"
import {
  cancelDue,
  closingOrder,
  type ClosingMarkets,
  isClosing,
  isDue,
  missingOf,
  openingOrders,
  ordersInFlight,
  positionsToClose,
  triedWith
} from "./positionClosing.ts"
import { repayWriteOffs, writeOffNow } from "../money/writeOffRepayment.ts"

/** The partner directory, and the markets in which positions are closed. */
export interface RiskParts {
  readonly directory: Directory["Service"]
  readonly markets: ClosingMarkets
}

/** The most contracts that one turn requests the venue to tear up. The next turn continues with the rest. */
const tornAtOnce = 256
/** Reasons in the audit rows of the restriction. */
const began = "close-out"
const recovered = "the account is NORMAL again"

/**
 * Judges the risk of the turn's client, if there is one, in the state that the turn leaves. Returned money repays write-offs
 * first. Without a market no risk is judged.
 */
export const judgeRisk = (turn: Turn, { directory, markets }: RiskParts): void => {
  const committed = turn.state.one("clients")
  if (committed === undefined) return
  const client = oneInTurn(turn, "clients") ?? committed
  const asRisk = (): Turn => ({
    ...turn,
    by: { ...turn.by, role: "SYSTEM", keyLabel: "risk", actor: "system:risk" }
  })
  const instance = (): Instance => {
    const partner = partnerOfTurn(turn, directory, client)
    if (partner === null) throw new Error(`client:${client.id} has no partner`)
    return instanceOf(client, partner)
  }
  if (rowsInTurn(turn, "closeOuts").length > 0) repayWriteOffs(asRisk(), instance)
  if (turn.facts.takenAt === null || isAtRest(turn, client)) return
  new Judgement({ turn: asRisk(), instance: instance(), by: "SYSTEM" }, client, markets).run()
}

/** Whether no action can follow: the account is recorded NORMAL, has no exposure and no debt, and its cash covers its orders. */
const isAtRest = (turn: Turn, client: ClientRow): boolean => {
  const monitor = monitorInTurn(turn)
  if (monitor !== undefined && monitor.state !== "NORMAL") return false
  const hasOpen = openContracts(turn).length > 0 || openPositions(turn).length > 0
  // The cheap checks come first, because the figures of working orders cost more to compute.
  const cash = cashInTurn(turn, client)("USDC")
  if (hasOpen || cash < 0n) return false
  const [orders, positions] = [rowsInTurn(turn, "orders"), rowsInTurn(turn, "positions")]
  return orders.length === 0 || coversOrders({ facts: turn.facts, orders, positions }, cash)
}

/** The state to record. Without any fresh mark no close-out begins: the recorded state is MARGIN_CALL at most. */
export const stateToRecord = (risk: AccountRisk, recorded: RiskState): RiskState =>
  risk.riskState === "CLOSE_OUT" && recorded !== "CLOSE_OUT" && risk.anyExposure && !risk.anyMarkFresh
    ? "MARGIN_CALL"
    : risk.riskState

class Judgement {
  private readonly at: ClientTurn
  private readonly turn: Turn
  private readonly clientId: number
  private readonly partnerId: number
  private readonly retail: boolean
  private readonly markets: ClosingMarkets

  constructor(at: ClientTurn, { id, partnerId, categorization }: ClientRow, markets: ClosingMarkets) {
    this.at = at
    this.turn = at.turn
    this.clientId = id
    this.partnerId = partnerId
    this.retail = categorization === "RETAIL"
    this.markets = markets
  }

  run(): void {
    const state = this.record()
    const goesOn = this.liveEpisode()
    const episode = state === "CLOSE_OUT" ? (goesOn ?? this.begin()) : goesOn
    if (episode !== null) {
      if (state === "CLOSE_OUT") this.step(episode)
      else this.move(episode, { type: "END", at: this.turn.now, recovered: true })
    }
    this.restrict(this.record(), episode !== null)
    this.changeBounds()
  }

  /** Cancels or bounds working orders that could cost more than the account has. */
  private changeBounds(): void {
    const { turn } = this
    const owned = { turn, of: this.at.instance }
    const { cancel, why, amend } = boundChanges(boundedInTurn(turn, this.client()))
    for (const row of cancel.filter(cancelDue(turn))) cancelOrder(owned, row, why)
    for (const { row, boundBps } of amend) amendBound(owned, row, boundBps)
  }

  /** Moves the recorded state to the state of the account's figures. Returns the recorded state. */
  private record(): RiskState {
    const { turn, clientId, partnerId } = this
    const { risk, recorded } = accountInTurn(turn, this.client())
    const state = stateToRecord(risk, recorded)
    if (state === recorded || (!risk.anyMarkFresh && this.awaitsMarks())) return recorded
    const monitor: RiskMonitorRow =
      monitorInTurn(turn) ?? firstRow("riskMonitors", { clientId }, { clientId, partnerId }).row
    const type = state === "NORMAL" ? "RECOVER" : state === "MARGIN_CALL" ? "CALL" : "CLOSE_OUT"
    advance(turn, "riskMonitors", monitor, { type, at: turn.now }, { of: this.at.instance })
    return state
  }

  /**
   * Whether the account has open positions but no mark for any of them, as right after a start. Entry prices alone neither call
   * an account nor let it recover.
   */
  private awaitsMarks(): boolean {
    const { turn } = this
    const open = openPositions(turn)
    return open.length > 0 && open.every(({ symbol }) => !turn.facts.marks.has(symbol))
  }

  /** Begins a close-out if the account has exposure to close, openings to cancel, or a retail shortfall to write off. */
  private begin(): CloseOutRow | null {
    const { turn, clientId, partnerId } = this
    const { risk, cashOf } = accountInTurn(turn, this.client())
    const protects = this.retail && cashOf("USDC") < 0n
    const closes = openContracts(turn).length > 0 || openPositions(turn).length > 0
    if (!closes && !protects && !this.hasOpenings()) return null
    const id = turn.nextId("closeOut")
    const usdc = (minor: bigint) => formatAmount(minor, "USDC")
    return start(turn, "closeOuts", {
      of: this.at.instance,
      input: {
        closeOutId: id,
        clientId,
        startedAt: turn.now,
        closeOutEquity: usdc(risk.closeOutEquity),
        marginBase: usdc(risk.marginBase)
      },
      columns: { id, partnerId, clientId, startedAt: turn.now }
    })
  }

  /** Advances the episode as far as this turn allows. */
  private step(episode: CloseOutRow): void {
    const { turn } = this
    cancelOpeningRequests(turn, restrictionSentences.CLOSE_OUT)
    withdrawEndedRequests(turn)
    cancelOpeningOrders({ turn, of: this.at.instance }, restrictionSentences.CLOSE_OUT, cancelDue(turn))
    const { cancelUntil } = episode.context
    const waits = this.hasOpenings() && (cancelUntil === null || turn.now < cancelUntil)
    if (waits && (episode.state === "STARTED" || episode.state === "CANCELLING")) {
      if (episode.state === "STARTED")
        this.move(episode, { type: "CANCEL", until: turn.now + this.turn.facts.terms.closeOutCancelMillis })
      return
    }
    if (openPositions(turn).length > 0) return this.close(episode)
    const contracts = openContracts(turn)
    if (contracts.length > 0) this.tearUp(episode, contracts)
    else this.protect(episode)
  }

  /** Sends the next closing order, once the one before it has ended. */
  private close(episode: CloseOutRow): void {
    const { turn, markets } = this
    if (isClosing(turn)) return
    const client = this.client()
    const all = positionsToClose(turn, client, markets)
    const open = all.filter(({ waits }) => waits === null)
    if (open.length === 0) return void this.move(episode, { type: "WAIT", ...missingOf(all) })
    const next = open.find(({ position }) => isDue(turn, episode.context, position))
    if (next === undefined || next.maxQty === null) return
    const { position } = next
    const tried = triedWith(turn, episode.context, position, all)
    const stepped = { ...episode, context: { ...episode.context, tried } }
    const order = closingOrder(turn, client, position, next.maxQty, stepped)
    const { id: orderId } = placeOrder({ turn, of: this.at.instance }, client, order)
    this.move(episode, {
      type: "CLOSE",
      orderId,
      orders: episode.context.orders + 1,
      tried,
      reason: `${orderRef(orderId)} ${order.side} ${order.qty} ${order.symbol} up to ${order.venuePrice}`
    })
  }

  /** Requests the venue to end contracts at their fresh marks. A refused tear-up is retried after growing pauses. */
  private tearUp(episode: CloseOutRow, contracts: ReadonlyArray<ContractRow>): void {
    const { turn } = this
    const { tornAt } = episode.context
    const isDue = ({ context: { tearUps } }: ContractRow): boolean =>
      tearUps === 0 || tornAt === null || turn.now - tornAt >= pauseAfter(tearUps)
    const due = contracts.filter((row) => !row.context.tearing && this.isFresh(row) && isDue(row)).slice(0, tornAtOnce)
    if (due.length > 0) {
      const first = due.filter(({ context }) => context.tearUps === 0).length
      for (const row of due) tearUp(turn, row)
      const reason = due.length === 1 ? `contract ${due[0]?.id}` : `${due.length} contracts`
      this.move(episode, { type: "TEAR_UP", at: turn.now, contracts: episode.context.contracts + first, reason })
    } else if (contracts.every((row) => !row.context.tearing && !this.isFresh(row))) {
      const symbols = [...new Set(contracts.map(({ symbol }) => symbol))]
      const reason = symbols.map((symbol) => `${symbol} has no live price`).join("; ")
      this.move(episode, { type: "WAIT", missing: "MARK", reason })
    }
  }

  /**
   * Runs when nothing is open. The episode waits until nothing in flight could open something or change the cash. It then writes
   * off a retail client's shortfall, and ends. It does not wait for money outside the cash, because that money repays the
   * write-off later.
   */
  private protect(episode: CloseOutRow): void {
    const { turn } = this
    const row = this.move(episode, { type: "PROTECT" }) ?? episode
    const accepting = rfqsInTurn(turn).some(({ context }) => context.accepting !== null)
    if (accepting || this.hasOpenings() || ordersInFlight(turn)) return
    const cash = cashInTurn(turn, this.client())("USDC")
    const writesOff = this.retail && cash < 0n
    const after = writesOff ? this.move(row, writeOffNow(turn, -cash)) : null
    this.move(after ?? row, { type: "END", at: turn.now, recovered: false })
  }

  /**
   * Sets the restriction CLOSE_OUT if an episode outlasts the commit that began it, and lifts it when the account is
   * NORMAL. A client whose state allows no restriction can't open anything anyway.
   */
  private restrict(state: RiskState, closedOut: boolean): void {
    const client = this.client()
    const isSet = client.context.restrictions.includes("CLOSE_OUT")
    if (state === "NORMAL" && isSet) liftRestriction(this.at, client, "CLOSE_OUT", recovered)
    if (state !== "NORMAL" && closedOut && !isSet) restrictClient(this.at, client, "CLOSE_OUT", began)
  }

  private move(row: CloseOutRow, event: CloseOutEvent): CloseOutRow | null {
    return advance(this.turn, "closeOuts", row, event, { of: this.at.instance })
  }

  private client(): ClientRow {
    const row = oneInTurn(this.turn, "clients")
    if (row === undefined) throw new Error(`client:${this.clientId} is gone`)
    return row
  }

  private liveEpisode(): CloseOutRow | null {
    return rowsInTurn(this.turn, "closeOuts").find(isGoingOn) ?? null
  }

  /** Whether an order or a request for quotes could still open a position. */
  private hasOpenings(): boolean {
    return rfqsInTurn(this.turn).some(mayStillOpen) || openingOrders(this.turn).length > 0
  }

  private isFresh({ symbol }: ContractRow): boolean {
    const { marks, takenAt } = this.turn.facts
    const mark = marks.get(symbol)
    return mark !== undefined && takenAt !== null && isFresh(mark, takenAt)
  }
}
