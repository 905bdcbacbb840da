/**
 * The error sentences of the delivery log: at most 256 bytes, without control characters and without the signing
 * secret, whatever the receiver sent (A3-33).
 */
import { webhookLimits } from "../../../machines/shared/Limits.ts"

/** The longest prefix of `text` within `bytes` bytes of UTF-8; it never splits a character. */
const cut = (text: string, bytes: number): string => {
  const encoded = Buffer.from(text, "utf8")
  if (encoded.length <= bytes) return text
  let end = bytes
  // A byte of the form 10xxxxxx is not the first of its character, so the cut moves back to the character's first byte.
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end--
  return encoded.toString("utf8", 0, end)
}

/** Foreign text as one printable line: control and separator characters become spaces, and invisible ones are removed. */
const printable = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim()

const bounded = (text: string): string => cut(text, webhookLimits.failureBodyKeptBytes)

// Matches every signing secret by its form, not only the present one: the receiver may echo the next secret, and a
// truncated body may end in the middle of one.
const anySecret = /whs_[A-Za-z0-9_-]*/g

/** The sentence for a response other than a 2xx. `body`: the part of the body that was read. */
export const answerError = (status: number, body: string): string => {
  if (status >= 300 && status < 400) return `The endpoint answered ${status}: redirects are not followed.`
  const text = printable(body).replaceAll(anySecret, "[secret]")
  return bounded(text === "" ? `The endpoint answered ${status}.` : `The endpoint answered ${status}: ${text}`)
}

export const silenceError = (limitMillis: number): string =>
  `The endpoint did not answer within ${limitMillis / 1_000} seconds.`

// Error codes of Node and OpenSSL for rejected certificates.
const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ISSUER|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE/

/** The sentence for a connection that failed before a response. */
export const connectionError = (error: unknown): string => {
  const code = (error as { readonly code?: unknown }).code
  const name = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : "the connection broke"
  return certificateCodes.test(name)
    ? `The endpoint's certificate is not trusted: ${name}.`
    : `The connection failed: ${name}.`
}

export const interimError = (limit: number): string => `The endpoint sent more than ${limit} interim answers.`
export const unansweredError = "The endpoint closed the connection without an answer."
export const unreadableUrlError = "The endpoint's url can not be used."
