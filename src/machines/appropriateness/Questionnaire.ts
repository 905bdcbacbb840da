/**
 * The appropriateness questionnaire. The operator publishes it with points; partners receive it without. The rules here keep
 * every outcome reachable (doc 1, Appropriateness; F24, A1-39).
 */
import { Schema } from "effect"
import * as Fields from "../shared/Fields.ts"
import { checkFields } from "../shared/Refusal.ts"
import type { BodyFaults } from "../shared/RequestBody.ts"

export interface QuestionOption {
  readonly id: string
  readonly text: string
  readonly points: number
  /** The right answer of a knowledge question; absent everywhere else. */
  readonly right?: true
  /** An objective that does not fit risky products: turns PASS into WARN, never adds points. */
  readonly caution?: true
}

export interface Question {
  readonly id: string
  readonly text: string
  readonly section: string | null
  readonly options: ReadonlyArray<QuestionOption>
}

/** The content of one version, as published and stored. The service assigns the version's number. */
export interface Questionnaire {
  readonly sections: ReadonlyArray<{ readonly id: string; readonly title: string }>
  readonly questions: ReadonlyArray<Question>
  readonly warningText: string
  readonly acknowledgeText: string
}

/** GET /appropriateness-test, data, without points and thresholds. */
export const ServedQuestionnaire = Schema.Struct({
  version: Schema.Int,
  questions: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      text: Schema.String,
      section: Schema.NullOr(Schema.String),
      options: Schema.Array(Schema.Struct({ id: Schema.String, text: Schema.String }))
    })
  ),
  sections: Schema.Array(
    Schema.Struct({ id: Schema.String, title: Schema.String, questions: Schema.Array(Schema.String) })
  ),
  warningText: Schema.String.annotate({ description: "Must be rendered as served." }),
  acknowledgeText: Schema.String.annotate({ description: "Must be rendered as served." })
}).annotate({ identifier: "AppropriatenessTest" })
export type ServedQuestionnaire = typeof ServedQuestionnaire.Type

/** The questionnaire as partners receive it, copied field by field so that no scoring data leaks. */
export const servedOf = (version: number, content: Questionnaire): ServedQuestionnaire => ({
  version,
  questions: content.questions.map(({ id, text, section, options }) => ({
    id,
    text,
    section,
    options: options.map((option) => ({ id: option.id, text: option.text }))
  })),
  sections: content.sections.map(({ id, title }) => ({
    id,
    title,
    questions: content.questions.filter(({ section }) => section === id).map((question) => question.id)
  })),
  warningText: content.warningText,
  acknowledgeText: content.acknowledgeText
})

export const isKnowledge = (question: Question): boolean => question.options.some(({ right }) => right === true)

/** Points of all best answers together, the scale of the thresholds. */
export const maximumScore = 100
/** The number of knowledge questions: the reachable outcomes depend on exactly three. */
const knowledgeQuestions = 3

const id = (label: string) =>
  Fields.shaped(
    label,
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
    `${label} must be 1 to 64 letters, digits and underscores, starting with a letter.`
  )
const list = <S extends Schema.Top>(item: S, label: string, minimum: number) =>
  Fields.boundedList(item, label, minimum, listMax)
const listMax = 64
const textMax = 2_000
const points = "The points must be a whole number from 0 to 100."
const mark = (label: string) => Schema.optionalKey(Fields.mustBeTrue(label))

/** A file for `appropriateness publish`; the rules across fields are in `questionnaireFault`. */
const QuestionnaireFile = Fields.objectOf(
  {
    sections: list(
      Fields.objectOf({ id: id("The section id"), title: Fields.text("The title", textMax) }, "The section"),
      "The list of sections",
      0
    ),
    questions: list(
      Fields.objectOf(
        {
          id: id("The question id"),
          text: Fields.text("The question", textMax),
          section: Schema.NullOr(id("The section of the question"))
            .annotate({ message: "The section of the question must be a section id or null." })
            .annotateKey(Fields.missing("The section of the question")),
          options: list(
            Fields.objectOf(
              {
                id: id("The option id"),
                text: Fields.text("The option", textMax),
                points: Schema.Number.annotate({ message: points })
                  .check(
                    Schema.isInt({ message: points }),
                    Schema.isBetween({ minimum: 0, maximum: maximumScore }, { message: points })
                  )
                  .annotateKey(Fields.missing("The number of points")),
                right: mark("The right mark"),
                caution: mark("The caution mark")
              },
              "The option"
            ),
            "The list of options",
            2
          )
        },
        "The question"
      ),
      "The list of questions",
      1
    ),
    warningText: Fields.text("The warning text", textMax),
    acknowledgeText: Fields.text("The acknowledgement text", textMax)
  },
  "The questionnaire"
)

const decodeFile = Fields.decoderOf(QuestionnaireFile)

export type DecodedQuestionnaire = { readonly ok: true; readonly questionnaire: Questionnaire } | BodyFaults

/** Checks a file to be published. Names every failing field by its path, or the one cross-field rule that the file breaks. */
export const decodeQuestionnaire = (value: unknown): DecodedQuestionnaire => {
  const errors: Fields.FieldErrors = {}
  const decoded = decodeFile(value, (path, sentence) => {
    errors[path === "" ? "questionnaire" : path] ??= sentence
  })
  if (decoded === undefined) return { ok: false, sentence: checkFields, errors }
  const questionnaire: Questionnaire = Fields.cleanTexts(decoded)
  const fault = questionnaireFault(questionnaire)
  return fault === null ? { ok: true, questionnaire } : { ok: false, sentence: fault, errors: {} }
}

const repeated = (ids: ReadonlyArray<string>): boolean => new Set(ids).size !== ids.length

/**
 * The reason that a well-formed questionnaire can't be published, or null. Best answers make 100 points. Each of the three
 * knowledge questions has one right answer, and no other answer to it earns points. A caution option earns no points, and
 * every question has an option without caution. So every outcome is reachable: the best answers PASS; without the right
 * answer that is worth least (at most a third of 100) they WARN; without any right answer they FAIL.
 */
export const questionnaireFault = ({ sections, questions }: Questionnaire): string | null => {
  if (repeated(sections.map((section) => section.id))) return "Two sections have the same id."
  if (repeated(questions.map((question) => question.id))) return "Two questions have the same id."
  for (const { section, options } of questions) {
    if (section !== null && !sections.some((known) => known.id === section)) return "A question names no known section."
    if (repeated(options.map((option) => option.id))) return "Two options of a question have the same id."
    if (options.every(({ caution }) => caution)) return "Every question needs an option that is no caution."
    if (options.some(({ caution, points }) => caution && points > 0)) return "A caution must have no points."
    if (options.some(({ caution, right }) => caution && right)) return "A right answer must be no caution."
  }
  const knowledge = questions.filter(isKnowledge)
  if (knowledge.length !== knowledgeQuestions) return "There must be exactly three knowledge questions."
  for (const { options } of knowledge) {
    if (options.filter(({ right }) => right).length !== 1) return "A knowledge question needs exactly one right answer."
    if (options.some(({ right, points }) => right !== true && points > 0)) {
      return "A wrong answer of a knowledge question must have no points."
    }
    if (options.some(({ right, points }) => right === true && points === 0)) {
      return "A right answer must have points."
    }
  }
  const best = questions.reduce((sum, { options }) => sum + Math.max(...options.map(({ points }) => points)), 0)
  return best === maximumScore ? null : "The best answers must make exactly 100 points."
}

/** The answer to a question; inherited properties do not count. */
export const answerTo = (answers: unknown, questionId: string): unknown =>
  Fields.isRecord(answers) && Object.hasOwn(answers, questionId) ? answers[questionId] : undefined
