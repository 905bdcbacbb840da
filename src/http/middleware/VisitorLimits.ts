/**
 * Limits callers without a key on the public pages: a rate and a number of simultaneous pages per address, and a total.
 * Partners and operators do not count.
 */
import ipaddr from "ipaddr.js"
import { AddressMap } from "./AddressMap.ts"

export interface VisitorBounds {
  /** Limit on pages that are being sent; `sendingPerSource` is the limit for one address. */
  readonly sending: number
  readonly sendingPerSource: number
  /** Limit on pages in 60 seconds to one address. */
  readonly perMinute: number
  /** Limit on remembered addresses; the one that has been idle longest is evicted. */
  readonly sources: number
}

/** A page with its script is one request and browsers cache it, but a whole office may share one address. */
export const usualVisitorBounds: VisitorBounds = { sending: 64, sendingPerSource: 8, perMinute: 120, sources: 10_000 }

/** Whether a page may be sent now; `retrySeconds` is the wait before a retry. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly leave: () => void }
  /** The address has used up its share. */
  | { readonly _tag: "OverShare"; readonly retrySeconds: number }
  /** Too many pages are being sent. */
  | { readonly _tag: "Full"; readonly retrySeconds: number }

interface Source {
  sending: number
  /** The pages left at the time `at` (wall milliseconds); they refill with time. */
  left: number
  at: number
}

const minute = 60_000

export class VisitorLimits {
  private readonly bounds: VisitorBounds
  private readonly sources: AddressMap<Source>
  private sending = 0

  constructor(bounds: Partial<VisitorBounds> = {}) {
    this.bounds = { ...usualVisitorBounds, ...bounds }
    this.sources = new AddressMap(this.bounds.sources)
  }

  /** Takes a place for one page to an address (empty when unknown); `leave` frees the place. `now`: wall ms. */
  enter(address: string, now: number): Admission {
    const { sending, sendingPerSource, perMinute } = this.bounds
    if (this.sending >= sending) return { _tag: "Full", retrySeconds: 1 }
    const source = this.sources.take(networkOf(address), () => ({ sending: 0, left: perMinute, at: now }))
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
}

/** An IPv4 address, or the /64 network of an IPv6 address: a host with one address of a /64 can use all of them. */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return ""
  const parsed = ipaddr.process(address)
  return parsed.kind() === "ipv4" ? parsed.toString() : (parsed as ipaddr.IPv6).parts.slice(0, 4).join(":")
}
