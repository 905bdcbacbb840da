/**
 * Values that are made once for each state of what they are made of, and by key (a depth, a limit): one object for all
 * readers until the state is another one, so that it is written as JSON once.
 */
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"

export class Shared<K, A extends object> {
  private state: unknown = null
  private readonly made = new ShortLivedMap<K, A>()
  private readonly kept: number

  /** `kept`: values of different keys that are kept of one state. */
  constructor(kept = 1) {
    this.kept = kept
  }

  /** `state`: compared by identity. */
  of(state: unknown, key: K, make: () => A): A {
    if (this.state !== state) {
      this.state = state
      this.made.clear()
    }
    const found = this.made.get(key)
    if (found !== undefined) return found
    if (this.made.size === this.kept) this.made.clear()
    const value = make()
    this.made.set(key, value)
    return value
  }
}
