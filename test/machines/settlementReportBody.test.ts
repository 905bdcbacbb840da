/**
 * The body of a settlement report field by field, and the initial state of an item (doc 3, Settlement item and
 * Settlement reporting rules; A3-20, A3-28; D12).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SettlementItem } from "../../src/machines/settlement/SettlementItem.ts"
import { settlementMachine } from "../../src/machines/settlement/settlementMachine.ts"
import { decodeSettlementReport } from "../../src/machines/settlement/SettlementReportBody.ts"
import { settlementInput } from "../../src/machines/settlement/settlementSamples.ts"
import { begin } from "../../src/runtime/engine/machine/step.ts"

const now = 1_795_132_800_000
const settled = { status: "SETTLED", partnerTxRef: "tx-1" }
const decode = (body: unknown) => decodeSettlementReport(body, { now })

describe("doc 3, Settlement reporting rules: the body", () => {
  it.each([
    ["SETTLED alone", settled, { status: "SETTLED", partnerTxRef: "tx-1", settledAt: null, note: null }],
    [
      "everything, cleaned; unknown fields are ignored",
      { ...settled, partnerTxRef: " re\u0301f ", settledAt: now, note: " paid\u00a0", itemId: 7, more: [1] },
      { status: "SETTLED", partnerTxRef: "r\u00e9f", settledAt: now, note: "paid" }
    ],
    ["FAILED alone", { status: "FAILED" }, { status: "FAILED", partnerTxRef: null, settledAt: null, note: null }],
    [
      "FAILED with details",
      { status: "FAILED", partnerTxRef: "try", settledAt: 1, note: "n" },
      { status: "FAILED", partnerTxRef: "try", settledAt: 1, note: "n" }
    ],
    [
      "null and empty count as not sent",
      { status: "FAILED", partnerTxRef: " ", settledAt: null, note: "" },
      { status: "FAILED", partnerTxRef: null, settledAt: null, note: null }
    ],
    [
      "128 and 500 characters, counted in code points",
      { status: "SETTLED", partnerTxRef: "😀".repeat(128), note: "n".repeat(500) },
      { status: "SETTLED", partnerTxRef: "😀".repeat(128), settledAt: null, note: "n".repeat(500) }
    ]
  ])("A3-20: %s", (_title, body, report) => {
    assert.deepStrictEqual(decode(body), { ok: true, body: report } as never)
  })

  const needed = "The partner's transaction reference is required when an item is SETTLED."
  const millis = "The time of settlement must be a positive integer of Unix milliseconds."
  it.each([
    ["status missing", { partnerTxRef: "tx-1" }, { status: "The status is required." }],
    ["status null", { ...settled, status: null }, { status: "The status is required." }],
    ["PENDING", { ...settled, status: "PENDING" }, { status: "The status must be one of: SETTLED, FAILED." }],
    ["lower case", { ...settled, status: "settled" }, { status: "The status must be one of: SETTLED, FAILED." }],
    ["a list", { ...settled, status: ["SETTLED"] }, { status: "The status must be one of: SETTLED, FAILED." }],
    ["SETTLED without partnerTxRef", { status: "SETTLED" }, { partnerTxRef: needed }],
    ["SETTLED with null", { status: "SETTLED", partnerTxRef: null }, { partnerTxRef: needed }],
    ["SETTLED with blanks", { status: "SETTLED", partnerTxRef: " \u3000" }, { partnerTxRef: needed }],
    [
      "partnerTxRef as number",
      { ...settled, partnerTxRef: 5 },
      { partnerTxRef: "The partner's transaction reference must be text." }
    ],
    [
      "129 characters",
      { ...settled, partnerTxRef: "t".repeat(129) },
      { partnerTxRef: "The partner's transaction reference must be at most 128 characters." }
    ],
    [
      "a line break",
      { status: "FAILED", partnerTxRef: "a\nb" },
      { partnerTxRef: "The partner's transaction reference must not contain control characters or line breaks." }
    ],
    [
      "one ms ahead",
      { ...settled, settledAt: now + 1 },
      { settledAt: "The time of settlement must not be in the future." }
    ],
    [
      "FAILED ahead",
      { status: "FAILED", settledAt: now + 1 },
      { settledAt: "The time of settlement must not be in the future." }
    ],
    ["settledAt zero", { ...settled, settledAt: 0 }, { settledAt: millis }],
    ["settledAt as text", { ...settled, settledAt: "1" }, { settledAt: millis }],
    ["settledAt with a fraction", { ...settled, settledAt: 1.5 }, { settledAt: millis }],
    ["settledAt beyond safe integers", { ...settled, settledAt: 1e21 }, { settledAt: millis }],
    ["note of 501", { ...settled, note: "n".repeat(501) }, { note: "The note must be at most 500 characters." }],
    ["note as object", { ...settled, note: {} }, { note: "The note must be text." }],
    [
      "note with half a surrogate pair",
      { ...settled, note: "\ud800" },
      { note: "The note must be valid Unicode text." }
    ],
    [
      "everything at once, in the documented order",
      { note: 1, settledAt: -1, partnerTxRef: 1 },
      {
        status: "The status is required.",
        partnerTxRef: "The partner's transaction reference must be text.",
        settledAt: millis,
        note: "The note must be text."
      }
    ]
  ])("4000: %s", (_title, body, errors) => {
    const decided = decode(body)
    assert.deepStrictEqual(decided, { ok: false, sentence: Object.values(errors)[0] as string, errors } as never)
    assert.deepStrictEqual(decided.ok ? [] : Object.keys(decided.errors), Object.keys(errors))
  })

  it.each([[null], [undefined], ["SETTLED"], [[settled]], [7]])("A1-01: %j is no object", (body) => {
    assert.deepStrictEqual(decode(body), {
      ok: false,
      sentence: "The request body must be a JSON object.",
      errors: {}
    })
  })
})

describe("settlement item", () => {
  it("D12, A3-28: is born PENDING with the event of the whole list row and an audit row", () => {
    const wire = {
      ...settlementInput,
      status: "PENDING",
      partnerTxRef: null,
      settledAt: null,
      reportedAt: null,
      note: null
    }
    const { state, effects } = begin(settlementMachine, settlementInput)
    assert.strictEqual(state, "PENDING")
    assert.deepStrictEqual(effects, [
      { type: "event", name: "settlement.item_created", data: wire as never },
      { type: "audit", action: "settlement.item", before: null, after: "PENDING", reason: null }
    ])
    assert.deepStrictEqual(Schema.decodeUnknownSync(SettlementItem)(wire), wire as never)
  })
})
