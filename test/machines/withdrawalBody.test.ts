/**
 * Withdrawal requests as rules: the body field by field, the economic rules and the money-out gate as tables, the
 * content of the machine's effects, and the two legs of every posting (doc 3, Withdrawal request; D10; A3-02, A3-07,
 * A3-08, A3-11).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { restrictionSentences } from "../../src/machines/client/Restriction.ts"
import { pauses } from "../../src/machines/reconciliation/ReconBreak.ts"
import { parseExact, restoreExact } from "../../src/machines/shared/exactJson.ts"
import { parseAmount } from "../../src/machines/shared/Money.ts"
import { decodeWithdrawal } from "../../src/machines/withdrawal/WithdrawalBody.ts"
import { freeMoneyRefusal, moneyOutRefusal, moneyOutSentences } from "../../src/machines/withdrawal/moneyOut.ts"
import { withdrawalMachine } from "../../src/machines/withdrawal/withdrawalMachine.ts"
import { requestOf, type WithdrawalEvent, WithdrawalRequest } from "../../src/machines/withdrawal/WithdrawalRequest.ts"
import { withdrawalInput } from "../../src/machines/withdrawal/withdrawalSamples.ts"
import { create, type Step, step } from "../../src/runtime/engine/machine/step.ts"

const body = { partnerRef: " ref-1 ", currency: "EUR", amount: "12.5" }

/** Lists of tokens with a comma between two. */
const separated = (lists: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  lists.flatMap((tokens, index) => (index === 0 ? tokens : [",", ...tokens]))

describe("doc 3, Endpoints: the body of a withdrawal request", () => {
  it("A3-07: a valid body with a destination as sent", () => {
    const destination = { iban: "DE02", nested: { list: [1, null, " x "] }, empty: "" }
    const decoded = decodeWithdrawal({ ...body, destination })
    assert.deepStrictEqual(decoded, {
      ok: true,
      body: { partnerRef: "ref-1", currency: "EUR", amount: 1250n, destination: JSON.stringify(destination) }
    })
  })

  it.each([
    ["absent", {}],
    ["null", { destination: null }]
  ])("A3-07: a destination that is %s is none", (_, over) => {
    const decoded = decodeWithdrawal({ ...body, ...over })
    assert.isTrue(decoded.ok && decoded.body.destination === null)
  })

  it.each([
    ["partnerRef missing", { partnerRef: undefined }, ["partnerRef"]],
    ["partnerRef empty", { partnerRef: " " }, ["partnerRef"]],
    ["partnerRef of 65", { partnerRef: "r".repeat(65) }, ["partnerRef"]],
    ["currency missing", { currency: undefined }, ["currency"]],
    ["a foreign currency", { currency: "DOGE" }, ["currency"]],
    ["three places of EUR", { amount: "1.000" }, ["amount"]],
    ["zero", { amount: "0.00" }, ["amount"]],
    ["a number", { amount: 5 }, ["amount"]],
    ["a negative amount", { amount: "-1" }, ["amount"]],
    ["an exponent", { amount: "1e2" }, ["amount"]],
    ["more than 64 bits", { amount: "999999999999999999" }, ["amount"]],
    ["an array as destination", { destination: [{}] }, ["destination"]],
    ["text as destination", { destination: "DE02" }, ["destination"]],
    ["a number as destination", { destination: 5 }, ["destination"]],
    [
      "everything wrong",
      { partnerRef: 1, currency: 2, amount: 3, destination: 4 },
      ["partnerRef", "currency", "amount", "destination"]
    ]
  ])("doc 3, Endpoints: %s is refused", (_, over, fields) => {
    const decoded = decodeWithdrawal({ ...body, ...over })
    assert.isFalse(decoded.ok)
    if (!decoded.ok) {
      assert.deepStrictEqual(Object.keys(decoded.errors), fields)
      assert.strictEqual(decoded.sentence, decoded.errors[fields[0] as string])
    }
  })

  describe("A3-07: any destination", () => {
    const space = fc.constantFrom("", " ", "\n\t")
    const name = fc.oneof(fc.string(), fc.nat(12).map(String), fc.constantFrom("-1", "01", "constructor", "4294967295"))
    const scalar = fc.oneof(
      fc.constantFrom("1.10", "12345678901234567890", "-0", "1e3", "0.1000000000000000055", "null", "true", "42"),
      fc.constantFrom('"\\u00fc"', '"\\/"', '"\\ud83d\\ude00"', '"a\\nb"', '"createdAt"'),
      fc.string({ unit: "binary" }).map((text) => JSON.stringify(text))
    )
    /** A value in its tokens. White space goes between them. */
    const { value } = fc.letrec<{ value: ReadonlyArray<string>; object: ReadonlyArray<string> }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        scalar.map((text) => [text]),
        fc.array(tie("value"), { maxLength: 3 }).map((items) => ["[", ...separated(items), "]"]),
        tie("object")
      ),
      object: fc
        .uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([key]) => key })
        .map((members) => [
          "{",
          ...separated(members.map(([key, member]) => [JSON.stringify(key), ":", ...member])),
          "}"
        ])
    }))
    const destination = value.map((tokens) => [
      "{",
      '"b"',
      ":",
      ...tokens,
      ",",
      '"2"',
      ":",
      "0",
      ",",
      '"1"',
      ":",
      "0",
      "}"
    ])
    const bodyOf = (text: string) =>
      `{"partnerRef":"r","currency":"EUR","amount":"1","other":1.0,"other":2,"destination": ${text}}`
    const decode = (text: string) => decodeWithdrawal(JSON.parse(bodyOf(text)), bodyOf(text))

    it("is stored and shown as its text was written, without the white space between its tokens", () => {
      fc.assert(
        fc.property(destination, fc.infiniteStream(space), (tokens, spaces) => {
          const written = tokens.join("")
          const decoded = decode(tokens.map((each) => `${each}${spaces.next().value}`).join(""))
          assert.deepStrictEqual(decoded, {
            ok: true,
            body: { partnerRef: "r", currency: "EUR", amount: 100n, destination: written }
          })
          assert.strictEqual(JSON.stringify(parseExact(written)), written)
          // The answer of another parser gets the text back.
          const answer: unknown = JSON.parse(`[{"destination":${written}}]`)
          restoreExact(answer, parseExact(`[{"destination":${written}}]`))
          assert.strictEqual(JSON.stringify(answer), `[{"destination":${written}}]`)
        })
      )
    })

    it.each([
      ['{"iban":"A","iban":"B"}', "a doubled name"],
      ['{"iban":"A", "ib\\u0061n":"B"}', "a doubled name that is written in two ways"],
      ['{"to":[{"iban":"A","iban":"A"}]}', "a doubled name inside"],
      ['{"__proto__":{"iban":"A"}}', "the name __proto__"],
      ['{"to":{"x": 1.10, "__proto__":null}}', "the name __proto__ inside"]
    ])("%s is refused: it has %s", (text) => {
      const decoded = decode(text)
      assert.deepStrictEqual(decoded.ok ? {} : decoded.errors, {
        destination: "The destination must not contain the same name twice in one object, nor the name __proto__."
      })
    })
  })

  it.each(["1.10", "12345678901234567890", "[1.10]", '"1.10"'])(
    "doc 3, Endpoints: %s is no destination",
    (destination) => {
      const text = `{"partnerRef":"r","currency":"EUR","amount":"1","destination":${destination}}`
      const decoded = decodeWithdrawal(JSON.parse(text), text)
      assert.deepStrictEqual(decoded.ok ? [] : Object.keys(decoded.errors), ["destination"])
    }
  )

  it.each([
    [4096, true],
    [4097, false]
  ])("doc 3, Limits: a destination of %d characters of JSON is accepted: %s", (size, ok) => {
    const frame = JSON.stringify({ text: "" }).length
    const destination = { text: "😀".repeat(size - frame) }
    assert.strictEqual(decodeWithdrawal({ ...body, destination }).ok, ok)
  })

  it.each([[null], [[]], ["text"], [5]])("a body that is %j is no object", (whole) => {
    assert.deepStrictEqual(decodeWithdrawal(whole), {
      ok: false,
      sentence: "The request body must be a JSON object.",
      errors: {}
    })
  })
})

describe("A3-08: the economic rules", () => {
  const { insufficient, short, stale } = moneyOutSentences
  const normal = "NORMAL" as const
  it.each([
    ["SC-CUS-04: cash 100, free margin 40, asked 50", "USDC", 100n, 40n, normal, 50n, short],
    ["SC-CUS-04: cash 100, free margin 40, asked 150", "USDC", 100n, 40n, normal, 150n, insufficient],
    ["exactly the free margin", "USDC", 100n, 40n, normal, 40n, null],
    ["exactly the cash", "USDC", 100n, 100n, normal, 100n, null],
    ["one more than the cash", "USDC", 100n, 100n, normal, 101n, insufficient],
    ["SC-CUS-05: margin call implied by live marks", "USDC", 100n, 100n, "MARGIN_CALL" as const, 1n, short],
    ["close-out, another currency", "BTC", 100n, 100n, "CLOSE_OUT" as const, 1n, short],
    ["another currency needs no free margin", "BTC", 100n, -5n, normal, 100n, null],
    ["another currency needs its cash", "EUR", 99n, 1_000n, normal, 100n, insufficient],
    ["SC-CUS-06: reserved already, the market fell", "USDC", 50n, -1n, normal, 0n, short],
    ["reserved already, nothing left over", "USDC", 0n, 0n, normal, 0n, null],
    ["reserved already, cash below zero", "USDC", -1n, -1n, "CLOSE_OUT" as const, 0n, insufficient]
  ] as const)("%s", (_, currency, cash, freeMargin, riskState, needed, refusal) => {
    const risk = { freeMargin, orderLoss: 0n, riskState, anyExposure: false, marksFresh: true }
    assert.strictEqual(freeMoneyRefusal({ currency, cash, risk, recorded: normal }, needed), refusal)
  })

  it.each([
    ["NORMAL", null],
    ["MARGIN_CALL", short],
    ["CLOSE_OUT", short]
  ] as const)("recorded as %s, whatever the live marks are", (recorded, refusal) => {
    const risk = { freeMargin: 100n, orderLoss: 0n, riskState: normal, anyExposure: false, marksFresh: true }
    assert.strictEqual(freeMoneyRefusal({ currency: "BTC", cash: 100n, risk, recorded }, 1n), refusal)
  })

  it.each([
    ["nothing open", "USDC", false, false, normal, 1n, null],
    ["open, on live marks", "USDC", true, true, normal, 1n, null],
    ["open, on a stale mark", "USDC", true, false, normal, 1n, stale],
    ["open, on a stale mark, another currency", "BTC", true, false, normal, 1n, stale],
    ["short as well", "USDC", true, false, normal, 101n, insufficient],
    ["called as well", "USDC", true, false, "MARGIN_CALL" as const, 1n, short]
  ] as const)("F3: money out, %s", (_, currency, anyExposure, marksFresh, riskState, needed, refusal) => {
    const risk = { freeMargin: 100n, orderLoss: 0n, riskState, anyExposure, marksFresh }
    assert.strictEqual(freeMoneyRefusal({ currency, cash: 100n, risk, recorded: normal }, needed), refusal)
  })

  it("the sentences hold the words that the specification names", () => {
    assert.include(insufficient, "insufficient free balance")
    assert.include(short, "short of margin for its open positions")
  })

  it("doc 3, states: the gate checks restriction, break, then funds and risk", () => {
    const risk = {
      freeMargin: -1n,
      orderLoss: 0n,
      riskState: "CLOSE_OUT",
      anyExposure: false,
      marksFresh: true
    } as const
    const facts = { currency: "USDC", cash: -1n, risk, recorded: "CLOSE_OUT" } as const
    const gate = (restrictions: ReadonlyArray<"FROZEN" | "NO_NEW_RISK" | "NO_WITHDRAWALS">, paused: boolean) =>
      moneyOutRefusal({ ...facts, restrictions, paused }, 0n)
    assert.strictEqual(gate(["FROZEN"], true), restrictionSentences.FROZEN)
    assert.strictEqual(gate(["NO_WITHDRAWALS"], true), restrictionSentences.NO_WITHDRAWALS)
    assert.strictEqual(gate(["NO_NEW_RISK"], true), moneyOutSentences.paused)
    assert.strictEqual(gate([], false), insufficient)
  })
})

describe("A3-11: whom a break pauses", () => {
  const client = { clientId: 7, partnerId: 2 }
  it.each([
    ["ALL", null, null, true, true],
    ["ALL", null, null, false, false],
    ["PARTNER", 2, null, true, true],
    ["PARTNER", 3, null, true, false],
    ["CLIENT", 2, 7, true, true],
    ["CLIENT", 2, 8, true, false]
  ] as const)("%s partner %s client %s, pausing %s: %s", (scope, partnerId, clientId, pausesMoneyOut, paused) => {
    assert.strictEqual(pauses({ scope, partnerId, clientId, pausesMoneyOut }, client), paused)
  })
})

describe("D10: the contents of the effects", () => {
  const filed = create(withdrawalMachine, withdrawalInput, { type: "REQUEST", at: 2 })
  const after = (...events: ReadonlyArray<WithdrawalEvent>): Step<typeof withdrawalMachine> =>
    events.reduce<Step<typeof withdrawalMachine>>((row, event) => step(withdrawalMachine, row, event), filed)
  const approve: WithdrawalEvent = { type: "APPROVE", at: 5, by: "FINANCE", refusal: null, ledgerTxId: 8 }
  const posted = ({ effects }: Step<typeof withdrawalMachine>) =>
    effects.flatMap((effect) => (effect.type === "ledger.post" ? [[effect.entry, effect.key, effect.amount]] : []))

  it.each([
    ["request", filed, [["WITHDRAWAL_RESERVE", "withdrawal:1:reserve", "-100.00"]]],
    ["approve", after(approve), [["WITHDRAWAL", "withdrawal:1:out", "-100.00"]]],
    ["pay", after(approve, { type: "PAY", at: 6 }), []],
    ["cancel", after({ type: "CANCEL", at: 6 }), [["WITHDRAWAL_RELEASE", "withdrawal:1:release", "100.00"]]],
    [
      "reject",
      after({ type: "REJECT", at: 6, by: "ADMIN", reason: "r" }),
      [["WITHDRAWAL_RELEASE", "withdrawal:1:release", "100.00"]]
    ],
    [
      "fail",
      after(approve, { type: "FAIL", at: 6, by: "FINANCE", reason: "r" }),
      [["WITHDRAWAL", "withdrawal:1:fail", "100.00"]]
    ]
  ] as const)("doc 3, Withdrawal request: %s posts under its own key", (_, decided, postings) => {
    assert.deepStrictEqual(posted(decided), postings as never)
  })

  it("doc 3, Event catalogue: withdrawal.status of a failed request", () => {
    const { effects } = after(approve, { type: "FAIL", at: 6, by: "FINANCE", reason: "refused by the bank" })
    assert.deepStrictEqual(effects[1], {
      type: "event",
      name: "withdrawal.status",
      data: {
        requestId: 1,
        partnerRef: "ref-1",
        currency: "EUR",
        amount: "100.00",
        status: "REJECTED",
        decidedAt: 6,
        paidAt: null,
        note: "refused by the bank"
      }
    })
  })

  it("doc 3, Withdrawal request: the wire form equals the contract, the destination beside the machine", () => {
    const { context } = after(approve, { type: "PAY", at: 6 })
    const wire = requestOf(context, "PAID", '{"iban":"DE02"}')
    assert.deepStrictEqual(wire, Schema.decodeUnknownSync(WithdrawalRequest)(wire))
    assert.deepStrictEqual(Object.keys(wire), [
      "requestId",
      "partnerId",
      "clientId",
      "clientUid",
      "partnerRef",
      "currency",
      "amount",
      "destination",
      "status",
      "createdAt",
      "decidedBy",
      "decidedAt",
      "paidAt",
      "decisionNote",
      "ledgerTxId"
    ])
    assert.strictEqual(parseAmount(wire.amount, wire.currency), 10_000n)
    assert.notInclude(JSON.stringify(context), "DE02")
  })
})
