/**
 * The url of a webhook endpoint, parsed exactly as the sender will parse it: one WHATWG parse, so that every spelling of a
 * host (127.1, 0x7f000001, full-width digits) is checked by its meaning. Whether the host is public is checked elsewhere,
 * because that needs the host's addresses (doc 3, Webhook registration and delivery; A3-32, SSRF-043).
 */
import { webhookUrlMaxLength } from "../shared/Limits.ts"

export type ParsedWebhookUrl =
  | {
      readonly ok: true
      /** The normalised url, which is stored, shown and called. */
      readonly url: string
      /** Lower case, punycode, IPv6 without brackets, no trailing dot. */
      readonly host: string
    }
  | { readonly ok: false; readonly sentence: string }

const refused = (sentence: string): ParsedWebhookUrl => ({ ok: false, sentence })

const notAbsolute = "The url must be an absolute https URL."

/** Parses the `url` of PUT /webhook into a normalised url and its host, or the sentence of its fault. */
export const parseWebhookUrl = (value: unknown): ParsedWebhookUrl => {
  if (value === undefined || value === null) return refused("The url is required.")
  if (typeof value !== "string") return refused("The url must be text.")
  if (value === "") return refused("The url is required.")
  if (value.length > webhookUrlMaxLength) return refused(tooLong)
  // Refused, because parsers differ on them: the URL parser drops tabs and line ends, trims, and reads a backslash as a
  // slash.
  if (/[\s\p{Cc}\\]/u.test(value)) return refused("The url must not contain spaces, control characters or backslashes.")
  // The URL parser also skips extra slashes: in https:///x it would read x as the host.
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(value) ?? []
  if (authority === undefined || !URL.canParse(value)) return refused(notAbsolute)
  if (authority.includes("@")) return refused("The url must not contain a user name or password.")
  if (value.includes("#")) return refused("The url must not contain a fragment.")
  const url = new URL(value)
  // A host name that ends with a dot is the same host, but certificates are issued for the name without it.
  const host = url.hostname.replace(/\.$/, "")
  if (host === "" || host.startsWith(".") || host.includes("..") || host.endsWith(".")) return refused(notAbsolute)
  if (host !== url.hostname) url.hostname = host
  if (url.port === "0") return refused("The url must not have port 0.")
  if (url.href.length > webhookUrlMaxLength) return refused(tooLong)
  return { ok: true, url: url.href, host: host.replace(/^\[|\]$/g, "") }
}

const tooLong = `The url must be at most ${webhookUrlMaxLength.toLocaleString("en")} characters long.`
