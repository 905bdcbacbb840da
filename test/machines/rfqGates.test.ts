/**
 * A2-110, steps 4 to 8: the same list of gates for create, preview, explain and accept, and the shorter list for
 * closing; A2-22, A2-28, A2-52.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { restrictionNames, restrictionSentences } from "../../src/machines/client/Restriction.ts"
import { defaultMarketTerms } from "../../src/machines/market/marketTerms.ts"
import {
  acceptGates,
  type CloseFacts,
  closeGates,
  type OpeningFacts,
  openingGates,
  openingRefusal,
  rfqGates
} from "../../src/machines/rfq/rfqGates.ts"
import type { RfqBody } from "../../src/machines/rfq/RfqBody.ts"
import { previewOf, RfqPreview } from "../../src/machines/rfq/rfqPreview.ts"
import { firstRefusal, walkGates } from "../../src/machines/shared/Gates.ts"
import { MoneyDecimal } from "../../src/machines/shared/Money.ts"
import type { Refusal } from "../../src/machines/shared/Refusal.ts"
import { contractsNow as now } from "../fixtures/contracts.ts"
import {
  acceptFacts,
  askedBody,
  askedRfq,
  liveMark,
  liveQuote,
  openingFacts,
  openQuote,
  requiredAt,
  rfqFacts
} from "../fixtures/rfqs.ts"

const client = openingFacts.client
const stale = "The market has no live price at the moment: try again shortly."
const closingOut = { riskState: "CLOSE_OUT", freeMargin: 0n } as const

/** In the order of the list: the case that each gate refuses, and its refusal. */
const opening: ReadonlyArray<readonly [string, Partial<OpeningFacts>, Refusal["_tag"], string | null]> = [
  ["account", { client: { ...client, lifecycle: "CLOSED" } }, "Conflict", "The account is closed."],
  ["verification", { client: { ...client, level: "MICA" } }, "Unverified", null],
  [
    "restriction",
    { client: { ...client, lifecycle: "RESTRICTED" } },
    "Invalid",
    "The account is under review, so new positions may not be opened."
  ],
  ["partner", { partnerState: "SUSPENDED" }, "Invalid", "The partner is SUSPENDED: new positions may not be opened."],
  ["openRequests", { openRequests: 50 }, "Invalid", "The client has 50 open requests, which is the most there may be."],
  [
    "openContracts",
    { openContracts: 1_000 },
    "Invalid",
    "The client has 1000 open contracts, which is the most there may be."
  ],
  ["venue", { venueConnected: false }, "VenueAway", "The venue can not be reached: nothing was done."],
  ["halt", { halt: "Maintenance." }, "Invalid", "Trading in this market is halted: Maintenance."],
  ["mark", { mark: null }, "Invalid", stale]
]

const rfq = askedRfq(askedBody)
const sentenceOf = (refusal: Refusal | null): string | null =>
  refusal !== null && "sentence" in refusal ? refusal.sentence : null

describe("steps 4 to 7", () => {
  it("the order is the contract's", () => {
    assert.deepStrictEqual(
      openingGates.map(({ gate }) => gate),
      opening.map(([gate]) => gate)
    )
    assert.isNull(openingRefusal(openingFacts))
  })

  it.each(opening.map((row, index) => [row[0], index] as const))("%s refuses before all that follow", (gate, index) => {
    const [, , tag, sentence] = opening[index] as (typeof opening)[number]
    const facts = opening
      .slice(index)
      .reduceRight<Partial<OpeningFacts>>(
        (all, [, over]) => ({ ...all, ...over, ...(over.client === undefined ? {} : { client: over.client }) }),
        {}
      )
    const results = walkGates(openingGates, { ...openingFacts, ...facts })
    const failed = results.find(({ result }) => result === "failed")
    assert.strictEqual(failed?.gate, gate)
    assert.strictEqual(failed?.refusal?._tag, tag)
    assert.strictEqual(sentenceOf(failed?.refusal ?? null), sentence)
    assert.isTrue(results.slice(0, index).every(({ result }) => result === "passed"))
  })

  it.each([
    ["A2-22: the fiftieth request", { openRequests: 49 }, null],
    ["A2-22: the thousandth contract", { openContracts: 999 }, null],
    ["F3: a mark of 10 s", { mark: { ...liveMark, at: now - 10_000 } }, null],
    ["F3: a mark of more", { mark: { ...liveMark, at: now - 10_001 } }, stale],
    ["F3: a mark that waits for a snapshot", { mark: { ...liveMark, current: false } }, stale],
    ["A2-91: a margin call has no gate of its own", { risk: { riskState: "MARGIN_CALL", freeMargin: 0n } }, null],
    ["A2-52: a close-out that live marks imply", { risk: closingOut }, restrictionSentences.CLOSE_OUT]
  ] as const)("%s", (_, over, sentence) => {
    assert.strictEqual(sentenceOf(openingRefusal({ ...openingFacts, ...over })), sentence)
  })

  it.each(restrictionNames)("A2-52: %s refuses with its sentence", (name) => {
    const restricted = { ...client, lifecycle: "RESTRICTED" as const, restrictions: [name] }
    assert.strictEqual(sentenceOf(openingRefusal({ ...openingFacts, client: restricted })), restrictionSentences[name])
  })

  it("A2-52: of several restrictions the one that concerns positions is named", () => {
    const restrictions = ["FROZEN", "NO_NEW_RISK", "NO_WITHDRAWALS"] as const
    const refusal = openingRefusal({ ...openingFacts, client: { ...client, lifecycle: "RESTRICTED", restrictions } })
    assert.strictEqual(sentenceOf(refusal), restrictionSentences.NO_NEW_RISK)
  })
})

describe("step 8 on the mark", () => {
  const rows: ReadonlyArray<readonly [string, Partial<RfqBody>, string | null]> = [
    ["exactly the minimum notional", { qty: "0.0017" }, null],
    ["a lot less", { qty: "0.0016" }, "The quantity is worth less than the market's minimum of 100 USDC."],
    [
      "small and on the wrong side",
      { qty: "0.0001", level: "61000" },
      "The quantity is worth less than the market's minimum of 100 USDC."
    ],
    ["the wrong side", { level: "60000" }, "The barrier of a long contract must be below the price."],
    ["A2-14: exactly 0.1 percent", { level: "59940" }, null],
    [
      "A2-14: a tick nearer",
      { level: "59940.1", takeProfit: "1" },
      "The barrier must be at least 0.1 percent away from the price."
    ],
    [
      "the take profit at the mark",
      { takeProfit: "60000", qty: "100" },
      "The take profit of a long contract must be above the price."
    ],
    [
      "more than is free",
      { qty: "100", level: "40000" },
      "The premium and the commission exceed the client's free margin."
    ]
  ]
  it.each(rows)("%s", (_, over, sentence) => {
    assert.strictEqual(sentenceOf(firstRefusal(rfqGates, rfqFacts(askedRfq({ ...askedBody, ...over })))), sentence)
  })

  it("exactly the free margin, and a micro-USDC less", () => {
    const free = (freeMargin: bigint) =>
      firstRefusal(rfqGates, rfqFacts(rfq, { risk: { riskState: "NORMAL", freeMargin } }))
    const required = requiredAt(rfq, "60000")
    assert.isNull(free(required))
    assert.isNotNull(free(required - 1n))
  })
})

describe("accept", () => {
  it("walks the same gates up to step 7, then the quote's at its own price", () => {
    const quoted = openQuote(rfq, { ...liveQuote("58000"), state: "EXPIRED" })
    for (const [gate, over] of opening) {
      const failed = walkGates(acceptGates, acceptFacts(quoted, over)).find(({ result }) => result === "failed")
      assert.strictEqual(failed?.gate, gate)
    }
    assert.strictEqual(sentenceOf(firstRefusal(acceptGates, acceptFacts(quoted))), "The quote has expired.")
    assert.isNull(firstRefusal(acceptGates, acceptFacts(openQuote(rfq, liveQuote("60000")))))
  })
})

describe("A2-28: preview", () => {
  const preview = (body: Partial<RfqBody>, over: Partial<OpeningFacts> = {}) => {
    const asked = askedRfq({ ...askedBody, ...body })
    return previewOf({ rfq: asked, terms: defaultMarketTerms, facts: rfqFacts(asked, over) })
  }

  it("A2-112: has every figure, at the mark", () => {
    const answer = preview({ takeProfit: "61000" }, { risk: { riskState: "NORMAL", freeMargin: 1_000_000_000n } })
    assert.isTrue(answer.ok)
    if (!answer.ok) return
    assert.deepStrictEqual(answer.value, Schema.decodeUnknownSync(RfqPreview)(answer.value))
    assert.deepStrictEqual(answer.value, {
      accepted: true,
      reason: null,
      mark: "60000.0",
      maxLoss: "950.000000",
      premium: "950.000000",
      estimatedCommission: "12.000000",
      requiredFreeMargin: "962.000000",
      freeMarginBefore: "1000.000000",
      freeMarginAfter: "38.000000",
      impliedLeverage: "63.16",
      potentialProfit: "1000.000000",
      maxLeverage: 1_000,
      expiryTs: askedRfq(askedBody).expiryTs,
      expiryDefaulted: true,
      strictTakeProfit: false,
      premiumBps: 9_500,
      knockOutRebateBps: 500,
      strictTakeProfitPremiumBps: 4_000,
      strictTakeProfitOffered: true,
      currency: "USDC"
    })
  })

  it.each(opening)("%s is refused as create refuses it, or answered", (gate, over, tag, sentence) => {
    const answer = preview({}, over)
    const refused = gate === "account" || gate === "verification" || gate === "venue"
    assert.strictEqual(answer.ok, !refused)
    if (answer.ok) assert.deepInclude(answer.value, { accepted: false, reason: sentence })
    else assert.strictEqual(answer.refusal._tag, tag)
  })

  it("without a mark there are no figures", () => {
    const answer = preview({}, { mark: null })
    assert.isTrue(answer.ok && answer.value.mark === null && answer.value.premium === null)
  })

  it("gives the answer of create, for any request in any state", () => {
    const body = fc.record({
      side: fc.constantFrom("BUY" as const, "SELL" as const),
      qty: fc.constantFrom("0.0001", "0.01", "1", "100"),
      level: fc.constantFrom("59000", "59940", "59940.1", "60000", "60060", "61000"),
      takeProfit: fc.constantFrom(null, "59000", "60000", "61000")
    })
    const states = fc.subarray(opening.map(([, over]) => over))
    const free = fc.constantFrom(0n, 10n ** 6n, 10n ** 9n, 10n ** 12n)
    const price = fc.constantFrom("59999.9", "60000", "60000.1")
    fc.assert(
      fc.property(body, states, free, price, (over, broken, freeMargin, at) => {
        const asked = askedRfq({ ...askedBody, ...over })
        const base: OpeningFacts = {
          ...openingFacts,
          mark: { ...liveMark, price: new MoneyDecimal(at) },
          risk: { riskState: "NORMAL", freeMargin }
        }
        const facts = rfqFacts(
          asked,
          broken.reduce<OpeningFacts>((all, one) => ({ ...all, ...one }), base)
        )
        const create = firstRefusal(rfqGates, facts)
        const answer = previewOf({ rfq: asked, terms: defaultMarketTerms, facts })
        const explained = walkGates(rfqGates, facts).find(({ result }) => result === "failed")
        assert.deepStrictEqual(explained?.refusal ?? null, create)
        if (!answer.ok) assert.deepStrictEqual(answer.refusal, create)
        else {
          assert.strictEqual(answer.value.accepted, create === null)
          assert.strictEqual(answer.value.reason, sentenceOf(create))
        }
      })
    )
  })
})

describe("closing a contract", () => {
  const open: CloseFacts = { contract: { open: true }, openCloseRfqId: null, venueConnected: true }
  it.each([
    ["open", open, null],
    [
      "somebody else's",
      { ...open, contract: null, openCloseRfqId: 5, venueConnected: false },
      { _tag: "Unknown", reason: "UNKNOWN_CONTRACT", sentence: "Contract not found." }
    ],
    [
      "ended",
      { ...open, contract: { open: false }, venueConnected: false },
      { _tag: "Invalid", reason: "CONTRACT_NOT_OPEN", sentence: "The contract is not open.", errors: null }
    ],
    [
      "being closed",
      { ...open, openCloseRfqId: 5, venueConnected: false },
      {
        _tag: "Invalid",
        reason: "CLOSE_REQUEST_OPEN",
        sentence: "A request to close this contract is open already.",
        errors: null,
        data: { rfqId: 5 }
      }
    ],
    [
      "while the venue is away",
      { ...open, venueConnected: false },
      { _tag: "VenueAway", reason: "VENUE_UNREACHABLE", sentence: "The venue can not be reached: nothing was done." }
    ]
  ] as const)("%s", (_, facts, refusal) => {
    assert.deepStrictEqual(firstRefusal(closeGates, facts), refusal)
  })
})
