/**
 * The memory store with an observer: it receives each written commit once, in commit order, with the lane that wrote
 * it.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Outcome } from "../../src/runtime/engine/journal/Journal.ts"
import { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"

export class ObservedStore extends MemoryStore {
  /** Called on every written commit. */
  onCommit: (commit: Commit) => void = () => {}

  override apply(commit: Commit): Outcome {
    const outcome = super.apply(commit)
    if (outcome._tag === "Committed") this.onCommit(commit)
    return outcome
  }
}

/**
 * The store as one process sees it, with some members replaced. Mutations change the behaviour of a process with it.
 */
export const bentStore = (store: MemoryStore, members: Partial<MemoryStore>): MemoryStore =>
  new Proxy(store, {
    get: (target, name) => {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
    set: (target, name, value) => {
      const holder = Object.hasOwn(members, name) ? members : target
      return Reflect.set(holder, name, value, holder)
    }
  })
