/**
 * Derives the next step for the protection of an order from its parent, its legs, the position and the mark. Pure: it plans
 * one step at a time, and none when nothing must change. A leg has at most one change in flight; fills that arrive meanwhile
 * join the next change. The report of a fill and the placement of its legs follow each other directly. A leg grows by an
 * amendment, so that a position always keeps the legs it had (D7, A2-40, A2-41).
 */
import {
  type AttachmentContext,
  type AttachmentEvent,
  type AttachmentState,
  type Again,
  attemptDueAt,
  type Leg,
  legDirection,
  type LegRole,
  legRoles,
  type OrderNow,
  type Standing,
  type Unplaced
} from "./Attachment.ts"
import { decimalText, MoneyDecimal } from "../shared/Money.ts"
import { noLiquidity } from "./Order.ts"

/** The input of a plan besides the attachment. */
export interface Around {
  /** Unix ms. */
  readonly now: number
  /** Null when the parent has ended and left memory. */
  readonly parent: OrderNow | null
  readonly legOf: (orderId: number) => OrderNow | null
  /** The client's position in the market, signed. */
  readonly netQty: string
  /** Null when unknown; the venue then decides whether a level is passed. */
  readonly mark: MoneyDecimal | null
}

export interface Plan {
  /** The event for the attachment; null when nothing must change. */
  readonly event: AttachmentEvent["type"] | null
  /** The standing before the legs in `place` are added. */
  readonly standing: Standing
  /** Orders to place; `asked` is their quantity. */
  readonly place: ReadonlyArray<Omit<Leg, "orderId">>
  readonly amend: ReadonlyArray<{ readonly orderId: number; readonly qty: string }>
  readonly cancel: ReadonlyArray<number>
  readonly cancelParent: boolean
  /** Sentences about refused legs, for the parent's note. */
  readonly notes: ReadonlyArray<string>
}

/** Limit of MARKET legs in one round without a pause. */
const mostAtMarket = 2
/** Limits of cancels of one order, and of amendments to one quantity: a rejected request is not repeated for ever. */
const mostCancels = 3
const mostAmends = 3

/** Whether the end reason shows that the order met an order of its own account, or found no counterparty. */
const hadNoCounterparty = (why: string | null): boolean =>
  why === "self-trade" || why === "no market" || why?.startsWith(noLiquidity) === true
/** The refusal reason of a conditional order whose level is already passed. */
const passedAlready = "would trigger at once"

const nothing = new MoneyDecimal(0)

/** Plans the next step of a protection: the event, the new standing, and the orders to place, amend or cancel. */
export const planProtection = (
  attachment: { readonly state: AttachmentState; readonly context: AttachmentContext },
  around: Around
): Plan => new Planning(attachment.state, attachment.context, around).plan()

/** A leg that may still work at the venue, with its order. */
interface Live {
  leg: Leg
  readonly now: OrderNow
  readonly hasTraded: boolean
}

class Planning {
  private readonly state: AttachmentState
  private readonly of: AttachmentContext
  private readonly around: Around
  private readonly held: MoneyDecimal
  private readonly live: Array<Live> = []
  /** For each ended leg of this round, the parent's filled quantity that the leg covered. */
  private readonly gone: Array<string> = []
  private readonly place: Array<Omit<Leg, "orderId">> = []
  private readonly amend: Array<Plan["amend"][number]> = []
  private readonly cancel: Array<number> = []
  private readonly notes: Array<string> = []
  private cancelParent = false
  private standing: Standing

  constructor(state: AttachmentState, of: AttachmentContext, around: Around) {
    this.state = state
    this.of = of
    this.around = around
    const net = new MoneyDecimal(around.netQty)
    this.held = MoneyDecimal.max(nothing, of.side === "BUY" ? net : net.neg())
    const { parent } = around
    const known = parent === null || new MoneyDecimal(parent.filledQty).eq(of.standing.filled)
    const filled = known ? of.standing.filled : this.text(new MoneyDecimal(parent.filledQty))
    this.standing = { ...of.standing, filled, parentWorks: parent !== null && parent.works, legs: [] }
  }

  plan(): Plan {
    for (const leg of this.of.standing.legs) this.see(leg)
    this.dropNeedless()
    // The round ended without a trade: its legs are not replaced, and the client decides about the remaining position.
    const { traded, again, unplaced } = this.standing
    if (!traded && again === null && unplaced.length === 0 && this.ofRound().length === 0)
      for (const upTo of this.gone) this.deal(upTo)
    const event = this.state === "PLACING" || this.state === "ACTIVE" ? this.guard() : this.goOn()
    const standing = { ...this.standing, legs: this.live.map(({ leg }) => leg) }
    const { place, amend, cancel, cancelParent } = this
    const notes = this.noted()
    const steps = place.length + amend.length + cancel.length + notes.length + (cancelParent ? 1 : 0)
    const follows = steps > 0 || JSON.stringify(standing) !== JSON.stringify(this.of.standing)
    return { event: event ?? (follows ? "FOLLOW" : null), standing, place, amend, cancel, cancelParent, notes }
  }

  /** Updates a leg from its order; an ended leg is removed. */
  private see(leg: Leg): void {
    const now = this.around.legOf(leg.orderId)
    if (now === null) return
    const isOfRound = leg.round === this.standing.round
    const filled = new MoneyDecimal(now.filledQty)
    const hasTraded = filled.gt(nothing)
    const standsFor = new MoneyDecimal(now.qty).eq(leg.asked) ? leg.askedFor : leg.standsFor
    if (isOfRound && hasTraded) this.set({ traded: true })
    if (now.works) this.live.push({ leg: { ...leg, standsFor }, now, hasTraded })
    else if (isOfRound) this.set({ taken: this.text(filled.add(this.standing.taken)) })
    const again = now.works || !isOfRound || this.state === "CLOSED" ? null : againOf(leg, now)
    if (again !== null) return this.set({ again })
    if (isOfRound && (hasTraded || leg.atMarket)) this.deal(standsFor)
    if (isOfRound && !now.placing && !now.rejected) this.isPlaced(leg.role)
    if (now.works) return
    if (isOfRound) this.gone.push(standsFor)
    if (!now.rejected || this.held.isZero()) return
    if (isOfRound && this.state !== "CLOSED" && now.cancels === 0) this.isNotPlaced(leg, leg.atMarket, now.why)
    else this.notes.push(`${legNames[leg.role]} not placed: ${now.why ?? "no reason"}`)
  }

  /** The sentences for the parent's note. After a change they name every leg that waits for its next attempt. */
  private noted(): ReadonlyArray<string> {
    const { unplaced } = this.standing
    const before = this.of.standing.unplaced
    const isSame = unplaced.every(({ role, attempts }) =>
      before.some((each) => each.role === role && each.attempts === attempts)
    )
    return this.notes.length === 0 && isSame ? [] : [...this.notes, ...unplaced.map(waitingText)]
  }

  private unplacedOf(role: LegRole): Unplaced | undefined {
    return this.standing.unplaced.find((each) => each.role === role)
  }

  private isNotPlaced({ role, orderId }: Pick<Leg, "role" | "orderId">, atMarket: boolean, why: string | null): void {
    const attempts = (this.unplacedOf(role)?.attempts ?? 0) + 1
    const reason = why ?? "no reason"
    const others = this.standing.unplaced.filter((each) => each.role !== role)
    const failed = { role, orderId, atMarket, attempts, failedAt: this.around.now, reason }
    this.set({ unplaced: [...others, failed] })
  }

  private isPlaced(role: LegRole): void {
    if (this.unplacedOf(role) === undefined) return
    this.set({ unplaced: this.standing.unplaced.filter((each) => each.role !== role) })
    this.notes.push(`${legNames[role]} placed`)
  }

  /** Ends attempts without a purpose: the position is gone, or the other level has fired. */
  private dropNeedless(): void {
    const { traded, again, unplaced } = this.standing
    const isNeeded = ({ atMarket }: Unplaced): boolean =>
      this.held.gt(nothing) && (atMarket || (!traded && again === null))
    const needed = unplaced.filter(isNeeded)
    if (needed.length === unplaced.length) return
    this.set({ unplaced: needed })
    for (const { role } of unplaced) {
      if (!needed.some((each) => each.role === role))
        this.notes.push(`${legNames[role]} not placed: not needed any more`)
    }
  }

  /** Makes the attempts that are due. Returns true if a leg is sent at MARKET. */
  private placeAgain(target: MoneyDecimal): boolean {
    if (target.isZero()) return false
    for (const each of this.standing.unplaced) {
      const { role, atMarket } = each
      const isInFlight = this.ofRound().some(({ leg }) => leg.role === role)
      if (isInFlight || this.around.now < attemptDueAt(each)) continue
      if (atMarket || this.isPassed(role)) {
        this.sendAtMarket(role, target)
        return true
      }
      this.place.push(this.newLeg(role, target, false))
    }
    return false
  }

  /** Plans while the legs of this round wait for their levels: the legs follow the parent and the position. */
  private guard(): AttachmentEvent["type"] | null {
    const { traded, again, filled } = this.standing
    const legs = this.ofRound()
    if (traded || again !== null) return "FIRE"
    if (this.held.isZero()) {
      this.set({ dealt: filled })
      for (const each of this.live) this.drop(each)
      return "CLOSE"
    }
    if (legs.length === 0 && this.standing.unplaced.length === 0) return "CLOSE"
    const target = this.target()
    for (const each of legs) this.follow(each, target)
    this.shrink()
    if (this.placeAgain(target)) return "FIRE"
    return this.state === "PLACING" && legs.every(({ now }) => !now.placing) ? "STAND" : null
  }

  /** Plans the next calls while there is no leg, and after a leg has fired or all legs have ended. */
  private goOn(): AttachmentEvent["type"] | null {
    if (this.held.isZero()) this.set({ dealt: this.standing.filled, again: null })
    for (const each of this.live) if (!each.hasTraded && this.isOver(each)) this.drop(each)
    this.shrink()
    if (this.state === "FIRED") this.endParent()
    if (this.standing.again !== null) return this.sendAgain(this.standing.again)
    if (this.standing.unplaced.length > 0) return this.placeAgain(this.target()) ? "FIRE" : null
    const uncovered = this.heldOf(new MoneyDecimal(this.standing.filled).sub(this.standing.dealt))
    if (uncovered.gt(nothing)) return this.newRound(uncovered)
    const isDone =
      this.state === "FIRED" ? this.live.length === 0 : this.state === "ARMED" && !this.standing.parentWorks
    return isDone ? "CLOSE" : null
  }

  /** The quantity for the legs of this round: the parent's fills since the last round, less those that the legs have closed. */
  private target(): MoneyDecimal {
    const { filled, before, taken } = this.standing
    const takenNow = sumOf(this.ofRound().map(({ now }) => new MoneyDecimal(now.filledQty)))
    return this.heldOf(new MoneyDecimal(filled).sub(before).sub(taken).sub(takenNow))
  }

  /** The part of a quantity that is still held and not claimed by a fired leg. */
  private heldOf(qty: MoneyDecimal): MoneyDecimal {
    return MoneyDecimal.max(nothing, MoneyDecimal.min(qty, this.held.sub(this.resting())))
  }

  /** The quantity that fired legs may still trade. */
  private resting(): MoneyDecimal {
    return sumOf(this.live.filter(isFired).map(restOf))
  }

  /** Adjusts a waiting leg to a quantity. */
  private follow(each: Live, target: MoneyDecimal): void {
    if (target.isZero()) return this.drop(each)
    const askedFor = this.standing.filled
    if (new MoneyDecimal(each.now.qty).eq(target) && !each.now.changing) {
      each.leg = { ...each.leg, asked: this.text(target), askedFor, standsFor: askedFor }
    } else this.resize(each, target, askedFor)
  }

  /** Limits a fired leg to the held quantity. */
  private shrink(): void {
    let left = this.held
    for (const each of this.live.filter(isFired)) {
      const rest = MoneyDecimal.min(restOf(each), left)
      left = left.sub(rest)
      if (rest.isZero()) this.drop(each)
      else if (!rest.eq(restOf(each))) this.resize(each, rest.add(each.now.filledQty), each.leg.askedFor)
    }
  }

  /** Requests another quantity once no change is in flight; a lost or refused request is repeated a few times. */
  private resize(each: Live, to: MoneyDecimal, askedFor: string): void {
    const { orderId, asked, tries } = each.leg
    const isSame = to.eq(asked)
    if (each.now.changing || (isSame && tries >= mostAmends)) return
    const qty = this.text(to)
    this.amend.push({ orderId, qty })
    each.leg = { ...each.leg, asked: qty, askedFor, tries: isSame ? tries + 1 : 1 }
  }

  private drop({ leg, now }: Live): void {
    if (!now.changing && now.cancels < mostCancels) this.cancel.push(leg.orderId)
  }

  /** Cancels the remaining quantity of a parent whose leg has fired. */
  private endParent(): void {
    const { parent } = this.around
    if (parent !== null && parent.works && !parent.changing && parent.cancels < mostCancels) this.cancelParent = true
  }

  private sendAgain(again: Again): AttachmentEvent["type"] | null {
    const { atMarket, parentWorks, filled } = this.standing
    const { role, waits } = again
    const qty = this.target()
    if (qty.isZero()) this.set({ again: null, dealt: filled, unplaced: [] })
    else if (atMarket >= mostAtMarket) {
      this.set({ again: null, dealt: filled })
      this.isNotPlaced(again, true, "no counterparty")
    } else if (!waits || !parentWorks) {
      this.sendAtMarket(role, qty)
      return "FIRE"
    }
    return null
  }

  private newRound(qty: MoneyDecimal): AttachmentEvent["type"] {
    const { round, dealt } = this.standing
    this.set({ round: round + 1, before: dealt, taken: "0", traded: false, atMarket: 0 })
    const roles = legRoles.filter((role) => this.of[role] !== null)
    const passed = roles.find((role) => this.isPassed(role))
    if (passed !== undefined) {
      this.sendAtMarket(passed, qty)
      return "FIRE"
    }
    for (const role of roles) this.place.push(this.newLeg(role, qty, false))
    return "PLACE"
  }

  private sendAtMarket(role: LegRole, qty: MoneyDecimal): void {
    const { filled, atMarket } = this.standing
    this.place.push(this.newLeg(role, qty, true))
    const unplaced = this.standing.unplaced.flatMap((each) => (each.role === role ? { ...each, atMarket: true } : []))
    this.set({ again: null, atMarket: atMarket + 1, dealt: filled, unplaced })
  }

  private newLeg(role: LegRole, qty: MoneyDecimal, atMarket: boolean): Omit<Leg, "orderId"> {
    const { round, filled } = this.standing
    return { role, round, atMarket, asked: this.text(qty), askedFor: filled, tries: 0, standsFor: filled }
  }

  private isPassed(role: LegRole): boolean {
    const { mark } = this.around
    const level = this.of[role]
    if (mark === null || level === null) return false
    return legDirection(role, this.of.side) === "AT_OR_ABOVE" ? mark.gte(level.price) : mark.lte(level.price)
  }

  /** Whether a leg without a trade is not needed any more. */
  private isOver(each: Live): boolean {
    return this.state === "CLOSED" || this.held.isZero() || !this.isOfRound(each) || this.standing.traded
  }

  private ofRound(): ReadonlyArray<Live> {
    return this.live.filter((each) => this.isOfRound(each))
  }

  private isOfRound({ leg }: Live): boolean {
    return leg.round === this.standing.round
  }

  /** Marks the parent's fills up to this quantity as covered by legs. */
  private deal(upTo: string): void {
    this.set({ dealt: this.text(MoneyDecimal.max(this.standing.dealt, upTo)) })
  }

  private set(change: Partial<Standing>): void {
    this.standing = { ...this.standing, ...change }
  }

  private text(figure: MoneyDecimal): string {
    return decimalText(figure, this.of.qtyDecimals)
  }
}

const legNames = { takeProfit: "take profit", stopLoss: "stop loss" } as const

const waitingText = ({ role, attempts, reason }: Unplaced): string =>
  `${legNames[role]} not placed, attempt ${attempts}: ${reason}; it is placed again`

/** Whether a leg that has ended must be sent again at MARKET. */
const againOf = ({ role, orderId }: Leg, { qty, filledQty, why, cancels }: OrderNow): Again | null => {
  if (cancels > 0 || new MoneyDecimal(filledQty).gte(qty)) return null
  if (hadNoCounterparty(why)) return { role, orderId, waits: true }
  return why === passedAlready ? { role, orderId, waits: false } : null
}

const isFired = ({ leg, hasTraded }: Live): boolean => hasTraded || leg.atMarket

const restOf = ({ now }: Live): MoneyDecimal => new MoneyDecimal(now.qty).sub(now.filledQty)

const sumOf = (figures: ReadonlyArray<MoneyDecimal>): MoneyDecimal =>
  figures.reduce((total, figure) => total.add(figure), nothing)
