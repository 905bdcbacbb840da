/** The questionnaire of the appropriateness test (doc 1, Appropriateness and MiFID blocks; A1-39). */
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { ServedQuestionnaire } from "../../machines/appropriateness/Questionnaire.ts"
import { ok } from "./Envelope.ts"

export const questionnaire = HttpApiEndpoint.get("questionnaire", "/appropriateness-test", {
  success: ok(ServedQuestionnaire)
}).annotateMerge(
  OpenApi.annotations({
    summary: "The questionnaire in force",
    description:
      "Questions with their options in the order to show them, and the texts of warning and acknowledgement. Answers are sent with its version."
  })
)
