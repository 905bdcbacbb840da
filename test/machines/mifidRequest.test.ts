// The body of PUT .../mifid, field by field: value, path and sentence of every rule (doc 1, MiFID blocks; A1-14, A1-27,
// A1-44).
import { assert, describe, it } from "@effect/vitest"
import { decodeMifid, mifidSectionNames } from "../../src/machines/mifid/MifidRequest.ts"
import { sampleMifid } from "../../src/machines/mifid/sampleMifid.ts"
import * as tokens from "../../src/machines/mifid/tokens.ts"
import { withPaths } from "../support/Builders.ts"

type Paths = Readonly<Record<string, unknown>>
const errorsOf = (paths: Paths) => {
  const decision = decodeMifid(withPaths(sampleMifid(), paths))
  return decision.ok ? {} : decision.errors
}
const long = (length: number) => "ä".repeat(length)
const oneOf = (label: string, list: ReadonlyArray<string>) => `${label} must be one of: ${list.join(", ")}.`

const purpose = "accountPurpose.primary_purpose"
const employment = "employmentFinancial"
const status = `${employment}.employment_status`
const wealth = "sourceOfWealth"

const sourceTokens = { income: tokens.incomeSources, funds: tokens.fundsSources, wealth: tokens.wealthSources } as const

/** Paths to set, the one failing path under `mifid`, its sentence. */
const refused: ReadonlyArray<readonly [paths: Paths, path: string, sentence: string]> = [
  [{ accountPurpose: undefined }, "accountPurpose", "The account purpose section is required."],
  [{ accountPurpose: null }, "accountPurpose", "The account purpose section is required."],
  [{ accountPurpose: [] }, "accountPurpose", "The account purpose section must be an object."],
  [{ [employment]: undefined }, employment, "The employment and financial section is required."],
  [{ [employment]: "x" }, employment, "The employment and financial section must be an object."],
  [{ [wealth]: undefined }, wealth, "The source of wealth section is required."],
  [{ [wealth]: 7 }, wealth, "The source of wealth section must be an object."],
  [{ declarationsMifid: undefined }, "declarationsMifid", "The MiFID declarations section is required."],
  [{ declarationsMifid: true }, "declarationsMifid", "The MiFID declarations section must be an object."],
  [{ [purpose]: undefined }, purpose, "The primary purpose is required."],
  [{ [purpose]: "Hedging" }, purpose, oneOf("The primary purpose", tokens.purposes)],
  [{ [purpose]: "other" }, `${purpose}_other`, "The other purpose is required when other is chosen."],
  [
    { [purpose]: "other", [`${purpose}_other`]: "  " },
    `${purpose}_other`,
    "The other purpose is required when other is chosen."
  ],
  [
    { [purpose]: "other", [`${purpose}_other`]: long(201) },
    `${purpose}_other`,
    "The other purpose must be at most 200 characters."
  ],
  [{ [purpose]: "other", [`${purpose}_other`]: 5 }, `${purpose}_other`, "The other purpose must be text."],
  [{ [status]: undefined }, status, "The employment status is required."],
  [{ [status]: "idle" }, status, oneOf("The employment status", tokens.employmentStatuses)],
  [{ [status]: "other" }, `${status}_other`, "The other employment status is required when other is chosen."],
  [
    { [status]: "other", [`${status}_other`]: long(101) },
    `${status}_other`,
    "The other employment status must be at most 100 characters."
  ],
  ...tokens.employedStatuses.flatMap((employed) =>
    (
      [
        ["industry", "The industry"],
        ["position", "The position"],
        ["employer_name", "The employer name"]
      ] as const
    ).map(
      ([field, label]) =>
        [
          { [status]: employed, [`${employment}.${field}`]: undefined },
          `${employment}.${field}`,
          `${label} is required for this employment status.`
        ] as const
    )
  ),
  [
    { [`${employment}.employer_name`]: "" },
    `${employment}.employer_name`,
    "The employer name is required for this employment status."
  ],
  [
    { [`${employment}.employer_name`]: long(101) },
    `${employment}.employer_name`,
    "The employer name must be at most 100 characters."
  ],
  [{ [`${employment}.industry`]: "mining" }, `${employment}.industry`, oneOf("The industry", tokens.industries)],
  [
    { [`${employment}.industry`]: "other" },
    `${employment}.industry_other`,
    "The other industry is required when other is chosen."
  ],
  [{ [`${employment}.position`]: "boss" }, `${employment}.position`, oneOf("The position", tokens.positions)],
  [
    { [`${employment}.position`]: "other" },
    `${employment}.position_other`,
    "The other position is required when other is chosen."
  ],
  [{ [`${employment}.annual_income`]: undefined }, `${employment}.annual_income`, "The annual income is required."],
  [
    { [`${employment}.annual_income`]: 5 },
    `${employment}.annual_income`,
    oneOf("The annual income", tokens.annualIncomes)
  ],
  [{ [`${employment}.net_worth`]: "lt_10k" }, `${employment}.net_worth`, oneOf("The net worth", tokens.netWorths)],
  [
    { [`${employment}.expected_deposit_12m`]: "gt_1m" },
    `${employment}.expected_deposit_12m`,
    oneOf("The expected deposit", tokens.expectedDeposits)
  ],
  ...(["income", "funds", "wealth"] as const).flatMap((name): ReadonlyArray<readonly [Paths, string, string]> => {
    const list = `${wealth}.${name}_sources`
    const text = `${wealth}.${name}_source_other`
    const label = `source of ${name}`
    const known = sourceTokens[name]
    return [
      [{ [list]: undefined }, list, `The list of sources of ${name} is required.`],
      [{ [list]: [] }, list, `The list of sources of ${name} must have at least one entry.`],
      [{ [list]: "other" }, list, `The list of sources of ${name} must be a list.`],
      [{ [list]: [known[0], "luck"] }, `${list}.1`, oneOf(`The ${label}`, known)],
      [{ [list]: [known[0], null] }, `${list}.1`, oneOf(`The ${label}`, known)],
      [{ [list]: [known[0], known[1], known[0]] }, `${list}.2`, `The ${label} must not be named twice.`],
      [{ [list]: [known[0], "other"] }, text, `The other ${label} is required when other is chosen.`],
      [{ [list]: ["other"], [text]: long(201) }, text, `The other ${label} must be at most 200 characters.`]
    ]
  }),
  ...Object.keys(sampleMifid().declarationsMifid).flatMap((name): ReadonlyArray<readonly [Paths, string, string]> => [
    [{ [`declarationsMifid.${name}`]: false }, `declarationsMifid.${name}`, `The declaration ${name} must be true.`],
    [{ [`declarationsMifid.${name}`]: "true" }, `declarationsMifid.${name}`, `The declaration ${name} must be true.`],
    [{ [`declarationsMifid.${name}`]: null }, `declarationsMifid.${name}`, `The declaration ${name} is required.`]
  ])
]

/** Bodies that pass, whatever they carry beside. */
const accepted: ReadonlyArray<readonly [title: string, paths: Paths]> = [
  ["the sample", {}],
  ["the longest other purpose", { [purpose]: "other", [`${purpose}_other`]: long(200) }],
  ["a text without its token is ignored", { [`${purpose}_other`]: 5, [`${employment}.industry_other`]: long(900) }],
  [
    "work is not asked of somebody without it",
    {
      [status]: "retired",
      [`${employment}.industry`]: "nonsense",
      [`${employment}.position`]: 4,
      [`${employment}.employer_name`]: undefined
    }
  ],
  ["another status with its text", { [status]: "other", [`${status}_other`]: "between two jobs" }],
  ["another industry", { [`${employment}.industry`]: "other", [`${employment}.industry_other`]: "beekeeping" }],
  ["a source of its own", { [`${wealth}.funds_sources`]: ["other"], [`${wealth}.funds_source_other`]: "a prize" }],
  ["unknown fields", { extra: 1, "accountPurpose.extra": [] }]
]

describe("doc 1, MiFID blocks: PUT .../mifid", () => {
  it.each(
    refused.map(([paths, path, sentence]) => [JSON.stringify(paths).slice(0, 90), path, paths, sentence] as const)
  )("A1-44: %s is refused at %s", (_, path, paths, sentence) => {
    assert.deepStrictEqual(errorsOf(paths), { [`mifid.${path}`]: sentence })
  })

  it.each(accepted)("A1-44: %s passes", (_, paths) => {
    assert.deepStrictEqual(errorsOf(paths), {})
  })

  it.each([
    ["purposes", purpose, tokens.purposes],
    ["statuses", status, tokens.employmentStatuses],
    ["industries", `${employment}.industry`, tokens.industries],
    ["positions", `${employment}.position`, tokens.positions],
    ["incomes", `${employment}.annual_income`, tokens.annualIncomes],
    ["net worths", `${employment}.net_worth`, tokens.netWorths],
    ["deposits", `${employment}.expected_deposit_12m`, tokens.expectedDeposits]
  ] as const)("doc 1, MiFID blocks: all %s are taken", (_, path, list) => {
    for (const token of list) {
      assert.deepStrictEqual(errorsOf({ [path]: token, [`${path}_other`]: "something else" }), {}, token)
    }
  })

  it("A1-27: all failures of all sections are told together, a missing section by its name", () => {
    const { errors } = decodeMifid({ accountPurpose: {}, sourceOfWealth: { income_sources: ["other"] } }) as {
      readonly errors: object
    }
    assert.sameMembers(Object.keys(errors), [
      "mifid.accountPurpose.primary_purpose",
      "mifid.employmentFinancial",
      "mifid.sourceOfWealth.income_source_other",
      "mifid.sourceOfWealth.funds_sources",
      "mifid.sourceOfWealth.wealth_sources",
      "mifid.declarationsMifid"
    ])
  })

  it.each([[null], [[]], ["x"], [5], [true]])("A1-01: %j is no object and has no field map", (body) => {
    assert.deepStrictEqual(decodeMifid(body), { ok: false, errors: {} })
  })

  it("A1-43: the sections are handed on as received, unknown fields and ignored texts too", () => {
    const body = withPaths(sampleMifid(), { "accountPurpose.extra": { a: 1 } })
    const before = structuredClone(body)
    const decision = decodeMifid(body)
    assert.isTrue(decision.ok)
    if (decision.ok) {
      assert.deepStrictEqual(Object.keys(decision.received), [...mifidSectionNames])
      assert.deepStrictEqual(decision.received as object, before)
    }
    assert.deepStrictEqual(body, before)
  })
})
