/** The appropriateness questionnaire: publishing the next version, and the sandbox's answers (operator surface; F24, A1-39). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { missing, token } from "../../../machines/shared/Fields.ts"
import { bodyCaps } from "../../../machines/shared/Limits.ts"
import { compliance, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Millis } from "./OperatorFieldSchemas.ts"
import { assessmentOutcomes } from "./operatorTokens.ts"

export class AppropriatenessGroup extends HttpApiGroup.make("appropriateness").add(
  HttpApiEndpoint.post("publish", "/appropriateness", {
    // Any JSON is accepted here: the service validates the file and reports each fault by its path.
    payload: Schema.Struct({ questionnaire: Schema.Json.annotateKey(missing("The questionnaire")) }),
    success: Answer(Schema.Struct({ version: Schema.Int, questions: Schema.Int, publishedAt: Millis }))
  }).pipe(openTo(compliance, { bodyCap: bodyCaps.questionnaire })),
  HttpApiEndpoint.get("answers", "/sim/answers/:outcome", {
    params: { outcome: token("The outcome", assessmentOutcomes) },
    success: Answer(Schema.Struct({ version: Schema.Int, answers: Schema.Record(Schema.String, Schema.String) }))
  }).pipe(openTo(everyone))
) {}
