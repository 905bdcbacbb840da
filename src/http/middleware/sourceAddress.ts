/**
 * The caller's address, and whether an allowlist admits it. IPv4-mapped peers count as IPv4. X-Forwarded-For counts only when
 * it comes from the operator's own edge hosts, and only its last hop, because callers can forge the others (doc 1,
 * Authentication: IP allowlist; A1-08, CIDR-001).
 */
import ipaddr from "ipaddr.js"

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [Address, number]

/**
 * Parses an address in its single canonical form: four plain decimal parts, alone or mapped into IPv6, or the form of RFC 5952.
 * Null for other forms (octal, hexadecimal, shortened, one number), which mean different addresses to different parsers.
 */
const parseAddress = (text: string): Address | null => {
  const plain = text.startsWith("::ffff:") ? text.slice("::ffff:".length) : text
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain)
  if (!ipaddr.IPv6.isValid(text)) return null
  const address = ipaddr.IPv6.parse(text)
  if (address.toRFC5952String() !== text) return null
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/** Parses a range; a bare address counts as /32 or /128. Null for any other text. `cidrErrors` validates new lists. */
const parseRange = (range: string): Range | null => {
  const [text = "", bits, ...rest] = range.split("/")
  const v4 = ipaddr.IPv4.isValidFourPartDecimal(text)
  if (rest.length > 0 || (!v4 && (text.includes(".") || !ipaddr.IPv6.isValid(text)))) return null
  const widest = v4 ? 32 : 128
  const prefix = bits === undefined ? widest : /^(0|[1-9][0-9]{0,2})$/.test(bits) ? Number(bits) : Infinity
  return prefix > widest ? null : [ipaddr.parse(text), prefix]
}

const parsed = new WeakMap<ReadonlyArray<string>, ReadonlyArray<Range>>()

/** The parsed ranges, cached per list object: lists are replaced, never changed. An unreadable entry admits no address. */
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

/** Whether an allowlist admits an address. An empty list admits all. */
export const admits = (cidrs: ReadonlyArray<string>, ip: string): boolean =>
  cidrs.length === 0 || cidrContains(cidrs, ip)

/** The caller's address: the peer's, or the last hop that the operator's own edge recorded. Empty if unknown. */
export const sourceAddress = (
  peer: string | undefined,
  forwardedFor: string | ReadonlyArray<string> | undefined,
  edgeHosts: ReadonlyArray<string>
): string => {
  const direct = peer ?? ""
  if (edgeHosts.length === 0 || forwardedFor === undefined || !cidrContains(edgeHosts, direct)) return direct
  const list = typeof forwardedFor === "string" ? forwardedFor : forwardedFor.join(",")
  const hop = list.slice(list.lastIndexOf(",") + 1).trim()
  // An address with a zone is not accepted: a zone has a meaning only on its own machine.
  return hop.includes("%") || parseAddress(hop) === null ? "" : hop
}
