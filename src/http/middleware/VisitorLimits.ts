/**
 * What callers without a key may take of the pages for readers: so many a minute and so many at a time for one address, and
 * so many at a time in all. Partners and operators are never held against it (architecture 5: the edge owns caps).
 */
import ipaddr from "ipaddr.js"

export interface VisitorBounds {
  /** Pages being sent at a time, in all and to one address. */
  readonly sending: number
  readonly sendingPerSource: number
  /** Pages in 60 seconds to one address. */
  readonly perMinute: number
  /** Addresses remembered; one more costs the one that has asked for nothing longest. */
  readonly sources: number
}

/** A page with its script is one request, and readers keep it; a whole office may have one address. */
export const usualVisitorBounds: VisitorBounds = { sending: 64, sendingPerSource: 8, perMinute: 120, sources: 10_000 }

/** Whether a page may be sent now. `retrySeconds`: when to ask again. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly leave: () => void }
  /** This address has had its share. */
  | { readonly _tag: "OverShare"; readonly retrySeconds: number }
  /** All that may be sent at a time is being sent. */
  | { readonly _tag: "Full"; readonly retrySeconds: number }

interface Source {
  sending: number
  /** Pages left, and when that was counted, wall milliseconds. It fills up with time. */
  left: number
  at: number
}

const minute = 60_000

export class VisitorLimits {
  private readonly bounds: VisitorBounds
  /** The one that asked last stands last. */
  private readonly sources = new Map<string, Source>()
  private sending = 0

  constructor(bounds: Partial<VisitorBounds> = {}) {
    this.bounds = { ...usualVisitorBounds, ...bounds }
  }

  /** Takes a place for one page to an address, empty when it is not known; `leave` gives it back. `now`: wall ms. */
  enter(address: string, now: number): Admission {
    const { sending, sendingPerSource, perMinute } = this.bounds
    if (this.sending >= sending) return { _tag: "Full", retrySeconds: 1 }
    const source = this.sourceOf(networkOf(address), now)
    if (source.sending >= sendingPerSource) return { _tag: "OverShare", retrySeconds: 1 }
    source.left = Math.min(perMinute, source.left + (Math.max(0, now - source.at) * perMinute) / minute)
    source.at = now
    if (source.left < 1) {
      return { _tag: "OverShare", retrySeconds: Math.ceil(((1 - source.left) * minute) / perMinute / 1_000) }
    }
    source.left--
    source.sending++
    this.sending++
    let gone = false
    const leave = (): void => {
      if (gone) return
      gone = true
      source.sending--
      this.sending--
    }
    return { _tag: "Admitted", leave }
  }

  private sourceOf(network: string, now: number): Source {
    const known = this.sources.get(network)
    const source = known ?? { sending: 0, left: this.bounds.perMinute, at: now }
    this.sources.delete(network)
    if (this.sources.size >= this.bounds.sources) {
      const [oldest] = this.sources.keys()
      if (oldest !== undefined) this.sources.delete(oldest)
    }
    this.sources.set(network, source)
    return source
  }
}

/** An IPv4 address, or the network of an IPv6 one: whoever has one address of a /64 has them all. */
const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return ""
  const parsed = ipaddr.process(address)
  return parsed.kind() === "ipv4" ? parsed.toString() : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(":")
}
