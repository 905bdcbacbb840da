/** Halts of trading that staff have set here, as a port: those of the venue itself come with its listing (A2-11). */
import { Context } from "effect"

export interface TradingHalt {
  /** ALL, a family, or a symbol. */
  readonly scope: string
  /** Unix ms. */
  readonly since: number
  /** Unix ms; null: until it is lifted. */
  readonly until: number | null
  readonly message: string
}

export class TradingHalts extends Context.Service<
  TradingHalts,
  {
    /** Those in force now, oldest first. Synchronous: readers and turns ask. */
    readonly active: () => ReadonlyArray<TradingHalt>
  }
>()("brokerage/runtime/ports/TradingHalts") {}
