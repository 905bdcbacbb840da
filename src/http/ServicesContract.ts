// Two small services the edge needs and the runtime gives: whether the service can work now, and when a key was last
// used (A1-06, A1-55).
import { Context, type Effect } from "effect"

/** Whether the database can be reached: /healthz answers 503 when not. */
export class Health extends Context.Service<Health, { readonly check: Effect.Effect<boolean> }>()(
  "brokerage/http/Health"
) {}

export class KeyUsage extends Context.Service<
  KeyUsage,
  {
    /** Notes a use at `now` (Unix ms), written down at most once a minute; never waits and never fails. */
    readonly touch: (keyId: number, now: number) => void
    /** The last noted use before this call, or null. */
    readonly lastUsedAt: (keyId: number) => number | null
  }
>()("brokerage/http/KeyUsage") {}
