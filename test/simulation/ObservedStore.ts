/** The memory store with a window: every commit that is in is shown once, in commit order, with the lane that wrote it. */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { Outcome } from "../../src/runtime/engine/journal/Journal.ts"
import { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"

export class ObservedStore extends MemoryStore {
  /** Called on every commit that is in. */
  onCommit: (commit: Commit) => void = () => {}

  override apply(commit: Commit): Outcome {
    const outcome = super.apply(commit)
    if (outcome._tag === "Committed") this.onCommit(commit)
    return outcome
  }
}

/** The store as one process sees it, with some members replaced: how a mutation bends what a process does to it. */
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
