/**
 * Caches values by state and key (for example a depth or a limit). All readers get the same object until the state
 * changes, so that it is serialised once.
 */
import { ShortLivedMap } from "../../engine/ShortLivedMap.ts"

export class Shared<K, A extends object> {
  private state: unknown = null
  private readonly made = new ShortLivedMap<K, A>()
  private readonly kept: number

  /** `kept`: how many keys are cached for the present state. */
  constructor(kept = 1) {
    this.kept = kept
  }

  /** The cached value of a key, made by `make` if there is none. A different `state` object drops all cached values. */
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
