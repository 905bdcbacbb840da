/**
 * Limits the memory of bodies that are still arriving, over all connections: body caps limit one body, but not the number of
 * bodies. Small bodies have their own part of the budget. In each part, one holder (a principal or the operator surface) gets
 * a share, so a slow or greedy holder delays only its own bodies. A body over its share waits for a short time and then gets
 * 503; without this limit the process could run out of memory.
 */
import { bodyBudget } from "../../machines/shared/Limits.ts"
import type { PrincipalId } from "../../runtime/services/shared/KeyedRequest.ts"

/** The holder of memory: a principal, or the operator surface, whose bodies are read before the key is known. */
export type BodyHolder = PrincipalId | "operator"

export interface BodyBudgetOptions {
  /** Limit on the bytes of all bodies together. */
  readonly bytes?: number
  /** The total time that one body may wait for memory, wall milliseconds. */
  readonly waitMillis?: number
}

interface Waiter {
  readonly holder: BodyHolder
  readonly body: BodyRoom
  readonly bytes: number
  readonly granted: () => void
}

/** The bytes that one holder's bodies have taken. */
interface Holding {
  held: number
  /** The holder's bodies that have taken bytes, oldest first: the oldest has the larger limit. */
  readonly bodies: Set<BodyRoom>
}

/**
 * One part of the budget: a limit over all holders, and a limit per holder. A holder's oldest body may use all the memory
 * that is left. Each further body leaves `reserve` to other holders; otherwise slow uploads of a few holders could fill the
 * part until they end. A `FairLimiter` does not fit. It admits work once and with its whole size, but a body takes bytes
 * piece by piece and keeps the earlier ones. It also blocks all later work behind the first that the capacity can't hold,
 * so one large body would stop the small ones, and it has no larger share for a holder's oldest body.
 */
class Part {
  private left: number
  private readonly share: number
  private readonly reserve: number
  private readonly holdings = new Map<BodyHolder, Holding>()
  private readonly waiting = new Set<Waiter>()

  constructor(bytes: number, share: number, reserve: number) {
    this.left = bytes
    this.share = share
    this.reserve = reserve
  }

  take(holder: BodyHolder, body: BodyRoom, bytes: number): boolean {
    // A request without a body needs no memory, even when the part is full.
    if (bytes === 0) return true
    const holding = this.holdings.get(holder) ?? { held: 0, bodies: new Set() }
    const [oldest = body] = holding.bodies
    const most = Math.min(this.share - holding.held, oldest === body ? this.left : this.left - this.reserve)
    if (bytes > most) return false
    this.left -= bytes
    holding.held += bytes
    holding.bodies.add(body)
    this.holdings.set(holder, holding)
    return true
  }

  /** Gives all bytes of a body back to the part, and serves the waiting bodies that fit now. */
  give(holder: BodyHolder, body: BodyRoom, bytes: number): void {
    const holding = this.holdings.get(holder)
    if (bytes === 0 || holding === undefined) return
    holding.held -= bytes
    holding.bodies.delete(body)
    if (holding.held === 0) this.holdings.delete(holder)
    this.left += bytes
    for (const waiter of this.waiting) {
      if (!this.take(waiter.holder, waiter.body, waiter.bytes)) continue
      this.waiting.delete(waiter)
      waiter.granted()
    }
  }

  /**
   * Waits until the bytes are free and takes them. Waiting bodies are served in order of arrival. Returns a function that
   * cancels the wait.
   */
  wait(waiter: Waiter): () => void {
    this.waiting.add(waiter)
    return () => this.waiting.delete(waiter)
  }
}

/** The memory of one body in its part of the budget. */
export interface BodyRoom {
  /** Takes all of the bytes or none; returns true when they were free. */
  take(bytes: number): boolean
  /** Gives all bytes of the body back to the budget. */
  give(bytes: number): void
  /**
   * Waits for bytes within the body's remaining waiting time, and calls `done` with true when it got them. Returns a function
   * that cancels the wait.
   */
  wait(bytes: number, done: (taken: boolean) => void): () => void
}

export class BodyBudget {
  private readonly small: Part
  private readonly large: Part
  private readonly waitMillis: number

  constructor({ bytes = bodyBudget.bytes, waitMillis = bodyBudget.waitMillis }: BodyBudgetOptions = {}) {
    const forSmall = Math.floor(bytes * bodyBudget.smallPart)
    this.small = new Part(forSmall, Math.min(bodyBudget.smallShare, forSmall), 0)
    this.large = new Part(bytes - forSmall, Math.min(bodyBudget.largeShare, bytes - forSmall), bodyBudget.largeReserve)
    this.waitMillis = waitMillis
  }

  /** The memory account for one body of a holder; `cap` is the body cap of its route. */
  room(holder: BodyHolder, cap: number): BodyRoom {
    const part = cap <= bodyBudget.smallCap ? this.small : this.large
    // The total wait of a body is limited, not the wait for each piece. Otherwise many bodies could keep each other waiting
    // for ever, each with some pieces.
    let left = this.waitMillis
    const body: BodyRoom = {
      take: (bytes) => part.take(holder, body, bytes),
      give: (bytes) => part.give(holder, body, bytes),
      wait: (bytes, done) => {
        const since = performance.now()
        const granted = (): void => {
          clearTimeout(timer)
          left = Math.max(0, left - (performance.now() - since))
          done(true)
        }
        const stop = part.wait({ holder, body, bytes, granted })
        const timer = setTimeout(() => {
          stop()
          done(false)
        }, left)
        return () => {
          clearTimeout(timer)
          stop()
        }
      }
    }
    return body
  }
}
