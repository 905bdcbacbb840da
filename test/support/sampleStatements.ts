/** Input of renderers: statements of every kind with any number of rows, hostile texts and the widest figures. */
import { createHash } from "node:crypto"
import { currentRenderer, schemaOf } from "../../src/machines/statement/Statement.ts"
import type { StatementKind } from "../../src/machines/statement/statementTokens.ts"
import type { ModelRow, SectionFacts, Skeleton } from "../../src/machines/statement/StatementModel.ts"
import type { JobHead, Piece } from "../../src/runtime/adapters/statements/protocol.ts"
import { framesOf, rowText, skeletonOf } from "../../src/runtime/services/statements/model/modelText.ts"

/** Texts that have broken writers of PDF, XML or CSV, or misled readers. */
export const hostileTexts = [
  "=cmd|' /C calc'!A0",
  '"quoted", and, commas',
  "\u202Egnp.exe",
  "</rdf:li><x>&amp;",
  "漢字 \u{1F600} ไทย",
  "(unbalanced \\ parenthesis",
  "line\nbreak\ttab"
] as const

const from = Date.UTC(2026, 0, 1)
const to = Date.UTC(2026, 3, 1)
const minute = 60_000
const widest = "-999999999999999.999999"

export interface SampleSection {
  readonly facts: SectionFacts
  readonly rows: ReadonlyArray<ModelRow>
}

const many = (count: number, row: (at: number) => ModelRow): ReadonlyArray<ModelRow> =>
  Array.from({ length: count }, (_, at) => row(at))

const amountOf = (at: number): string =>
  at % 7 === 3 ? widest : `${at % 2 === 0 ? "" : "-"}${at * 137}.${String(at % 1000).padStart(6, "0")}`

const accountRow = (at: number): ModelRow => ({
  postingId: 1_000_000_000_000 + at,
  txId: 900_000_000_000 + at,
  ts: from + at * minute,
  venueTs: at % 3 === 0 ? null : from + at * minute - 17,
  type: at % 2 === 0 ? "PARTNER_COLLATERAL_OUT" : "COMMISSION",
  refs: { partnerRef: hostileTexts[at % hostileTexts.length] ?? "", symbol: "BTC-USDC-PERP" },
  amount: amountOf(at),
  balance: widest.slice(1),
  kind: at % 4 === 0 ? "reserved" : "cash"
})

const account = (rows: number): ReadonlyArray<SampleSection> => [
  {
    facts: {
      name: "ACCOUNT",
      currency: "USDC",
      opening: { cash: "1234567.890000", reserved: "0.000000" },
      closing: { cash: widest, reserved: "12.000000" },
      totals: [
        { type: "COMMISSION", amount: "-12.500000" },
        { type: "PARTNER_COLLATERAL_OUT", amount: widest }
      ]
    },
    rows: many(rows, accountRow)
  },
  {
    facts: {
      name: "ACCOUNT",
      currency: "BTC",
      opening: { cash: "0.00000000", reserved: "0.00000000" },
      closing: { cash: "21000000.00000000", reserved: "0.00000000" },
      totals: rows === 0 ? [] : [{ type: "DEPOSIT", amount: "21000000.00000000" }]
    },
    rows: many(Math.min(rows, 1), (at) => ({ ...accountRow(at), amount: "21000000.00000000" }))
  }
]

const transactions = (rows: number): ReadonlyArray<SampleSection> => [
  {
    facts: { name: "EXECUTIONS", counterparty: "the firm" },
    rows: many(rows, (at) => ({
      object: `contract:${1_000_000_000_000 + at}`,
      bookedAt: from + at * minute,
      venueTs: from + at * minute - 20,
      tradingDay: "2026-01-31",
      tradingTime: "23:59:59.999Z",
      orderType: at % 2 === 0 ? "LIMIT" : "RFQ",
      venue: "Venue of the longest name that there is",
      instrument: at % 5 === 4 ? (hostileTexts[at % hostileTexts.length] ?? "") : "1000PEPE-USDC-PERP",
      side: at % 2 === 0 ? "BUY" : "SELL",
      nature: at % 2 === 0 ? "TRADE_CLOSING" : "BARRIER_END KNOCKED_OUT",
      quantity: "1000000000.00000000",
      unitPrice: "99999999999.99",
      consideration: amountOf(at),
      commission: widest,
      currency: "USDC",
      orderId: at % 2 === 0 ? 9_007_199_254_740_991 : null,
      tradeId: `T-${at}`
    }))
  }
]

const costs = (rows: number): ReadonlyArray<SampleSection> => [
  {
    facts: {
      name: "COSTS",
      total: widest,
      thirdPartyPayments: "0.000000",
      turnover: "999999999999.000000",
      averageEquity: "125000.000000",
      startEquity: "100000.000000",
      endEquity: "150000.000000",
      netDeposits: "-5.000000",
      pctOfTurnover: "0.0100",
      pctOfAverageEquity: null,
      returnBeforeCostsPct: "44.0040",
      returnAfterCostsPct: "-44.0000"
    },
    rows: many(rows, (at) => ({
      category: at % 2 === 0 ? "TRANSACTION" : "THIRD_PARTY",
      family: at % 2 === 0 ? "BARRIER" : "ALL",
      description:
        at % 2 === 0 ? "Commission at the opening of knock-out contracts" : "Payments received from third parties",
      amount: amountOf(at),
      pctOfTurnover: "12345.6789",
      pctOfAverageEquity: at === 0 ? null : "0.0001"
    }))
  }
]

const taxRow = (at: number): ModelRow => ({
  asset: "1000PEPE-USDC-PERP",
  acquired: from + at * minute,
  disposed: from + at * 2 * minute,
  quantity: "1000000000.00000000",
  proceeds: "999999999999.999999",
  cost: "999999999999.999999",
  result: amountOf(at),
  method: at % 2 === 0 ? "THIRTY_DAY" : "SAME_DAY",
  assumed: at % 2 === 0,
  provisional: at % 3 === 0
})
const plainTaxRow = (at: number): ModelRow => {
  const { assumed: _, provisional: __, ...row } = taxRow(at)
  return { ...row, acquired: null, method: null, proceeds: null }
}

const tax = (rows: number): ReadonlyArray<SampleSection> => [
  { facts: { name: "DISPOSALS" }, rows: many(rows, taxRow) },
  { facts: { name: "PERPETUALS" }, rows: many(Math.min(rows, 3), plainTaxRow) },
  { facts: { name: "BARRIERS" }, rows: many(Math.min(rows, 2), plainTaxRow) },
  { facts: { name: "STAKING" }, rows: [] },
  { facts: { name: "FUNDING" }, rows: many(Math.min(rows, 2), plainTaxRow) },
  {
    facts: {
      name: "TOTALS",
      disposals: rows,
      proceeds: "12.000000",
      costs: "2.000000",
      gains: "11.000000",
      losses: "1.000000"
    },
    rows: many(4, (at) => ({
      ...plainTaxRow(at),
      asset: ["DISPOSALS", "PERPETUALS", "BARRIERS", "FUNDING"][at] ?? "",
      disposed: null
    }))
  }
]

const assetRow = (at: number): ModelRow => ({
  currency: "USDC",
  asset: "1000PEPE-USDC-PERP",
  quantity: amountOf(at),
  reserved: at % 2 === 0 ? null : "12.00000000",
  inSwaps: at % 2 === 0 ? null : "999999999.00000000",
  mark: at % 3 === 0 ? null : "99999999999.99",
  value: at % 3 === 0 ? null : widest,
  custody: at % 2 === 0 ? "a contract of the client with the firm" : "the writer, with full title",
  titleTransfer: at % 2 === 1,
  unsecured: at % 2 === 1,
  note: at % 3 === 0 ? "There was no market price; the asset may be hard to sell." : ""
})

const clientAssets = (rows: number): ReadonlyArray<SampleSection> => [
  { facts: { name: "CASH" }, rows: many(Math.min(rows, 2), assetRow) },
  { facts: { name: "ASSETS" }, rows: many(rows, assetRow) },
  {
    facts: { name: "SWAPS" },
    rows: many(Math.min(rows, 1), (at) => ({ ...assetRow(at), swapId: 7, maturityTs: to + minute }))
  },
  { facts: { name: "POSITIONS" }, rows: [] },
  { facts: { name: "CONTRACTS" }, rows: many(Math.min(rows, 2), (at) => ({ ...assetRow(at), contractId: at })) }
]

const sectionsOf: { readonly [K in StatementKind]: (rows: number) => ReadonlyArray<SampleSection> } = {
  ACCOUNT: account,
  TRANSACTIONS: transactions,
  COSTS: costs,
  TAX: tax,
  CLIENT_ASSETS: clientAssets
}

const notesOf: { readonly [K in StatementKind]: ReadonlyArray<string> } = {
  ACCOUNT: [
    "Rows are dated by their booking; venueTs is the trading venue's own time of what was booked.",
    "balance is that of the row's kind, cash or reserved, right after the row."
  ],
  TRANSACTIONS: ["Executed on the venue named in each row; the counterparty of every execution is the firm."],
  COSTS: ["An itemised breakdown is this statement's rows.", "Ancillary services were not charged."],
  TAX: [
    "Disposals are matched with acquisitions of the same day, then of the next 30 days with the earliest first, then with the section 104 pool; days are London's."
  ],
  CLIENT_ASSETS: ["As of the last instant of the period. Values are USDC at the marks of that midnight."]
}

/** A statement and the text of its model. */
export interface SampleStatement {
  readonly head: JobHead
  readonly sections: ReadonlyArray<SampleSection>
  readonly pieces: ReadonlyArray<Piece>
  readonly model: string
}

/** The number of rows in a piece. */
const pieceRows = 1_000

export interface SampleOptions {
  readonly firm?: string
  readonly second?: boolean
  /** The partner's references for the rows, instead of hostile texts. */
  readonly references?: ReadonlyArray<string>
}

/** A statement of a kind, `rows` in its longest section. */
export const sampleStatement = (
  kind: StatementKind,
  rows: number,
  { firm = "Partner Brokerage", second = false, references }: SampleOptions = {}
): SampleStatement => {
  const sections = sectionsOf[kind](rows).map((section) => ({
    ...section,
    rows: section.rows.map((row, at) =>
      references === undefined ? row : { ...row, refs: { partnerRef: references[at] ?? "", symbol: "BTC-USDC-PERP" } }
    )
  }))
  const skeleton: Skeleton = {
    schema: schemaOf[kind],
    kind,
    firm: { name: firm, legalEntity: "Partner Brokerage Ltd" },
    partner: "DEMO",
    clientUid: "DEMO-00000001",
    custodyModel: "PARTNER",
    currency: "USDC",
    periodFrom: from,
    periodTo: to,
    timeZone: "UTC",
    cut: { postingId: 1_000_000, fillId: 7, contractId: 3, swapId: 1 },
    ledgerSeal: rows === 0 ? null : { number: 17, hash: "ab".repeat(32) },
    notes: notesOf[kind],
    sections: sections.map(({ facts }) => ({ ...facts, rows: [] }))
  }
  const frames = framesOf(skeleton)
  const pieces = sections.flatMap(({ rows: all }, section) => {
    const found: Array<Piece> = [{ section: -1, content: frames[section] ?? "" }]
    for (let at = 0; at < all.length; at += pieceRows)
      found.push({
        section,
        content: `${at === 0 ? "" : ","}${all
          .slice(at, at + pieceRows)
          .map(rowText)
          .join(",")}`
      })
    return found
  })
  pieces.push({ section: -1, content: frames[sections.length] ?? "" })
  const model = pieces.map(({ content }) => content).join("")
  const sha256 = createHash("sha256").update(model).digest("hex")
  const supersedes = second ? { statementId: 4711, version: 1, sha256: "cd".repeat(32) } : null
  return {
    head: {
      form: "pdf",
      renderer: currentRenderer,
      version: { statementId: 9_007_199_254_740_991, version: second ? 2 : 1, supersedes },
      sha256,
      skeleton: skeletonOf(frames),
      counts: sections.map(({ rows: all }) => all.length)
    },
    sections,
    pieces,
    model
  }
}

/** Renders a statement in this thread. */
export const renderedBy = async (
  render: (given: {
    head: JobHead
    next: () => Promise<Piece | null>
    write: (bytes: Uint8Array) => Promise<void>
  }) => Promise<void>,
  { head, pieces }: SampleStatement
): Promise<Buffer> => {
  const chunks: Array<Uint8Array> = []
  let at = 0
  await render({
    head,
    next: () => Promise.resolve(pieces[at++] ?? null),
    write: (bytes) => Promise.resolve(void chunks.push(bytes))
  })
  return Buffer.concat(chunks)
}
