/**
 * The bound on the memory that bodies still being read may hold, over all connections: caps bound one body, not how many
 * arrive at once (architecture 8). Small bodies have a part of it to themselves, and of each part one holder (a principal,
 * the operator surface) gets a share: whoever sends slowly, or much at once, stands in its own way alone. Over its
 * share a caller waits a little and is then asked to come back, instead of the process running out of memory.
 */
import { bodyBudget } from "../../machines/shared/Limits.ts"
import type { PrincipalId } from "../../runtime/services/shared/Principal.ts"

/** Who holds memory: a principal, or a surface whose bodies are read before it is known. */
export type BodyHolder = PrincipalId | "operator"

export interface BodyBudgetOptions {
  /** What all bodies may hold together. */
  readonly bytes?: number
  /** How long a body waits for room in all, wall milliseconds. */
  readonly waitMillis?: number
}

interface Waiter {
  readonly holder: BodyHolder
  readonly bytes: number
  readonly granted: () => void
}

/** One part of the budget: a bound over all holders and one for each of them. */
class Part {
  private left: number
  private readonly share: number
  private readonly held = new Map<BodyHolder, number>()
  private readonly waiting = new Set<Waiter>()

  constructor(bytes: number, share: number) {
    this.left = bytes
    this.share = share
  }

  take(holder: BodyHolder, bytes: number): boolean {
    const held = (this.held.get(holder) ?? 0) + bytes
    if (bytes > this.left || held > this.share) return false
    this.left -= bytes
    this.held.set(holder, held)
    return true
  }

  give(holder: BodyHolder, bytes: number): void {
    if (bytes === 0) return
    const held = (this.held.get(holder) ?? 0) - bytes
    if (held > 0) this.held.set(holder, held)
    else this.held.delete(holder)
    this.left += bytes
    for (const waiter of this.waiting) {
      if (!this.take(waiter.holder, waiter.bytes)) continue
      this.waiting.delete(waiter)
      waiter.granted()
    }
  }

  /** Takes bytes as soon as there is room, the longest waiting first. Answers how to stop waiting. */
  wait(waiter: Waiter): () => void {
    this.waiting.add(waiter)
    return () => this.waiting.delete(waiter)
  }
}

/** One holder's room in the part that its body belongs to. */
export interface BodyRoom {
  /** Takes bytes, all or none; whether there were enough left. */
  take(bytes: number): boolean
  /** Gives back what was taken. */
  give(bytes: number): void
  /** Takes bytes within what is left of the body's waiting and says whether they were got. Answers how to stop. */
  wait(bytes: number, done: (taken: boolean) => void): () => void
}

export class BodyBudget {
  private readonly small: Part
  private readonly large: Part
  private readonly waitMillis: number

  constructor({ bytes = bodyBudget.bytes, waitMillis = bodyBudget.waitMillis }: BodyBudgetOptions = {}) {
    const forSmall = Math.floor(bytes * bodyBudget.smallPart)
    this.small = new Part(forSmall, Math.min(bodyBudget.smallShare, forSmall))
    this.large = new Part(bytes - forSmall, Math.min(bodyBudget.largeShare, bytes - forSmall))
    this.waitMillis = waitMillis
  }

  /** The room for one body of a holder, by the longest that its route allows. */
  room(holder: BodyHolder, cap: number): BodyRoom {
    const part = cap <= bodyBudget.smallCap ? this.small : this.large
    // In all: bodies that together are too many would otherwise keep each other waiting, piece by piece.
    let left = this.waitMillis
    return {
      take: (bytes) => part.take(holder, bytes),
      give: (bytes) => part.give(holder, bytes),
      wait: (bytes, done) => {
        const since = performance.now()
        const granted = (): void => {
          clearTimeout(timer)
          left = Math.max(0, left - (performance.now() - since))
          done(true)
        }
        const stop = part.wait({ holder, bytes, granted })
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
  }
}
