/** How the service stands with the venue's event stream: set by its reader (VenueEvents), read by whoever shows or judges it. */
import { Context, Layer } from "effect"

export interface LinkState {
  readonly connected: boolean
  /** Since when it is so, wall Unix ms; null: it never was otherwise. */
  readonly since: number | null
  /** Last heartbeat, wall Unix ms. */
  readonly heardAt: number | null
  /** Of the last event that the venue said there is. */
  readonly number: number | null
  /** The business time up to which every event of the venue is taken, Unix ms. Null: no heartbeat has come yet. */
  readonly takenTo: number | null
  /** Business time at the venue and the wall time at which it was heard, Unix ms; a sandbox's alone, null before the first. */
  readonly time: { readonly at: number; readonly heardAt: number } | null
}

export class VenueLink extends Context.Service<
  VenueLink,
  { readonly state: () => LinkState; readonly set: (change: Partial<LinkState>) => void }
>()("brokerage/runtime/services/venue/VenueLink") {
  static readonly layer: Layer.Layer<VenueLink> = Layer.sync(VenueLink, () => {
    let state: LinkState = { connected: false, since: null, heardAt: null, number: null, takenTo: null, time: null }
    return VenueLink.of({ state: () => state, set: (change) => void (state = { ...state, ...change }) })
  })
}
