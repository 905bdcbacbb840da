/** The subjects in the host's memory: those in use, and the idle ones that were used last. */
import type { SubjectKey } from "../journal/Commit.ts"
import { ShortLivedMap } from "../ShortLivedMap.ts"
import { type Actor, newActor } from "./Actor.ts"

/** The most idle subjects that one eviction checks. */
const checkedAtMost = 64

export class Residents {
  private readonly actors = new ShortLivedMap<SubjectKey, Actor>()
  private readonly limit: number
  private uses = 0

  /** `limit`: how many idle subjects stay in memory. */
  constructor(limit: number) {
    this.limit = limit
  }

  get size(): number {
    return this.actors.size
  }

  /** The actor of a subject. An actor that is created here has not loaded its rows yet. */
  get(subject: SubjectKey): Actor {
    const found = this.actors.get(subject)
    const use = ++this.uses
    if (found !== undefined) {
      // The map's order is approximately that of last use: an actor that was moved to the end recently is not moved again.
      if (use - found.movedAt > this.limit >> 2) {
        this.actors.delete(subject)
        this.actors.set(subject, found)
        found.movedAt = use
      }
      return found
    }
    const actor = newActor(subject)
    actor.movedAt = use
    // The eviction runs first: the new actor is idle for a moment too, and if it were evicted now, its subject would get a second
    // mailbox later.
    if (this.actors.size >= this.limit) this.evict()
    this.actors.set(subject, actor)
    return actor
  }

  /** Removes the actor of a subject. An actor that was loaded outside its mailbox was never added, so nothing happens. */
  forget(actor: Actor): void {
    if (this.actors.get(actor.subject) === actor) this.actors.delete(actor.subject)
  }

  /** Drops idle subjects, least recently used first. */
  private evict(): void {
    let checked = 0
    for (const actor of this.actors.values()) {
      if (this.actors.size < this.limit || ++checked > checkedAtMost) return
      if (!actor.busy && !actor.loading && actor.queue.length === 0) this.actors.delete(actor.subject)
    }
  }
}
