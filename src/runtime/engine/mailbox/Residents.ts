/** The subjects that the host keeps in memory: those in use, and the idle ones that were used last. */
import type { SubjectKey } from "../journal/Commit.ts"
import { ShortLivedMap } from "../ShortLivedMap.ts"
import { type Actor, newActor } from "./Actor.ts"

/** Idle subjects that one eviction checks at most. */
const checkedAtMost = 64

export class Residents {
  private readonly actors = new ShortLivedMap<SubjectKey, Actor>()
  private readonly limit: number
  private uses = 0

  /** `limit`: idle subjects kept in memory. */
  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.actors.size
  }

  /** The subject's actor. A new one is not loaded. */
  get(subject: SubjectKey): Actor {
    const found = this.actors.get(subject)
    const use = ++this.uses
    if (found !== undefined) {
      // The map's order is that of last use, nearly: an actor that was put at its end lately keeps its place.
      if (use - found.movedAt > this.limit >> 2) {
        this.actors.delete(subject)
        this.actors.set(subject, found)
        found.movedAt = use
      }
      return found
    }
    const actor = newActor(subject)
    actor.movedAt = use
    // Room is made first: the new actor is idle for a moment too, and dropped now it would get a second mailbox later.
    if (this.actors.size >= this.limit) this.evict()
    this.actors.set(subject, actor)
    return actor
  }

  /** Does nothing for an actor that was loaded outside its mailbox. */
  forget(actor: Actor): void {
    if (this.actors.get(actor.subject) === actor) this.actors.delete(actor.subject)
  }

  /** Drops idle subjects, the longest unused first. */
  private evict(): void {
    let checked = 0
    for (const actor of this.actors.values()) {
      if (this.actors.size < this.limit || ++checked > checkedAtMost) return
      if (!actor.busy && !actor.loading && actor.queue.length === 0) this.actors.delete(actor.subject)
    }
  }
}
