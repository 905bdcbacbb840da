/** The state of the venue's event stream. The reader of the stream sets it (VenueEvents); views and checks read it. */
import { Context, Layer } from "effect"

export interface LinkState {
  readonly connected: boolean
  /** Wall time of the last change of `connected`, Unix ms; null: it has never changed. */
  readonly since: number | null
  /** Wall time of the last heartbeat, Unix ms; null before the first. */
  readonly receivedAt: number | null
  /** The number of the venue's last reported event; null before the first report. */
  readonly number: number | null
  /** Business time up to which every event of the venue is applied, Unix ms; null: no heartbeat has arrived yet. */
  readonly takenTo: number | null
  /**
   * The venue's business time in its last heartbeat, and the wall time of its arrival, Unix ms. Only in a sandbox; null
   * before the first heartbeat.
   */
  readonly time: { readonly at: number; readonly receivedAt: number } | null
}

export class VenueLink extends Context.Service<
  VenueLink,
  { readonly state: () => LinkState; readonly set: (change: Partial<LinkState>) => void }
>()("brokerage/runtime/services/venue/VenueLink") {
  static readonly layer: Layer.Layer<VenueLink> = Layer.sync(VenueLink, () => {
    let state: LinkState = { connected: false, since: null, receivedAt: null, number: null, takenTo: null, time: null }
    return VenueLink.of({ state: () => state, set: (change) => void (state = { ...state, ...change }) })
  })
}
