/**
 * Scores answers, and builds answers for a wanted outcome. Points and thresholds never leave the service. Experience cannot
 * make up for wrong knowledge answers (F24, A1-41).
 */
import { isRecord } from "../shared/Fields.ts"
import { answerTo, isKnowledge, type Questionnaire, type QuestionOption } from "./Questionnaire.ts"

export const outcomes = ["PASS", "WARN", "FAIL"] as const
export type Outcome = (typeof outcomes)[number]

/** The least points for a PASS and for a WARN; fewer points are a FAIL. */
export const thresholds = { pass: 70, warn: 40 } as const

export type Answers = Readonly<Record<string, string>>

export interface Score {
  readonly score: number
  readonly outcome: Outcome
}

export type Scored = { readonly ok: true; readonly answers: Answers; readonly result: Score } | Unanswered

/** An answer that is missing or unknown: the path of the first failing field, and the sentence for the partner. */
export interface Unanswered {
  readonly ok: false
  readonly path: string
  readonly sentence: string
}

/**
 * Scores answers. The fault names the first question, in the questionnaire's order, whose answer is missing or an
 * unknown option. If there is no such question, it names an answer to an unknown question. `answers` is any JSON
 * value without null members.
 */
export const scoreAnswers = (questionnaire: Questionnaire, answers: unknown): Scored => {
  if (!isRecord(answers)) return { ok: false, path: "answers", sentence: "The answers must be an object." }
  const given: Array<readonly [id: string, option: string]> = []
  const chosen: Array<QuestionOption> = []
  for (const { id, options } of questionnaire.questions) {
    const value = answerTo(answers, id)
    const path = `answers.${id}`
    if (value === undefined) return { ok: false, path, sentence: "This question must be answered." }
    const option = options.find((known) => known.id === value)
    if (option === undefined) return { ok: false, path, sentence: "The answer must be one of the question's options." }
    given.push([id, option.id])
    chosen.push(option)
  }
  if (Object.keys(answers).length > chosen.length) {
    return { ok: false, path: "answers", sentence: "There is an answer to a question that the questionnaire lacks." }
  }
  return { ok: true, answers: Object.fromEntries(given), result: judge(questionnaire, chosen) }
}

/** The outcome of one chosen option per question: PASS, WARN or FAIL, with the points. */
const judge = ({ questions }: Questionnaire, chosen: ReadonlyArray<QuestionOption>): Score => {
  const score = chosen.reduce((sum, { points }) => sum + points, 0)
  const right = chosen.filter((option) => option.right === true).length
  if (score < thresholds.warn || right <= 1) return { score, outcome: "FAIL" }
  const all = right === questions.filter(isKnowledge).length
  const careful = chosen.some(({ caution }) => caution === true)
  return { score, outcome: score >= thresholds.pass && all && !careful ? "PASS" : "WARN" }
}

/** Answers that give the outcome: the best ones, with one knowledge answer wrong for WARN and all for FAIL. */
export const answersFor = (questionnaire: Questionnaire, outcome: Outcome): Answers => {
  let wrong = outcome === "PASS" ? 0 : outcome === "WARN" ? 1 : Number.POSITIVE_INFINITY
  const answers = new Map<string, string>()
  // For a WARN, the wrong answer is the one to the knowledge question with the fewest points.
  const knowledge = questionnaire.questions
    .filter(isKnowledge)
    .toSorted((a, b) => bestOf(a.options) - bestOf(b.options))
  for (const { id, options } of knowledge) {
    const failing = wrong-- > 0
    answers.set(id, (options.find(({ right }) => (right === true) !== failing) as QuestionOption).id)
  }
  for (const { id, options } of questionnaire.questions) {
    if (answers.has(id)) continue
    const best = bestOf(options.filter(({ caution }) => caution !== true))
    answers.set(id, (options.find(({ caution, points }) => caution !== true && points === best) as QuestionOption).id)
  }
  return Object.fromEntries(questionnaire.questions.map(({ id }) => [id, answers.get(id) as string]))
}

const bestOf = (options: ReadonlyArray<QuestionOption>): number => Math.max(...options.map(({ points }) => points))
