// Where a request comes from, and whether an allowlist admits it (doc 1, Authentication: IP allowlist; A1-08,
// CIDR-001). IPv4-mapped peers count as IPv4; X-Forwarded-For counts only from the operator's own edge hosts, and only
// its last hop, because everything before it is the caller's word.
import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [Address, number]

const parseAddress = (text: string): Address | null => {
  try {
    return ipaddr.process(text)
  } catch {
    return null
  }
}

/** A range, or a bare address as /32 or /128; null when it is neither. */
const parseRange = (text: string): Range | null => {
  try {
    if (text.includes("/")) return ipaddr.parseCIDR(text)
    const address = ipaddr.process(text)
    return [address, address.kind() === "ipv4" ? 32 : 128]
  } catch {
    return null
  }
}

const parsed = new WeakMap<ReadonlyArray<string>, ReadonlyArray<Range>>()

/** Ranges are parsed once per list object; lists are replaced, never changed. An unreadable entry admits nobody. */
const rangesOf = (cidrs: ReadonlyArray<string>): ReadonlyArray<Range> => {
  const known = parsed.get(cidrs)
  if (known !== undefined) return known
  const ranges = cidrs.map(parseRange).filter((range) => range !== null)
  parsed.set(cidrs, ranges)
  return ranges
}

/** Whether an address lies in one of the ranges. */
export const cidrContains = (cidrs: ReadonlyArray<string>, ip: string): boolean => {
  const address = parseAddress(ip)
  if (address === null) return false
  return rangesOf(cidrs).some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
}

/** Whether an allowlist admits an address: an empty one admits everybody. */
export const admits = (cidrs: ReadonlyArray<string>, ip: string): boolean =>
  cidrs.length === 0 || cidrContains(cidrs, ip)

/** The caller's address: the peer's, or the last hop the operator's own edge has written down. */
export const sourceAddress = (
  peer: string | undefined,
  forwardedFor: string | ReadonlyArray<string> | undefined,
  edgeHosts: ReadonlyArray<string>
): string => {
  const direct = peer ?? ""
  if (edgeHosts.length === 0 || forwardedFor === undefined || !cidrContains(edgeHosts, direct)) return direct
  const list = typeof forwardedFor === "string" ? forwardedFor : forwardedFor.join(",")
  return list.slice(list.lastIndexOf(",") + 1).trim()
}
