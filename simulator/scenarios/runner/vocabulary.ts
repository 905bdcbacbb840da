/**
 * Short names of the partner's routes, which steps use instead of method, path and body. A sample body is complete and valid; a
 * step's `body`, `with` and `without` change its members.
 */
import { sampleOnboarding } from "../../../src/machines/kyc/sampleOnboarding.ts"
import { sampleMifid } from "../../../src/machines/mifid/sampleMifid.ts"
import { closest } from "../../../src/machines/shared/closest.ts"

/** The values from which a sample body is made. */
export interface SampleInput {
  /** Arguments of the short name by their names in the table, with variables replaced. */
  readonly words: Readonly<Record<string, string>>
  /** Number of the named client's person in this scenario. */
  readonly person: number
  /** Letters and digits that separate runs. */
  readonly tag: string
  /** Business time, Unix ms; for steps with one Idempotency-Key, the time of the first such step. */
  readonly now: number
  /** A new reference; steps with one Idempotency-Key share it. */
  readonly fresh: () => string
  /** The submission for an outcome, as `sim answers` prints it. */
  readonly answers: (outcome: string) => Promise<unknown>
}

export interface ShortName {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** Arguments in braces are inserted; `{CLIENT}` is the id of a client of the scenario. */
  readonly path: string
  /** Arguments after the name; one in brackets is optional. */
  readonly words: ReadonlyArray<string>
  readonly does: string
  readonly sample?: (input: SampleInput) => unknown
}

const money = ({ words, fresh }: SampleInput) => ({
  partnerRef: fresh(),
  currency: words.CURRENCY ?? "USDC",
  amount: words.AMOUNT
})

const knockOut = ({ words }: SampleInput) => ({
  symbol: "BTC-USDC-KO",
  side: words.SIDE,
  qty: words.QTY,
  barrier: { level: words.BARRIER, ...(words.TAKE_PROFIT === undefined ? {} : { takeProfit: words.TAKE_PROFIT }) }
})

/** A sample order: a limit order if a price is given, otherwise a market order. */
const orderIn =
  (symbol: string) =>
  ({ words: { SIDE: side, QTY: qty, PRICE: price } }: SampleInput) => ({
    symbol,
    side,
    qty,
    ...(price === undefined ? { type: "MARKET" } : { type: "LIMIT", price })
  })
const ordered = ["CLIENT", "SIDE", "QTY", "[PRICE]"] as const
const perpetual = "BTC-USDC-PERP"

const person = ({ person, tag, now }: SampleInput) => sampleOnboarding(person, tag, now)

/** An argument as a count; throws the fault as a sentence. */
const wholeOf = (word: string, most: number): number => {
  const count = Number(word)
  if (/^[0-9]{1,9}$/.test(word) && count <= most) return count
  throw new Error(`"${word}" is not a whole number up to ${most}.`)
}

/** A one-pixel PNG padded to the given size: bytes after the end of a PNG are ignored. */
const picture = (bytes: string | undefined): string => {
  const png = Buffer.from(pixel, "base64")
  return Buffer.concat([png], Math.max(png.length, wholeOf(bytes ?? "0", 64 * 1024 * 1024))).toString("base64")
}
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export const shortNames: Readonly<Record<string, ShortName>> = {
  onboard: {
    method: "POST",
    path: "/clients",
    words: ["NAME"],
    does: "onboards a new invented person; `$NAME` is the client from then on",
    sample: person
  },
  revise: {
    method: "PUT",
    path: "/clients/{CLIENT}/kyc",
    words: ["CLIENT"],
    does: "resends all sections of the person",
    sample: (input) => {
      const { kyc, identityCheck, attestation } = person(input)
      return { kyc, identityCheck, attestation }
    }
  },
  mifid: {
    method: "PUT",
    path: "/clients/{CLIENT}/mifid",
    words: ["CLIENT"],
    does: "sends the four MiFID blocks",
    sample: sampleMifid
  },
  answer: {
    method: "POST",
    path: "/clients/{CLIENT}/appropriateness",
    words: ["CLIENT", "OUTCOME"],
    does: "takes the appropriateness test with answers that give PASS, WARN or FAIL",
    sample: ({ words, answers }) => answers(words.OUTCOME ?? "")
  },
  acknowledge: {
    method: "POST",
    path: "/clients/{CLIENT}/appropriateness/acknowledge",
    words: ["CLIENT"],
    does: "acknowledges the warning of a WARN",
    sample: ({ now }) => ({ acknowledgedAt: now })
  },
  upload: {
    method: "POST",
    path: "/clients/{CLIENT}/documents",
    words: ["CLIENT", "[BYTES]"],
    does: "uploads an identity document: a minimal picture, or one of BYTES bytes",
    sample: ({ words }) => ({
      name: "passport.png",
      contentType: "image/png",
      dataBase64: picture(words.BYTES),
      purpose: "identity"
    })
  },
  deposit: {
    method: "POST",
    path: "/clients/{CLIENT}/deposits",
    words: ["CLIENT", "AMOUNT", "[CURRENCY]"],
    does: "files a deposit notice (BROKER custody)",
    sample: money
  },
  withdraw: {
    method: "POST",
    path: "/clients/{CLIENT}/withdrawals",
    words: ["CLIENT", "AMOUNT", "[CURRENCY]"],
    does: "files a withdrawal request (BROKER custody)",
    sample: money
  },
  cancel: {
    method: "POST",
    path: "/clients/{CLIENT}/withdrawals/{REQUEST}/cancel",
    words: ["CLIENT", "REQUEST"],
    does: "cancels a withdrawal request"
  },
  report: {
    method: "POST",
    path: "/clients/{CLIENT}/collateral",
    words: ["CLIENT", "DIRECTION", "AMOUNT"],
    does: "reports collateral, DEPOSIT or WITHDRAWAL (PARTNER custody)",
    sample: ({ words, fresh }) => ({ partnerRef: fresh(), direction: words.DIRECTION, amount: words.AMOUNT })
  },
  settle: {
    method: "POST",
    path: "/settlement/items/{ITEM}/report",
    words: ["ITEM", "STATUS"],
    does: "reports a settlement item SETTLED or FAILED",
    sample: ({ words, fresh }) => ({
      status: words.STATUS,
      ...(words.STATUS === "SETTLED" ? { partnerTxRef: fresh() } : {})
    })
  },
  bulk: {
    method: "POST",
    path: "/settlement/report",
    words: ["ITEM", "COUNT"],
    does: "reports a settlement item SETTLED COUNT times in one list; `with` replaces entries (`items.0`)",
    sample: ({ words, fresh }) => {
      const entry = { itemId: Number(words.ITEM), status: "SETTLED", partnerTxRef: fresh() }
      return { items: Array.from({ length: wholeOf(words.COUNT ?? "", 10_000) }, () => entry) }
    }
  },
  rfq: {
    method: "POST",
    path: "/clients/{CLIENT}/rfq",
    words: ["CLIENT", "SIDE", "QTY", "BARRIER", "[TAKE_PROFIT]"],
    does: "requests quotes on a knock-out contract in BTC-USDC-KO, BUY or SELL; the first acceptable one is accepted",
    sample: knockOut
  },
  preview: {
    method: "POST",
    path: "/clients/{CLIENT}/rfq/preview",
    words: ["CLIENT", "SIDE", "QTY", "BARRIER", "[TAKE_PROFIT]"],
    does: "previews such a request: its answer and cost",
    sample: knockOut
  },
  accept: {
    method: "POST",
    path: "/clients/{CLIENT}/rfq/{RFQ}/accept",
    words: ["CLIENT", "RFQ", "QUOTE"],
    does: "accepts a quote explicitly",
    sample: ({ words }) => ({ quoteId: Number(words.QUOTE) })
  },
  drop: {
    method: "POST",
    path: "/clients/{CLIENT}/rfq/{RFQ}/cancel",
    words: ["CLIENT", "RFQ"],
    does: "cancels a request for quotes"
  },
  close: {
    method: "POST",
    path: "/clients/{CLIENT}/barriers/{CONTRACT}/close",
    words: ["CLIENT", "CONTRACT"],
    does: "requests quotes to close a contract; the first acceptable one is accepted",
    sample: () => ({})
  },
  request: {
    method: "GET",
    path: "/clients/{CLIENT}/rfq/{RFQ}",
    words: ["CLIENT", "RFQ"],
    does: "a request for quotes, with its quotes"
  },
  contracts: {
    method: "GET",
    path: "/clients/{CLIENT}/barriers?state={STATE}",
    words: ["CLIENT", "STATE"],
    does: "the client's contracts, `open` or `history`, newest first"
  },
  order: {
    method: "POST",
    path: "/clients/{CLIENT}/orders",
    words: ordered,
    does: "places an order in BTC-USDC-PERP, BUY or SELL: LIMIT with a price, else MARKET; `body` changes members",
    sample: orderIn(perpetual)
  },
  spot: {
    method: "POST",
    path: "/clients/{CLIENT}/orders",
    words: ordered,
    does: "places such an order in BTC-USDC, the spot market",
    sample: orderIn("BTC-USDC")
  },
  estimate: {
    method: "POST",
    path: "/clients/{CLIENT}/margin/preview",
    words: ordered,
    does: "previews such an order in BTC-USDC-PERP: its answer and margin (bare)",
    sample: orderIn(perpetual)
  },
  explain: {
    method: "POST",
    path: "/clients/{CLIENT}/orders/explain",
    words: ordered,
    does: "the gates of such an order in BTC-USDC-PERP, one by one",
    sample: orderIn(perpetual)
  },
  pull: {
    method: "DELETE",
    path: "/clients/{CLIENT}/orders/{ORDER}",
    words: ["CLIENT", "ORDER"],
    does: "cancels an order"
  },
  leverage: {
    method: "PUT",
    path: "/clients/{CLIENT}/leverage",
    words: ["CLIENT", "LEVERAGE"],
    does: "sets the leverage of BTC-USDC-PERP (bare)",
    sample: ({ words }) => ({ symbol: perpetual, leverage: wholeOf(words.LEVERAGE ?? "", 1_000) })
  },
  orders: {
    method: "GET",
    path: "/clients/{CLIENT}/orders",
    words: ["CLIENT"],
    does: "the client's orders, newest first (bare)"
  },
  working: {
    method: "GET",
    path: "/clients/{CLIENT}/orders/open",
    words: ["CLIENT"],
    does: "the client's working and in-flight orders, newest first"
  },
  positions: {
    method: "GET",
    path: "/clients/{CLIENT}/positions",
    words: ["CLIENT"],
    does: "positions in perpetuals (bare)"
  },
  trades: { method: "GET", path: "/clients/{CLIENT}/trades", words: ["CLIENT"], does: "trades, newest first (bare)" },
  margin: {
    method: "GET",
    path: "/clients/{CLIENT}/margin",
    words: ["CLIENT"],
    does: "margin figures and risk state (bare)"
  },
  notifications: {
    method: "GET",
    path: "/clients/{CLIENT}/notifications",
    words: ["CLIENT"],
    does: "the client's notification feed, oldest first"
  },
  client: { method: "GET", path: "/clients/{CLIENT}", words: ["CLIENT"], does: "the client's row" },
  kyc: { method: "GET", path: "/clients/{CLIENT}/kyc", words: ["CLIENT"], does: "the latest KYC package" },
  verification: {
    method: "GET",
    path: "/clients/{CLIENT}/verification",
    words: ["CLIENT"],
    does: "level, blocks and missing requirements"
  },
  documents: {
    method: "GET",
    path: "/clients/{CLIENT}/documents",
    words: ["CLIENT"],
    does: "the client's documents"
  },
  balances: { method: "GET", path: "/clients/{CLIENT}/balances", words: ["CLIENT"], does: "balances (bare)" },
  ledger: { method: "GET", path: "/clients/{CLIENT}/ledger", words: ["CLIENT"], does: "postings, newest first" },
  items: {
    method: "GET",
    path: "/settlement/items?clientId={CLIENT}",
    words: ["CLIENT"],
    does: "the client's settlement items, newest first"
  }
}

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"] as const
export type Method = (typeof methods)[number]

/** A parsed `partner` line: a method and path, a short name with its arguments, or the fault of an invalid line. */
export type PartnerLine =
  | { readonly type: "route"; readonly method: Method; readonly path: string }
  | {
      readonly type: "short"
      readonly name: string
      readonly short: ShortName
      readonly words: Readonly<Record<string, string>>
    }
  | { readonly type: "wrong"; readonly sentence: string }

export const parseLine = (line: string): PartnerLine => {
  const [first = "", ...rest] = line.trim().split(/\s+/)
  if ((methods as ReadonlyArray<string>).includes(first)) {
    const [path = ""] = rest
    return rest.length === 1 && path.startsWith("/")
      ? { type: "route", method: first as Method, path }
      : { type: "wrong", sentence: `${first} needs exactly one path that begins with /` }
  }
  const short = Object.hasOwn(shortNames, first) ? shortNames[first] : undefined
  if (short === undefined) {
    const known = [...methods, ...Object.keys(shortNames)]
    return { type: "wrong", sentence: `partner has no line "${first}"${closest(first, known)}` }
  }
  const least = short.words.filter((word) => !word.startsWith("[")).length
  if (rest.length < least || rest.length > short.words.length) {
    return { type: "wrong", sentence: `usage: ${first} ${short.words.join(" ")}` }
  }
  const words = Object.fromEntries(rest.map((word, at) => [(short.words[at] ?? "").replaceAll(/[[\]]/g, ""), word]))
  return { type: "short", name: first, short, words }
}

/** The fault in a `partner` line; null if it is valid. */
export const complaintOf = (line: string): string | null => {
  const parsed = parseLine(line)
  return parsed.type === "wrong" ? parsed.sentence : null
}

/** Whether a `partner` line is a GET or HEAD request; false for an invalid line. */
export const isRead = (line: string): boolean => {
  const parsed = parseLine(line)
  if (parsed.type === "wrong") return false
  const method = parsed.type === "route" ? parsed.method : parsed.short.method
  return method === "GET" || method === "HEAD"
}
