/**
 * The appropriateness questionnaire and its scoring: the points of version 1, every outcome at its borders, the served
 * content and the publishable content (F24; A1-39, A1-41; doc 1, Appropriateness).
 */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import * as fc from "fast-check"
import {
  decodeQuestionnaire,
  type Question,
  type Questionnaire,
  servedOf
} from "../../src/machines/appropriateness/Questionnaire.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import {
  type Answers,
  answersFor,
  type Outcome,
  outcomes,
  scoreAnswers
} from "../../src/machines/appropriateness/scoring.ts"
import { withPaths } from "../support/Builders.ts"

const best: Answers = answersFor(questionnaire1, "PASS")
const resultOf = (answers: object, questionnaire: Questionnaire = questionnaire1) => {
  const scored = scoreAnswers(questionnaire, answers)
  return scored.ok ? [scored.result.score, scored.result.outcome] : scored
}
const question = (id: string) => questionnaire1.questions.find((known) => known.id === id) as Question

/** Points by option, in order (F24). */
const points: ReadonlyArray<readonly [id: string, points: ReadonlyArray<number>]> = [
  ["tradingExperience", [0, 5, 10, 15]],
  ["transactionCount", [0, 5, 10, 15]],
  ["averageTransactionSize", [0, 3, 6, 10]],
  ["barrierProductKnowledge", [20, 0, 0]],
  ["knockoutKnowledge", [20, 0, 0]],
  ["riskUnderstanding", [20, 0, 0]],
  ["investmentObjectives", [0, 0, 0, 0]],
  ["highRiskAllocation", [0, 0, 0, 0]]
]

const wrong = {
  barrier: { barrierProductKnowledge: "issuer_choice" },
  knockout: { knockoutKnowledge: "premium_returned" }
}
const noExperience = { tradingExperience: "none", transactionCount: "none", averageTransactionSize: "none" }
const caution = [{ investmentObjectives: "preserve_capital" }, { highRiskAllocation: "over_half" }] as const

/** Changes to the best answers, and the resulting outcome. */
const scores: ReadonlyArray<readonly [title: string, changes: Partial<Answers>, score: number, outcome: string]> = [
  ["the best answers", {}, 100, "PASS"],
  ["exactly 70", { ...noExperience, averageTransactionSize: "over_10k" }, 70, "PASS"],
  [
    "68, all knowledge right",
    { ...noExperience, tradingExperience: "under_one_year", averageTransactionSize: "under_1k" },
    68,
    "WARN"
  ],
  ["60, no experience at all", noExperience, 60, "WARN"],
  ["one knowledge answer wrong, every experience", wrong.barrier, 80, "WARN"],
  ["two right, exactly 40", { ...noExperience, ...wrong.knockout }, 40, "WARN"],
  ["one right, 60 points: experience makes up for nothing", { ...wrong.barrier, ...wrong.knockout }, 60, "FAIL"],
  ["none right", { ...wrong.barrier, ...wrong.knockout, riskUnderstanding: "nothing_until_closed" }, 40, "FAIL"],
  ["one right, no experience", { ...noExperience, ...wrong.barrier, ...wrong.knockout }, 20, "FAIL"],
  ["wants to preserve capital", caution[0], 100, "WARN"],
  ["more than half at risk", caution[1], 100, "WARN"],
  ["both cautions", { ...caution[0], ...caution[1] }, 100, "WARN"],
  ["a caution saves no FAIL", { ...wrong.barrier, ...wrong.knockout, ...caution[0] }, 60, "FAIL"]
]

describe("F24: scoring of version 1", () => {
  it("F24: the points of every option, 100 at best", () => {
    assert.deepStrictEqual(
      questionnaire1.questions.map(({ id, options }) => [id, options.map((option) => option.points)]),
      points.map(([id, list]) => [id, [...list]])
    )
  })

  it("A1-39: texts and points of version 1 never change: a change is a new version", () => {
    const content = createHash("sha256").update(JSON.stringify(questionnaire1)).digest("hex")
    assert.strictEqual(content, "fc6e3715c5b3837a79801e77c0701174f19ced1f65f3ccaa48f695d91c123f86")
  })

  it.each(scores)("F24: %s", (_, changes, score, outcome) => {
    assert.deepStrictEqual(resultOf({ ...best, ...changes }), [score, outcome as Outcome])
  })

  it("F24: under any answers PASS needs 70 points, all knowledge and no caution; FAIL is under 40 or one right", () => {
    const answers = fc.record(
      Object.fromEntries(
        questionnaire1.questions.map(({ id, options }) => [id, fc.constantFrom(...options.map((o) => o.id))])
      )
    )
    fc.assert(
      fc.property(answers, (given) => {
        const chosen = questionnaire1.questions.map(({ id, options }) => options.find((o) => o.id === given[id]))
        const sum = chosen.reduce((total, option) => total + (option?.points ?? 0), 0)
        const right = chosen.filter((option) => option?.right === true).length
        const cautious = chosen.some((option) => option?.caution === true)
        const failed = sum < 40 || right < 2
        const passed = !failed && sum >= 70 && right === 3 && !cautious
        assert.deepStrictEqual(resultOf(given), [sum, passed ? "PASS" : failed ? "FAIL" : "WARN"])
      })
    )
  })

  it.each(["toString", "constructor", "hasOwnProperty"])("A1-39: a question may be called %s", (id) => {
    const named = withPaths(questionnaire1, { "questions.0.id": id }) as unknown as Questionnaire
    for (const outcome of outcomes) {
      const answers = answersFor(named, outcome)
      assert.isTrue(Object.hasOwn(answers, id))
      assert.strictEqual((resultOf(answers, named) as ReadonlyArray<unknown>)[1], outcome)
    }
    assert.deepInclude(resultOf(best, named), { ok: false, path: `answers.${id}` })
  })

  it("A1-39: no question may be called __proto__", () => {
    const named = withPaths(questionnaire1, { "questions.0.id": "__proto__" })
    const decision = decodeQuestionnaire(named)
    assert.deepStrictEqual(decision.ok ? [] : Object.keys(decision.errors), ["questions.0.id"])
  })

  it.each(outcomes)("operator surface: sim answers %s gives that outcome", (outcome) => {
    const answers = answersFor(questionnaire1, outcome)
    assert.deepStrictEqual(
      Object.keys(answers),
      points.map(([id]) => id)
    )
    assert.strictEqual((resultOf(answers) as ReadonlyArray<unknown>)[1], outcome)
  })
})

describe("A1-41: wrong answers", () => {
  const missing = "This question must be answered."
  const unknown = "The answer must be one of the question's options."
  const without = (...ids: ReadonlyArray<string>) =>
    Object.fromEntries(Object.entries(best).filter(([id]) => !ids.includes(id)))

  const faults: ReadonlyArray<readonly [title: string, answers: unknown, path: string, sentence: string]> = [
    ["no answers", {}, "answers.tradingExperience", missing],
    ["one missing", without("riskUnderstanding"), "answers.riskUnderstanding", missing],
    [
      "the first in the questionnaire's order",
      without("highRiskAllocation", "transactionCount"),
      "answers.transactionCount",
      missing
    ],
    [
      "missing before unknown",
      { ...without("transactionCount"), riskUnderstanding: "x" },
      "answers.transactionCount",
      missing
    ],
    ["an unknown option", { ...best, knockoutKnowledge: "maybe" }, "answers.knockoutKnowledge", unknown],
    [
      "an option of another question",
      { ...best, knockoutKnowledge: "margin_lost" },
      "answers.knockoutKnowledge",
      unknown
    ],
    ["a number", { ...best, tradingExperience: 3 }, "answers.tradingExperience", unknown],
    ["what every object inherits", { ...best, tradingExperience: "toString" }, "answers.tradingExperience", unknown],
    [
      "one too many",
      { ...best, toString: "x" },
      "answers",
      "There is an answer to a question that the questionnaire lacks."
    ],
    ["a list", [], "answers", "The answers must be an object."],
    ["a text", "PASS", "answers", "The answers must be an object."]
  ]
  it.each(faults)("A1-41: %s", (_, answers, path, sentence) => {
    assert.deepStrictEqual(scoreAnswers(questionnaire1, answers), { ok: false, path, sentence })
  })
})

describe("doc 1, Appropriateness: the served questionnaire", () => {
  it("doc 1, Appropriateness: texts and ids as documented, and nothing about scoring", () => {
    const served = servedOf(7, questionnaire1)
    const text = JSON.stringify(served)
    for (const word of ["points", "right", "caution"]) assert.notInclude(text.replaceAll(/"text":"[^"]*"/g, ""), word)
    assert.deepStrictEqual(Object.keys(served), ["version", "questions", "sections", "warningText", "acknowledgeText"])
    assert.deepStrictEqual(
      served.sections.map(({ id, questions }) => [id, questions.length]),
      [
        ["experience", 3],
        ["knowledge", 3],
        ["profile", 2]
      ]
    )
    assert.deepStrictEqual(
      served.questions.map(({ id }) => id),
      points.map(([id]) => id)
    )
    const { id, section, options } = question("knockoutKnowledge")
    const shown = served.questions.find((known) => known.id === id)
    assert.deepStrictEqual([shown?.section, shown?.options.length], [section, options.length])
    for (const option of shown?.options ?? []) assert.deepStrictEqual(Object.keys(option), ["id", "text"])
  })
})

describe("A1-39: what may be published", () => {
  const published = (paths: Readonly<Record<string, unknown>>) => decodeQuestionnaire(withPaths(questionnaire1, paths))
  const rules: ReadonlyArray<readonly [paths: Readonly<Record<string, unknown>>, sentence: string]> = [
    [{ "sections.1.id": "experience" }, "Two sections have the same id."],
    [{ "questions.1.id": "tradingExperience" }, "Two questions have the same id."],
    [{ "questions.0.section": "unknown" }, "A question names no known section."],
    [{ "questions.0.options.1.id": "none" }, "Two options of a question have the same id."],
    [
      { "questions.6.options": ["a", "b"].map((id) => ({ id, text: id, points: 0, caution: true })) },
      "Every question needs an option that is no caution."
    ],
    [{ "questions.6.options.3.points": 5 }, "A caution must have no points."],
    [{ "questions.3.options.0.right": undefined }, "There must be exactly three knowledge questions."],
    [{ "questions.6.options.0.right": true }, "There must be exactly three knowledge questions."],
    [{ "questions.3.options.1.right": true }, "A knowledge question needs exactly one right answer."],
    [{ "questions.3.options.1.points": 1 }, "A wrong answer of a knowledge question must have no points."],
    [{ "questions.3.options.0.points": 0 }, "A right answer must have points."],
    [{ "questions.0.options.3.points": 14 }, "The best answers must make exactly 100 points."]
  ]
  it.each(rules.map(([paths, sentence]) => [sentence, paths] as const))("A1-39: refused: %s", (sentence, paths) => {
    assert.deepStrictEqual(published(paths), { ok: false, sentence, errors: {} })
  })

  it("A1-39: a right answer must be no caution", () => {
    const options = [
      { id: "a", text: "a", points: 0, right: true, caution: true },
      { id: "b", text: "b", points: 0 }
    ]
    const decision = published({ "questions.3.options": options })
    assert.deepStrictEqual(decision, { ok: false, sentence: "A right answer must be no caution.", errors: {} })
  })

  const fields: ReadonlyArray<readonly [paths: Readonly<Record<string, unknown>>, path: string, sentence: string]> = [
    [{ warningText: "" }, "warningText", "The warning text is required."],
    [{ acknowledgeText: undefined }, "acknowledgeText", "The acknowledgement text is required."],
    [{ questions: [] }, "questions", "The list of questions must be a list of 1 to 64 entries."],
    [
      { "questions.0.id": "a b" },
      "questions.0.id",
      "The question id must be 1 to 64 letters, digits and underscores, starting with a letter."
    ],
    [{ "questions.0.section": 5 }, "questions.0.section", "The section of the question must be a section id or null."],
    [{ "questions.0.section": undefined }, "questions.0.section", "The section of the question is required."],
    [{ "questions.0.options": [] }, "questions.0.options", "The list of options must be a list of 2 to 64 entries."],
    [
      { "questions.2.options.1.points": 101 },
      "questions.2.options.1.points",
      "The points must be a whole number from 0 to 100."
    ],
    [
      { "questions.2.options.1.points": 1.5 },
      "questions.2.options.1.points",
      "The points must be a whole number from 0 to 100."
    ],
    [
      { "questions.2.options.1.points": -1 },
      "questions.2.options.1.points",
      "The points must be a whole number from 0 to 100."
    ],
    [
      { "questions.2.options.1.points": undefined },
      "questions.2.options.1.points",
      "The number of points is required."
    ],
    [{ "questions.3.options.0.right": "yes" }, "questions.3.options.0.right", "The right mark must be true."]
  ]
  it.each(fields)("A1-39: %j is named by its path", (paths, path, sentence) => {
    assert.deepStrictEqual(published(paths), {
      ok: false,
      sentence: "Please check the highlighted fields.",
      errors: { [path]: sentence }
    })
  })

  it.each([[null], [[]], ["x"], [{}]])("A1-39: %j is no questionnaire", (value) => {
    const decision = decodeQuestionnaire(value)
    assert.isFalse(decision.ok)
    if (!decision.ok) for (const sentence of Object.values(decision.errors)) assert.match(sentence, /^The .*\.$/)
  })

  it("F24: with any published questionnaire every outcome can be reached", () => {
    const variant = fc.record({
      knowledge: fc.constantFrom([1, 1, 78], [78, 1, 1], [26, 27, 27], [20, 40, 20], [1, 39, 40]),
      rest: fc.nat(20)
    })
    fc.assert(
      fc.property(variant, ({ knowledge, rest }) => {
        const paths = {
          ...Object.fromEntries(knowledge.map((value, n) => [`questions.${n + 3}.options.0.points`, value])),
          "questions.0.options.3.points": rest,
          "questions.1.options.3.points": 20 - rest,
          "questions.0.options.1.points": 0,
          "questions.0.options.2.points": 0,
          "questions.1.options.1.points": 0,
          "questions.1.options.2.points": 0,
          "questions.2.options": [1, 2].map((n) => ({ id: `o${n}`, text: "x", points: 0 }))
        }
        const decision = published(paths)
        assert.isTrue(decision.ok, JSON.stringify(decision))
        if (!decision.ok) return
        for (const outcome of outcomes) {
          const result = resultOf(answersFor(decision.questionnaire, outcome), decision.questionnaire)
          assert.strictEqual((result as ReadonlyArray<unknown>)[1], outcome)
        }
      })
    )
  })
})
