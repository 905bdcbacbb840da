/** The appropriateness test: assessments, attempts with their answers, questionnaires (doc 1, Appropriateness; D19). */
import type { Questionnaire } from "../../machines/appropriateness/Questionnaire.ts"
import type { Json } from "../../machines/shared/Json.ts"
import { type MachineRow, machineColumns, ofClient, ofSystem, table } from "./Table.ts"

/** The client's latest attempt at the appropriateness test. */
export interface AssessmentRow extends MachineRow<"assessment"> {
  readonly clientId: number
  readonly partnerId: number
  readonly shard: number
}

/** One attempt with its answers: read only by compliance, never kept in memory. */
export interface AssessmentAttemptRow {
  readonly clientId: number
  readonly attempt: number
  readonly partnerId: number
  /** The version of the questionnaire. */
  readonly questionnaire: number
  readonly outcome: string
  readonly score: number
  readonly answers: Json
  readonly takenAt: number
}

/** A published version of the appropriateness questionnaire. */
export interface QuestionnaireRow {
  readonly version: number
  readonly content: Questionnaire
  readonly publishedAt: number
}

export const appropriatenessTables = {
  assessments: table<AssessmentRow>()({
    title: "assessment",
    machine: "assessment",
    // Version 2 added the time at which the test can be taken again; rows are unchanged.
    upcasters: [(row) => row],
    key: ["clientId"],
    mode: "upsert",
    open: null,
    columns: { clientId: "id", partnerId: "id", shard: "id", ...machineColumns },
    residence: ofClient
  }),
  assessmentAttempts: table<AssessmentAttemptRow>()({
    title: "assessment attempt",
    machine: null,
    key: ["clientId", "attempt"],
    mode: "insert",
    columns: {
      clientId: "id",
      attempt: "id",
      partnerId: "id",
      questionnaire: "id",
      outcome: "text",
      score: "id",
      answers: "sealed",
      takenAt: "id"
    }
  }),
  questionnaires: table<QuestionnaireRow>()({
    title: "questionnaire",
    machine: null,
    key: ["version"],
    mode: "insert",
    columns: { version: "id", content: "json", publishedAt: "id" },
    residence: ofSystem
  })
}
