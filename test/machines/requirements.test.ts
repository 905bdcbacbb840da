/** Blocks, requirements, the verification gate and the source-of-wealth threshold (A1-30, A1-31, A1-45, F25). */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import {
  type BlockCode,
  blockCodes,
  blockLevel,
  BlockStatus,
  BlockView
} from "../../src/machines/verification/Blocks.ts"
import {
  type Action,
  actions,
  GateRefusal,
  Requirements,
  requirements,
  verificationGate
} from "../../src/machines/verification/requirements.ts"
import { defaultSourceOfWealthThreshold, sourceOfWealthDue } from "../../src/machines/verification/sourceOfWealth.ts"

const mica = [
  "PERSONAL_INFO",
  "IDENTIFICATION",
  "TAX_RESIDENCY",
  "FATCA",
  "PEP",
  "DECLARATIONS_MICA",
  "IDENTITY_CHECK"
] as const
const mifid = [
  "ACCOUNT_PURPOSE",
  "EMPLOYMENT_FINANCIAL",
  "SOURCE_OF_WEALTH",
  "APPROPRIATENESS",
  "DECLARATIONS_MIFID"
] as const
const mifidActions = ["TRADE:PERP", "TRADE:BARRIER", "TRADE:STAKING"] as const
const fiatActions = ["DEPOSIT:FIAT", "WITHDRAW:FIAT"] as const
const moneyActions = ["DEPOSIT:CRYPTO", "WITHDRAW:CRYPTO", ...fiatActions] as const

const approved = (...codes: ReadonlyArray<BlockCode>): Map<BlockCode, BlockStatus> =>
  new Map(codes.map((code) => [code, "APPROVED"]))
const allMica = approved(...mica)
const allTwelve = approved(...mica, ...mifid)
const withStatus = (
  blocks: ReadonlyMap<BlockCode, BlockStatus>,
  code: BlockCode,
  status: BlockStatus
): ReadonlyMap<BlockCode, BlockStatus> => new Map([...blocks, [code, status]])

describe("blocks", () => {
  it("A1-45: twelve in the specification's order, seven MICA and five MICA_MIFID", () => {
    assert.deepStrictEqual([...blockCodes], [...mica, ...mifid])
    assert.deepStrictEqual(blockCodes.map(blockLevel), [
      ...mica.map(() => "MICA" as const),
      ...mifid.map(() => "MICA_MIFID" as const)
    ])
  })

  it("A1-45: a block on the wire", () => {
    const decode = Schema.decodeUnknownSync(BlockView)
    const view = {
      code: "PEP",
      level: "MICA",
      status: "APPROVED",
      decidedBy: "PARTNER",
      decidedAt: 1_700_000_000_000,
      reason: null,
      updatedAt: 1_700_000_000_000
    }
    assert.deepEqual<unknown>(decode(view), view)
    assert.throws(() => decode({ ...view, decidedBy: "Somebody" }))
    assert.throws(() => decode({ ...view, status: "PENDING" }))
  })
})

describe("requirements", () => {
  it("A1-30: the eight actions in the specification's order", () => {
    const map = requirements(new Map(), "NONE", false)
    assert.deepStrictEqual(Object.keys(map), [...actions])
    assert.deepStrictEqual(Object.keys(Requirements.fields), [...actions])
  })

  it("A1-30: nothing written yet", () => {
    const map = requirements(new Map(), "NONE", false)
    for (const action of ["TRADE:SPOT", "DEPOSIT:CRYPTO", "WITHDRAW:CRYPTO"] as const)
      assert.deepStrictEqual(map[action], [...mica], action)
    for (const action of mifidActions) assert.deepStrictEqual(map[action], [...mica, ...mifid], action)
    for (const action of fiatActions) assert.deepStrictEqual(map[action], [...mica, "BANK_ACCOUNT"], action)
  })

  it("A1-30: level MICA opens spot and crypto money; the MiFID families lack five; fiat is never open", () => {
    const map = requirements(allMica, "MICA", false)
    for (const action of ["TRADE:SPOT", "DEPOSIT:CRYPTO", "WITHDRAW:CRYPTO"] as const)
      assert.deepStrictEqual(map[action], [], action)
    for (const action of mifidActions) assert.deepStrictEqual(map[action], [...mifid], action)
    for (const action of fiatActions) assert.deepStrictEqual(map[action], ["BANK_ACCOUNT"], action)
  })

  it("A1-30: level MICA_MIFID opens all but fiat", () => {
    const map = requirements(allTwelve, "MICA_MIFID", true)
    for (const action of actions)
      assert.deepStrictEqual(map[action], action.endsWith("FIAT") ? ["BANK_ACCOUNT"] : [], action)
  })

  it("A1-30: every block approved and the level too low is a compliance review", () => {
    const review = requirements(allTwelve, "NONE", false)
    for (const action of actions)
      assert.deepStrictEqual(review[action], action.endsWith("FIAT") ? ["BANK_ACCOUNT"] : ["COMPLIANCE_REVIEW"], action)
    const atMica = requirements(allTwelve, "MICA", false)
    assert.deepStrictEqual(atMica["TRADE:SPOT"], [])
    assert.deepStrictEqual(atMica["TRADE:PERP"], ["COMPLIANCE_REVIEW"])
  })

  it("F25: the source of wealth, for crypto money alone", () => {
    const map = requirements(allMica, "MICA", true)
    assert.deepStrictEqual(map["DEPOSIT:CRYPTO"], ["SOURCE_OF_WEALTH"])
    assert.deepStrictEqual(map["WITHDRAW:CRYPTO"], ["SOURCE_OF_WEALTH"])
    assert.deepStrictEqual(map["TRADE:SPOT"], [])
    assert.deepStrictEqual(map["DEPOSIT:FIAT"], ["BANK_ACCOUNT"])
    const given = requirements(withStatus(allMica, "SOURCE_OF_WEALTH", "APPROVED"), "MICA", true)
    assert.deepStrictEqual(given["DEPOSIT:CRYPTO"], [])
  })

  it("A1-31: an expired block stops trades and no money", () => {
    const map = requirements(withStatus(allTwelve, "IDENTIFICATION", "EXPIRED"), "MICA_MIFID", false)
    for (const action of [...mifidActions, "TRADE:SPOT"] as const)
      assert.deepStrictEqual(map[action], ["IDENTIFICATION"], action)
    assert.deepStrictEqual(map["DEPOSIT:CRYPTO"], [])
    assert.deepStrictEqual(map["WITHDRAW:CRYPTO"], [])
    assert.deepStrictEqual(map["WITHDRAW:FIAT"], ["BANK_ACCOUNT"])
  })

  for (const status of ["NOT_STARTED", "DRAFT", "SUBMITTED", "REJECTED"] as const)
    it(`A1-30: ${status} is missing everywhere`, () => {
      const map = requirements(withStatus(allTwelve, "PEP", status), "MICA_MIFID", false)
      for (const action of actions) assert.strictEqual(map[action][0], "PEP", action)
    })
})

describe("verification gate", () => {
  const level = fc.constantFrom("NONE" as const, "MICA" as const, "MICA_MIFID" as const)
  const status = fc.constantFrom(...BlockStatus.literals)
  const blocks: fc.Arbitrary<ReadonlyMap<BlockCode, BlockStatus>> = fc
    .tuple(...blockCodes.map((code) => fc.tuple(fc.constant(code), fc.oneof(status, fc.constant("APPROVED" as const)))))
    .map((pairs) => new Map(pairs))
  const action: fc.Arbitrary<Action> = fc.constantFrom(...actions)

  it("A1-31: the data of the refusal", () => {
    assert.deepStrictEqual(verificationGate("TRADE:PERP", allMica, "MICA", false), {
      action: "TRADE:PERP",
      level: "MICA",
      requiredLevel: "MICA_MIFID",
      missingBlocks: [...mifid]
    })
    assert.deepStrictEqual(verificationGate("DEPOSIT:CRYPTO", allMica, "MICA", true), {
      action: "DEPOSIT:CRYPTO",
      level: "MICA",
      requiredLevel: "MICA",
      missingBlocks: ["SOURCE_OF_WEALTH"]
    })
    assert.isNull(verificationGate("WITHDRAW:CRYPTO", allMica, "MICA", false))
  })

  it("A1-31: refuses exactly what the requirements list, with a body its schema accepts", () => {
    const accepts = Schema.is(GateRefusal)
    fc.assert(
      fc.property(action, blocks, level, fc.boolean(), (asked, statuses, at, eddDue) => {
        const gate = verificationGate(asked, statuses, at, eddDue)
        assert.deepStrictEqual(gate?.missingBlocks ?? [], requirements(statuses, at, eddDue)[asked])
        assert.isTrue(gate === null || accepts(gate))
      })
    )
  })

  it("A1-30: missing blocks come in the listed order, without repetition", () => {
    const order: ReadonlyArray<string> = [...blockCodes, "BANK_ACCOUNT", "COMPLIANCE_REVIEW"]
    fc.assert(
      fc.property(action, blocks, level, fc.boolean(), (asked, statuses, at, eddDue) => {
        const places = requirements(statuses, at, eddDue)[asked].map((code) => order.indexOf(code))
        assert.deepStrictEqual(
          places,
          [...new Set(places)].toSorted((a, b) => a - b)
        )
      })
    )
  })

  it("A1-30: approving a block never closes an action", () => {
    fc.assert(
      fc.property(
        action,
        blocks,
        level,
        fc.boolean(),
        fc.constantFrom(...blockCodes),
        (asked, statuses, at, due, code) => {
          if (verificationGate(asked, statuses, at, due) === null)
            assert.isNull(verificationGate(asked, withStatus(statuses, code, "APPROVED"), at, due))
        }
      )
    )
  })

  it("A1-31: expiry alone never blocks money", () => {
    for (const asked of moneyActions)
      for (const code of blockCodes)
        assert.deepStrictEqual(
          verificationGate(asked, withStatus(allTwelve, code, "EXPIRED"), "MICA_MIFID", true),
          verificationGate(asked, allTwelve, "MICA_MIFID", true)
        )
  })
})

describe("source of wealth", () => {
  const limit = defaultSourceOfWealthThreshold
  const deposits: ReadonlyArray<readonly [bigint, bigint, bigint, boolean]> = [
    [0n, 0n, limit - 1n, false],
    [0n, 0n, limit, true],
    [limit - 2n, 1n, 0n, false],
    [limit - 2n, 1n, 1n, true],
    [limit - 1n, 0n, 0n, false],
    [limit, 0n, 0n, true]
  ]
  for (const [booked, pending, amount, due] of deposits)
    it(`F25: deposit of ${amount} after ${booked} booked and ${pending} pending: ${due ? "due" : "not due"}`, () => {
      assert.strictEqual(sourceOfWealthDue({ kind: "DEPOSIT", booked, pending, amount }, limit), due)
    })

  it("A3-09: 15,000 USDC by default, and a withdrawal counts booked deposits alone", () => {
    assert.strictEqual(limit, 15_000n * 1_000_000n)
    assert.isFalse(sourceOfWealthDue({ kind: "WITHDRAWAL", booked: limit - 1n }, limit))
    assert.isTrue(sourceOfWealthDue({ kind: "WITHDRAWAL", booked: limit }, limit))
  })

  it("F25: of consecutive deposits the one that reaches the line is the first to be due, for any sizes", () => {
    const amount = fc.bigInt({ min: 1n, max: 6_000_000_000n })
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 12 }), fc.nat(12), (amounts, bookedCount) => {
        const sums = amounts.map((_, i) => amounts.slice(0, i + 1).reduce((sum, each) => sum + each, 0n))
        const crossing = sums.findIndex((sum) => sum >= limit)
        let booked = 0n
        let pending = 0n
        for (const [i, next] of amounts.entries()) {
          const due = sourceOfWealthDue({ kind: "DEPOSIT", booked, pending, amount: next }, limit)
          assert.strictEqual(due, i === crossing)
          if (due) return
          if (i < bookedCount) booked += next
          else pending += next
          assert.isFalse(sourceOfWealthDue({ kind: "WITHDRAWAL", booked }, limit))
        }
      })
    )
  })
})
